"""Answers to training_step."""

from tests.data.answers import Right, Wrong, body, edit, without

FORWARD = "    logits, saved = model.forward(x)\n"
LOSS = "    loss, grad = nn.cross_entropy(logits, label)\n"
BACKWARD = "    model.backward(saved, grad)\n"
CLIP = "    gpukit.clip_grad_norm(optimizer.parameters.grad, most)\n"
STEP = "    optimizer.step()\n"
RETURNED = "float(loss.copy_to_host())"


def over(old, new):
    return edit((old, new))


ANSWERS = [
    Wrong(
        "the first bound for all steps",
        edit(
            ("def training_step", "FIRST = []\n\n\ndef training_step"),
            (CLIP, CLIP.replace("most", "(FIRST or FIRST.append(most) or FIRST)[0]")),
        ),
        says="of first",
    ),
    Wrong("no backward", without("model.backward"), says="optimizer.step() is missing, or"),
    Wrong(
        "the gradients set to 0 before the step",
        over(
            STEP,
            "    gpukit.fill(optimizer.parameters.grad.size, 0, "
            "out=optimizer.parameters.grad)\n" + STEP,
        ),
        says="the gradients are 0 when it comes",
    ),
    Wrong(
        "backward before forward",
        edit((BACKWARD, ""), (FORWARD, BACKWARD + FORWARD)),
        says="UnboundLocalError in line 9",
    ),
    Wrong(
        "clipped after the step", edit((CLIP + STEP, STEP + CLIP)), says="between backward and step"
    ),
    Wrong(
        "clipped before backward",
        edit((BACKWARD + CLIP, CLIP + BACKWARD)),
        says="between backward and step",
    ),
    Wrong("the wrong bound", over("grad, most)", "grad, 1.0)"), says="of first"),
    Wrong(
        "the loss goes backward",
        over("model.backward(saved, grad)", "model.backward(saved, loss)"),
        says="in line 11",
    ),
    Wrong(
        "the arguments of backward exchanged",
        over("model.backward(saved, grad)", "model.backward(grad, saved)"),
        says="in line 11",
    ),
    Wrong(
        "what cross_entropy returns is one",
        edit((LOSS, "    grad = nn.cross_entropy(logits, label)\n    loss = grad[0]\n")),
        says="in line",
    ),
    Wrong(
        "scores and labels exchanged",
        over("nn.cross_entropy(logits, label)", "nn.cross_entropy(label, logits)"),
        says="in line 10",
    ),
    Wrong(
        "forward's pair taken for the scores",
        edit((FORWARD, "    logits = saved = model.forward(x)\n")),
        says="in line 10",
    ),
    Wrong(
        "labels as floats",
        edit(
            (
                LOSS,
                """    floats = gpukit.cuda.to_device(label.copy_to_host().astype("float32"))
    loss, grad = nn.cross_entropy(logits, floats)
""",
            )
        ),
        says="expected target to be a int32 or int64 array",
    ),
    Wrong(
        "the first layer alone moves",
        edit(
            (
                STEP,
                """    first = model.layers[0]
    for part in (first.weight, first.bias):
        gpukit.sgd_step(part.value, part.grad, lr=optimizer.rates["lr"])
""",
            )
        ),
        says="elements of",
    ),
    Wrong(
        "a new optimizer in each call",
        edit((STEP, "    nn.Momentum(optimizer.parameters, **optimizer.rates).step()\n")),
        says="The optimizer began anew in each call",
    ),
    Wrong(
        "one sample",
        edit(
            ("model.forward(x)", "model.forward(x[:1])"), ("logits, label)", "logits, label[:1])")
        ),
        says="Pass a larger batch",
    ),
    Wrong(
        "forward in inference",
        body("""
            with nn.inference(model):
                logits, saved = model.forward(x)
            loss, grad = nn.cross_entropy(logits, label)
            model.backward(saved, grad)
            gpukit.clip_grad_norm(optimizer.parameters.grad, most)
            optimizer.step()
            return float(loss.copy_to_host())
        """),
        says="BatchNorm has seen no batch",
    ),
    Wrong("nothing returned", without("return float"), says="training_step returned nothing"),
    Wrong(
        "the loss left on the device",
        over(RETURNED, "loss"),
        says="returned an array on the device",
    ),
    Wrong("a pair returned", over(RETURNED, f"{RETURNED}, grad"), says="Return one number"),
    Wrong(
        "fewer parameters",
        edit(("x, label, most)", "x, label)"), (", most)\n", ", 1.0)\n")),
        says="5 parameters. Yours has 4",
    ),
    Wrong(
        "another name",
        over("def training_step", "def train_step"),
        says="Did you mean to call train_step that?",
    ),
    Wrong(
        "the batch brought to the host",
        over("model.forward(x)", "model.forward(gpukit.cuda.to_device(x.copy_to_host()))"),
        says="every copy makes the GPU wait",
        grade="but",
    ),
    Wrong(
        "clipped on the host",
        over(
            CLIP,
            """    grads = optimizer.parameters.grad
    host = grads.copy_to_host()
    norm = (host**2).sum() ** 0.5
    if norm > most:
        grads.copy_to_device(host * host.dtype.type(most / norm))
""",
        ),
        says="every copy makes the GPU wait",
        grade="but",
    ),
    Wrong(
        "nn.fit instead",
        body("""
            loader = nn.Loader(x.copy_to_host(), label.copy_to_host(), batch=len(x))
            history = nn.fit(model, optimizer, loader, epochs=1, clip=most, report=False)
            return float(history.losses[-1])
        """),
        says="every copy makes the GPU wait",
        grade="but",
    ),
    Wrong(
        "the loss computed a second time",
        over(
            RETURNED,
            "float(nn.cross_entropy(model.layers[3].forward(saved[3])[0], label)[0]"
            ".copy_to_host())",
        ),
        says="of losses",
    ),
    Right(
        "the loss read early, one name for all",
        body("""
            out = model.forward(x)
            pair = nn.cross_entropy(out[0], label)
            mean = pair[0].copy_to_host()
            model.backward(out[1], pair[1])
            gpukit.clip_grad_norm([optimizer.parameters.grad], max_norm=most)
            optimizer.step()
            return mean
        """),
    ),
    Right(
        "gradients set to 0, the loss and its gradient from the book",
        body("""
            parameters = optimizer.parameters
            gpukit.fill(parameters.grad.size, 0, out=parameters.grad)
            scores, saved = model.forward(x)
            losses, grad = gpukit.cross_entropy_with_grad(scores, label)
            for layer, kept in zip(reversed(model.layers), reversed(saved)):
                grad = layer.backward(kept, grad)
            gpukit.clip_grad_norm(parameters.grad, most)
            optimizer.step()
            return losses.copy_to_host().item()
        """),
    ),
]
