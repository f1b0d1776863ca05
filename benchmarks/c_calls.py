"""Functions as C, compiled here, beside kinetree's own machine code: seconds to compile, size, and time of a call.

    python benchmarks/c_calls.py [--rounds 100] [--compiler gcc] [--dtype float64]

The C function is called in a loop in C; kinetree's is `kt.compile(robot, kt.aba)` with `out=`, called from Python, so
its time includes about 0.1 µs of Python. Calls take turns in one process; medians of rounds. The goal: where the
processor fuses multiply-adds, C written out takes at most 1.1 times as long as kinetree's for an arm.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import kinetree as kt
from robots import ROBOTS, Robot
from timing import medians

CALLS = 200  # per round
FLAGS = {"portable": ("-O2",), "native": ("-O2", "-march=native")}
LOOP = """\
#include "f.h"
void repeat(int n, const {t} *q, const {t} *v, const {t} *x, {t} *y, {t} *w)
{{
    (void)w;
    for (int i = 0; i < n; ++i) {{
        f(q, v, x, y{memory});
    }}
}}
"""


def compare(robot: Robot, compiler: str, dtype: str, rounds: int, folder: Path) -> None:
    model, rng = robot.load(), np.random.default_rng(0)
    q = model.random(rng).astype(dtype)
    v, x = rng.normal(size=(2, model.nv)).astype(dtype)
    out = np.empty(model.nv, dtype)
    ours = kt.compile(model, kt.aba, dtype=dtype)
    calls = {"kinetree": lambda: [ours(q, v, x, out=out) for _ in range(CALLS)]}
    told = []
    for unroll in (True, False):
        made = kt.interop.to_c(model, kt.aba, unroll=unroll, dtype=dtype, name="f")
        made.save(folder)
        memory = np.zeros(max(made.workspace, 1), dtype)
        text = LOOP.format(t="double" if dtype == "float64" else "float", memory=", w" if made.workspace else "")
        (folder / "repeat.c").write_text(text)
        for name, flags in FLAGS.items():
            label = f"{'written out' if unroll else 'loops'}, {name}"
            library, begun = folder / f"{label.replace(', ', '_')}.so", time.perf_counter()
            sources = [str(folder / "f.c"), str(folder / "repeat.c")]
            shared = ("-std=c99", "-shared", "-fPIC", *flags)
            subprocess.run([compiler, *shared, *sources, "-o", str(library), "-lm"], check=True)
            seconds = time.perf_counter() - begun
            repeat = ctypes.CDLL(str(library)).repeat
            found = np.empty(model.nv, dtype)
            arrays = [array.ctypes for array in (q, v, x, found, memory)]
            repeat(1, *arrays)
            ours(q, v, x, out=out)
            error = np.abs(found - out).max() / np.abs(out).max()
            calls[label] = lambda repeat=repeat, arrays=arrays, *_kept: repeat(CALLS, *arrays)
            told.append((label, made, seconds, error, (q, v, x, found, memory)))
    times = medians(calls, rounds)
    own = times["kinetree"] / CALLS
    print(f"{robot.name}, {dtype}: kinetree's machine code {own * 1e9:.0f} ns")
    for label, made, seconds, error, _ in told:
        t = times[label] / CALLS
        print(
            f"    {label:22} {made.operations:6} operations, {len(made.source) // 1000:4} kB of C, compiled in "
            f"{seconds:5.1f} s, {t * 1e9:6.0f} ns: {t / own:4.2f} times; error {error:.0e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--dtype", default="float64", choices=("float64", "float32"))
    parser.add_argument("--robots", type=int, default=len(ROBOTS), help="how many of the four")
    given = parser.parse_args()
    for robot in ROBOTS[: given.robots]:
        with tempfile.TemporaryDirectory() as folder:
            compare(robot, given.compiler, given.dtype, given.rounds, Path(folder))


if __name__ == "__main__":
    main()
