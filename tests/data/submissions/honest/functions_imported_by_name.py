from gpukit import clip_grad_norm
from gpukit.nn import cross_entropy


def training_step(model, optimizer, x, label, most):
    logits, saved = model.forward(x)
    loss, grad = cross_entropy(logits, label)
    model.backward(saved, grad)
    clip_grad_norm(optimizer.parameters.grad, most)
    optimizer.step()
    value = loss.copy_to_host()
    print("loss:", value)
    return float(value)


if __name__ == "__main__":
    import numpy as np

    from gpukit import cuda, nn

    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = nn.Momentum(nn.Parameters(model, seed=1), lr=0.1)
    x = cuda.to_device(np.ones((5, 4), np.float32))
    label = cuda.to_device(np.zeros(5, np.int32))
    for _ in range(10):
        print(training_step(model, optimizer, x, label, 1.0))
