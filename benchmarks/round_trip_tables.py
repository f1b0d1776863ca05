"""Every robot file of the wheels that carry robots, written as MJCF and loaded in MuJoCo itself: docs/round_trips.md.

    python -m benchmarks.round_trip_tables [--samples 3] [PACKAGE=FOLDER ...]

M(q) and bias forces of the file that kinetree writes are held against kinetree's of the robot, and against MuJoCo's of
the robot's own file, by `tests/io/mujoco_trips.py`. The files are those of the packages in `WHEELS` that are installed;
PACKAGE=FOLDER adds those of an unpacked one.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import mujoco
from benchmarks.robot_tables import WHEELS, installed, reason, robot_files, short
from tests.io.mujoco_trips import Errors, Trip, trip

import kinetree as kt

PAGE = Path(__file__).parents[1] / "docs" / "round_trips.md"
TOLERANCE = 1e-9
INTRODUCTION = """# Robot files through MJCF, in MuJoCo itself

`python -m benchmarks.round_trip_tables` wrote this page with {versions}. Every robot file of the wheels was read by
kinetree, written as MJCF with `lossy=True`, and loaded in MuJoCo, with its shapes. M(q) (`mj_fullM`) and the bias
forces (`qfrc_bias`) at {samples} random states are held against

- **kinetree's** of the robot that was written, a URDF robot with a fixed and with a floating base,
- **MuJoCo's** of the robot's own file, if MuJoCo reads it; a URDF file is given without its shapes.

Where joints follow others, both are taken along the motions that this allows (GᵀM G). An entry of M counts relative to
√(Mᵢᵢ Mⱼⱼ), a force relative to √Mᵢᵢ and of the largest; a joint that moves no inertia counts with the largest. Numbers
are the worst errors; anything above 1e-9 is a difference. What [MJCF does not hold](writing_files.md#mjcf) and neither
matrix shows, such as velocity limits, is not listed here; the writer lists it.
"""
HEADINGS = ("file", "degrees of freedom", "M(q)", "bias forces", "M(q), two files", "bias, two files", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=3, help="random states per file and base")
    parser.add_argument("folders", nargs="*", metavar="PACKAGE=FOLDER", help="an unpacked package")
    given = parser.parse_args()
    folders = dict(text.split("=", 1) for text in given.folders)
    versions = ", ".join(f"{name} {version(name)}" for name in ("kinetree", "mujoco"))
    parts = [INTRODUCTION.format(versions=versions, samples=given.samples)]
    mujoco.set_mju_user_warning(lambda _: None)
    for package, format in WHEELS.items():
        folder = Path(folders[package]) if package in folders else installed(package)
        if folder is None:
            print(f"{package} is not installed")
            continue
        files = sorted(robot_files(folder, format))
        folder = Path(os.path.commonpath([path.parent for path in files]))
        begin = time.perf_counter()
        rows = [row(path, folder, format, given.samples) for path in files]
        print(f"{package}: {len(files)} files, {time.perf_counter() - begin:.0f} s", flush=True)
        parts.append(section(package, format, rows))
        PAGE.write_text("\n".join(parts), encoding="utf-8")


def row(path: Path, folder: Path, format: str, samples: int) -> list[str]:
    """The cells of one file."""
    name = f"`{path.relative_to(folder)}`"
    bases = (False, True) if format == "URDF" else (None,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        try:
            robots = [kt.load(path, floating_base=base) for base in bases]
        except kt.errors.ModelError as error:
            return [name, "", "", "", "", "", f"kinetree refuses the file: {short(str(error), path)}"]
        found = [
            trip(robot, None if base else path, samples=samples) for robot, base in zip(robots, bases, strict=True)
        ]
        told = "; ".join(dict.fromkeys(sentence for one in found if (sentence := verdict(one, path, format))))
    both = [one.beside_robot for one in found], [one.beside_original for one in found[:1]]
    return [name, str(robots[0].nv), *shown(both[0]), *shown(both[1]), short(told, path) or "equal"]


def shown(found: Sequence[Errors | None]) -> list[str]:
    """The worst errors of M and bias."""
    if None in found:
        return ["", ""]
    return [f"{x:.0e}" if x else "0" for x in (max(numbers) for numbers in zip(*filter(None, found), strict=True))]


def verdict(found: Trip, path: Path, format: str) -> str:
    """Remarks on a file: none if all is equal."""
    told = [found.reason] if found.reason else []
    if found.beside_robot is not None and max(found.beside_robot) > TOLERANCE:
        told += [loss for loss in found.losses if "moves differently" in loss]
    if found.beside_original is not None and max(found.beside_original) > TOLERANCE:
        beside = kt.compare(path, peers=["mujoco"], samples=1, floating_base=False if format == "URDF" else None)
        first = beside.counterparts[0]
        why = reason(first) if first.first is not None else first.unread or "not known"
        told.append(f"MuJoCo reads the original otherwise than kinetree: {why}")
    return "; ".join(told)


def section(package: str, format: str, rows: Sequence[Sequence[str]]) -> str:
    read = [cells for cells in rows if cells[2]]
    same = sum(all(float(x) <= TOLERANCE for x in cells[2:4]) for cells in read)
    twice = [cells for cells in rows if cells[4]]
    equal = sum(all(float(x) <= TOLERANCE for x in cells[4:6]) for cells in twice)
    refused = sum(cells[-1].startswith("kinetree refuses the file") for cells in rows)
    lines = [
        f"## {package}: {format}\n",
        f"{len(rows)} files; kinetree reads {len(rows) - refused}. {same} give the same in MuJoCo as in "
        f"kinetree. MuJoCo reads {len(twice)} of the originals, and computes the same of {equal} of them as of the "
        "written files.\n",
        f"| {' | '.join(HEADINGS)} |",
        "|---|" + "--:|" * (len(HEADINGS) - 2) + "---|",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
