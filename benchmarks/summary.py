"""The page docs/benchmarks.md, for this machine: the most important figures of the other benchmarks, in one process.

    python benchmarks/summary.py [--out docs/benchmarks.md]

It takes about ten minutes on two cores. Nothing else should run meanwhile: the page gives the load of the machine, and
says so if there was more than a tenth of a core of it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import contact_rollouts
import single_call
import threads
import throughput
from kinetree.cli.doctor import facts
from kinetree.resources import available_cores
from robots import ROBOTS

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
PACKAGES = "pin", "drake", "mujoco", "mjbatch"
"""The packages of the libraries that take part."""
SCENES = "go2", "anymal_c", "g1", "panda"
WORLDS, STEPS, BATCH, LARGE = 1024, 50, 4096, 65536
QUIET = 0.1
"""The load of a quiet machine, cores."""
FUNCTIONS = {
    "aba": "forward dynamics (ABA)", "rnea": "inverse dynamics (RNEA)", "crba": "mass matrix (CRBA)",
    "frame Jacobian": "frame Jacobian",
}  # fmt: skip
TEXT = """# Benchmarks

`python benchmarks/summary.py` wrote this page; run it to see the figures of your machine.
[performance.md](performance.md) describes how each is measured, and many more.

| | |
|---|---|
{machine}

{load}

All libraries run in one process and take turns, so that a change of the machine's speed meets all of them; every figure
is a median. Numbers are float64. A ratio says how many times longer the other library takes; "–" means that it was not
installed, or has no such function. kinetree is called from Python like the others, and results are written into
existing arrays where a library can do so. mjbatch needs an older MuJoCo than `mujoco.batch`, so one of them is absent.

## One call from Python

One sample on one thread; microseconds for kinetree, and ratios.

{calls}

## Batches

{batch:,} samples on one thread, in (N, n) arrays; nanoseconds per sample for kinetree. Pinocchio's batched calls run on
one thread, too; it has none for the mass matrix, so a Python loop calls it.

{batches}

## Worlds with contacts

{worlds:,} worlds of {steps} steps of 2 ms on one thread: legged robots on the ground under random forces,
and an arm without contacts. Both libraries read the same MJCF file; MuJoCo has its own settings. Microseconds per step
of one world for kinetree, which compiles each robot before: "first use" is the time of the first call, then that of a
new process, which finds the machine code on disk. The last column is the median distance from MuJoCo's states after
these steps.

{rollouts}

## Threads

Forward dynamics of {large:,} samples: speed relative to one thread. "By hand" is the best possible: as many Python
threads, each with its own part of the batch, which shows how much of a loss is the machine's.

