"""The documentation as an index: the function for each task, its names in other libraries, and its page.

The pages are read, and nothing else: no robot, no other module. In a checkout they are in docs/ next to src/, in an
installed package in its own folder docs/.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

from kinetree.errors import nearest_names

__all__ = [
    "Answer",
    "Section",
    "UnknownName",
    "anchor_of",
    "answers",
    "elsewhere",
    "find",
    "instead",
    "pages_folder",
    "public_names",
    "sections",
]

T = TypeVar("T")

_TABLES = "which_function.md"
_LIBRARIES = ("Pinocchio", "MuJoCo", "Drake", "DART", "RBDL", "CasADi", "JAX", "SciPy", "pink", "mink", "tsid")
_LIBRARY_OR_CODE = re.compile(rf"\b({'|'.join(_LIBRARIES)})\b|`([^`]+)`")
_OWNERS = ("data", "model", "self", "pin", "mujoco")
"""Objects that other libraries' functions are called on: not names of theirs."""
_PREFIXES = ("get", "set", "compute", "calculate", "calc", "mj", "mju", "has", "is")
_LONGEST, _MOST_WORDS = 200, 8
"""Letters of a name and words of a query that are looked at: longer ones are mistakes."""


class Answer(NamedTuple):
    """A row of the tables "which function do I need": the function for a task."""

    task: str
    """The task, such as "M⁻¹ times a force"."""
    here: str
    """The answer, such as "kt.dynamics.mass_matrix_solve"."""
    elsewhere: str
    """The names in other libraries, as the page has them."""

    @property
    def text(self) -> str:
        return f"{self.task} {self.here} {self.elsewhere}"


class Section(NamedTuple):
    """A part of a page, below one heading."""

    place: str
    """The file, relative to the folder of pages, and the heading: "simulation.md#controllers"."""
    heading: str
    text: str


def pages_folder() -> Path | None:
    """Where the pages are; None if they are not installed."""
    own = Path(__file__).parent
    for folder in (own / "docs", own.parents[1] / "docs"):
        if (folder / _TABLES).is_file():
            return folder
    return None


