"""Accuracy against bytes against time: 16-bit floats, int8, pruning, 2:4 and CSR, on digits.

    python -m benchmarks.precision [--splits 4] [--json out.json] [--write]

A dense and a convolutional network learn handwritten digits in float32 and in mixed precision. The
dense one is then quantized, and pruned and trained for some epochs more. Accuracies are means
over as many splits of the data as `--splits`. Times of the network, and of one large layer, are
medians of processor time of one thread, all formats in turns. Gradients vanish where the loss is
weighted with a small number: the last table has what becomes zero of the first layer's. `formats`
has the large layer.
"""

from __future__ import annotations

from benchmarks import harness

if __name__ == "__main__":
    harness.one_thread()  # BLAS reads its variable when NumPy is imported

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import gpukit
from benchmarks import formats
from gpukit import cuda, launch, nn

WIDTHS = 64, 256, 128, 10
BATCH, EPOCHS, MORE = 64, 30, 5  # epochs of training, and after pruning
PRECISIONS = "float32", "float16", "bfloat16"
# What is pruned, in steps with MORE epochs after each.
PRUNED = {
    "50 % pruned, CSR": (0.5,),
    "80 % pruned, CSR": (0.8,),
    "90 % pruned, CSR": (0.9,),
    "90 % in three steps, CSR": (0.5, 0.8, 0.9),
}
CALIBRATED = 256  # images
FIRST = "1.weight"  # of the network
WEIGHTS = 1.0, 1e-2, 1e-4, 1e-6  # of the loss
POINTS = 0.5  # that accuracy may be below that of float32, in percent

Examples = Any
Row = dict[str, Any]


# ---- Networks -------------------------------------------------------------------------------


def network() -> Any:
    """Return a dense network for digits, whose parameters are still to be made."""
    first, *others = [nn.Linear(n, o, first=n == WIDTHS[0]) for n, o in itertools.pairwise(WIDTHS)]
    return nn.Sequential(nn.Flatten(), first, *(x for each in others for x in (nn.ReLU(), each)))


def convolutional() -> Any:
    """Return a convolutional network for digits, as small as LeNet."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, first=True),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


def optimizer_of(parameters: nn.Parameters, examples: Examples, epochs: int, peak: float) -> Any:
    """Return AdamW with a learning rate that falls to 0 over so many epochs."""
    steps = epochs * math.ceil(len(examples[0]) / BATCH)
    return nn.AdamW(parameters, lr=nn.cosine(peak, steps=steps, warmup=20))


def trained(
    dtype: str, examples: Examples, make: Callable[[], Any] = network
) -> tuple[Any, nn.Parameters, Any]:
    """Return a trained model, its parameters, and what predicts with it in that precision."""
    model = make()
    parameters = nn.Parameters(model, seed=0)
    optimizer: Any = optimizer_of(parameters, examples, EPOCHS, 3e-3)
    used = model
    if dtype != "float32":
        optimizer = nn.MixedPrecision(model, optimizer, dtype=dtype)
        used = optimizer.model
    nn.fit(used, optimizer, loader(examples), epochs=EPOCHS, report=False)
    return model, parameters, used


def pruned(state: dict[str, Any], examples: Examples, fractions: tuple[float, ...] = ()) -> Any:
    """Return a model pruned in steps (to 2:4 for none), trained for some epochs after each."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    parameters.load(state)
    for fraction in fractions or (None,):
        if fraction is None:
            nn.prune_2_4(model)
        else:
            nn.prune(model, fraction)
        optimizer = optimizer_of(parameters, examples, MORE, 1e-3)
        nn.fit(model, optimizer, loader(examples), epochs=MORE, report=False)
    return model


def loader(examples: Examples) -> nn.Loader:
    """Return batches of the examples."""
    return nn.Loader(*examples, batch=BATCH, seed=1)


def models(examples: Examples) -> dict[str, Any]:
    """Return, by the name of its row, a model for inference in each format."""
    model, parameters, _ = trained("float32", examples)
    state = parameters.state()
    found = {
        "float32": model,
        **{dtype: trained(dtype, examples)[2] for dtype in PRECISIONS[1:]},
        "int8": nn.quantized(model, examples[0][:CALIBRATED]),
    }
    for name, fractions in PRUNED.items():
        found[name] = nn.compressed(pruned(state, examples, fractions))
    return found | {"2:4": nn.compressed(pruned(state, examples), "2:4")}


# ---- Bytes and times ------------------------------------------------------------------------


