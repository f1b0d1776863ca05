"""A thousand steps of every MJCF robot of the wheels, beside MuJoCo's own: the tables of docs/mujoco_motions.md.

    python benchmarks/mujoco_motions.py [--jobs 4] [--only TEXT] [PACKAGE=FOLDER ...]

How motions are compared is in motions_beside_mujoco.py and on the page. The packages are those of robot_tables.py. Rows
of the page are replaced one by one, as they are measured, so --only measures some of them again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

import kinetree as kt
from motions_beside_mujoco import ASIDE, INTEGRATORS, Motions, Together
from mujoco_forward import left_out
from robot_tables import WHEELS, installed, robot_files, short, version_in

PAGE = Path(__file__).parents[1] / "docs" / "mujoco_motions.md"
BEGIN = "<!-- benchmarks/mujoco_motions.py writes what follows -->"
STEPS = 1000
SHOWN = (10, 100, 1000)
"""The steps after which differences are told."""
SAME = 1e-6
SENSITIVITY = 100.0
"""A difference is the motion's own if copies part by a hundredth of it."""
LARGE = 12
"""Degrees of freedom above which only the file's own integrator is compared."""
WEAK = 1e-3
"""The part of the commands that is given where a robot cannot stand all of them for the first steps shown."""
VERDICTS = (
    "together", "together until it is chaotic", "together until points differ", "different", "not compared"
)  # fmt: skip
HEADINGS = ("file", "degrees of freedom", "steps with contacts", *INTEGRATORS, "result", "exceptions")
RULE = "|---|--:|--:|" + "--:|" * len(INTEGRATORS) + "---|---|"
SUMMARY = f"""| package | files compared | {" | ".join(VERDICTS)} |
|---|--:|{"--:|" * len(VERDICTS)}"""


class Row(NamedTuple):
    """One file."""

    name: str
    text: str
    """Its row of the table; empty where there is nothing to tell."""
    seconds: float
    """Processor time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="files that are measured at once")
    parser.add_argument("--only", default="", help="a text that the paths of files must have")
    parser.add_argument("folders", nargs="*", metavar="PACKAGE=FOLDER", help="an unpacked package")
    given = parser.parse_args()
    folders = dict(text.split("=", 1) for text in given.folders)
    begin, spent = time.perf_counter(), 0.0
    processes = multiprocessing.get_context("spawn")
    with processes.Pool(given.jobs, maxtasksperchild=8) as pool:
        for package, format in WHEELS.items():
            folder = Path(folders[package]) if package in folders else installed(package)
            if format != "MJCF" or folder is None:
                continue
            title = f"{package} {version_in(folder)}".strip()
            files = sorted(robot_files(folder, format))
            folder = Path(os.path.commonpath([path.parent for path in files]))
            chosen = [path for path in files if given.only in str(path)]
            for found in pool.imap(partial(measured, folder=folder), chosen):
                spent += found.seconds
                if found.text:
                    print(f"{found.text} {found.seconds:.0f} s", flush=True)
                    write(package, title, found)
    print(f"{spent:.0f} s of processors, {time.perf_counter() - begin:.0f} s")


def write(package: str, title: str, row: Row) -> None:
    """Put a row into the page, in the order of names."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    rows = {name: dict[str, str]() for name, format in WHEELS.items() if format == "MJCF"}
    titles = dict[str, str]()
    for part in rest.split("\n## ")[1:]:
        name = part.splitlines()[0]
        known = name.partition(" ")[0]
        titles[known] = name
        rows[known] = {line.split("|")[1].strip(" `"): line for line in part.splitlines() if line.startswith("| `")}
    titles[package] = title
    rows[package][row.name] = row.text
    told = [f"{BEGIN}\n\n{SUMMARY}"]
    sections = []
    for known in filter(titles.__contains__, rows):
        counts = Counter(line.split(" | ")[-2].strip() for line in rows[known].values())
        numbers = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
        told.append(f"| {titles[known]} | {len(rows[known])} | {numbers} |")
        lines = [rows[known][name] for name in sorted(rows[known])]
        sections.append("\n".join([f"\n## {titles[known]}\n", f"| {' | '.join(HEADINGS)} |", RULE, *lines]))
    PAGE.write_text("\n".join([f"{head}{told[0]}", *told[1:], *sections, ""]), encoding="utf-8")


