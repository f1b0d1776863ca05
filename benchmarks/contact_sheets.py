"""Every robot of the wheels that carry robots, and of the zoo, drawn: docs/robot_pictures.md.

    python benchmarks/contact_sheets.py [PACKAGE=FOLDER ...]

A picture per robot as `kt.render` draws it, many on one sheet (docs/pictures/), its name below it; the page
has the sheets, and each shape that could not be drawn as its file says, with the reason. The packages are those of
robot_tables.py; what is not there keeps its sheet and its part of the page.
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import kinetree as kt
from kinetree.appearance import looks_of
from kinetree.records import record
from robot_tables import WHEELS, installed, robot_files, short, version_in

PAGE = Path(__file__).parents[1] / "docs" / "robot_pictures.md"
FOLDER = PAGE.parent / "pictures"
TILE = (200, 160)
"""Width and height of one robot, pixels."""
LABEL = 16
COLUMNS = 6
MOST_REASONS = 3
"""How many shapes of one robot are listed."""
INTRODUCTION = """
`python benchmarks/contact_sheets.py` drew these pictures with kinetree {version}, each by `kt.render` in the robot's
neutral configuration, or the one of its file. Below each sheet are the shapes that could not be drawn as the file
says, and the files that kinetree refuses ([why](robot_files.md)). Meshes and images may lie anywhere in the package
(`package_roots`).
"""
NOTES = {
    "example-robot-data": "iCub is in pieces because its meshes were made to be turned by the axis that their files "
    "call up, which [changes nothing](viewing.md#pages-in-the-browser). The large cylinder is all of simple_humanoid: "
    "the only shapes in its file are this one, of radius 1 m, and a box inside it, both to test collisions.",
}


@record(frozen=True, slots=True)
class Drawn:
    """A robot file, and what became of it."""

    name: str
    picture: Image.Image | None
    unseen: tuple[str, ...] = ()
    refused: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", metavar="PACKAGE=FOLDER", help="an unpacked package")
    folders = dict(text.split("=", 1) for text in parser.parse_args().folders)
    FOLDER.mkdir(exist_ok=True)
    before = PAGE.read_text(encoding="utf-8").split("\n\n## ")[1:] if PAGE.exists() else []
    sections = [section("zoo", "The zoo", list(map(zoo_robot, kt.zoo.names())))]
    for package, format in WHEELS.items():
        folder = Path(folders[package]) if package in folders else installed(package)
        if folder is None:
            print(f"{package} is not installed; what the page has about it stays")
            sections += [part for part in before if part.startswith(f"{package} ")]
            continue
        title = f"{package} {version_in(folder) if package in folders else version(package)}".strip()
        drawn = [from_file(path, folder) for path in robot_files(folder, format)]
        sections.append(section(package, title, drawn))
    introduction = textwrap.fill(INTRODUCTION.format(version=version("kinetree")).strip(), 120)
    text = "\n\n## ".join(["# All robots, drawn\n\n" + introduction, *(part.strip() for part in sections)])
    PAGE.write_text(text + "\n", encoding="utf-8")


def zoo_robot(name: str) -> Drawn:
    return drawn(name, kt.zoo.load(name))


def from_file(path: Path, folder: Path) -> Drawn:
    name = str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = kt.load(path, package_roots=[folder, *folder.glob("share")])
    except kt.KinetreeError as error:
        return Drawn(name, None, refused=short(str(error), path))
    return drawn(name, robot)


def drawn(name: str, robot: kt.Model) -> Drawn:
    """A robot, drawn twice as large as it is shown."""
    print(name, flush=True)
    try:
        pixels = kt.render(robot, size=(2 * TILE[0], 2 * TILE[1]))
    except kt.KinetreeError as error:
        return Drawn(name, None, refused=str(error))
    unseen = tuple(
        short(f"`{one.part}`: {one.reason}", Path(robot.source or robot.name)) for one in looks_of(robot).unseen
    )
    return Drawn(name, Image.fromarray(np.asarray(pixels)).resize(TILE, Image.Resampling.LANCZOS), unseen)


def section(package: str, title: str, robots: Sequence[Drawn]) -> str:
    """The sheet of a package, and its part of the page."""
    shown = [one for one in robots if one.picture is not None]
    if shown:
        sheet(shown).save(FOLDER / f"{package}.webp", quality=70, method=6)
    parts = [title, f"{len(shown)} of {len(robots)} files." if package != "zoo" else f"{len(shown)} robots."]
    if shown:
        parts.append(f"![{title}](pictures/{package}.webp)")
    if package in NOTES:
        parts.append(NOTES[package])
    if remarks := list(told(robots)):
        parts.append("\n".join(remarks))
    return "\n\n".join(parts)


def told(robots: Sequence[Drawn]) -> Iterator[str]:
    """List the shapes that are not drawn as their file says."""
    for one in robots:
        if one.refused:
            yield f"- `{one.name}` has no picture: {one.refused}"
        counts = Counter(one.unseen)
        for reason, count in list(counts.items())[:MOST_REASONS]:
            yield f"- `{one.name}`, {reason}" + (f" ({count} times)" if count > 1 else "")
        if len(counts) > MOST_REASONS:
            yield f"- `{one.name}`: and {len(counts) - MOST_REASONS} more shapes"


def sheet(robots: Sequence[Drawn]) -> Image.Image:
    """Pictures in rows, with names."""
    rows = -(-len(robots) // COLUMNS)
    width, height = TILE[0], TILE[1] + LABEL
    paper = Image.new("RGB", (COLUMNS * width, rows * height), "white")
    stems = Counter(Path(one.name).stem for one in robots)
    pen, font = ImageDraw.Draw(paper), ImageFont.load_default(10)
    for k, one in enumerate(robots):
        x, y = k % COLUMNS * width, k // COLUMNS * height
        assert one.picture is not None
        paper.paste(one.picture, (x, y))
        path = Path(one.name)
        name = path.stem if stems[path.stem] == 1 else f"{path.parent.name}/{path.stem}"
        while pen.textlength(name, font) > width - 8:
            name = f"{name[:-2]}…" if name.endswith("…") else f"{name[:-1]}…"
        pen.text((x + width / 2, y + TILE[1] + 1), name, fill="#22262b", font=font, anchor="ma")
    return paper


if __name__ == "__main__":
    main()
