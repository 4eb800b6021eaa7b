"""The pytest plugin of gpukit: `pytest --gpukit-check` checks every launch of a test suite.

pytest loads it wherever gpukit is installed (entry point `pytest11`), so this module only defines
the options: without `--gpukit-check` nothing else is imported. With it the plugin is in
`gpukit.testing.plugin`, which stands in for `numba.cuda` before pytest reads the first conftest.

    --gpukit-check               findings fail the test that launched the kernel
    --gpukit-junit FILE          JUnit XML of the findings
    --gpukit-baseline FILE       findings that are known, and do not fail
    --gpukit-baseline-write      write the findings of this run to that file
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("gpukit", "Numba CUDA code on gpukit")
    group.addoption(
        "--gpukit-check",
        action="store_true",
        help="check every kernel launch; findings fail the test that launched the kernel",
    )
    group.addoption("--gpukit-junit", metavar="FILE", help="write JUnit XML of the findings")
    group.addoption(
        "--gpukit-baseline",
        metavar="FILE",
        help="do not fail for the findings in this file, which --gpukit-baseline-write writes",
    )
    group.addoption(
        "--gpukit-baseline-write",
        action="store_true",
        help="write the findings of this run to the file of --gpukit-baseline; they do not fail",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin to check, if asked to, before any conftest or test imports `numba.cuda`."""
    options = early_config.known_args_namespace
    if options.gpukit_check:
        from gpukit.testing import plugin

        plugin.begin(early_config)
    elif options.gpukit_junit or options.gpukit_baseline_write:
        given = "--gpukit-junit" if options.gpukit_junit else "--gpukit-baseline-write"
        raise pytest.UsageError(
            f"{given}: expected --gpukit-check as well, as only a checked run has findings. Add "
            "--gpukit-check."
        )