def measured(path: Path, folder: Path) -> Row:
    """One file beside MuJoCo."""
    name, begin = str(path.relative_to(folder)), time.process_time()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["KINETREE_CACHE_DIR"] = cache
        cells = dict.fromkeys(HEADINGS, "") | {"file": f"`{name}`"}
        try:
            is_told = fill(cells, path, folder)
        except kt.KinetreeError as error:
            cells["result"], cells["exceptions"], is_told = VERDICTS[4], short(str(error), path), True
    return Row(name, f"| {' | '.join(cells.values())} |" if is_told else "", time.process_time() - begin)


def fill(cells: dict[str, str], path: Path, folder: Path) -> bool:
    """Measure and tell; false if nothing moves, or one of the two refuses the file."""
    try:
        motions = Motions(path, folder, STEPS)
    except (kt.KinetreeError, ValueError):
        return False
    if not motions.robot.nv:
        return False
    cells["degrees of freedom"] = str(motions.robot.nv)
    own, reasons = usual(motions), left_out(motions)
    if motions.without:
        reasons.append(f"without {', '.join(motions.without)}, as kinetree has no commands for it")
    found = {own: motions.together(own, SAME)}
    if (steps := found[own].apart.size) < SHOWN[0]:
        motions.leave_out_iterated()
        reasons.append(f"without the pairs of shapes for which MuJoCo iterates, which it does in step {steps + 1}")
        found = {own: motions.together(own, SAME)}
    if motions.is_driven and np.isnan(found[own].apart[SHOWN[0] - 1]):
        motions.ctrl *= WEAK
        reasons.append(f"with {WEAK:g} of the commands: with all of them {judged(found[own])[1]}")
        found = {own: motions.together(own, SAME)}
    if motions.robot.nv <= LARGE:
        found |= {name: motions.together(name, SAME) for name in INTEGRATORS if name != own}
    why: dict[str, list[str]] = {}
    for name, one in found.items():
        cells[name] = ", ".join(number_in(one.apart, step) for step in SHOWN)
        why.setdefault(judged(one)[1], []).append(name)
    reasons += [f"{', '.join(names)}: {text}" for text, names in why.items() if text]
    touches = sorted({one.touches for one in found.values()})
    cells["steps with contacts"] = " to ".join(str(count) for count in (*touches[:1], *touches[1:][-1:]))
    cells["result"] = VERDICTS[max(judged(one)[0] for one in found.values())]
    cells["exceptions"] = "; ".join(reasons)
    return True


def usual(motions: Motions) -> str:
    """The file's own integrator, or "implicitfast" where kinetree has none of that name."""
    numbers = {int(getattr(mujoco.mjtIntegrator, f"mjINT_{name.upper()}")): name for name in INTEGRATORS}
    return numbers.get(int(motions.model.opt.integrator), "implicitfast")


def number_in(apart: np.ndarray[tuple[int], np.dtype[np.float64]], step: int) -> str:
    x = apart[step - 1] if step <= len(apart) else np.nan
    return "–" if np.isnan(x) else "0" if x == 0.0 else f"{x:.0e}"


def judged(found: Together) -> tuple[int, str]:
    """The number of the verdict, and the reason for one that is not the first."""
    apart, aside = found.apart, found.aside
    lost = np.flatnonzero(np.isnan(apart))
    beyond = f"both motions grow beyond bounds at step {lost[0] + 1}" if lost.size else ""
    over = np.flatnonzero(apart > SAME)
    if len(apart) < STEPS and not over.size:
        return 2, f"compared until MuJoCo iterates for contacts, in step {len(apart) + 1}"
    if not over.size:
        return 0, beyond
    first = int(over[0])
    if found.unknown:
        return 2, f"{found.unknown} touch in MuJoCo only"
    where = f"they part by {SAME:g} at step {first + 1}"
    assert aside is not None
    is_own = (apart[first:] <= SENSITIVITY * aside[first:]) | np.isnan(apart[first:])
    if is_own.all():
        most = np.nanmax(aside)
        by = f"by {most:.0e}" if np.isfinite(most) else "without bounds"
        return 1, f"{where}; so do copies of MuJoCo's own motion that begin {ASIDE:g} aside, {by}"
    return 3, f"{where}; copies that begin {ASIDE:g} aside part by {aside[first]:.0e} there"


if __name__ == "__main__":
    main()
