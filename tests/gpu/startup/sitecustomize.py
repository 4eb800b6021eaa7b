"""On PYTHONPATH, this makes every Python process believe in a GPU: see tests/gpu/fake_driver.py."""

from tests.gpu import fake_driver

fake_driver.install()
