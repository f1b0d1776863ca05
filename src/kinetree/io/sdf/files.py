"""The files of a robot in SDF: the first, and those that it includes; opened files lie inside the given folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.io.document import Document, Element, Shape, read_bytes, read_document, root_of, shown
from kinetree.io.meshes import MeshFinder
from kinetree.io.sdf.shapes import NEWEST, OLDEST, SHAPES
from kinetree.io.sdf.values import required, word
from kinetree.io.urdf.raw import MAX_RAW, count
from kinetree.model.problems import STRICT, Problems

__all__ = ["Files", "version_of"]

_CONFIG = {
    "model": Shape.of("sdf", raw=True),
    "sdf": Shape.of("", "version", raw=True),
}
_MAX_INCLUDES = 2000
_MAX_SHAPES = 60_000
_MAX_TAGS = 700_000


class Files:
    """Reads each file once."""

    def __init__(
        self,
        path: Path,
        data: bytes,
        roots: Sequence[str | os.PathLike[str]],
        *,
        ros_packages: bool,
        problems: Problems = STRICT,
    ) -> None:
        folders = (roots,) if isinstance(roots, str | os.PathLike) else tuple(roots)
        self._roots = (os.path.dirname(os.path.abspath(path)), *folders)
        self._ros_packages = ros_packages
        self._finders: dict[str, MeshFinder] = {}
        self._open: list[str] = [os.path.realpath(path)]
        self._problems = problems
        self.first: Document = _read(path, data, problems)
        self.documents: dict[str, Document] = {self._open[0]: self.first}
        self._count = 0

    def find(self, address: str, folder: str) -> Path | None:
        """The file at an address that is written in a file of that folder."""
        return self._finder(folder).find(_as_package(address))

    def notes(self) -> list[str]:
        """Sentences about the files that were not found."""
        return [note for finder in self._finders.values() if (note := finder.note())]

    def include(self, element: Element, folder: str) -> tuple[Element, str]:
        """The root of the file that an <include> names, and its folder; `close` ends the inclusion."""
        uri = required(element, "uri")
        address = word(uri)
        self._count += 1
        if self._count > _MAX_INCLUDES:
            element.fail(f"there are more than {_MAX_INCLUDES:,} inclusions; write some of the models out", "too-large")
        path = self._path(uri, address, folder)
        real = os.path.realpath(path)
        if real in self._open:
            circle = [os.path.basename(name) for name in (*self._open[self._open.index(real) :], real)]
            uri.fail(f"the files include each other in a circle: {' → '.join(circle)}; remove this <include>", "circle")
        if real not in self.documents:
            data = read_bytes(path)
            root = root_of(path, data)
            if root.tag != "sdf":
                root.fail(
                    "is included here, but only SDF files can be; an SDF file begins with <sdf>", "unknown-format"
                )
            self.documents[real] = _read(path, data, self._problems)
        self._open.append(real)
        return self.documents[real].root, str(path.parent)

    def close(self) -> None:
        """End the inclusion that began last."""
        self._open.pop()

    def _finder(self, folder: str) -> MeshFinder:
        if folder not in self._finders:
            self._finders[folder] = MeshFinder(Path(folder) / "_", self._roots, ros_packages=self._ros_packages)
        return self._finders[folder]

    def _path(self, uri: Element, address: str, folder: str) -> Path:
        scheme = address.partition("://")[0] if "://" in address else ""
        if scheme not in ("", "file", "model", "package"):
            uri.fail(
                f"{shown(address)!r} is on the network, and nothing is fetched; download it and name its path",
                "missing-file",
            )
        # A finder of its own: a file not found here is an error, not a note about a mesh.
        finder = MeshFinder(Path(folder) / "_", self._roots, ros_packages=self._ros_packages)
        address = _as_package(address)
        path = finder.find(address)
        if path is not None:
            return path
        config = finder.find(f"{address.rstrip('/')}/model.config")
        if config is None:
            uri.fail(
                f"there is no file {shown(word(uri))!r}, and no folder of that name with a model.config, inside the "
                "folder of the file or package_roots; name the folder that holds it in package_roots "
                "(--package-roots)",
                "missing-file",
            )
        name = _newest(read_document(config, _CONFIG))
        path = finder.find(f"{address.rstrip('/')}/{name}")
        if path is None:
            uri.fail(f"{config} names the file {shown(name)!r}, which is not in its folder", "missing-file")
        return path


def _read(path: Path, data: bytes, problems: Problems) -> Document:
    """A file, unless it holds so much that reading it would take long."""
    tags = data.count(b"<")
    if tags > _MAX_TAGS:
        raise ModelError(f"{path}: the file has {tags:,} tags; the limit is {_MAX_TAGS:,}")
    document = read_document(path, SHAPES, data, problems=problems)
    shapes = raw = 0
    waiting = [document.root] if document.root.tag == "sdf" else []
    while waiting:
        element = waiting.pop()
        children = SHAPES[element.tag].children
        for part in element.children:
            if part.tag in children:
                shapes += part.tag in ("visual", "collision")
                waiting.append(part)
            else:
                raw += count(part)
    for number, limit, what in ((shapes, _MAX_SHAPES, "shapes"), (raw, MAX_RAW, "elements that are not used")):
        if number > limit:
            document.root.fail(f"there are {number:,} {what}; the limit is {limit:,}", "too-large")
    return document


def _as_package(address: str) -> str:
    """Models are looked up as packages are: in a root, or as a root of that name."""
    return f"package://{address.removeprefix('model://')}" if address.startswith("model://") else address


def _newest(config: Document) -> str:
    """The file that a model.config names for the newest version that is read."""
    named: list[tuple[int, str]] = []
    for element in config.root.all("sdf"):
        text = element.attributes.get("version", f"1.{OLDEST}").strip()
        major, _, minor = text.partition(".")
        if major == "1" and minor.isdecimal() and OLDEST <= int(minor[:4]) <= NEWEST:
            named.append((int(minor[:4]), word(element)))
    if not named:
        config.root.fail(f"names no <sdf> file of a version from 1.{OLDEST} to 1.{NEWEST}; add one", "missing-element")
    return max(named)[1]


def version_of(root: Element) -> int:
    """The second number of the version of a file: 7 for 1.7."""
    text = root.text("version").strip()
    major, _, minor = text.partition(".")
    if major != "1" or not minor.isdecimal() or len(minor) > 4 or not OLDEST <= int(minor) <= NEWEST:
        root.fail(
            f'version="{shown(text, 40)}" is not one that kinetree reads, which are 1.{OLDEST} to 1.{NEWEST}'
            + ("; an older file is converted by `gz sdf -p`" if major == "1" and minor in ("0", "2", "3") else ""),
            "unknown-format",
        )
    return int(minor)
