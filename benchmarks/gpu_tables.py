"""The record of a GPU run as text, and as a table of Markdown."""

from __future__ import annotations

from typing import Any

from gpukit.bench import ceilings, timing


def table(record: dict[str, Any]) -> str:
    """Return the results as text; what is the floor, the fastest of all copies says."""
    fastest = max(record["ceilings"], key=lambda found: found["bytes"], default={})
    lines = [f"{len(record['right'])} kernels are right on small arrays."]
    lines.append(f"{'kernel':26} {'us':>10} {'GB/s':>8} {'Gflop/s':>9} {'floor':>6}  of")
    for r in record["results"]:
        told = [f"{100 * ratio:.0f} % of {name}" for name, ratio in r["of"].items()]
        told += [f"{name} varies by {100 * v:.0f} %" for name, v in r["varies"].items()]
        told += [f"{name} fails" for name in r["failed"]]
        if by_numpy := record["numpy"].get(r["kernel"], {}).get("seconds"):
            told.append(f"NumPy {1e3 * by_numpy:.3g} ms")
        seconds = r["seconds"][timing.OURS]["median"]
        floor = ceilings.Ceilings(**fastest).floor(r["bytes"], r["flops"], r["units"])
        lines.append(
            f"{r['kernel']:26} {1e6 * seconds:10.1f} "
            f"{r['bytes_per_second'] / 1e9:8.0f} {r['flops_per_second'] / 1e9:9.0f} "
            f"{seconds / floor:6.2f}  {', '.join(told)}"
        )
    lines += [f"WRONG {name}: {why}" for name, why in record["wrong"].items()]
    lines += [f"DIED at {name}: {why}" for name, why in record["died"].items()]
    if record["left_out"]:
        lines.append(f"No figures of: {', '.join(record['left_out'])}")
    return "\n".join(lines)


def markdown(record: dict[str, Any]) -> str:
    """Return the times as a table of Markdown, with the rivals' times over ours."""
    lines = [
        "| kernel | size | us | GB/s | CuPy / gpukit | PyTorch / gpukit | NumPy, ms |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for r in record["results"]:
        ratios = [
            f"{r['of'][name]:.2f}" if name in r["of"] else "-" for name in ("CuPy", "PyTorch")
        ]
        by_numpy = record["numpy"].get(r["kernel"], {}).get("seconds")
        cells = [
            f"`{r['kernel']}`",
            r["size"],
            f"{1e6 * r['seconds'][timing.OURS]['median']:.1f}",
            f"{r['bytes_per_second'] / 1e9:,.0f}",
            *ratios,
            f"{1e3 * by_numpy:.1f}" if by_numpy else "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