@cache
def sections() -> tuple[Section, ...]:
    """All parts of all pages, those of algorithms included; without decisions, which are not for looking up."""
    folder = pages_folder()
    if folder is None:
        return ()
    files = (path for pattern in ("*.md", "tutorials/*.md", "algorithms/*.md") for path in sorted(folder.glob(pattern)))
    return tuple(
        part for path in files for part in _parts(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"))
    )


@cache
def answers() -> tuple[Answer, ...]:
    """The rows of the tables of which_function.md."""
    folder = pages_folder()
    return () if folder is None else tuple(_rows((folder / _TABLES).read_text(encoding="utf-8")))


@cache
def elsewhere() -> Mapping[str, tuple[tuple[str, Answer], ...]]:
    """From a name, in small letters without blanks, to the libraries that use it and the function here."""
    rows_of: dict[str, list[tuple[str, Answer]]] = {}
    for answer in answers():
        library = ""
        for match in _LIBRARY_OR_CODE.finditer(answer.elsewhere):
            if match[1]:
                library = match[1]
                continue
            for name in re.findall(r"[^\W\d]\w+", re.split(r"[(<\"' ]", match[2])[0]):
                if name not in _OWNERS and all(row is not answer for _, row in rows_of.get(_plain(name), ())):
                    rows_of.setdefault(_plain(name), []).append((library, answer))
    return {name: tuple(rows) for name, rows in rows_of.items()}


class UnknownName(AttributeError):
    """An attribute that is not there; its text names a replacement, which is looked up when it is read."""

    def __str__(self) -> str:
        message = super().__str__()
        advice = ""
        if isinstance(self.name, str):
            own = () if isinstance(self.obj, ModuleType) else dir(self.obj)
            near = nearest_names(self.name, own, count=1, cutoff=0.8)
            advice = near if near.startswith("did you mean") else instead(self.name)
        return f"{message}: {advice}" if advice else message


@cache
def public_names() -> Mapping[str, str]:
    """From each public name to where it is in kinetree: from "point_jacobian" to "kinematics.point_jacobian"."""
    top = sys.modules["kinetree"]
    groups = [x for name in top.__all__ if isinstance(x := getattr(top, name), ModuleType)]
    grouped = {name: f"{group.__name__.removeprefix('kinetree.')}.{name}" for group in groups for name in group.__all__}
    return grouped | {name: name for name in top.__all__}


def instead(name: str) -> str:
    """A replacement for a name that kinetree does not have: the end of an error message.

    >>> instead("getInvMassMatrix")
    "DART's getInvMassMatrix is kt.mass_matrix_inverse here (M⁻¹)"
    """
    if len(name) > _LONGEST or name.startswith("_"):
        return ""
    places = public_names()
    members, rows = _members(tuple(places.values())), elsewhere().get(_plain(name), ())
    rows = tuple(row for row in rows if row[1].task) or rows
    same = sorted(members.get(_plain(name), ()) or ({} if rows else members.get(_core(name), ())))
    texts = [f"it is {' or '.join(same[:3])} here"] if same else []
    for library, row in rows:
        owner, purpose = f"{library}'s " if library else "", f" ({row.task})" if row.task else ""
        texts.append(f"{owner}{name} is {row.here} here{purpose}")
    if texts:
        return "; ".join(texts[:3])
    if (near := nearest_names(name, places, cutoff=0.75)).startswith("did you mean"):
        return re.sub(r"'(\w+)'", lambda match: repr(places[match[1]]), near)
    words = _words(name)[:_MOST_WORDS]
    best = _best(_functions(words), 1)
    return (f"perhaps {best[0].here} ({best[0].task}); " if best else "") + (
        f"`kinetree find {' '.join(words)}` searches functions and pages"
    )


def find(query: str, most: int = 8) -> tuple[list[Answer], list[Section]]:
    """The functions and the parts of pages that are about some words, the best first.

    A word also finds longer ones that begin with it, and names of other libraries. All words must be there, or as many
    as are anywhere.

    >>> functions, pages = find("mass matrix")
    >>> functions[0].here, pages[0].place
    ('kt.crba, kt.mass_matrix', 'algorithms/mass_matrix.md')
    """
    words = _words(query)[:_MOST_WORDS]
    if not words:
        return [], []
    pages = [(_score(words, [(8.0, x.heading), (4.0, x.place), (1.0, x.text)]), x) for x in sections()]
    return _best(_functions(words), most), _best(pages, most)


def _functions(words: Sequence[str]) -> list[tuple[tuple[int, float], Answer]]:
    return [(_score(words, [(8.0, x.here), (4.0, x.elsewhere), (4.0, x.task)]), x) for x in answers()]


def _best(scored: Sequence[tuple[tuple[int, float], T]], most: int) -> list[T]:
    """The rows in which the most words are, the highest scores first."""
    complete = max((count for (count, _), _ in scored), default=0)
    if not complete:
        return []
    kept = sorted((x for x in scored if x[0][0] == complete), key=lambda x: -x[0][1])
    return [x for _, x in kept[:most]]


def _score(words: Sequence[str], parts: Sequence[tuple[float, str]]) -> tuple[int, float]:
    """How many of the words are there, and how much the parts are about them."""
    count, total = 0, 0.0
    for word in words:
        pattern = re.compile(rf"(?<!\w){re.escape(word)}")
        value = 0.0
        for weight, text in parts:
            if hits := len(pattern.findall(_apart(text))):
                value += weight * (1.0 + min(hits, 8) / 8.0)
        count += value > 0.0
        total += value
    return count, total


def _parts(file: str, page: str) -> Iterator[Section]:
    title = file
    for k, part in enumerate(re.split(r"^(?=#{1,3} )", _without_code(page), flags=re.M)):
        heading, _, text = part.partition("\n")
        if not heading.startswith("#"):
            continue
        heading = heading.lstrip("# ").strip()
        title = heading if k <= 1 else title
        anchor = "" if heading == title else f"#{anchor_of(heading)}"
        yield Section(file + anchor, heading if heading == title else f"{title}: {heading}", text)


def anchor_of(heading: str) -> str:
    """The anchor of a heading, as hosts of repositories make it.

    >>> anchor_of("Choosing `dt`, and why")
    'choosing-dt-and-why'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _without_code(page: str) -> str:
    """A page whose comments in code do not look like headings."""
    return re.sub(r"^```.*?^```", lambda match: match[0].replace("\n#", "\n #"), page, flags=re.M | re.S)


def _rows(page: str) -> Iterator[Answer]:
    """The rows of tables that begin with a task, and of those whose first column is another library's."""
    head: list[str] = []
    for line in page.splitlines():
        if line.startswith("|-"):
            continue
        if not line.startswith("| "):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        cells = [cell.strip(" |") for cell in cells]
        if not head:
            head = cells
            continue
        row = dict(zip(head, cells, strict=False))
        if "function" in row:
            task = ", ".join(row[name] for name in head if name.startswith("I ") and row.get(name))
            yield Answer(_shown(task), _shown(row["function"]), row.get("in other libraries", ""))
        elif head[0] in _LIBRARIES and "kinetree" in row:
            yield Answer("", _shown(_qualified(row["kinetree"])), f"{head[0]} {row[head[0]]}")
        elif head[0] == "name elsewhere":
            yield Answer(_shown(row["remark"]), _shown(row["kinetree"]), row["name elsewhere"])


_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


def _shown(cell: str) -> str:
    """A cell without Markdown; functions that are links have "kt." before their name, other links are the page's."""
    cell = _LINK.sub(lambda match: _qualified(match[1]) if "`" in match[1] else match[2].split("#")[0], cell)
    return cell.replace("`", "")


def _qualified(text: str) -> str:
    """A text in which functions have "kt." before their name."""
    places = {*public_names().values()}
    return re.sub(
        r"`([a-z][\w.]+)(?=(?:\([^`]*\))?`)", lambda match: f"`{'kt.' * (match[1] in places)}{match[1]}", text
    )


@cache
def _members(public: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """From names without prefix and underscores to those that pages mention: kt.x, kt.control.x, robot.x."""
    members: dict[str, set[str]] = {}
    names = {f"kt.{name}" for name in public}
    for part in sections():
        names |= {
            f"kt.{room}.{name}" for room, name in re.findall(r"\bkt\.([a-z]\w+)\.(\w+)", part.text) if room in public
        }
        names |= {f"{owner}.{name}" for owner, name in re.findall(r"\b(robot|builder)\.([a-z]\w+)\b", part.text)}
    for name in names:
        members.setdefault(_core(name.rpartition(".")[2]), set()).add(name)
    return {name: frozenset(some) for name, some in members.items()}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _core(name: str) -> str:
    """A name without prefixes such as "get" and "compute"."""
    words = _words(name)
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return "".join(words)


@cache
def _apart(text: str) -> str:
    """A text in which the parts of names are words: getMassMatrix and mass_matrix have both "mass" and "matrix"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text.replace("_", " ")).lower()


def _words(name: str) -> list[str]:
    return re.findall(r"\w+", _apart(name[:_LONGEST]))
