"""Estimates in these tests come from the source, even where NVIDIA's compilers are installed."""

import pytest

from gpukit.estimates import machine_code


@pytest.fixture(autouse=True)
def from_the_source(monkeypatch):
    monkeypatch.setattr(machine_code, "available", lambda: False)
