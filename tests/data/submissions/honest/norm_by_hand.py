import math

import numpy as np

LR = 0.1
MOMENTUM = 0.9
LIMIT = 1.0


def clipped(grad, limit):
    norm = math.sqrt(float(np.dot(grad, grad)))
    return grad if norm <= limit else grad * (limit / norm)


def data_parallel_step(group, weights, velocity, x, y):
    residual = x.dot(weights) - y
    grad = x.T.dot(residual) / x.shape[0]
    group.all_reduce(grad)
    grad /= group.size
    velocity[:] = MOMENTUM * velocity + clipped(grad, LIMIT)
    weights[:] = weights - LR * velocity
