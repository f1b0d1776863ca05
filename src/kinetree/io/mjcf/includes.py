"""The files of a model as one tree: what is inside a file's first element takes the place of the <include>."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.io.document import Element, Unknown, read_bytes, read_document
from kinetree.io.meshes import MeshFinder
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.model.problems import Problems

__all__ = ["Tree"]

_MOST_FILES = 1000
_MOST_BYTES = 64 * 2**20


class Tree:
    """The elements of all files of a model, under the first one's root.

    Raises `ModelError` for files that cannot be read, or are outside the finder's folders.
    """

    def __init__(self, path: Path, data: bytes, finder: MeshFinder, problems: Problems) -> None:
        self._finder = finder
        self._problems = problems
        self._folder = os.path.dirname(os.path.abspath(path))
        self._files = {os.path.abspath(path)}
        self._bytes = len(data)
        self.unknown: list[Unknown] = []
        """Elements and attributes that MJCF does not have."""
        document = read_document(path, SHAPES, data, problems=problems)
        self.root = document.root
        self.unknown += document.unknown
        self._expand(self.root, "mujoco", self._folder)

    def sections(self, tag: str) -> list[Element]:
        """The elements with this tag that are directly below the root."""
        return self.root.all(tag)

    def _expand(self, root: Element, shape: str, folder: str) -> None:
        pending = [(root, shape, folder)]
        while pending:
            element, shape, folder = pending.pop()
            inside: list[Element] = []
            for child, name, place in self._children(element, shape, folder):
                child.parent = element
                inside.append(child)
                if child.children:
                    pending.append((child, name, place))
            element.children = inside

    def _children(self, element: Element, shape: str, folder: str) -> Iterator[tuple[Element, str, str]]:
        """The children with the names of their shapes and the folders of their files, those of includes as well."""
        known = SHAPES[shape].children
        pending = [(element, folder)]
        while pending:
            parent, folder = pending.pop()
            for k, child in enumerate(parent.children):
                if child.tag != "include":
                    yield child, known[child.tag], folder
                    continue
                rest = Element(parent.tag, {}, parent.line, parent.parent, parent.file)
                rest.children = parent.children[k + 1 :]
                pending.append((rest, folder))
                pending.append(self._included(child, shape, folder))
                break

    def _included(self, include: Element, shape: str, folder: str) -> tuple[Element, str]:
        """The first element of an included file, whose children have the places of the <include>, and its folder."""
        name = include.text("file")
        path = self._finder.find(name)
        if path is None and folder != self._folder:
            path = self._finder.find(os.path.join(folder, name))
        if path is None:
            include.fail(f"the file {name!r} {self._finder.why_not(name)}", "missing-file")
        place = os.path.abspath(path)
        if place in self._files:
            include.fail(
                f"the file {name!r} is included a second time; MuJoCo takes each file once", "repeated-element"
            )
        self._files.add(place)
        try:
            data = read_bytes(path)
            self._bytes += len(data)
            if len(self._files) > _MOST_FILES or self._bytes > _MOST_BYTES:
                include.fail(
                    f"the model's files are more than {_MOST_FILES:,}, or together larger than "
                    f"{_MOST_BYTES // 2**20} MiB",
                    "too-large",
                )
            document = read_document(path, SHAPES, data, root=SHAPES[shape], problems=self._problems)
        except ModelError as error:
            told = f"(included by {include.file}:{include.line})"
            found = [each._replace(sentence=f"{each.sentence} {told}") for each in error.problems]
            raise ModelError(f"{error} {told}", problems=found) from None
        if not document.root.children and not document.skipped:
            include.fail(f"the file {name!r} holds no elements to include", "missing-element")
        self.unknown += [u for u in document.unknown if u.place is not document.root]
        return document.root, os.path.dirname(place)
