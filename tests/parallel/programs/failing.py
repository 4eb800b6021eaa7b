"""Fails on rank 1, in step 7, in the way that its first argument names."""

import os
import signal
import sys
import time

import numpy as np

from gpukit import nn, parallel

kind, *rest = sys.argv[1:]
world = parallel.World()
gradients = np.ones(5, np.float32)
world.all_reduce(gradients, name="gradients")
world.step = 7
if world.rank == 1:
    if kind == "exception":
        raise ZeroDivisionError("no examples")
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "leave":
        sys.exit()
    if kind == "stall":
        time.sleep(600)
    if kind == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
if kind == "disk" and world.rank == 0:
    parameters = nn.Parameters(nn.Linear(2, 2), seed=0)
    nn.save("/dev/full", parameters, nn.SGD(parameters, lr=1))
world.all_reduce(gradients, name="gradients")
if kind == "exit":
    sys.exit(5)
