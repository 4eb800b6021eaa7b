"""Cases of the sums of columns: fewer and more samples than threads, ragged columns."""

import numpy as np

from gpukit.course import Case, poison

ACROSS, DOWN = 32, 8
# Samples and outputs.
SHAPES = {
    "a sample for each thread": (8, 32),
    "one number": (1, 1),
    "one less each way": (7, 31),
    "one more each way": (9, 33),
    "one sample": (1, 67),
    "one output": (37, 1),
    "two primes": (61, 83),
    "no sample at all": (0, 5),
    "many samples": (93, 120),
}


def case(rng: np.random.Generator, samples: int, outputs: int) -> Case:
    """Return the case of so many samples and outputs."""
    grad = rng.normal(0.5, 1, (samples, outputs)).astype(np.float32)
    wide = grad.astype(np.float64)
    right, col = wide.sum(axis=0), np.arange(outputs)
    of_threads = np.array([wide[ty::DOWN].sum(axis=0) for ty in range(DOWN)])

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad_bias": values.astype(np.float32)}

    return Case(
        args={"grad_out": grad, "grad_bias": poison(outputs)},
        grid=-(-outputs // ACROSS),
        block=(ACROSS, DOWN),
        expected=left(right),
        scale={"grad_bias": np.abs(wide).sum(axis=0)},
        mistakes={
            "This is the mean over the samples. A bias takes part in each of them: their sum is "
            "asked.": left(right / max(1, samples)),
            "Only every eighth sample was added: the sums of the 8 threads of a column are not "
            "joined.": left(of_threads[0]),
            "Only the last of the 8 threads of a column counts: each stored its own sum over the "
            "others'. Join the 8 sums first.": left(of_threads[-1]),
            "Only the first 8 samples were added: each thread took one and stopped.": left(
                wide[:DOWN].sum(axis=0)
            ),
            "The samples behind the last whole 8 are missing: a division is rounded down.": left(
                wide[: samples // DOWN * DOWN].sum(axis=0)
            ),
            "The first of the 8 sums of a column is missing: k begins with 0.": left(
                of_threads[1:].sum(axis=0)
            ),
            "The last of the 8 sums of a column is missing: k goes on to DOWN - 1.": left(
                of_threads[:-1].sum(axis=0)
            ),
            "Each sum is 8 times as large as it should be: all 8 threads of a column added up all "
            "samples. They share them: range(ty, samples, DOWN).": left(DOWN * right),
            "Each thread kept its last sample only: in its loop stands = where += belongs.": left(
                wide[max(0, samples - DOWN) :].sum(axis=0)
            ),
            "The first sample is missing: samples are counted from 0.": left(wide[1:].sum(axis=0)),
            "Every block took the columns of the first: the column is cuda.grid(1), in "
            "grad_bias and in grad_out.": left(right[col % ACROSS]),
        },
        per="block",
    )
