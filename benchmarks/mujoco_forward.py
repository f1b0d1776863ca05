"""Every MJCF robot of the wheels that carry some, beside `mj_forward`: the tables of docs/mujoco_forward.md.

    python benchmarks/mujoco_forward.py [--states 50] [--jobs 2] [--only TEXT] [PACKAGE=FOLDER ...]

What is compared, and how, is in beside_mujoco.py and on the page; reasons for differences are in forward_reasons.py.
The packages are those of robot_tables.py; what the page has about those that are neither installed nor given stays, as
does its text above the table. --only takes the files whose path has that text, prints their rows and leaves the page as
it is.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import mujoco
import numpy as np

import kinetree as kt
from beside_mujoco import Beside, NotHereError
from forward_reasons import decided_by_rounding, within_rounding
from forward_state import Array, Motion, State, relative
from robot_tables import WHEELS, installed, robot_files, short, version_in

PAGE = Path(__file__).parents[1] / "docs" / "mujoco_forward.md"
BEGIN = "<!-- benchmarks/mujoco_forward.py writes what follows -->"
VERDICTS = (
    "all the same", "partly the same", "different, with a reason", "different", "not compared",
    "nothing moves",
)  # fmt: skip
SUMMARY = f"""| package | files | {" | ".join(VERDICTS)} |
|---|--:|{"--:|" * len(VERDICTS)}"""
HEADINGS = (
    "file", "degrees of freedom", "pairs", "states that touch", "actuators", "passive", "q̈", "contact forces",
    "q̈, own points", "sensors", "exceptions",
)  # fmt: skip
SAME = 1e-8
NOTHING = "nothing moves"
_QUATERNIONS = (int(mujoco.mjtSensor.mjSENS_FRAMEQUAT), int(mujoco.mjtSensor.mjSENS_BALLQUAT))


class Row:
    """The cells of one file."""

    def __init__(self, name: str) -> None:
        self.cells = dict.fromkeys(HEADINGS, "")
        self.cells["file"] = f"`{name}`"
        self.left_out: list[str] = []
        self.differing: list[str] = []
        self.reasons: dict[str, list[float]] = {}
        """Why numbers differ in some states, each with a number for its text."""
        self.worst: dict[str, float] = {}
        self.is_unexplained = False
        self.is_compared = True

    def error(self, heading: str, value: float, reason: Callable[[], tuple[str, float]] = lambda: ("", 0.0)) -> None:
        """An error in some of the states; the reason is asked for if it is too large."""
        value = value if value == value else np.inf
        self.worst[heading] = worst = max(value, self.worst.get(heading, 0.0))
        self.cells[heading] = f"{worst:.0e}" if worst else "0"
        if value > SAME:
            text, number = reason()
            if text:
                self.reasons.setdefault(text, []).append(number)
            self.is_unexplained |= not text

    def not_compared(self, reason: str) -> Row:
        self.is_compared = False
        self.left_out.append(reason)
        return self

    @property
    def verdict(self) -> str:
        if not self.is_compared:
            return VERDICTS[5 if NOTHING in self.left_out else 4]
        if self.is_unexplained:
            return VERDICTS[3]
        if self.reasons:
            return VERDICTS[2]
        return VERDICTS[1 if self.left_out else 0]

    def text(self) -> str:
        why = [f"{text.format(max(found))} ({len(found)} times)" for text, found in self.reasons.items()]
        self.cells["exceptions"] = "; ".join([*self.left_out, *self.differing, *why])
        return f"| {' | '.join(self.cells.values())} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--states", type=int, default=50, help="random states per file")
    parser.add_argument("--jobs", type=int, default=1, help="files that are compared at a time")
    parser.add_argument("--only", default="", help="a text that the paths of files must have")
    parser.add_argument("folders", nargs="*", metavar="PACKAGE=FOLDER", help="an unpacked package")
    given = parser.parse_args()
    folders = dict(text.split("=", 1) for text in given.folders)
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else BEGIN
    head, _, rest = before.partition(BEGIN)
    summary: list[str] = []
    sections: list[str] = []
    for package, format in WHEELS.items():
        if format != "MJCF":
            continue
        folder = Path(folders[package]) if package in folders else installed(package)
        if folder is None or (given.only and package not in folders):
            summary += [line for line in rest.splitlines() if line.startswith(f"| {package} ")]
            sections += [part for part in rest.split("\n## ") if part.startswith(f"{package} ")]
            continue
        title = f"{package} {version_in(folder)}".strip()
        files = sorted(robot_files(folder, format))
        folder = Path(os.path.commonpath([path.parent for path in files]))
        begin = time.perf_counter()
        chosen = [path for path in files if given.only in str(path)]
        with Pool(given.jobs) as pool:
            rows = pool.map(partial(row, folder=folder, count=given.states), chosen, chunksize=1)
        print(f"{package}: {len(rows)} files, {time.perf_counter() - begin:.0f} s")
        counts = Counter(one.verdict for one in rows)
        verdicts = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
        summary.append(f"| {title} | {len(rows)} | {verdicts} |")
        lines = [one.text() for one in rows if one.verdict != NOTHING]
        sections.append("\n".join([f"{title}\n", f"| {' | '.join(HEADINGS)} |", _RULE, *lines]))
        if given.only:
            print("\n".join(lines))
    if not given.only:
        told = f"At {given.states} states per file, with MuJoCo {mujoco.__version__}:\n"
        table = "\n\n## ".join(["\n".join([told, SUMMARY, *summary]), *(part.strip() for part in sections)])
        PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n", encoding="utf-8")


_RULE = "|---|" + "--:|" * (len(HEADINGS) - 2) + "---|"


def row(path: Path, folder: Path, count: int) -> Row:
    """One file beside MuJoCo."""
    cells = Row(str(path.relative_to(folder)))
    begin = time.perf_counter()
    try:
        beside = Beside(path, folder)
    except kt.KinetreeError as error:
        return cells.not_compared(f"kinetree refuses it: {short(str(error), path)}")
    except ValueError as error:
        return cells.not_compared(f"MuJoCo refuses it: {short(str(error), path).splitlines()[0]}")
    if not beside.robot.nv:
        return cells.not_compared(NOTHING)
    try:
        compare(cells, beside, beside.states(count))
    except (kt.KinetreeError, ValueError) as error:
        return cells.not_compared(short(f"{type(error).__name__}: {error}", path))
    print(f"  {cells.cells['file']}: {cells.verdict}, {time.perf_counter() - begin:.1f} s", flush=True)
    return cells


def compare(cells: Row, beside: Beside, states: Sequence[State]) -> None:
    """Fill the cells."""
    pairs = len(beside.soft.touches)
    cells.cells["degrees of freedom"], cells.cells["pairs"] = str(beside.robot.nv), str(pairs)
    cells.cells["states that touch"] = str(sum(bool(state.points) for state in states))
    tau = np.array([state.driven + state.passive for state in states])
    for heading, function, wanted in (
        ("actuators", beside.actuators, [(state.actuators, state.driven) for state in states]),
        ("passive", lambda given: (beside.passive(given),), [(state.passive,) for state in states]),
    ):
        theirs = [np.array(part) for part in zip(*wanted, strict=True)]
        if not np.any(theirs[-1]) and heading == "actuators" and not beside.model.nu:
            continue
        try:
            ours = function(states)
        except kt.errors.OptionError as error:
            cells.left_out.append(f"{heading} from MuJoCo: {reason(error)}")
            continue
        cells.error(heading, max(relative(a, b) for a, b in zip(ours, theirs, strict=True)))
        tau += ours[-1] - theirs[-1]
    cells.left_out += left_out(beside)
    qdd = dynamics(cells, beside, states, tau)
    if beside.model.nsensor:
        sensors(cells, beside, states, qdd)


def dynamics(cells: Row, beside: Beside, states: Sequence[State], tau: Array) -> Array:
    """Accelerations and contact forces; returned is what kinetree finds, or MuJoCo where it does not."""
    qdd = np.array([state.qdd for state in states])
    unknown: list[str] = []
    for k, state in enumerate(states):
        motions, found = beside.motions(state, tau[k]), None
        try:
            found = motions(False, None)
        except NotHereError as error:
            unknown.append(str(error))
        else:
            qdd[k] = found.qdd
            cells.error("q̈", relative(found.qdd, state.qdd))
            cells.error("contact forces", forces_apart(found, state), partial(within_rounding, found, state))
        if state.is_analytic:
            own = motions(True, None if found is None else found.qdd).qdd
            why = partial(decided_by_rounding, beside, state, own, lambda qdd, _: qdd, SAME)
            cells.error("q̈, own points", relative(own, state.qdd), why)
    if unknown:
        cells.left_out.append(
            f"in {len(unknown)} of {len(states)} states shapes touch in MuJoCo only, such as {unknown[0]}"
        )
    return qdd


def forces_apart(found: Motion, state: State) -> float:
    """The largest difference of joint forces and wrenches, relative to the largest one that acts."""
    acting = max(np.abs(state.smooth).max(), np.abs(state.constraint).max(), 1e-9)
    worst = float(np.abs(found.constraint - state.constraint).max()) / acting
    ours, none = found.wrenches, np.zeros(6)
    scale = max([acting, *(np.abs(x).max() for x in state.wrenches.values())])
    for bodies in {*ours, *state.wrenches}:
        apart = ours.get(bodies, none) - state.wrenches.get(bodies, none)
        worst = max(worst, float(np.abs(apart).max()) / scale)
    return worst


def sensors(cells: Row, beside: Beside, states: Sequence[State], qdd: Array) -> None:
    """All sensors that are computed; those of contacts in states in which the points are the same."""
    m = beside.model
    found = beside.sensors(states, qdd)
    for k, ours in found.items():
        place = slice(int(m.sensor_adr[k]), int(m.sensor_adr[k]) + int(m.sensor_dim[k]))
        theirs = np.array([state.sensors[place] for state in states])
        if int(m.sensor_type[k]) in _QUATERNIONS:
            theirs = theirs * np.where(theirs[:, :1] < 0.0, -1.0, 1.0)
        scale = max(float(np.abs(theirs).max()) or 1.0, 1e-9)
        worst = 0.0
        for state, a, b in zip(states, ours, theirs, strict=True):
            if beside.counts_contacts(k) and not state.is_analytic:
                continue
            error = float(np.abs(a - b).max()) / scale
            worst = max(worst, error)
            cells.error("sensors", error, partial(decided_by_rounding, beside, state, a, partial(_part, place), SAME))
        if worst > SAME:
            cells.differing.append(f"{beside.robot.extras.sensors[k].kind}[{k}] differs by {worst:.0e}")
    missing = Counter(one.kind for k, one in enumerate(beside.robot.extras.sensors) if k not in found)
    if missing:
        cells.left_out.append(
            "sensors that are not computed: " + ", ".join(f"{n} {kind}" for kind, n in missing.items())
        )


def _part(place: slice, _: Array, sensors: Array) -> Array:
    return sensors[place]


def left_out(beside: Beside) -> list[str]:
    """Sensors without a row here, by kinds."""
    found: Counter[str] = Counter()
    for one in beside.soft.unsupported:
        found[f"{one.what}: {re.sub(r'; .*', '', one.reason)}"] += 1
    return [f"{text} ({count})" if count > 1 else text for text, count in found.items()]


def reason(error: Exception) -> str:
    """A message without the robot's name and the advice."""
    return re.sub(r"; .*", "", str(error).partition(": ")[2] or str(error))


if __name__ == "__main__":
    main()
