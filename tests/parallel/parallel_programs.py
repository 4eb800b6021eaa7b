"""Right parallel programs for 1 to 4 ranks; the corpus makes wrong ones from them by edits."""

import numpy as np

import gpukit
from gpukit import cuda, nn, parallel

RNG = np.random.default_rng(11)
N = 26  # neither a multiple of 3 nor of 4
IMAGES = RNG.standard_normal((N, 6)).astype(np.float32)
LABELS = RNG.integers(0, 3, N).astype(np.int32)


def network():
    """Return a small model with two layers of parameters."""
    return nn.Sequential(nn.Linear(6, 5, first=True), nn.ReLU(), nn.Linear(5, 3))


def by_hand(world):
    """Sum gradients, each rank's weighted by its number of examples."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.Momentum(parameters, lr=0.1)
    mine = np.array_split(np.arange(N), world.size)[world.rank]
    x, label = cuda.to_device(IMAGES[mine]), cuda.to_device(LABELS[mine])
    for step in range(2):
        world.step = step + 1
        out, saved = model.forward(x)
        loss, grad = nn.cross_entropy(out, label)
        model.backward(saved, grad)
        sums = parameters.grad.copy_to_host() * np.float32(len(mine))
        world.all_reduce(sums, name="gradients")
        parameters.grad.copy_to_device(sums / np.float32(N))
        optimizer.step()
    return parameters


def in_place(world):
    """Sum gradients of each parameter in place, and divide by the number of ranks."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.SGD(parameters, lr=0.1)
    mine = np.arange(24)[world.rank :: world.size]
    x, label = cuda.to_device(IMAGES[mine]), cuda.to_device(LABELS[mine])
    layers = [model.layers[0], model.layers[2]]
    for step in range(3):
        world.step = step + 1
        out, saved = model.forward(x)
        loss, grad = nn.cross_entropy(out, label)
        model.backward(saved, grad)
        works = []
        for layer in layers:
            for parameter in (layer.weight, layer.bias):
                works.append(world.iall_reduce(parameter.grad))
        for work in works:
            work.wait()
        parallel.data.scale(parameters.grad, 1 / world.size)
        optimizer.step()
    return parameters


def wrapped(world):
    """Train with DataParallel and nn.fit: dropout, parts of different sizes, two epochs."""
    model = nn.Sequential(
        nn.Linear(6, 40, first=True), nn.ReLU(), nn.Dropout(0.5, seed=3), nn.Linear(40, 3)
    )
    parameters = nn.Parameters(model, seed=world.rank)
    replica = parallel.DataParallel(model, parameters, world, bucket=64)
    loader = nn.Loader(IMAGES, LABELS, batch=11, rank=world.rank, ranks=world.size)
    optimizer = nn.AdamW(parameters, lr=0.01)
    nn.fit(replica, optimizer, loader, epochs=2, report=False, world=world)


def accumulation(world):
    """Compute each rank's part in three parts, and exchange gradients with the last one."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    replica = parallel.DataParallel(model, parameters, world)
    optimizer = nn.SGD(parameters, lr=0.1)
    mine = np.array_split(np.arange(N), world.size)[world.rank]
    for step in range(2):
        world.step = step + 1
        *parts, last = np.array_split(mine, 3)
        for part in parts:
            out, saved = replica.forward(cuda.to_device(IMAGES[part]))
            loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[part]))
            with replica.no_sync():
                replica.backward(saved, grad)
        out, saved = replica.forward(cuda.to_device(IMAGES[last]))
        loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[last]))
        replica.backward(saved, grad)
        optimizer.step()
    return parameters


def accumulation_by_hand(world):
    """Add the gradients of four parts on the host, exchange the sum, divide once."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.SGD(parameters, lr=0.1)
    rows = np.arange(24).reshape(4, -1)
    for step in range(2):
        world.step = step + 1
        total = np.zeros(parameters.grad.shape, np.float32)
        for part in rows:
            mine = np.array_split(part, world.size)[world.rank]
            out, saved = model.forward(cuda.to_device(IMAGES[mine]))
            loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[mine]))
            model.backward(saved, grad)
            total += parameters.grad.copy_to_host() * np.float32(len(mine))
        world.all_reduce(total)
        parameters.grad.copy_to_device(total / np.float32(24))
        optimizer.step()
    return parameters


