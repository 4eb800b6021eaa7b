"""Data parallel training on two ranks has the losses of PyTorch's DistributedDataParallel."""

from benchmarks import gloo


def test_losses_of_two_ranks_are_those_of_pytorch():
    found = gloo.measured()
    assert found["training"]["steps"] == 56
    assert found["training"]["apart"] < 1e-5
