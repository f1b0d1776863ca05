"""Environments to learn in, beside gymnasium's and beside MuJoCo's batches, in one process and in turn.

    python benchmarks/learning.py [hopper ant humanoid quadruped …] [--part steps one python threads first]
        [--worlds 4096] [--rounds 20]

Worlds are in play: they have had 100 steps of random actions within their bounds (±1 where there are none), and go on
so, with all resets. Times are the processor's, of all threads and processes, except those of `threads`; the load of the
machine is printed, since memory and caches are shared with other work.

- steps: environment steps per second and core of many worlds, beside gymnasium's SyncVectorEnv (64 worlds) and
  AsyncVectorEnv (8 worlds, each in a process of its own, of which the time is counted), both of which scale with
  the number of worlds; and beside `mujoco.batch`, which does the physics alone, on one thread, in the same states under
  the same actions, with gymnasium's model as it is.
- one: a single world, `env.step`, beside the step of gymnasium's environment without its wrappers, and resets; and what
  of it is not machine code: a call of a program with the same arguments and results that does nothing is such overhead,
  and what `env.step` adds to a call of its program.
- python: the share of `env.step` of many worlds that is not the call of its program, measured with a program that is
  not called at all.
- threads: steps per second on one and two threads, by the clock in the least busy moments, and the processor time that
  both need together, which on free cores says the same; and a model of more. A step takes the time of one
  thread divided by the number of threads, and what is not divided; and reads a state and an action and writes results,
  whose lines are read before, of each world, at the speed of memory, a copy of arrays larger than all caches.
- first: seconds from the start of Python to the first step, in a process of its own with no machine code on disk: the
  processor time of the thread that asks, and of all; and again with machine code on disk.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import kinetree as kt
from timing import medians

GYMNASIUM = {"hopper": "Hopper-v5", "ant": "Ant-v5", "humanoid": "Humanoid-v5"}
FEW = 64
"""Worlds of gymnasium's SyncVectorEnv."""
WORKERS = 8
"""Worlds of gymnasium's AsyncVectorEnv, one process each."""
CORES = 64
MEMORY = 200e9
"""Bytes per second of the memory of a server with so many cores: eight channels of DDR4-3200."""

Array = np.ndarray[Any, np.dtype[np.float64]]


class Play:
    """Worlds in play: each call is one step of all of them under random actions."""

    def __init__(self, name: str, worlds: int | None) -> None:
        self.env = kt.learning.task(name)
        now = self.env.reset(seed=0, worlds=worlds)
        rng = np.random.default_rng(0)
        low, high = np.maximum(self.env.action_low, -1.0), np.minimum(self.env.action_high, 1.0)
        shape = (*now.state.shape[:-1], self.env.action_size)
        self._actions = itertools.cycle([rng.uniform(low, high, shape) for _ in range(16)])
        buffers = [self.env.worlds(np.zeros_like(now.numbers)) for _ in range(2)]
        self._buffers, self.now, self.action = itertools.cycle(buffers), now, next(self._actions)
        self.options: dict[str, Any] = {} if worlds is None else {"threads": 1}
        for _ in range(100):
            self()

    def __call__(self) -> None:
        self.now = self.env.step(self.now.state, self.action, out=next(self._buffers), **self.options)
        self.action = next(self._actions)

    def program(self) -> Callable[[], object]:
        """The call of the program of a step, without the rest of `env.step`; the worlds stay where they are."""
        call, out = self.env.program().compile(), np.zeros_like(self.now.numbers)
        return lambda: call(self.now.state, self.action, out=out, **self.options)

    def nothing(self) -> Callable[[], object]:
        """The call of a program that does nothing, with the same arguments and results."""
        size = self.now.numbers.shape[-1]
        shapes = {"state": self.now.state.shape[-1], "action": self.env.action_size}
        idle = kt.program(lambda state, action: 0.0 * (state[0] + action[0]) + np.zeros(size), **shapes)
        call, out = idle.compile(), np.zeros_like(self.now.numbers)
        return lambda: call(self.now.state, self.action, out=out, **self.options)

    @property
    def bytes(self) -> int:
        """Bytes that a step of one world moves."""
        return 8 * (self.now.state.shape[-1] + self.env.action_size + 2 * self.now.numbers.shape[-1])


# -- many worlds


