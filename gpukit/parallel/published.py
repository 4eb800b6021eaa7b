"""Predictions of the cost model beside scaling figures that papers have published.

    print(comparison_table(width=80))

Nothing is fitted to the figures. Where an input is not in the paper it is an assumption, and each
comparison lists them. A prediction is a range where the paper leaves a choice open, such as how
much communication is hidden; `error` is the distance of the figure from that range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from gpukit import table
from gpukit.parallel.cost_model import (
    data_parallel_step,
    halving_all_reduce,
    in_buckets,
    ring_all_reduce,
)
from gpukit.parallel.links import Compute, Link
from gpukit.parallel.schedules import gpipe
from gpukit.parallel.simulator import simulate


class Paper(NamedTuple):
    """Where figures come from, what the model takes from there, and what it assumes."""

    name: str
    source: str
    given: str
    assumed: str


class Comparison(NamedTuple):
    """A published figure and the range that the model predicts for it."""

    paper: Paper
    what: str
    published: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """How far the figure is outside the range, relative to the figure; 0 inside.

        >>> round(Comparison(GOYAL, "", 0.9, 0.95, 0.99).error, 3)
        0.056
        """
        outside = max(self.low - self.published, self.published - self.high, 0.0)
        return outside / self.published


# ---- data parallelism: Goyal et al. --------------------------------------------------------------

GOYAL = Paper(
    name="Goyal et al. 2017",
    source="Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, arXiv 1706.02677: abstract "
    "(efficiency), sections 4.1 (algorithm) and 4.3 (hardware, ResNet-50)",
    given="Each server has 8 P100s and 50 Gbit/s Ethernet. The gradients take 100 MB, and a "
    "backward pass takes 120 ms. Servers reduce the gradients by halving and doubling, in parallel "
    "with the backward pass.",
    assumed="A forward pass takes half as long as the backward pass, 60 ms; a message has a "
    "latency of 50 us. There are 54 equal buckets, one per convolution or dense layer. Low "
    "estimate: one all-reduce follows the backward pass. High estimate: the buckets overlap with "
    "it.",
)
GRADIENTS, GOYAL_BACKWARD, GOYAL_FORWARD = 100e6, 0.120, 0.060
ETHERNET = Link(latency=50e-6, bandwidth=50e9 / 8)
GPUS_PER_SERVER, GOYAL_PUBLISHED = 8, 0.90


def goyal_efficiency(gpus: int, *, overlap: bool) -> float:
    """Return the efficiency relative to one server of 8 GPUs."""
    servers = gpus // GPUS_PER_SERVER
    buckets = in_buckets(GRADIENTS, GRADIENTS / 54) if overlap else [GRADIENTS]
    step = data_parallel_step(
        GOYAL_FORWARD,
        GOYAL_BACKWARD,
        buckets,
        partial(halving_all_reduce, ETHERNET, servers),
        overlap=overlap,
    )
    return step.compute / step.seconds


def goyal() -> list[Comparison]:
    """Return the efficiency from 8 to 256 GPUs."""
    low, high = (goyal_efficiency(256, overlap=overlap) for overlap in (False, True))
    return [Comparison(GOYAL, "efficiency, 8 to 256 GPUs", GOYAL_PUBLISHED, low, high)]


# ---- tensor and data parallelism: Megatron-LM ----------------------------------------------------

MEGATRON = Paper(
    name="Megatron-LM 2019",
    source="Shoeybi et al., Megatron-LM: Training Multi-Billion Parameter Language Models Using "
    "Model Parallelism, arXiv 1909.08053: table 1 (models), figure 5 and section 5.1 (efficiency, "
    "hardware), abstract (39 TFLOP/s on one GPU; 76 % on 512)",
    given="The models have the hidden sizes and layers of table 1, 51,200 words, 1,024 tokens and "
    "8 samples per replica. Activations are recomputed. The bandwidth is 300 GB/s between the 16 "
    "GPUs of a server and 100 GB/s between servers. Every GPU repeats layer norm, dropout and "
    "residual additions.",
    assumed="Equation 3 of arXiv 2104.04473 gives the operations of a step. The 300 GB/s are the "
    "sum of both directions; a message has a latency of 10 us and carries float16. Each layer has "
    "6 all-reduces, 2 of them in the recomputation. The repeated operations access a tensor of "
    "activations 47 times per layer, at 900 GB/s. Gradients go around one ring per tensor rank, "
    "and the rings share the 100 GB/s. Low estimate: they are reduced after the backward pass. "
    "High estimate: they are reduced during it.",
)
TOKENS, WORDS, SAMPLES, HALF = 1024, 51_200, 8, 2
MODELS = {1: (1536, 40), 2: (1920, 54), 4: (2304, 64), 8: (3072, 72)}  # GPUs: hidden size, layers
SINGLE_GPU = 39e12
NVSWITCH = Link(latency=10e-6, bandwidth=150e9)
BETWEEN_SERVERS = 100e9
V100_MEMORY = Compute(900e9)  # its "operations" are bytes
ACCESSES = 47
REPLICAS = 64
# Published efficiencies by tensor ranks, as far as transcriptions of figure 5 agree on them.
TENSOR, TENSOR_AND_DATA, ABSTRACT = {4: 0.82, 8: 0.77}, {2: 0.83, 4: 0.79, 8: 0.74}, 0.76


def megatron_flops(hidden: int, layers: int) -> float:
    """Return the operations of a step on 8 samples, recomputation included."""
    more = 1 + TOKENS / (6 * hidden) + WORDS / (16 * layers * hidden)
    return 96 * SAMPLES * TOKENS * layers * hidden**2 * more


def megatron_efficiency(tensor: int, replicas: int = 1, *, overlap: bool = False) -> float:
    """Return the FLOP/s per GPU over those of one GPU, for the model of so many tensor ranks."""
    single = megatron_flops(*MODELS[1])
    # The measured rate of one GPU includes what tensor ranks repeat.
    rate = single / (single / SINGLE_GPU - _repeated(*MODELS[1]))
    hidden, layers = MODELS[tensor]
    flops = megatron_flops(hidden, layers) / tensor
    wire = SAMPLES * TOKENS * hidden * HALF
    seconds = flops / rate + _repeated(hidden, layers)
    seconds += 6 * layers * ring_all_reduce(NVSWITCH, tensor, wire)
    if not overlap:
        parameters = 12 * layers * hidden**2 + (WORDS + TOKENS) * hidden
        link = Link(NVSWITCH.latency, BETWEEN_SERVERS / tensor)
        seconds += ring_all_reduce(link, replicas, parameters / tensor * HALF)
    return flops / seconds / SINGLE_GPU


def _repeated(hidden: int, layers: int) -> float:
    return V100_MEMORY.seconds(layers * ACCESSES * SAMPLES * TOKENS * hidden * HALF)


def megatron() -> list[Comparison]:
    """Return the weak-scaling efficiency on 4 and 8 GPUs, and with 64 replicas on up to 512."""
    found = []
    for tensor, published in TENSOR.items():
        here = megatron_efficiency(tensor)
        found.append(Comparison(MEGATRON, f"efficiency, {tensor} GPUs", published, here, here))
    for tensor, published in [*TENSOR_AND_DATA.items(), (8, ABSTRACT)]:
        ends = [megatron_efficiency(tensor, REPLICAS, overlap=overlap) for overlap in (False, True)]
        where = " (abstract)" if published == ABSTRACT else ""
        what = f"efficiency, {tensor * REPLICAS} GPUs{where}"
        found.append(Comparison(MEGATRON, what, published, *ends))
    return found


# ---- pipelines: GPipe ----------------------------------------------------------------------------

GPIPE = Paper(
    name="GPipe 2019",
    source="Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline "
    "Parallelism, arXiv 1811.06965: table 2 (Transformer on TPUs) and table 3 (on P100s without "
    "NVLink)",
    given="There are K stages and M micro-batches. Throughput is relative to K = 2, with M = 1 in "
    "table 2 and M = 32 in table 3. The recomputation does not wait for gradients (section 2.3).",
    assumed="Stages are equal, a backward pass takes twice as long as a forward pass, and messages "
    "take no time. Low estimate: a recomputation takes as long as the forward pass. High estimate: "
    "nothing is recomputed. The paper adjusted the batch to fit memory, which the model does not: "
    "the figures for M = 4 are not reproduced.",
)
TABLE_2 = {1: {2: 1.0, 4: 1.07, 8: 1.3}, 4: {2: 1.7, 4: 3.2, 8: 4.8}, 32: {2: 1.8, 4: 3.4, 8: 6.3}}
TABLE_3 = {4: 1.8, 8: 3.3}


def gpipe_seconds(stages: int, micro_batches: int, *, recompute: bool) -> float:
    """Return the time of a step of one batch, in forward passes of the whole model."""
    share = 1 / (stages * micro_batches)
    again = share if recompute else 0.0
    schedule = gpipe(stages, micro_batches)
    return simulate(schedule, share, 2 * share, recompute=again).seconds


def gpipe_speed_up(stages: int, micro_batches: int, base: tuple[int, int]) -> tuple[float, float]:
    """Return the range of the throughput relative to that of `base`, (stages, micro_batches)."""
    ratios = [
        gpipe_seconds(*base, recompute=recompute)
        / gpipe_seconds(stages, micro_batches, recompute=recompute)
        for recompute in (True, False)
    ]
    return min(ratios), max(ratios)


def gpipe_table() -> list[Comparison]:
    """Return the cells of tables 2 and 3 but for those that are 1 by definition."""
    found = []
    for batches, row in TABLE_2.items():
        for stages, value in row.items():
            if (stages, batches) != (2, 1):
                what = f"throughput, TPUs, K={stages}, M={batches}"
                ends = gpipe_speed_up(stages, batches, (2, 1))
                found.append(Comparison(GPIPE, what, value, *ends))
    for stages, value in TABLE_3.items():
        what = f"throughput, P100s, K={stages}, M=32"
        found.append(Comparison(GPIPE, what, value, *gpipe_speed_up(stages, 32, (2, 32))))
    return found


# ---- pipelines against data parallelism: PipeDream -----------------------------------------------

PIPEDREAM = Paper(
    name="PipeDream 2019",
    source="Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP "
    "2019: abstract and section 1 (up to 5.3 times for image classification), section 2.1 "
    "(servers of 4 V100s without NVLink on 10 Gbit/s)",
    given="Data parallelism waits for gradients on 10 Gbit/s links; a pipeline sends activations.",
    assumed="The network is VGG-16, whose operations and parameters are counted from its layers, "
    "with 64 images per GPU on 4 servers. Convolutions are direct and run at the float32 peak of a "
    "V100 (PCIe), 14 TFLOP/s; links run at their rated speed. The pipeline has 15 GPUs for "
    "convolutions and 1 for dense layers, and hides all messages. Low estimate: gradients of dense "
    "layers are reduced during the backward pass. High estimate: they are reduced after it. The "
    "figure is the best of many experiments, on links whose achieved bandwidth is not stated; the "
    "model predicts it for links of {gbits:.1f} Gbit/s.",
)
VGG = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)  # 0: pooling
DENSE = (25_088, 4096, 4096, 1000)
IMAGES, PIPEDREAM_GPUS, V100 = 64, 16, Compute(14e12)
RATED = 10e9 / 8


def vgg16() -> tuple[int, int, int]:
    """Return parameters of the convolutions, of the dense layers, and operations per image.

    >>> vgg16()
    (14714688, 123642856, 30940528640)
    """
    side, channels, convolutions, operations = 224, 3, 0, 0
    for out in VGG:
        if out:
            weights = 9 * channels * out
            convolutions += weights + out
            operations += 2 * weights * side**2
            channels = out
        else:
            side //= 2
    dense = sum((a + 1) * b for a, b in pairwise(DENSE))
    return convolutions, dense, operations + 2 * sum(a * b for a, b in pairwise(DENSE))


def pipedream_speed_up(bandwidth: float, *, overlap: bool) -> float:
    """Return the time of data parallelism over that of PipeDream, on links of this bandwidth."""
    convolutions, dense, operations = vgg16()
    forward = V100.seconds(IMAGES * operations)
    link = Link(bandwidth=bandwidth)
    step = data_parallel_step(
        forward,
        2 * forward,
        [4 * dense, 4 * convolutions],
        partial(ring_all_reduce, link, PIPEDREAM_GPUS),
        overlap=False,
    )
    seconds = step.seconds
    if overlap:  # dense layers are nearly all parameters and come first in the backward pass
        reduced = forward + ring_all_reduce(link, PIPEDREAM_GPUS, 4 * (dense + convolutions))
        seconds = max(step.compute, reduced)
    return seconds / step.compute * (PIPEDREAM_GPUS - 1) / PIPEDREAM_GPUS


def pipedream_bandwidth(speed_up: float) -> float:
    """Return the bandwidth at which the model predicts this speed-up, without overlap."""
    low, high = RATED / 100, RATED * 100
    while high / low > 1.0001:
        middle = (low * high) ** 0.5
        faster = pipedream_speed_up(middle, overlap=False) < speed_up
        low, high = (low, middle) if faster else (middle, high)
    return low


def pipedream() -> list[Comparison]:
    """Return the largest speed-up over data parallelism."""
    assumed = PIPEDREAM.assumed.format(gbits=8e-9 * pipedream_bandwidth(5.3))
    ends = [pipedream_speed_up(RATED, overlap=overlap) for overlap in (True, False)]
    paper = PIPEDREAM._replace(assumed=assumed)
    return [Comparison(paper, "speed-up over data parallelism, at most", 5.3, *ends)]


# ---- all of them ---------------------------------------------------------------------------------

ALL: tuple[Callable[[], list[Comparison]], ...] = (goyal, megatron, gpipe_table, pipedream)


def comparisons() -> list[Comparison]:
    """Return every published figure with its prediction."""
    return [row for each in ALL for row in each()]


class Curve(NamedTuple):
    """Efficiency over numbers of GPUs: the range of the model, and figures by number of GPUs."""

    gpus: list[int]
    low: list[float]
    high: list[float]
    published: dict[int, float]


def efficiency_curves() -> dict[str, Curve]:
    """Return the curves behind the efficiencies of `comparisons`, by name."""
    gpus, tensor = [8, 16, 32, 64, 128, 256], list(MODELS)
    alone = [megatron_efficiency(p) for p in tensor]
    low, high = ([goyal_efficiency(p, overlap=o) for p in gpus] for o in (False, True))
    both = [[megatron_efficiency(p, REPLICAS, overlap=o) for p in tensor] for o in (False, True)]
    return {
        "Goyal et al., data": Curve(gpus, low, high, {256: GOYAL_PUBLISHED}),
        "Megatron-LM, tensor": Curve(tensor, alone, alone, TENSOR),
        "Megatron-LM, tensor and data": Curve(
            [REPLICAS * p for p in tensor],
            both[0],
            both[1],
            {REPLICAS * p: value for p, value in TENSOR_AND_DATA.items()},
        ),
    }


HEADERS = ["paper", "figure", "published", "model", "error"]


def cells(rows: Sequence[Comparison]) -> list[list[str]]:
    """Return the text of each row, one for each of `HEADERS`."""
    return [
        [
            row.paper.name,
            row.what,
            f"{row.published:.2f}",
            f"{row.low:.2f} to {row.high:.2f}" if row.high > row.low else f"{row.low:.2f}",
            f"{row.error:.0%}" if row.error else "in range",
        ]
        for row in rows
    ]


def notes(rows: Sequence[Comparison]) -> list[str]:
    """Return three lines for each paper: its source, what it gives and what is assumed."""
    return [
        line
        for paper in dict.fromkeys(row.paper for row in rows)
        for line in (
            f"{paper.name}: {paper.source}.",
            f"  Given: {paper.given}",
            f"  Assumed: {paper.assumed}",
        )
    ]


def comparison_table(width: int | None = 80) -> str:
    """Return all comparisons as text, with sources and assumptions below."""
    rows = comparisons()
    head, lines = table.layout(HEADERS, cells(rows), right=[2, 3, 4], width=width)
    text = [*head, *(line for row in lines for line in row), "", *notes(rows)]
    return "\n".join(text if width is None else table.fitted("\n".join(text), width))
