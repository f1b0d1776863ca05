"""How long a new process waits: importing kinetree, and the first call of forward dynamics.

The first call is measured without machine code on disk, and with it. With it, most is the import of llvmlite; so what
the call takes when llvmlite is imported already is measured too.

    python benchmarks/startup.py [--rounds 7]

Each round is a process of its own; the medians are printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from robots import ROBOTS

_IMPORT = "import time; t = time.perf_counter(); import kinetree; print(time.perf_counter() - t)"
_FIRST_USE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, kinetree as kt
robot = kt.load(sys.argv[1], floating_base=sys.argv[2] == "True")
if sys.argv[3] == "llvmlite":
    import llvmlite.binding
t = time.perf_counter()
kt.aba(robot, robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
print(time.perf_counter() - t)
"""


def median_seconds(rounds: int, code: str, *arguments: str, **environment: str) -> float:
    """Of what `code` prints, each time in a new process."""
    command = [sys.executable, "-c", code, *arguments]
    env = {**os.environ, **environment}
    times = [
        float(subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout)
        for _ in range(rounds)
    ]
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"import kinetree: {median_seconds(rounds, _IMPORT):.3f} s (goal 0.4)")
    for robot in ROBOTS:
        what = (robot.path, str(robot.floating))
        goal = " (goal 1.5)" if robot.name == "Panda" else ""
        seconds = median_seconds(rounds, _FIRST_USE, *what, "", KINETREE_CACHE="off")
        print(f"first use of aba, {robot.name}: {seconds:.2f} s{goal}")
        with tempfile.TemporaryDirectory() as folder:
            on = {"KINETREE_CACHE": "on", "KINETREE_CACHE_DIR": folder}
            median_seconds(1, _FIRST_USE, *what, "", **on)
            if not os.listdir(folder):
                raise SystemExit("nothing was kept on disk; was a file of kinetree changed in the last second?")
            seconds = median_seconds(rounds, _FIRST_USE, *what, "", **on)
            without = median_seconds(rounds, _FIRST_USE, *what, "llvmlite", **on)
        print(f"  with machine code on disk: {1e3 * seconds:.0f} ms, {1e3 * without:.0f} ms beyond imports (goal 20)")


if __name__ == "__main__":
    main()