def steps(name: str, worlds: int, rounds: int) -> None:
    """Steps per second and core."""
    play = Play(name, worlds)
    took: dict[str, list[float]] = {}
    others = [f(play, GYMNASIUM[name]) for f in (physics, synchronous, asynchronous)] if name in GYMNASIUM else []
    for _ in range(rounds):
        for other in others:
            title, seconds = next(other)
            took.setdefault(title, []).append(seconds)
        start = time.process_time()
        play()
        took.setdefault("", []).append((time.process_time() - start) / worlds)
    for other in others:
        other.close()
    own = statistics.median(took.pop(""))
    print(f"{name:12} {1.0 / own:9,.0f} steps/s and core ({own * 1e6:.2f} µs)", end="")
    for title, each in took.items():
        t = statistics.median(each)
        print(f"; {title} {1.0 / t:,.0f} ({t * 1e6:.0f} µs): {t / own:.1f} times", end="")
    print()


def physics(play: Play, name: str) -> Iterator[tuple[str, float]]:
    """`mujoco.batch` in the states of the worlds."""
    import gymnasium
    from mujoco.batch import Batch

    one = gymnasium.make(name).unwrapped
    count, layout = len(play.now.state), kt.interop.Layout(play.env.robot, "mujoco")
    batch = Batch(one.model, count, nthread=1)
    qpos, qvel, ctrl = (batch.bind(x) for x in ("qpos", "qvel", "ctrl"))
    while True:
        state = play.env.parts_of_state(play.now.state)
        qpos[:], qvel[:], ctrl[:] = layout.q_to(state["q"]), layout.v_to(state["q"], state["v"]), play.action
        start = time.process_time()
        batch.step(nstep=one.frame_skip)
        yield "mujoco.batch, physics alone", (time.process_time() - start) / count


def synchronous(play: Play, name: str) -> Iterator[tuple[str, float]]:
    """gymnasium's worlds, one after the other."""
    import gymnasium

    envs = gymnasium.make_vec(name, num_envs=FEW, vectorization_mode="sync")
    yield from vectorised(play, "SyncVectorEnv", envs, time.process_time)


def asynchronous(play: Play, name: str) -> Iterator[tuple[str, float]]:
    """gymnasium's worlds in processes of their own."""
    import gymnasium

    envs = gymnasium.make_vec(name, num_envs=WORKERS, vectorization_mode="async")
    clocks = [~process.pid << 3 | 2 for process in envs.processes]  # clock_getcpuclockid(3), which Python has not

    def clock() -> float:
        return time.process_time() + sum(map(time.clock_gettime, clocks))

    yield from vectorised(play, "AsyncVectorEnv", envs, clock)


def vectorised(play: Play, title: str, envs: Any, clock: Callable[[], float]) -> Iterator[tuple[str, float]]:
    envs.reset(seed=0)
    count = envs.num_envs
    for k in itertools.count():
        start = clock()
        envs.step(play.action[:count])
        if k >= 100:  # as many as the worlds beside it have had
            yield title, (clock() - start) / count


# -- one world


def one(name: str, _: int, rounds: int) -> None:
    """A single world."""
    play = Play(name, None)
    calls: dict[str, Callable[[], object]] = {"step": play, "program": play.program(), "nothing": play.nothing()}
    if name in GYMNASIUM:
        import gymnasium

        theirs = gymnasium.make(GYMNASIUM[name]).unwrapped
        theirs.reset(seed=0)

        def step() -> None:
            if theirs.step(play.action)[2]:
                theirs.reset()

        calls["gymnasium"] = step
    t = {title: 1e6 * x for title, x in medians(calls, 10 * rounds, 20, time.process_time).items()}
    overhead = t["nothing"] + t["step"] - t["program"]
    print(f"{name:12} env.step {t['step']:7.1f} µs, of which {overhead:.1f} are not the machine code's", end="")
    print(f"; gymnasium {t['gymnasium']:.0f}: {t['gymnasium'] / t['step']:.1f} times" if name in GYMNASIUM else "")


# -- Python's share


def python(name: str, worlds: int, rounds: int) -> None:
    """The part of a step of many worlds that is not the call of its program."""
    play = Play(name, worlds)
    whole = medians({"": play}, rounds, clock=time.process_time)[""]
    rest = without_program(play, rounds)
    print(f"{name:12} {rest * 1e6:5.1f} µs of {whole * 1e3:6.2f} ms are Python's: {rest / whole:.2%}")