def bytes_of(model: Any) -> int:
    """Return the bytes of a model's dense layers, as its products read them."""
    total = 0
    for layer in getattr(model, "wrapped", model).layers:
        weight = getattr(layer, "low", None)
        if weight is None:
            weight = getattr(layer, "weight", ())
        parts = weight if isinstance(weight, tuple) else (weight,)
        parts = (*parts, getattr(layer, "scale", None), getattr(layer, "bias", None))
        total += sum(int(getattr(part, "value", part).nbytes) for part in parts if part is not None)
    return total


def forward_of(model: Any, images: Any) -> harness.Work:
    """Return the forward pass of a batch, with memory that is allocated once."""
    x, workspace = cuda.to_device(np.ascontiguousarray(images)), nn.Workspace()
    inner = getattr(model, "wrapped", model)  # its weights have been rounded before

    def run() -> Any:
        with workspace:
            return inner.forward(x)[0]

    return run


def step_of(dtype: str, examples: Examples, make: Callable[[], Any] = network) -> harness.Work:
    """Return a training step in a precision."""
    model, workspace = make(), nn.Workspace()
    parameters = nn.Parameters(model, seed=0)
    optimizer: Any = nn.AdamW(parameters, lr=1e-3)
    if dtype != "float32":
        optimizer = nn.MixedPrecision(model, optimizer, dtype=dtype)
        model = optimizer.model
    x, label = (cuda.to_device(part[:BATCH]) for part in examples)

    def run() -> None:
        with workspace:
            logits, saved = model.forward(x)
            model.backward(saved, nn.cross_entropy(logits, label)[1])
            optimizer.step()

    return run


# ---- Digits ---------------------------------------------------------------------------------


def digits(splits: int) -> list[Row]:
    """Return a row per format: accuracy, decisions as in float32, bytes and times."""
    scores: dict[str, list[tuple[float, float]]] = {}
    for split in range(splits):
        examples, test = nn.digits(split)
        found = models(examples)
        right = nn.predict(found["float32"], test[0]).argmax(axis=1)
        for name, model in found.items():
            made = nn.predict(model, test[0]).argmax(axis=1)
            scores.setdefault(name, []).append(((made == test[1]).mean(), (made == right).mean()))
        print(f"split {split}: {', '.join(f'{n} {s[-1][0]:.4f}' for n, s in scores.items())}")
    one = formats.milliseconds(
        {name: forward_of(model, test[0][:1]) for name, model in found.items()}
    )
    many = formats.milliseconds({name: forward_of(model, test[0]) for name, model in found.items()})
    steps = formats.milliseconds({d: step_of(d, examples) for d in PRECISIONS})
    return [
        {
            "format": name,
            "accuracy": 100 * statistics.mean(accuracy for accuracy, _ in scores[name]),
            "splits": [100 * accuracy for accuracy, _ in scores[name]],
            "same": 100 * statistics.mean(same for _, same in scores[name]),
            "bytes": bytes_of(model),
            "one": one[name],
            "many": many[name],
            "images": len(test[0]),
            "step": steps.get(name),
        }
        for name, model in found.items()
    ]


def digits_table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    images = rows[0]["images"]
    headers = ["format", "accuracy %", "points below float32", "same class as float32 %"]
    headers += ["bytes", "one image ms", f"{images} images ms", "training step ms", "met"]
    lines = []
    for row in rows:
        below = rows[0]["accuracy"] - row["accuracy"]
        judged = row["format"] in ("float16", "bfloat16", "int8", "2:4")
        lines.append(
            [
                row["format"],
                f"{row['accuracy']:.2f}",
                f"{below:.2f}",
                f"{row['same']:.2f}",
                f"{row['bytes']:,}",
                f"{row['one']:.3f}",
                f"{row['many']:.3f}",
                "-" if row["step"] is None else f"{row['step']:.3f}",
                harness.yes(below <= POINTS) if judged else "-",
            ]
        )
    return harness.markdown(headers, lines)


def convolutions(splits: int) -> list[Row]:
    """Return a row per precision: the accuracy of the convolutional network, and a step's time."""
    scores: dict[str, list[float]] = {dtype: [] for dtype in PRECISIONS}
    for split in range(splits):
        examples, test = nn.digits(split)
        for dtype, found in scores.items():
            found.append(100 * nn.accuracy(trained(dtype, examples, convolutional)[2], *test))
    sides = {dtype: step_of(dtype, examples, convolutional) for dtype in PRECISIONS}
    steps = formats.milliseconds(sides)
    return [
        {"format": name, "accuracy": statistics.mean(found), "splits": found, "step": steps[name]}
        for name, found in scores.items()
    ]


