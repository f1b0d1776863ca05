"""Waiting time of a new process: importing kinetree, the first call of forward dynamics, and a command's second run.

The first call is measured without machine code on disk, and with it: for one sample and for a batch, which are separate
modules. Without it, LLVM is imported and compiles; with it, LLVM is not even imported if kinetree's own loader
suffices. The memory is what the process holds after the call (Linux only).

"From start to end" is the time of a whole process as its parent sees it: Python and NumPy start, kinetree is imported,
a robot of the zoo is loaded, the first kt.aba is called, and the process ends. The goal is for code on disk. It is
printed with bytecode, as after an installation, and without (PYTHONDONTWRITEBYTECODE, and none kept). The first call is
also measured with LLVM's loader in place of kinetree's own, which decides whether the latter is worth having.

    python benchmarks/startup.py [--rounds 7]

Each round is a process of its own, with Python's bytecode available, as after an installation; medians are printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kinetree.codegen.cpu.loader import has_loader
from robots import ROBOTS, Robot

_IMPORT = "import time; t = time.perf_counter(); import kinetree; print(time.perf_counter() - t)"
_FIRST_USE = """
import mmap, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, kinetree as kt
path, floating, samples, expected = sys.argv[1:]
robot = kt.load(path, floating_base=floating == "True", mimic=False)
q = robot.neutral() if samples == "1" else np.tile(robot.neutral(), (int(samples), 1))
v = tau = np.zeros(robot.nv)
t = time.perf_counter()
kt.aba(robot, q, v, tau)
print(time.perf_counter() - t)
if expected == "without LLVM" and "llvmlite" in sys.modules:
    sys.exit("LLVM was imported")
try:
    print(int(open("/proc/self/statm").read().split()[1]) * mmap.PAGESIZE / 1e6)
except OSError:
    print("nan")
"""

_START_TO_END = """
import sys
import numpy as np, kinetree as kt
robot = kt.zoo.load("arm7")
zero = np.zeros(robot.nv)
kt.aba(robot, robot.neutral(), zero, zero)
print(sum(name.partition(".")[0] == "kinetree" for name in sys.modules))
"""
_WITH_LLVM = """
import sys, time
import numpy as np, kinetree as kt
if sys.argv[1] == "LLVM":
    from kinetree.codegen.cpu import loader
    def unknown(*arguments):
        raise loader.UnknownObjectError("LLVM is to load it")
    loader.load = unknown
robot = kt.zoo.load("arm7")
zero = np.zeros(robot.nv)
t = time.perf_counter()
kt.aba(robot, robot.neutral(), zero, zero)
print(time.perf_counter() - t)
"""
_COMMAND = "from kinetree.cli import main; main(['simulate', 'double_pendulum', '-o', sys.argv[1]])"


def medians(rounds: int, environment: Mapping[str, str], code: str, *arguments: str) -> list[float]:
    """Medians of the numbers that `code` prints, each time in a new process, after one warm-up run."""
    command = [sys.executable, "-c", code, *arguments]

    def numbers() -> list[float]:
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment})
        return [float(word) for word in done.stdout.split()]

    numbers()
    return [statistics.median(found) for found in zip(*(numbers() for _ in range(rounds)), strict=True)]


@contextmanager
def bytecode() -> Iterator[dict[str, str]]:
    """An environment in which Python finds what it compiled before, whatever the user's own settings."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}


def first_use(robot: Robot, samples: int, rounds: int, environment: Mapping[str, str]) -> None:
    """Print a line about a new process that calls aba of this robot with this many samples."""
    what = (robot.path, str(robot.floating), str(samples))
    name = f"first use of aba, {robot.name}, {'one sample' if samples == 1 else f'{samples} samples'}"
    cold, with_llvm = medians(rounds, {**environment, "KINETREE_CACHE": "off"}, _FIRST_USE, *what, "")
    with tempfile.TemporaryDirectory() as folder:
        on = {**environment, "KINETREE_CACHE": "on", "KINETREE_CACHE_DIR": str(Path(folder, "kinetree"))}
        medians(1, on, _FIRST_USE, *what, "")
        if not os.listdir(on["KINETREE_CACHE_DIR"]):
            raise SystemExit("nothing was kept on disk; was a file of kinetree changed in the last second?")
        warm, without = medians(rounds, on, _FIRST_USE, *what, "without LLVM" if has_loader() else "")
    goal = " (goal 1.5 s)" if robot.name == "Panda" else ""
    print(f"{name}: {cold:.2f} s{goal}, {with_llvm:.0f} MB")
    print(f"  with machine code on disk: {1e3 * warm:.1f} ms (goal 20 ms), {without:.0f} MB")


def seconds(rounds: int, environment: Mapping[str, str], code: str, *arguments: str) -> float:
    """Median time of whole processes, from start to end, after one warm-up run."""

    def once() -> float:
        begin = time.perf_counter()
        command = [sys.executable, "-c", code, *arguments]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        return time.perf_counter() - begin

    once()
    return statistics.median(once() for _ in range(rounds))


def whole_processes(rounds: int, environment: Mapping[str, str]) -> None:
    """Print lines about processes with machine code on disk, from start to end, and about the two loaders."""
    with tempfile.TemporaryDirectory() as folder:
        on = {**environment, "KINETREE_CACHE": "on", "KINETREE_CACHE_DIR": str(Path(folder, "kinetree"))}
        plain = {**on, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": ""}
        (modules,) = medians(1, on, _START_TO_END)
        print(f"first aba with code on disk, from start to end, {modules:.0f} modules of kinetree:")
        print(f"  with bytecode {seconds(rounds, on, _START_TO_END):.2f} s (goal 0.35 s), ", end="")
        print(f"without {seconds(rounds, plain, _START_TO_END):.2f} s; ", end="")
        print(f"NumPy alone {seconds(rounds, on, 'import numpy'):.2f} s")
        own, llvm = (medians(rounds, on, _WITH_LLVM, loader)[0] for loader in ("own", "LLVM"))
        print(f"  the call alone: {1e3 * own:.1f} ms with kinetree's loader, {1e3 * llvm:.1f} ms with LLVM's")
        command = f"import sys; {_COMMAND}"
        took = seconds(rounds, on, command, str(Path(folder, "motion")))
        print(f"kinetree simulate double_pendulum, second run, from start to end: {took:.2f} s (goal 1.5 s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with bytecode() as environment:
        print(f"import kinetree: {medians(rounds, environment, _IMPORT)[0]:.3f} s (goal 0.4 s)")
        whole_processes(rounds, environment)
        for robot in ROBOTS:
            for samples in (1, 16):
                first_use(robot, samples, rounds, environment)


if __name__ == "__main__":
    main()