def without_program(play: Play, rounds: int) -> float:
    """Seconds that `env.step` takes where its program is not called, and those of a call with hardly any work."""
    few = Play.__new__(Play)
    few.__dict__.update(vars(play), now=play.env.worlds(play.now.numbers[:1]), action=play.action[:1])
    called, key = play.env._called, ("step", play.now.state.dtype)
    kept, called[key] = called[key], lambda *_, **__: None
    try:
        own = medians({"": play}, 10 * rounds, 10, time.process_time)[""]
    finally:
        called[key] = kept
    return own + medians({"": few.nothing()}, 10 * rounds, 10, time.process_time)[""]


# -- threads


def threads(name: str, worlds: int, rounds: int) -> None:
    """Steps per second on one and two threads, and a model of many."""
    play, took = Play(name, worlds), dict[int, list[tuple[float, float]]]()
    for _ in range(2 * rounds):
        for count in (1, 2):
            play.options = {"threads": count}
            start = time.perf_counter(), time.process_time()
            play()
            end = time.perf_counter(), time.process_time()
            took.setdefault(count, []).append(((end[0] - start[0]) / worlds, (end[1] - start[1]) / worlds))
    by_clock = {count: min(x for x, _ in each) for count, each in took.items()}  # the least busy moments
    worked = {count: statistics.median(x for _, x in each) for count, each in took.items()}
    alone = worked[1]
    play.options = {"threads": 1}
    rest = without_program(play, rounds)
    print(
        f"{name:12} {1.0 / by_clock[1]:9,.0f} steps/s on one thread, {1.0 / by_clock[2]:,.0f} on two: "
        f"{by_clock[1] / by_clock[2]:.2f} times by the clock; two take {worked[2] / worked[1]:.2f} times the processor "
        f"time of one; {play.bytes} bytes a step: {play.bytes / alone / 1e9:.2f} GB/s a core of "
        f"{copied(1) / 1e9:.0f} (one thread) and {copied(2) / 1e9:.0f} (two)"
    )
    for count in (worlds, 16 * worlds):
        time_of_step = max((alone - rest / worlds) * count / CORES + rest, play.bytes * count / MEMORY)
        print(
            f"{'':12} model of {CORES} cores and {MEMORY / 1e9:.0f} GB/s: {count:6} worlds {count / time_of_step:,.0f} "
            f"steps/s, {count / time_of_step * alone:.0f} times one; memory alone {MEMORY / play.bytes:,.0f}"
        )


def copied(count: int) -> float:
    """Bytes read and written per second by copies of large arrays on so many threads."""
    pairs = [(np.ones(1 << 25), np.ones(1 << 25)) for _ in range(count)]  # 256 MiB each
    best = np.inf
    with ThreadPoolExecutor(count) as pool:
        for _ in range(5):
            start = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), pairs))
            best = min(best, time.perf_counter() - start)
    return 2 * count * pairs[0][0].nbytes / best


# -- first use


FIRST = """
import sys, time
import numpy as np
import kinetree as kt
env = kt.learning.task(sys.argv[1])
worlds = env.reset(seed=0, worlds=int(sys.argv[2]))
env.step(worlds.state, np.zeros((len(worlds.state), env.action_size)), threads=1)
print(f"{time.thread_time():.1f} s, {time.process_time():.1f} of all threads", end="")
"""


def first(name: str, worlds: int, _: int) -> None:
    """From the start of Python to the first step."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "KINETREE_CACHE_DIR": cache}
        environment.pop("KINETREE_OPTIMIZE", None)
        command = [sys.executable, "-c", FIRST, name, str(worlds)]
        runs = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2)]
    print(f"{name:12} {runs[0].stdout}; with code on disk {runs[1].stdout}")


PARTS = {"steps": steps, "one": one, "python": python, "threads": threads, "first": first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=[*GYMNASIUM, "quadruped"])
    parser.add_argument("--part", nargs="+", choices=[*PARTS], default=[*PARTS])
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    for part in given.part:
        print(f"-- {part}; load {os.getloadavg()[0]:.1f}", flush=True)
        for name in given.tasks:
            PARTS[part](name, given.worlds, given.rounds)


if __name__ == "__main__":
    main()
