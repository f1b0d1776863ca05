"""Policies in batches, compared with PyTorch's modules on one thread.

    python benchmarks/policies.py [--rounds 30] [--samples 4096]

Actions of a perceptron of 48-128-128-12 with common weights, and the gradient of 32 steps by them; processor time.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import kinetree as kt
from timing import medians

SIZES, STEPS = (48, 128, 128, 12), 32
LAYERS = {"relu": torch.nn.ReLU, "elu": torch.nn.ELU, "tanh": torch.nn.Tanh}


def compare(title: str, calls: dict[str, Callable[[], object]], actions: int, rounds: int) -> None:
    own, other = (1e6 * t / actions for t in medians(calls, rounds, clock=time.process_time).values())
    print(f"{title:28} {own:6.2f} µs, PyTorch {other:6.2f}: {other / own:4.1f} times")


def measure(activation: str, dtype: type, samples: int, rounds: int) -> None:
    policy = kt.learning.mlp(SIZES, activation)
    rng = np.random.default_rng(0)
    weights, x = policy.initial(rng).astype(dtype), rng.normal(size=(samples, SIZES[0])).astype(dtype)
    a, b, c = (torch.nn.Linear(n, m) for n, m in itertools.pairwise(SIZES))
    net = torch.nn.Sequential(a, LAYERS[activation](), b, LAYERS[activation](), c).to(torch.tensor(x).dtype)

    @kt.program(weights=policy.size, x=SIZES[0])
    def act(weights: Any, x: Any) -> Any:
        return policy(weights, x)

    @kt.program(weights=policy.size, x=SIZES[0])
    def cost(weights: Any, x: Any) -> Any:
        def step(x: Any, _: Any) -> tuple[Any, None]:
            return 0.9 * x + np.concatenate([policy(weights, x)] * 4), None

        x, _ = kt.programs.scan(step, x, length=STEPS)
        return x @ x

    def torch_actions() -> None:
        with torch.no_grad():
            net(torch.from_numpy(x))

    def torch_gradient(x: np.ndarray) -> None:
        y = torch.from_numpy(x)
        net.zero_grad()
        for _ in range(STEPS):
            y = 0.9 * y + torch.cat([net(y)] * 4, -1)
        (y * y).sum().backward()

    title, few, ones = f"{activation} {np.dtype(dtype)}", x[:64], np.ones(64, dtype)
    calls: dict[str, Callable[[], object]] = {"kinetree": lambda: act(weights, x, threads=1), "PyTorch": torch_actions}
    compare(f"{title}, action", calls, samples, rounds)
    calls = {
        "kinetree": lambda: kt.vjp(cost, (weights, few), ones, threads=1),
        "PyTorch": lambda: torch_gradient(few),
    }
    compare(f"{title}, gradient", calls, STEPS * len(few), max(rounds // 4, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--samples", type=int, default=4096)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for activation in LAYERS:
        for dtype in (np.float64, np.float32):
            measure(activation, dtype, options.samples, options.rounds)


if __name__ == "__main__":
    main()
