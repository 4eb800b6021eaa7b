"""The advice in the findings of a launch."""

import gpukit
from tests.checked.plain_kernels import BLOCK


def fixes(kernel, blocks, *arguments, block=BLOCK):
    """Check a launch; return the advice of its findings by their kinds."""
    report = gpukit.check(kernel)[blocks, block](*arguments)
    return {found.kind: found.fix for found in report.findings}
