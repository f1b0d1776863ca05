"""Calls of `kt.interop.to_torch` beside `kt.compile`'s builtin with NumPy's arrays: values, with derivatives, and
compiled.

    python benchmarks/torch_calls.py [--rounds 200] [--robots 2] [--no-inductor]

Calls take turns in one process, on one thread of PyTorch's; medians of rounds. The goal: a call without derivatives
takes at most 4 µs more than the builtin, with one sample and with a small batch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

import kinetree as kt
from robots import ROBOTS, Robot
from timing import medians

BATCHES = 1, 64, 512, 4096


def compare(robot: Robot, rounds: int, inductor: bool) -> None:
    model, rng = robot.load(), np.random.default_rng(0)
    begun = time.perf_counter()
    f, builtin = kt.interop.to_torch(model, kt.aba), kt.compile(model, kt.aba)
    single = [model.random(rng), *rng.normal(size=(2, model.nv))]
    f(*map(torch.from_numpy, single))
    print(f"{robot.name}: the first call after {time.perf_counter() - begun:.2f} s", end="")
    begun = time.perf_counter()
    tracked = [torch.tensor(x, requires_grad=True) for x in single]
    f(*tracked).sum().backward()
    print(f", the first gradient after {time.perf_counter() - begun:.2f} s more")
    compiled = torch.compile(f, fullgraph=True) if inductor else None
    for count in (None, *BATCHES):
        arrays = [x if count is None else np.tile(x, (count, 1)) for x in single]
        print(f"    {'one sample' if count is None else f'batch of {count}':14}", end="")
        rows(arrays, f, builtin, compiled, rounds)


def rows(
    arrays: list[np.ndarray],
    f: Callable[..., torch.Tensor],
    builtin: Callable[..., np.ndarray],
    compiled: Callable[..., torch.Tensor] | None,
    rounds: int,
) -> None:
    tensors = [*map(torch.from_numpy, arrays)]
    tracked = [x.clone().requires_grad_() for x in tensors]
    converted = [x.float() for x in tensors[:1]] + tensors[1:]
    ones = torch.ones_like(f(*tensors))
    assert np.array_equal(f(*tensors), builtin(*arrays))
    calls: dict[str, Callable[[], object]] = {
        "builtin": lambda: builtin(*arrays),
        "no gradients": lambda: f(*tensors),
        "one converted": lambda: f(*converted),
        "recorded": lambda: f(*tracked),
        "and backward": lambda: torch.autograd.grad(f(*tracked), tracked, ones),
    }
    if compiled is not None:
        compiled(*tensors)
        calls["torch.compile"] = lambda: compiled(*tensors)
    times = medians(calls, rounds, repeat=20)
    own = times.pop("builtin")
    print(f" builtin {own * 1e6:7.2f} µs;", end="")
    print(";".join(f" {name} {(t - own) * 1e6:+8.2f} µs, {t / own:5.2f} times" for name, t in times.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--robots", type=int, default=len(ROBOTS), help="how many of the four")
    parser.add_argument("--no-inductor", action="store_true", help="without torch.compile, which needs a C++ compiler")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for robot in ROBOTS[: given.robots]:
        compare(robot, given.rounds, not given.no_inductor)


if __name__ == "__main__":
    main()
