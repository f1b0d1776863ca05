"""One MJCF file as a source of bodies: its settings, defaults and assets, and the names its parts get in the robot.

The files of a model are one tree: the contents of a file's first element take the place of the <include>. Default
classes: each begins as a copy of the class around it and adds its own elements.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from kinetree.errors import ModelError, nearest_names, quoted
from kinetree.io.document import Element, Unknown, read_bytes, read_document
from kinetree.io.meshes import MeshFinder
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.settings import Settings, read_settings
from kinetree.model.problems import Problems
from kinetree.records import record

__all__ = ["OWN", "Namespace", "Scope", "read_scope"]

_MOST_FILES = 1000
_MOST_BYTES = 64 * 2**20
_ACTUATORS = frozenset({
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor", "plugin",
})  # fmt: skip
"""Elements that are actuators; in a class, all of them set the one default of actuators."""
_MAIN = "main"

Chain = tuple[Element, ...]
_MOST_MODELS = 100


class _Tree:
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
        self.root: Element = document.root
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
        children = SHAPES[shape].children
        pending = [(element, folder)]
        while pending:
            parent, folder = pending.pop()
            for k, child in enumerate(parent.children):
                if child.tag != "include":
                    yield child, children[child.tag], folder
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
            included = f"(included by {include.file}:{include.line})"
            problems = [each._replace(sentence=f"{each.sentence} {included}") for each in error.problems]
            raise ModelError(f"{error} {included}", problems=problems) from None
        if not document.root.children and not document.skipped:
            include.fail(f"the file {name!r} holds no elements to include", "missing-element")
        self.unknown += [u for u in document.unknown if u.place is not document.root]
        return document.root, os.path.dirname(place)


class _Defaults:
    """The default classes of one file."""

    def __init__(self, sections: Sequence[Element]) -> None:
        self._classes: dict[str, dict[str, Chain]] = {_MAIN: {}}
        for section in sections:
            name = section.attributes.get("class", _MAIN)
            if name != _MAIN:
                section.fail(
                    f'the outermost class of defaults is called "main", not {name!r}; nest another class in it',
                    "bad-name",
                )
            self._add(section, self._classes[_MAIN])

    def _add(self, section: Element, own: dict[str, Chain]) -> None:
        pending = [(section, own)]
        while pending:
            section, own = pending.pop()
            nested = []
            for element in section.children:
                if element.tag == "default":
                    nested.append(element)
                else:
                    tag = "actuator" if element.tag in _ACTUATORS else element.tag
                    own[tag] = (*own.get(tag, ()), element)
            for element in nested:
                name = element.text("class")
                if name in self._classes:
                    element.fail(f"there are two default classes named {name!r}; rename one of them", "duplicate-name")
                self._classes[name] = dict(own)
            pending += [(element, self._classes[element.attributes["class"]]) for element in reversed(nested)]

    def check(self, name: str, element: Element, attribute: str) -> str:
        """The name, if there is such a class."""
        if name not in self._classes:
            element.fail(
                f"{attribute}={quoted(name)}: there is no such default class: {nearest_names(name, self._classes)}",
                "unknown-name",
            )
        return name

    def of(self, element: Element, tag: str, around: str | None = None) -> Chain:
        """The defaults of an element, the outermost first; `around` is the class of the bodies around it."""
        name = element.attributes.get("class")
        if name is not None:
            self.check(name, element, "class")
        return self._classes[name or around or _MAIN].get(tag, ())


@record(frozen=True, slots=True)
class Namespace:
    """Additions to names: in front where a model is attached, at the end where elements are replicated."""

    prefix: str = ""
    suffix: str = ""

    def of(self, name: str) -> str:
        """The full name; empty for an empty name."""
        return f"{self.prefix}{name}{self.suffix}" if name else ""

    def of_asset(self, name: str) -> str:
        """The full name of an asset; replicas share assets."""
        return f"{self.prefix}{name}" if name else ""

    def inside(self, prefix: str = "", suffix: str = "") -> Namespace:
        """The namespace nested in this one, with its own prefix and suffix."""
        return Namespace(self.prefix + prefix, suffix + self.suffix)


OWN = Namespace()


@record(slots=True)
class Scope:
    """A file, with the files it includes."""

    tree: _Tree
    path: Path
    settings: Settings
    defaults: _Defaults
    finder: MeshFinder
    assets: dict[str, dict[str, Element]] = field(default_factory=dict)
    """Meshes, materials, height fields and textures by tag and name."""
    models: dict[str, Scope] = field(default_factory=dict)
    """The models that may be attached."""
    instances: list[tuple[Scope, Namespace]] = field(default_factory=list)
    """One for each time that parts of a file are in the robot, with that file; empty except in the main file."""

    def attributes(self, element: Element, tag: str, around: str | None = None) -> Attributes:
        """An element's attributes over its defaults; `around` is the class of the bodies around it."""
        return Attributes(element, self.defaults.of(element, tag, around))

    def sections(self, tag: str) -> list[Element]:
        """All sections of the file with this tag."""
        return self.tree.sections(tag)

    def asset(self, tag: str, name: str, element: Element, attribute: str) -> Element:
        """The asset that an element names."""
        assets = self.assets.get(tag, {})
        if name not in assets:
            element.fail(
                f"{attribute}={quoted(name)}: there is no such {tag}: {nearest_names(name, assets)}",
                "unknown-material" if tag == "material" else "unknown-name",
            )
        return assets[name]

    def address(self, element: Element) -> str:
        """The address of the file of a mesh or height field, relative to the folder of the main file."""
        return self.address_of(element.text("file"), "mesh")

    def address_of(self, name: str, kind: str) -> str:
        """The address of a file, relative to the folder of the main file; `kind` is "mesh" or "texture"."""
        if self.settings.strip_paths:
            name = name.replace("\\", "/").rpartition("/")[2]
        folder = self.settings.texture_folder if kind == "texture" else self.settings.mesh_folder
        return name if os.path.isabs(name) else os.path.join(folder, name)


