"""From text to a robot. Nothing in the text is run, opened or repaired; its contents are checked like a file's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.io.native.kinds import KindReader, known_kinds
from kinetree.io.native.nodes import Node, parsed
from kinetree.io.native.quantities import read_placement, read_vector
from kinetree.io.native.records import read_fields
from kinetree.io.native.writing import FORMAT, VERSION
from kinetree.joints import JointKind
from kinetree.model.builder import ModelBuilder
from kinetree.model.elements import Geometry, Mimic, Rotor
from kinetree.model.extras import ContactParameters, Extras, with_images
from kinetree.model.model import Model
from kinetree.model.problems import STRICT, Problems
from kinetree.spatial import Inertia, Sym3, Transform
from kinetree.tree.drive import Drive, Limits

__all__ = ["read_text"]

_IDENTITY = Transform.identity()
_TOP = ("kinetree", "version", "name", "gravity", "floating_base", "bodies", "joints")
_BODY = ("mass", "first_moment", "inertia", "geometry")
_FORCES = (*Drive.__slots__, "armature")
_JOINT = ("placement", "limits", *_FORCES, "rotor", "mimic", "actuated")


def read_text(
    text: str,
    *,
    kinds: Sequence[type[JointKind]] = (),
    file: str = "",
    floating_base: bool | None = None,
    mimic: bool = True,
    find_mesh: Callable[[str], Path | None] | None = None,
    find_image: Callable[[str], Path | None] | None = None,
    problems: Problems = STRICT,
) -> Model:
    """The robot of a text form.

    `file` is the file the robot was read from and begins the places in messages; without it, the source is what the
    text says. `floating_base` makes the base float, or fixes it, whatever the text says; with `mimic` False, joints
    that mimic others move independently. `find_mesh` maps a mesh's address to a path on this disk, and `find_image`
    an image's.

    Raises `ModelError`, with its place, for anything that is not a robot's text form; `OptionError` for invalid kinds.
    """
    classes = known_kinds(kinds)
    root = parsed(text, file)
    try:
        _check_version(root)
        root.record(_TOP, ("source", "notes", "frames", "couplings", "extras"))
        return _Reader(root, KindReader(classes), file, mimic, find_mesh, find_image, problems).model(floating_base)
    except RecursionError:
        root.fail("values are nested too deep for a robot", "too-large")


def _check_version(root: Node) -> None:
    """Check the version before anything else: a newer version may have fields unknown to this one."""
    if type(root.value) is not dict or "kinetree" not in root:
        root.fail(
            f'this is no robot: its text begins with {{"kinetree": "{FORMAT}", "version": {VERSION}, …',
            "unknown-format",
        )
    if root["kinetree"].value != FORMAT:
        root["kinetree"].fail(f'is {root["kinetree"].value!r:.60}; a robot has "{FORMAT}" there', "unknown-format")
    if "version" not in root:
        root.fail('has no field "version"; add it', "missing-attribute")
    version = root["version"]
    if type(version.value) is not int or version.value < 1:
        version.fail(f"must be a whole number from 1 on, not {version.value!r:.60}")
    if version.value > VERSION:
        version.fail(
            f"is {version.value}, but this kinetree reads versions up to {VERSION}; use a newer one, or write the "
            "robot anew with this one"
        )


class _Reader:
    """Reads one text."""

    def __init__(
        self,
        root: Node,
        kinds: KindReader,
        file: str,
        mimic: bool,
        find_mesh: Callable[[str], Path | None] | None,
        find_image: Callable[[str], Path | None] | None,
        problems: Problems,
    ) -> None:
        self._root = root
        self._kinds = kinds
        self._mimic = mimic
        self._find_mesh = find_mesh
        self._find_image = find_image
        name, gravity = root["name"].text(), root["gravity"].numbers(3)
        source = root["source"].text() if "source" in root else ""
        try:
            self._builder = ModelBuilder(name, gravity=gravity, source=file or source, problems=problems)
        except ModelError as error:
            root.fail(str(error))

    def model(self, floating_base: bool | None) -> Model:
        root, builder = self._root, self._builder
        for name, read in (
            ("bodies", self._body),
            ("joints", self._joint),
            ("frames", self._frame),
            ("couplings", self._coupling),
        ):
            if name in root:
                for node in root[name]:
                    with builder.problems.of(_name_of(node)):
                        read(node)
        if "extras" in root:
            with builder.problems.of():
                self._check_second("extras", root["extras"])
                extras = read_fields(root["extras"], Extras)
                builder.extras = with_images(extras, self._find_image) if self._find_image else extras
        if "notes" in root:
            for note in root["notes"]:
                builder.note(note.text())
        floats = root["floating_base"].flag()
        return builder.build(floating_base=floats if floating_base is None else floating_base)

    def _body(self, node: Node) -> None:
        node.record(("name",), _BODY)
        zero = Inertia.zero()
        inertia = Inertia(
            node["mass"].number() if "mass" in node else zero.mass,
            read_vector(node["first_moment"]) if "first_moment" in node else zero.h,
            Sym3(*node["inertia"].numbers(6)) if "inertia" in node else zero.I,
        )
        shapes = [self._geometry(shape) for shape in node["geometry"]] if "geometry" in node else []
        self._builder.add_body(node["name"].text(), inertia, geometry=shapes, where=node)

    def _geometry(self, node: Node) -> Geometry:
        node.record(("role", "shape", "size"), ("placement", "name", "mesh", "color", "contact"))
        mesh = node["mesh"].text() if "mesh" in node else None
        shape = Geometry(
            node["role"].text(),
            node["shape"].text(),
            node["size"].numbers(),
            self._placement(node),
            node["name"].text() if "name" in node else "",
            mesh,
            self._find_mesh(mesh) if mesh and self._find_mesh else None,
        )
        if "contact" in node:
            self._check_second("contact", node["contact"])
            shape = replace(shape, contact=read_fields(node["contact"], ContactParameters))
        if "color" not in node:
            return shape
        r, g, b, a = node["color"].numbers(4)
        return replace(shape, color=(r, g, b, a))

    def _check_second(self, name: str, node: Node) -> None:
        """Refuse, in a text of version 1, what came with version 2."""
        if self._root["version"].value < 2:
            node.fail(f'"{name}" came with version 2 of this format; write "version": 2 at the top')

    def _joint(self, node: Node) -> None:
        node.record(("name", "kind", "parent", "child"), _JOINT)
        kind = self._kinds.read(node["kind"])
        self._builder.add_joint(
            node["name"].text(),
            kind,
            node["parent"].text(),
            node["child"].text(),
            self._placement(node),
            limits=self._limits(node["limits"], kind) if "limits" in node else None,
            rotor=self._rotor(node["rotor"]) if "rotor" in node else None,
            mimic=self._follow(node["mimic"]) if "mimic" in node else None,
            actuated=node["actuated"].flags() if "actuated" in node else None,
            where=node,
            **{name: node[name].numbers() for name in _FORCES if name in node},
        )

    def _limits(self, node: Node, kind: JointKind) -> Limits:
        names = Limits.__slots__
        node.record((), names)
        none = Limits.none(kind)
        return Limits(*(node[name].numbers() if name in node else getattr(none, name) for name in names))

    def _rotor(self, node: Node) -> Rotor:
        node.record(("inertia", "ratio"), ("axis",))
        inertia, ratio = node["inertia"].number(), node["ratio"].number()
        if "axis" not in node:
            return Rotor(inertia, ratio)
        x, y, z = node["axis"].numbers(3)
        return Rotor(inertia, ratio, (x, y, z))

    def _follow(self, node: Node) -> Mimic | None:
        node.record(("joint",), ("multiplier", "offset"))
        multiplier = node["multiplier"].number() if "multiplier" in node else 1.0
        offset = node["offset"].number() if "offset" in node else 0.0
        return Mimic(node["joint"].text(), multiplier, offset) if self._mimic else None

    def _frame(self, node: Node) -> None:
        node.record(("name", "body"), ("placement",))
        self._builder.add_frame(node["name"].text(), node["body"].text(), self._placement(node), where=node)

    def _coupling(self, node: Node) -> None:
        node.record(("name", "joints", "matrix", "coordinates"), ("offset", "actuated"))
        self._builder.add_coupling(
            node["name"].text(),
            [joint.text() for joint in node["joints"]],
            [row.numbers() for row in node["matrix"]],
            coordinates=[coordinate.text() for coordinate in node["coordinates"]],
            offset=node["offset"].numbers() if "offset" in node else None,
            actuated=node["actuated"].flags() if "actuated" in node else None,
            where=node,
        )

    def _placement(self, node: Node) -> Transform:
        return read_placement(node["placement"]) if "placement" in node else _IDENTITY


def _name_of(node: Node) -> str:
    """The name of a part, if it has one."""
    name = node.value.get("name") if type(node.value) is dict else None
    return name.strip() if type(name) is str else ""