def convolutions_table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    headers = ["format", "accuracy %", "points below float32", "training step ms", "met"]
    lines = []
    for row in rows:
        below = rows[0]["accuracy"] - row["accuracy"]
        met = "-" if row is rows[0] else harness.yes(below <= POINTS)
        cells = f"{row['accuracy']:.2f}", f"{below:.2f}", f"{row['step']:.3f}"
        lines.append([row["format"], *cells, met])
    return harness.markdown(headers, lines)


# ---- Vanishing gradients --------------------------------------------------------------------

SETTINGS: dict[str, dict[str, Any] | None] = {
    "float32": None,
    "float16, not scaled": {"scale": 1, "every": None},
    "float16, scaled": {},
    "bfloat16": {"dtype": "bfloat16"},
}


def vanishing() -> list[Row]:
    """Return a row per setting and weight of the loss: what vanished of the first layer's gradient.

    Gradients are those of one epoch's batches, at the weights of a network that has been trained;
    what is zero in float32 too, behind a unit that is never active, does not count. The accuracy is
    that of a training with the smallest loss from the start.
    """
    examples, test = nn.digits()
    state, rows = trained("float32", examples)[1].state(), []
    for name, options in SETTINGS.items():
        for weight in WEIGHTS:
            lost = vanished(state, examples, options, weight)
            rows.append({"setting": name, "weight": weight, "vanished": 100 * lost})
        rows[-1]["accuracy"] = 100 * with_weight(examples, test, options, WEIGHTS[-1])
    return rows


def made(options: dict[str, Any] | None, examples: Examples) -> tuple[Any, nn.Parameters, Any]:
    """Return a new model in a precision, its parameters, and its optimizer."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    optimizer: Any = optimizer_of(parameters, examples, EPOCHS, 3e-3)
    if options is not None:
        optimizer = nn.MixedPrecision(model, optimizer, **options)
        model = optimizer.model
    return model, parameters, optimizer


def weighted(weight: float) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return cross-entropy whose gradient is multiplied by a number."""
    found = cuda.to_device(np.zeros(1, np.int32))

    def loss(logits: Any, label: Any) -> tuple[Any, Any]:
        value, grad = nn.cross_entropy(logits, label)
        gpukit.unscale(grad, found, weight)
        return value, grad

    return loss


def vanished(
    state: dict[str, Any], examples: Examples, options: dict[str, Any] | None, weight: float
) -> float:
    """Return which fraction of the gradients that are not zero in float32 are zero here."""
    here, exact = made(options, examples), made(None, examples)
    loss, lost, there = weighted(weight), 0, 0
    for _, parameters, _ in (here, exact):
        parameters.load(state)
    for x, label in loader(examples).epoch(0):
        grads = []
        for model, parameters, _ in (here, exact):
            logits, saved = model.forward(x)
            model.backward(saved, loss(logits, label)[1])
            grads.append(launch.to_host(parameters.parts[FIRST].grad) == 0)
        lost, there = lost + int((grads[0] & ~grads[1]).sum()), there + int((~grads[1]).sum())
    return lost / there


def with_weight(
    examples: Examples, test: Examples, options: dict[str, Any] | None, weight: float
) -> float:
    """Return the accuracy of a training whose loss has a weight."""
    model, _, optimizer = made(options, examples)
    named: Any = {"loss": weighted(weight), "report": False}
    nn.fit(model, optimizer, loader(examples), epochs=EPOCHS, **named)
    return nn.accuracy(model, *test)


def vanishing_table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table, one line per setting."""
    headers = ["gradients in", *(f"vanished %, loss x {weight:g}" for weight in WEIGHTS)]
    headers.append(f"accuracy % after training, loss x {WEIGHTS[-1]:g}")
    lines = []
    for name in SETTINGS:
        own = [row for row in rows if row["setting"] == name]
        cells = [f"{row['vanished']:.1f}" for row in own]
        lines.append([name, *cells, f"{own[-1]['accuracy']:.2f}"])
    return harness.markdown(headers, lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = harness.parser(__doc__)
    parser.add_argument("--splits", type=int, default=4, help="of the digits, 1 to 4")
    options = parser.parse_args(arguments)
    before = harness.load()
    found = {
        "digits": digits(options.splits),
        "convolutions": convolutions(options.splits),
        "layer": formats.layer(),
        "vanishing": vanishing(),
    }
    about = (
        f"Measured on: {harness.machine()}, one thread, processor time. "
        f"Load average {before} before, {harness.load()} after."
    )
    tables = [
        digits_table(found["digits"]),
        convolutions_table(found["convolutions"]),
        formats.layer_table(found["layer"]),
        vanishing_table(found["vanishing"]),
    ]
    record = {"about": about, **found}
    harness.finish(options, "precision", "\n\n".join([about, *tables]), record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
