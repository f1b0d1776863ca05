"""How long a new process waits: importing kinetree, and the first call of Panda's forward dynamics.

    python benchmarks/startup.py [--rounds 7]

Each round is a process of its own; the medians are printed.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

from robots import ROBOTS

_IMPORT = "import time; t = time.perf_counter(); import kinetree; print(time.perf_counter() - t)"
_FIRST_USE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, kinetree as kt
robot = kt.load(sys.argv[1], floating_base=sys.argv[2] == "True")
t = time.perf_counter()
kt.aba(robot, robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
print(time.perf_counter() - t)
"""


def median_seconds(rounds: int, code: str, *arguments: str) -> float:
    """Of what `code` prints, each time in a new process."""
    command = [sys.executable, "-c", code, *arguments]
    times = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(rounds)]
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"import kinetree: {median_seconds(rounds, _IMPORT):.3f} s (goal 0.4)")
    for robot in ROBOTS:
        goal = " (goal 1.5)" if robot.name == "Panda" else ""
        seconds = median_seconds(rounds, _FIRST_USE, robot.path, str(robot.floating))
        print(f"first use of aba, {robot.name}: {seconds:.2f} s{goal}")


if __name__ == "__main__":
    main()
