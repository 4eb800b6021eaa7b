"""Finance: option prices, trees, Monte Carlo, indicators, risk."""

import math

import numpy as np
from numba import cuda, float32, float64
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
)

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
def binomial_tree(spot, strikes, out, u, p, discount):
    values = cuda.shared.array(33, float64)
    t, o = cuda.threadIdx.x, cuda.blockIdx.x
    n = cuda.blockDim.x - 1
    values[t] = max(strikes[o] - spot * u ** (2 * t - n), 0.0)
    for step in range(n, 0, -1):
        cuda.syncthreads()
        if t < step:
            hold = discount * (p * values[t + 1] + (1 - p) * values[t])
            now = strikes[o] - spot * u ** (2 * t - step + 1)
        cuda.syncthreads()
        if t < step:
            values[t] = hold if hold > now else now
    if t == 0:
        out[o] = values[0]


@program()
def american_put_one_tree_a_block():
    n, u, discount = 32, math.exp(0.2 * math.sqrt(1 / 32)), math.exp(-0.03 / 32)
    p = (1 / discount - 1 / u) / (u - 1 / u)
    strikes = np.linspace(80, 120, 7)
    out = np.full(7, np.nan)
    binomial_tree[7, n + 1](100.0, strikes, out, u, p, discount)
    exponents = np.arange(-n, n + 1, 2)
    v = np.maximum(strikes[:, None] - 100 * u ** exponents.astype(float), 0)
    for step in range(n - 1, -1, -1):
        exercise = strikes[:, None] - 100 * u ** np.arange(-step, step + 1, 2).astype(float)
        v = np.maximum(discount * (p * v[:, 1:] + (1 - p) * v[:, :-1]), exercise)
    yield out, v[:, 0]


@cuda.jit
def paths_kernel(prices, z, s0, drift, vol, dt):
    path = cuda.grid(1)
    if path < prices.shape[0]:
        s = prices[path, 0] = s0
        for k in range(1, prices.shape[1]):
            s *= math.exp((drift - 0.5 * vol**2) * dt + vol * math.sqrt(dt) * z[path, k - 1])
            prices[path, k] = s


@cuda.jit
def asian_payoff(prices, strike, barrier, payoff):
    i = cuda.grid(1)
    if i < payoff.size:
        total, alive = 0.0, True
        for k, s in enumerate(prices[i]):
            if s > barrier:
                alive = False
                break
            total += s
        payoff[i] = max(total / prices.shape[1] - strike, 0.0) if alive else 0.0


@program()
def asian_option_with_a_barrier():
    z = np.random.default_rng(2).normal(size=(111, 12))
    prices, payoff = cuda.device_array((111, 13)), cuda.device_array(111)
    paths_kernel[4, 32](prices, z, 100, 0.05, 0.4, 1 / 12)
    asian_payoff[4, 32](prices, 95.0, 130.0, payoff)
    logs = np.cumsum((0.05 - 0.08) / 12 + 0.4 * np.sqrt(1 / 12) * z, axis=1)
    wanted = 100 * np.exp(np.pad(logs, ((0, 0), (1, 0))))
    yield prices, wanted
    mean = np.clip(wanted.mean(1) - 95, 0, None)
    yield payoff, np.where(wanted.max(1) > 130, 0, mean)


@cuda.jit
def pi_kernel(states, rounds, hits):
    gid = cuda.grid(1)
    inside = 0
    for _ in range(rounds):
        x = xoroshiro128p_uniform_float32(states, gid)
        y = xoroshiro128p_uniform_float32(states, gid)
        if x**2 + y**2 <= 1.0:
            inside += 1
    hits[gid] = inside


@program(tolerance=0.03)
def monte_carlo_pi_with_xoroshiro():
    states = create_xoroshiro128p_states(64 * 4, seed=1)
    hits = np.zeros(64 * 4, dtype=np.int32)
    pi_kernel[4, 64](states, 100, hits)
    yield np.array(4 * hits.sum() / 25600), np.pi


