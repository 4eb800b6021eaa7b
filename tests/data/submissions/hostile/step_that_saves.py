import gpukit
from gpukit import nn


def training_step(model, optimizer, x, label, most):
    """A right step that writes files with functions of gpukit."""
    nn.save("/tmp/GPUKIT_ESCAPED_CASE_ID", optimizer.parameters, optimizer)
    nn.checkpoint.Path("/tmp/GPUKIT_ESCAPED_CASE_ID").write_text("mark")
    logits, saved = model.forward(x)
    loss, grad = nn.cross_entropy(logits, label)
    model.backward(saved, grad)
    gpukit.clip_grad_norm(optimizer.parameters.grad, most)
    optimizer.step()
    return float(loss.copy_to_host())