{threads}
"""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---" if name in ("robot", "function") else "---:" for name in headings], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def ratio(times: Mapping[str, float], name: str, own: float) -> str:
    return f"{times[name] / own:.1f}×" if name in times else "–"


def calls(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """By robot and function: the seconds of each way to call."""
    rows = [
        (robot, FUNCTIONS[name], f"{(own := times[f'{name} out=']) * 1e6:.2f}", ratio(times, "pinocchio", own),
         ratio(times, "drake", own))
        for robot, functions in measured.items() for name, times in functions.items()
    ]  # fmt: skip
    return table(("robot", "function", "kinetree, µs", "Pinocchio", "Drake"), rows)


def batches(measured: Mapping[str, Mapping[str, tuple[int, int, float, float]]]) -> str:
    rows = [
        (robot, FUNCTIONS[name], str(nv), f"{own * 1e9:.0f}", f"{theirs / own:.1f}×")
        for robot, functions in measured.items() for name, (nv, _, own, theirs) in functions.items()
    ]  # fmt: skip
    return table(("robot", "function", "degrees of freedom", "kinetree, ns", "Pinocchio"), rows)


def rollouts(measured: Mapping[str, contact_rollouts.Measured]) -> str:
    peers = "mujoco.rollout", "mujoco.batch", "mjbatch"
    rows = []
    for robot, found in measured.items():
        own, apart = found.times["kinetree"], float(sorted(found.apart)[len(found.apart) // 2])
        others = [ratio(found.times, name, own) for name in peers]
        first = f"{found.first:.1f} s, {found.again:.2f} s"
        rows.append((robot, f"{own * 1e6:.2f}", *others, first, f"{apart:.0e} {found.unit}"))
    return table(("robot", "kinetree, µs", *(f"`{name}`" for name in peers), "first use", "apart"), rows)


def scaling(measured: Mapping[str, Mapping[int, tuple[float, float, float]]]) -> str:
    rows = [
        (robot, str(count), f"{single / split:.2f}×", f"{single / best:.2f}×")
        for robot, counts in measured.items() for count, (single, split, best) in counts.items()
    ]  # fmt: skip
    return table(("robot", "threads", "kinetree", "by hand"), rows)


def thread_counts(cores: int) -> list[int]:
    """2, 4, 8, … and all cores.

    >>> thread_counts(6)
    [2, 4, 6]
    """
    return sorted({*(2**k for k in range(1, cores.bit_length()) if 2**k <= cores), cores} - {1})


def machine(about: Mapping[str, Any]) -> str:
    from importlib.metadata import PackageNotFoundError, version

    processor = about["processor"]
    rows = [
        ("processor", f"{processor['name']} ({processor['llvm']}), {processor['float64_lanes']} lanes of float64"),
        ("cores", str(about["cores"])),
        ("system", about["system"]),
        ("Python", about["python"]),
        ("kinetree, NumPy, llvmlite", ", ".join(about[name] for name in ("kinetree", "numpy", "llvmlite"))),
    ]
    for package in PACKAGES:
        try:
            rows.append((package, version(package)))
        except PackageNotFoundError:
            rows.append((package, "not installed"))
    return "\n".join(f"| {name} | {value} |" for name, value in rows)


def load_of(others: float) -> str:
    """A sentence about the cores that other processes took."""
    if others <= QUIET:
        return f"The machine was quiet: other processes took {others:.2f} cores."
    return (
        f"**The machine was busy: other processes took {others:.1f} cores.** Times are too long, those of threads "
        "above all,\nand ratios are less exact than they look."
    )


def processor_time() -> tuple[float, float]:
    """Seconds of all cores' work since the machine began, and of this process and its children; zeros elsewhere."""
    own = sum(os.times()[:4])
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    except OSError:
        return own, own
    idle = int(fields[3]) + int(fields[4])
    return (sum(map(int, fields[:8])) - idle) / os.sysconf("SC_CLK_TCK"), own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()
    begin, (work, own) = time.perf_counter(), processor_time()
    with tempfile.TemporaryDirectory() as place:
        os.environ["KINETREE_CACHE_DIR"] = str(Path(place) / "cache")  # first uses are those of an empty one
        worlds = {}
        for name in SCENES:
            folder = Path(place) / name
            folder.mkdir()
            worlds[name] = contact_rollouts.measured(name, WORLDS, STEPS, 5, 1, folder)
        counts = thread_counts(available_cores())
        text = TEXT.format(
            calls=calls({robot.name: single_call.measured(robot, 40) for robot in ROBOTS}),
            batches=batches({robot.name: throughput.measured(robot, BATCH, 30) for robot in ROBOTS}),
            rollouts=rollouts(worlds),
            threads=scaling(
                {x.name: {count: threads.measured(x, LARGE, count, 20) for count in counts} for x in ROBOTS}
            ),
            machine=machine(facts()), batch=BATCH, worlds=WORLDS, steps=STEPS, large=LARGE, load="{load}",
        )  # fmt: skip
    took, (later, own_later) = time.perf_counter() - begin, processor_time()
    others = ((later - work) - (own_later - own)) / took
    given.out.write_text(text.replace("{load}", load_of(max(0.0, others))), encoding="utf-8")
    print(f"{given.out}: {took:.0f} s, other processes took {others:.2f} cores")


if __name__ == "__main__":
    main()
