"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "No weight has moved: optimizer.step() is missing, or the gradients are 0 when it comes.": [
        ("    optimizer.step()\n", "")
    ],
    "The step comes before backward: it moves the weights by the gradients of the "
    "batch before, in the first step by zeros.": [
        (
            "    model.backward(saved, grad)\n"
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n"
            "    optimizer.step()\n",
            "    optimizer.step()\n"
            "    model.backward(saved, grad)\n"
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
        )
    ],
    "The step comes before the gradients are made shorter: clip_grad_norm stands between backward "
    "and step.": [
        (
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n    optimizer.step()\n",
            "    optimizer.step()\n    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
        )
    ],
    "Gradients that are short enough were made longer: clip_grad_norm leaves a norm "
    "below most as it is.": [
        (
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
            "    grads = optimizer.parameters.grad\n"
            "    host = grads.copy_to_host()\n"
            "    grads.copy_to_device(host * (most / (host**2).sum() ** "
            "0.5).astype(host.dtype))\n",
        )
    ],
    "backward was given the scores; it takes the gradient of the loss by the scores.": [
        ("model.backward(saved, grad)", "model.backward(saved, logits)")
    ],
    "The optimizer made two steps with the same gradients.": [
        ("    optimizer.step()\n", "    optimizer.step()\n    optimizer.step()\n")
    ],
    "The weights go uphill: the optimizer subtracts the gradient, so give it the "
    "gradient as it is.": [
        (
            "    model.backward(saved, grad)\n",
            "    minus = gpukit.cuda.to_device(-grad.copy_to_host())\n"
            "    model.backward(saved, minus)\n",
        )
    ],
    "The gradients are those of the sum of the losses; training takes the gradient "
    "of the mean, which nn.cross_entropy returns.": [
        (
            "    model.backward(saved, grad)\n",
            "    whole = gpukit.cuda.to_device(grad.copy_to_host() * len(x))\n"
            "    model.backward(saved, whole)\n",
        )
    ],
    "The gradients are divided by the number of samples twice: that of "
    "nn.cross_entropy is the mean's already.": [
        (
            "    model.backward(saved, grad)\n",
            "    host = grad.copy_to_host()\n"
            "    model.backward(saved, gpukit.cuda.to_device(host / "
            "host.dtype.type(len(x))))\n",
        )
    ],
    "The scores went through softmax before nn.cross_entropy, which has its own inside.": [
        ("nn.cross_entropy(logits, label)", "nn.cross_entropy(gpukit.softmax(logits), label)")
    ],
    "The gradients are not made shorter: call gpukit.clip_grad_norm on "
    "optimizer.parameters.grad between backward and step.": [
        ("    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n", "")
    ],
    "The gradient of the scores was made shorter. It is the gradients of the "
    "weights, all of them together, whose norm is bounded: optimizer.parameters.grad.": [
        (
            "    model.backward(saved, grad)\n"
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
            "    gpukit.clip_grad_norm(grad, most)\n    model.backward(saved, grad)\n",
        )
    ],
    "Each weight's gradients were made shorter for themselves. The norm is that of "
    "all of them together: clip optimizer.parameters.grad once.": [
        (
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
            "    for layer in model.layers:\n"
            "        for part in vars(layer).values():\n"
            "            if isinstance(part, nn.Parameter):\n"
            "                gpukit.clip_grad_norm(part.grad, most)\n",
        )
    ],
    "Each number of the gradient was cut at -most and most; they are all scaled by "
    "the same factor.": [
        (
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
            "    grads = optimizer.parameters.grad\n"
            "    grads.copy_to_device(grads.copy_to_host().clip(-most, most))\n",
        )
    ],
    "The weights themselves were made shorter, where their gradients were meant: "
    "optimizer.parameters.grad.": [
        ("optimizer.parameters.grad, most", "optimizer.parameters.value, most")
    ],
    "Only the last layer has learned: model.backward goes through all layers.": [
        ("model.backward(saved, grad)", "model.layers[-1].backward(saved[-1], grad)")
    ],
    "Only the first layer has learned: the optimizer must move the weights of all.": [
        (
            "    optimizer.step()",
            "    grads = optimizer.parameters.grad\n"
            "    host = grads.copy_to_host()\n"
            "    host[8 * (x.shape[1] + 1) :] = 0\n"
            "    grads.copy_to_device(host)\n"
            "    optimizer.step()",
        )
    ],
    "The optimizer began anew in each call: its velocity lives from step to step, so "
    "use the one that is given.": [
        (
            "    optimizer.step()\n",
            "    all_of_it = optimizer.parameters\n"
            "    gpukit.sgd_step(all_of_it.value, all_of_it.grad, "
            'lr=optimizer.rates["lr"])\n',
        )
    ],
    "Only the first sample counts: x and label hold a batch.": [
        ("model.forward(x)", "model.forward(x[:1])"),
        ("cross_entropy(logits, label)", "cross_entropy(logits, label[:1])"),
    ],
    "Only the first half of the batch counts: x and label go through the network as a whole.": [
        ("model.forward(x)", "model.forward(x[: len(x) // 2])"),
        ("logits, label)", "logits, label[: len(x) // 2])"),
    ],
    "The forward ran twice on each batch, and BatchNorm counts each time: keep what "
    "the first one returned.": [
        (
            "    loss, grad = nn.cross_entropy(logits, label)\n",
            "    loss, _ = nn.cross_entropy(model.forward(x)[0], label)\n"
            "    _, grad = nn.cross_entropy(logits, label)\n",
        )
    ],
    "BatchNorm has seen no batch: in training the model must not run under nn.inference.": """
        with nn.inference(model):
            logits, saved = model.forward(x)
            loss, grad = nn.cross_entropy(logits, label)
            model.backward(saved, grad)
        gpukit.clip_grad_norm(optimizer.parameters.grad, most)
        optimizer.step()
        return float(loss.copy_to_host())
    """,
    "The weights are right. The loss returned is that after the step: it is the one "
    "whose gradient was taken.": [
        (
            "    return float(loss.copy_to_host())",
            "    with nn.inference(model):\n"
            "        for layer in model.layers:\n"
            "            layer.training = False\n"
            "    mean, var = model.layers[1].mean.value.copy_to_host(), "
            "model.layers[1].var.value.copy_to_host()\n"
            "    for layer in model.layers:\n"
            "        layer.training = True\n"
            "    loss, _ = nn.cross_entropy(model.forward(x)[0], label)\n"
            "    model.layers[1].mean.value.copy_to_device(mean)\n"
            "    model.layers[1].var.value.copy_to_device(var)\n"
            "    return float(loss.copy_to_host())",
        )
    ],
    "The weights are right. The loss returned is the sum over the batch, not the mean.": [
        ("float(loss.copy_to_host())", "float(loss.copy_to_host()) * len(x)")
    ],
    "The weights are right. The loss returned is divided by the number of samples, "
    "and was the mean already.": [
        ("float(loss.copy_to_host())", "float(loss.copy_to_host()) / len(x)")
    ],
    "The weights are right. The loss returned is that of the first sample, not the mean.": [
        (
            "float(loss.copy_to_host())",
            "float(nn.cross_entropy(logits[:1], label[:1])[0].copy_to_host())",
        )
    ],
    "The weights are right. What is returned is the norm of the gradients, not the loss.": [
        (
            "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
            "    norm = gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n",
        ),
        ("float(loss.copy_to_host())", "norm.copy_to_host()[0]"),
    ],
    "The weights are right. What is returned is the share of samples that are "
    "classified right, not the loss.": [
        (
            "float(loss.copy_to_host())",
            "(logits.copy_to_host().argmax(axis=1) == label.copy_to_host()).mean()",
        )
    ],
    "The argument most is ignored: the norm of the gradients is limited to another value.": [
        ("parameters.grad, most)", "parameters.grad, 1.0)")
    ],
    "The loss returned is that after the step, of a second forward pass; it is that of "
    "the first.": [
        (
            "    return float",
            "    loss, _ = nn.cross_entropy(model.forward(x)[0], label)\n    return float",
        )
    ],
}
