"""Finance: option prices, trees, Monte Carlo, indicators, risk."""

import math

import numpy as np
from numba import cuda

from tests.programs.registry import program

A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429


@cuda.jit(device=True)
def cnd(d):
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    tail = 0.3989422804014327 * math.exp(-0.5 * d * d)
    tail *= k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5))))
    if d > 0:
        tail = 1.0 - tail
    return tail


@cuda.jit
def black_scholes(call, put, s, x, t, r, v):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i >= s.shape[0]:
        return
    sqrt_t = math.sqrt(t[i])
    d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * sqrt_t)
    d2 = d1 - v * sqrt_t
    discounted = x[i] * math.exp(-1.0 * r * t[i])
    call[i] = s[i] * cnd(d1) - discounted * cnd(d2)
    put[i] = discounted * (1.0 - cnd(d2)) - s[i] * (1.0 - cnd(d1))


def normal_cdf(x):
    return 0.5 * np.vectorize(math.erfc)(-np.asarray(x) / math.sqrt(2))


@program(tolerance=1e-5)
def black_scholes_as_in_the_numba_examples():
    rng = np.random.default_rng(1)
    s, x, t = rng.uniform(5, 30, 301), rng.uniform(1, 100, 301), rng.uniform(0.25, 10, 301)
    call, put = np.full((2, 301), np.nan)
    stream = cuda.stream()
    d_call, d_put = cuda.to_device(call, stream), cuda.to_device(put, stream)
    black_scholes[10, 32, stream](d_call, d_put, s, x, t, 0.02, 0.3)
    d_call.copy_to_host(call, stream)
    d_put.copy_to_host(put, stream)
    stream.synchronize()
    d1 = (np.log(s / x) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    wanted = s * normal_cdf(d1) - x * np.exp(-0.02 * t) * normal_cdf(d1 - 0.3 * np.sqrt(t))
    yield call, wanted
    yield put, wanted - s + x * np.exp(-0.02 * t)


@cuda.jit
def sweep(close, fast, slow, profit):
    f, s = cuda.grid(2)
    if f >= fast.size or s >= slow.size or fast[f] >= slow[s]:
        return
    cash, held = 1000.0, 0.0
    ema_f = ema_s = close[0]
    for price in close:
        ema_f += 2 / (fast[f] + 1) * (price - ema_f)
        ema_s += 2 / (slow[s] + 1) * (price - ema_s)
        if ema_f > ema_s and held == 0:
            held, cash = cash / price, 0.0
        elif ema_f < ema_s and held:
            cash, held = held * price, 0.0
    profit[f, s] = cash + held * close[-1] - 1000


@program(warns="negative-index")
def parameter_sweep_of_a_trading_rule():
    close = 50 * np.exp(np.random.default_rng(5).normal(0, 0.03, 80).cumsum())
    fast, slow = np.array([3, 6, 12]), np.array([5, 9, 14, 30])
    profit = np.zeros((3, 4))
    sweep[(1, 1), (4, 4)](close, fast, slow, profit)

    def ema(n):
        k = 2 / (n + 1)
        weights = k * (1 - k) ** np.subtract.outer(np.arange(80), np.arange(80)).clip(0)
        return np.tril(weights) @ close + (1 - k) ** np.arange(1, 81) * close[0]

    wanted = np.zeros((3, 4))
    for i, j in np.ndindex(3, 4):
        if fast[i] < slow[j]:
            sign = np.sign(ema(fast[i]) - ema(slow[j]))
            held = False
            wealth = 1000.0
            for k in range(80):
                wealth *= close[k] / close[k - 1] if held else 1
                held = sign[k] > 0 or (held and sign[k] == 0)
            wanted[i, j] = wealth - 1000
    yield profit, wanted