@cuda.jit
def var_kernel(states, chol, weights, losses):
    i = cuda.grid(1)
    if i >= losses.shape[0]:
        return
    z0 = xoroshiro128p_normal_float64(states, i)
    z1 = xoroshiro128p_normal_float64(states, i)
    move0 = chol[0, 0] * z0
    move1 = chol[1, 0] * z0 + chol[1, 1] * z1
    losses[i] = -(weights[0] * move0 + weights[1] * move1)


@program(tolerance=0.08)
def value_at_risk_of_correlated_assets():
    cov = np.array([[0.04, 0.018], [0.018, 0.09]])
    weights = np.array([0.6, 0.4])
    losses = cuda.device_array(4000)
    states = create_xoroshiro128p_states(4096, seed=7)
    var_kernel[32, 128](states, np.linalg.cholesky(cov), weights, losses)
    sigma = math.sqrt(weights @ cov @ weights)
    host = losses.copy_to_host()
    yield np.array(host.std()), sigma
    yield np.array(np.quantile(host, 0.95)), 1.6449 * sigma


@cuda.jit
def moving_averages(price, windows, out):
    w, i = cuda.grid(2)
    if w >= windows.size or i >= price.size:
        return
    n = windows[w]
    if i + 1 < n:
        out[w, i] = math.nan
    else:
        s = 0.0
        for k in range(i + 1 - n, i + 1):
            s += price[k]
        out[w, i] = s / n


@program()
def simple_moving_averages_with_nan():
    price = 100 + np.random.default_rng(3).normal(size=60).cumsum()
    windows, out = np.array([1, 5, 20], np.int32), np.zeros((3, 60))
    moving_averages[(1, 8), (4, 8)](price, windows, out)
    for row, n in zip(out, windows):
        yield row[: n - 1], np.full(n - 1, np.nan)
        yield row[n - 1 :], np.convolve(price, np.full(n, 1 / n), "valid")


@cuda.jit
def implied_vol(prices, strikes, s, t, out):
    i = cuda.grid(1)
    if i < prices.size:
        lo, hi = 1e-4, 3.0
        n = 0
        while hi - lo > 1e-12 and n < 200:
            mid = (lo + hi) / 2
            d1 = math.log(s / strikes[i]) / (mid * math.sqrt(t)) + 0.5 * mid * math.sqrt(t)
            d2 = d1 - mid * math.sqrt(t)
            value = 0.5 * (s * math.erfc(-d1 / math.sqrt(2)) - strikes[i] * math.erfc(-d2 / 2**0.5))
            if value < prices[i]:
                lo = mid
            else:
                hi = mid
            n += 1
        out[i] = 0.5 * (lo + hi)


@program(tolerance=1e-8)
def implied_volatility_by_bisection():
    sigma, strikes = np.linspace(0.1, 0.8, 33), np.linspace(80, 120, 33)
    d1 = np.log(100 / strikes) / sigma + sigma / 2
    prices = 100 * normal_cdf(d1) - strikes * normal_cdf(d1 - sigma)
    out = np.full(33, np.nan)
    implied_vol[2, 32](prices, strikes, 100.0, 1.0, out)
    yield out, sigma


@cuda.jit
def max_drawdown(curves, worst):
    i = cuda.grid(1)
    if i < curves.shape[1]:
        peak, drop = -math.inf, float32(0)
        for t in range(curves.shape[0]):
            peak = max(peak, curves[t, i])
            drop = max(drop, 1 - curves[t, i] / peak)
        worst[i] = drop


@program()
def drawdown_of_columns():
    curves = np.exp(np.random.default_rng(4).normal(0, 0.1, (50, 21)).cumsum(0)).astype(np.float32)
    worst = np.full(21, np.nan, np.float32)
    max_drawdown[1, 32](curves, worst)
    yield worst, (1 - curves / np.maximum.accumulate(curves, 0)).max(0)


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
