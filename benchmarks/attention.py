"""Attention on the CPU target against PyTorch's, with the same number of threads, in turns.

    python -m benchmarks.attention [--threads 2] [--rounds 15] [--heads 64 8] [--length 128]

runs `scaled_dot_product_attention` and its gradients on arrays of float32, each side in turn,
compares the results first and prints medians. It needs PyTorch (`make torch` sets up where).
"""

from __future__ import annotations

import argparse
import os
import statistics
from typing import Any

import numpy as np

from benchmarks.speed import interleave

TOLERANCE = 2e-5  # of results of size 1


def main() -> None:
    """Measure what the arguments say and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--heads", type=int, nargs=2, default=(64, 8), metavar=("B", "H"))
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--width", type=int, default=64)
    chosen = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # gpukit has a thread for each core that it may use
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.threads])
    shape = (*chosen.heads, chosen.length, chosen.width)
    print(f"{shape}, float32, {chosen.threads} threads: median seconds of {chosen.rounds}")
    for causal in (False, True):
        for name, ours, theirs in comparisons(shape, causal, chosen.threads):
            check(name, ours(), theirs())
            taken = interleave({"ours": ours, "theirs": theirs}, chosen.rounds)
            mine, other = map(statistics.median, taken.values())
            print(
                f"{name + (' causal' if causal else ''):18} gpukit {mine:.4f}  PyTorch {other:.4f}"
                f"  {other / mine:.2f} of its speed"
            )


def comparisons(shape: tuple[int, ...], causal: bool, threads: int) -> Any:
    """Return, forwards and backwards, a name, our work and PyTorch's."""
    import torch

    import gpukit

    torch.set_num_threads(threads)
    draw = np.random.default_rng(20261125)
    query, key, value, grad = (draw.standard_normal(shape, np.float32) for _ in range(4))
    leaves = [torch.from_numpy(x).requires_grad_() for x in (query, key, value)]
    kept, out = np.empty(shape[:3], np.float32), np.empty(shape, np.float32)
    grads = tuple(np.empty(shape, np.float32) for _ in range(3))

    def forward() -> Any:
        gpukit.scaled_dot_product_attention(query, key, value, causal, out=out, logsumexp=kept)
        return [out]

    def backward() -> Any:
        return gpukit.scaled_dot_product_attention_backward(
            grad, query, key, value, out, kept, causal, out=grads
        )

    def torch_forward() -> Any:
        with torch.no_grad():
            return [torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)]

    forward()
    made = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)

    def torch_backward() -> Any:
        return torch.autograd.grad(made, leaves, torch.from_numpy(grad), retain_graph=True)

    return [("forward", forward, torch_forward), ("backward", backward, torch_backward)]


def check(name: str, ours: Any, theirs: Any) -> None:
    """Raise unless two lists of results agree."""
    for mine, other in zip(ours, theirs, strict=True):
        error = float(np.abs(mine - other.detach().numpy()).max())
        if not error <= TOLERANCE:
            raise SystemExit(f"{name}: expected an error of at most {TOLERANCE}, got {error}.")


if __name__ == "__main__":
    main()
