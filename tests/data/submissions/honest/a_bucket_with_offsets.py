import itertools

import numpy as np


def gradient_bucket(group, grads, counts):
    shapes = [g.shape for g in grads[0]]
    sizes = [int(np.prod(shape)) for shape in shapes]
    offsets = [0, *itertools.accumulate(sizes)]
    bucket = np.zeros(offsets[-1] + 1, dtype=np.float32)
    for parts, n in zip(grads, counts):
        for k, part in enumerate(parts):
            bucket[offsets[k] : offsets[k + 1]] += n * part.reshape(-1)
        bucket[-1] += n
    bucket = group.all_reduce(bucket)
    everything = bucket[-1]
    return [
        (bucket[a:b] / everything).reshape(shape)
        for a, b, shape in zip(offsets, offsets[1:], shapes)
    ]