def ring(world):
    """Sum gradients by a ring of messages: reduce-scatter, then all-gather."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.SGD(parameters, lr=0.1)
    n, rank = world.size, world.rank
    mine = np.array_split(np.arange(N), n)[rank]
    x, label = cuda.to_device(IMAGES[mine]), cuda.to_device(LABELS[mine])
    right, left = (rank + 1) % n, (rank - 1) % n
    for step in range(2):
        world.step = step + 1
        out, saved = model.forward(x)
        loss, grad = nn.cross_entropy(out, label)
        model.backward(saved, grad)
        gradients = parameters.grad.copy_to_host() * np.float32(len(mine) / N)
        chunks = np.array_split(gradients, n)
        for k in range(n - 1):
            sending = world.isend(chunks[(rank - k) % n], right)
            target = chunks[(rank - k - 1) % n]
            target += world.recv(np.empty_like(target), left)
            sending.wait()
        for k in range(n - 1):
            sending = world.isend(chunks[(rank + 1 - k) % n], right)
            world.recv(chunks[(rank - k) % n], left)
            sending.wait()
        parameters.grad.copy_to_device(gradients)
        optimizer.step()
    return parameters


def halo(world):
    """Smooth a row of cells that is split over the ranks, which exchange their edges."""
    whole = np.linspace(0, 1, 24) ** 2
    mine = np.array_split(whole, world.size)[world.rank]
    cells = np.concatenate([mine[:1], mine, mine[-1:]])
    for _ in range(3):
        works = []
        if world.rank > 0:
            works.append(world.irecv(cells[:1], world.rank - 1, tag=1, name="left halo"))
            works.append(world.isend(cells[1:2], world.rank - 1, tag=2, name="left edge"))
        if world.rank < world.size - 1:
            works.append(world.irecv(cells[-1:], world.rank + 1, tag=2, name="right halo"))
            works.append(world.isend(cells[-2:-1], world.rank + 1, tag=1, name="right edge"))
        for work in works:
            work.wait()
        if world.rank == 0:
            cells[0] = cells[1]
        if world.rank == world.size - 1:
            cells[-1] = cells[-2]
        cells[1:-1] = (cells[:-2] + cells[1:-1] + cells[2:]) / 3
    return {"cells": cells[1:-1]}


def tensor_parallel(world):
    """Split a layer by columns, the next one by rows: one sum of activations, one of gradients."""
    whole = nn.Sequential(nn.Linear(6, 12), nn.Linear(12, 3))
    state = nn.Parameters(whole, seed=0).state()
    part = slice(12 * world.rank // world.size, 12 * (world.rank + 1) // world.size)
    width = part.stop - part.start
    column, row = nn.Linear(6, width), nn.Linear(width, 3, bias=False)
    last = nn.Sequential(column, nn.ReLU(), row)
    last.bias = nn.parameters.Parameter((3,), nn.parameters.constant(0))
    parameters = nn.Parameters(last, seed=0)
    mine = {"bias": state["1.bias"], "0.weight": state["0.weight"][part]}
    mine |= {"0.bias": state["0.bias"][part], "2.weight": state["1.weight"][:, part]}
    parameters.load(mine)
    optimizer = nn.SGD(parameters, lr=0.1)
    x, label = cuda.to_device(IMAGES), cuda.to_device(LABELS)
    for step in range(2):
        world.step = step + 1
        out, saved = last.forward(x)
        world.all_reduce(out, name="activations")
        out = cuda.to_device(out.copy_to_host() + last.bias.value.copy_to_host())
        loss, grad = nn.cross_entropy(out, label)
        last.bias.grad.copy_to_device(grad.copy_to_host().sum(axis=0))
        last.backward(saved, grad)
        optimizer.step()
    names = {"0.weight": column.weight, "0.bias": column.bias, "1.weight": row.weight}
    return {**names, "1.bias": last.bias}


def pipeline(world):
    """Split layers over two stages, with two micro-batches; more ranks have nothing to do."""
    whole = network()
    state = nn.Parameters(whole, seed=0).state()
    stages = min(2, world.size)
    if world.rank >= stages:
        return {}
    layers = {0: 0, 2: 2} if stages == 1 else [{0: 0}, {1: 2}][world.rank]
    chosen = whole.layers if stages == 1 else [whole.layers[:1], whole.layers[1:]][world.rank]
    stage = nn.Sequential(*chosen)
    parameters = nn.Parameters(stage, seed=0)
    parameters.load(
        {
            f"{k}.{part}": state[f"{number}.{part}"]
            for k, number in layers.items()
            for part in ("weight", "bias")
        }
    )
    optimizer = nn.SGD(parameters, lr=0.1)
    first, final = world.rank == 0, world.rank == stages - 1
    for step in range(2):
        world.step = step + 1
        total = np.zeros(parameters.grad.shape, np.float32)
        kept = []
        for rows in np.split(np.arange(N), 2):
            x = cuda.to_device(IMAGES[rows]) if first else cuda.device_array((13, 5), np.float32)
            if not first:
                world.recv(x, 0, tag=1, name="activations")
            out, saved = stage.forward(x)
            kept.append((rows, out, saved))
            if not final:
                world.send(out, 1, tag=1, name="activations")
        for rows, out, saved in kept:
            grad = cuda.device_array((13, 5), np.float32)
            if final:
                loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[rows]))
            else:
                world.recv(grad, 1, tag=2, name="gradient of the activations")
            back = stage.backward(saved, grad)
            if not first:
                world.send(back, 0, tag=2, name="gradient of the activations")
            total += parameters.grad.copy_to_host()
        parameters.grad.copy_to_device(total / np.float32(2))
        optimizer.step()
    return {
        f"{number}.{part}": getattr(whole.layers[number], part)
        for number in layers.values()
        for part in ("weight", "bias")
    }


def averaged(world):
    """Average parameters after every second update instead of exchanging gradients."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.SGD(parameters, lr=0.1)
    mine = np.array_split(np.arange(N), world.size)[world.rank]
    x, label = cuda.to_device(IMAGES[mine]), cuda.to_device(LABELS[mine])
    for step in range(4):
        world.step = step + 1
        out, saved = model.forward(x)
        loss, grad = nn.cross_entropy(out, label)
        model.backward(saved, grad)
        optimizer.step()
        if step % 2 == 1:
            world.all_reduce(parameters.value, name="parameters")
            parallel.data.scale(parameters.value, 1 / world.size)
    return parameters


def replicated_dropout(world):
    """Drop elements of activations that all ranks hold copies of, by one seed."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    seed = 5
    x = cuda.to_device(np.tile(IMAGES, 4))
    dropped = gpukit.dropout(x, 0.5, seed=seed, offset=0)
    world.all_reduce(np.array([float(dropped.copy_to_host().sum())]))
    return parameters


def groups(world):
    """Sum a number of each rank in a group of all ranks, and broadcast the result."""
    team = world.split(range(world.size))
    total = team.all_reduce(np.array([1.0 + world.rank]), name="total")
    team.broadcast(total, 0, name="result")
    world.barrier()
    return {"ones": total / total}


ALL = [
    by_hand,
    in_place,
    wrapped,
    accumulation,
    accumulation_by_hand,
    ring,
    halo,
    tensor_parallel,
    pipeline,
    averaged,
    replicated_dropout,
    groups,
]
