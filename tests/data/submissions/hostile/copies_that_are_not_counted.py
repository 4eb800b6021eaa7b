import gpukit
from gpukit import nn
from gpukit.cpu.memory.ndarray import DeviceNDArray

DeviceNDArray.copy_to_host = lambda self, *rest: self._data.copy()


def training_step(model, optimizer, x, label, most):
    for _ in range(100):
        x.copy_to_host()
    logits, saved = model.forward(x)
    loss, grad = nn.cross_entropy(logits, label)
    model.backward(saved, grad)
    gpukit.clip_grad_norm(optimizer.parameters.grad, most)
    optimizer.step()
    return float(loss.copy_to_host())