def read_scope(path: Path, data: bytes, finder: MeshFinder, problems: Problems) -> Scope:
    """A file with all it includes and the models that it may attach."""
    main = _read(path, data, finder, problems)
    pending, opened = [main], {os.path.abspath(path)}
    while pending:
        scope = pending.pop()
        for element in _assets(scope, "model"):
            name = element.text("file")
            included = finder.find(name)
            if included is None:
                element.fail(f"the file {name!r} {finder.why_not(name)}", "missing-file")
            place = os.path.abspath(included)
            if place in opened or len(opened) > _MOST_MODELS:
                why = "is this model itself, or is named twice" if place in opened else "is one of too many models"
                element.fail(f"the file {name!r} {why}", "missing-file")
            opened.add(place)
            model = _read(included, read_bytes(included), finder, problems)
            own = element.attributes.get("name") or model.tree.root.attributes.get("model") or included.stem
            if own in scope.models:
                element.fail(f"there are two models named {own!r}; give them names", "duplicate-name")
            scope.models[own] = model
            pending.append(model)
    return main


def _read(path: Path, data: bytes, finder: MeshFinder, problems: Problems) -> Scope:
    tree = _Tree(path, data, finder, problems)
    if tree.root.tag != "mujoco":
        tree.root.fail("this is not an MJCF file: it must begin with <mujoco>", "unknown-format")
    for unknown in tree.unknown:
        code = "unknown-element" if unknown.attribute is None else "unknown-attribute"
        problems.add(unknown.place.error(unknown.sentence, code, repair="it is left out"))
    scope = Scope(
        tree,
        path,
        read_settings(tree.sections("compiler"), tree.root),
        _Defaults(tree.sections("default")),
        finder,
    )
    for tag in ("mesh", "hfield", "material", "texture"):
        table = scope.assets[tag] = {}
        for element in _assets(scope, tag):
            name = element.attributes.get("name") or Path(element.attributes.get("file", "")).stem
            if not name and tag in ("mesh", "hfield", "material"):
                element.fail('has neither a "name" nor a "file"; name it', "missing-attribute")
            if name in table and name:
                element.fail(
                    f"there are two assets of the kind {tag} named {name!r}; rename one of them", "duplicate-name"
                )
            table[name] = element
    return scope


def _assets(scope: Scope, tag: str) -> Sequence[Element]:
    return [element for section in scope.sections("asset") for element in section.all(tag)]
