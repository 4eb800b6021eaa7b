"""Cases of the bucket: ranks with different numbers of micro-batches of different sizes."""

import numpy as np

from gpukit.course import Case, called, poison, some

# Ranks, micro-batches of the first rank, and the shape of the weight.
SHAPES = {
    "two ranks, one micro-batch": (2, 1, 2, 3),
    "two ranks, two micro-batches": (2, 2, 3, 2),
    "three ranks": (3, 2, 2, 5),
    "one rank": (1, 3, 2, 2),
    "one weight": (2, 2, 1, 1),
    "many micro-batches": (2, 9, 11, 7),
}


def case(rng: np.random.Generator, ranks: int, batches: int, rows: int, cols: int) -> Case:
    """Return the case of ranks with `batches` micro-batches, every third with one more."""
    of_rank = [batches + (rank % 3 == 2) for rank in range(ranks)]
    total = sum(of_rank)
    counts = rng.integers(1, 9, total)
    counts[0] = 13  # so that weighting shows, whatever else is drawn
    if total > 1:
        counts[-1] = 2
    weight = rng.normal(0, 1, (total, rows, cols)).astype(np.float32)
    bias = rng.normal(0, 1, (total, rows)).astype(np.float32)
    filters = rng.normal(0, 1, (total, 2, 1, cols)).astype(np.float32)
    right, scale = {}, {}
    share = counts / counts.sum()
    for name, grads in (("weight_mean", weight), ("bias_mean", bias), ("filters_mean", filters)):
        wide = grads.astype(np.float64)
        for found, terms in ((right, wide), (scale, np.abs(wide))):
            mean = np.tensordot(share, terms, 1).astype(np.float32)
            found[name] = np.tile(mean, (ranks, *(1,) * mean.ndim))
    return called(
        args={
            "of_rank": np.array(of_rank),
            "counts": counts,
            "weight": weight,
            "bias": bias,
            "filters": filters,
            **{name: poison(array.shape) for name, array in right.items()},
        },
        expected=right,
        scale=scale,
        shown=f"{some(ranks, 'rank')} with {', '.join(map(str, of_rank))} "
        f"micro-batch{'es' * (total > 1)} of {', '.join(map(str, counts[:12]))} "
        f"{'... ' * (total > 12)}examples; weight {(rows, cols)}, bias {(rows,)}, "
        f"filters {(2, 1, cols)}",
    )
