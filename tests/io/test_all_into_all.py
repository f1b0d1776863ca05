"""Every robot of the tests, whatever its format, written in every format: what was written can be read.

MuJoCo reads what is MJCF, with a tetrahedron in place of each mesh file.
"""

from __future__ import annotations

import math
import re
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import kinetree as kt
from kinetree.io import FORMATS
from kinetree.io.texts import written
from kinetree.joints import JointKind
from kinetree.model import Geometry, Limits
from kinetree.model.extras import ContactParameters
from kinetree.pictures.png import png_bytes
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.io.mjcf.record_files import FILES
from tests.io.round_trips import quietly
from tests.io.sdf.robots import ROBOTS, TETRAHEDRON
from tests.io.sdf.written import read
from tests.robots import each_robot_file, load_robot
from tests.strategies import law

mujoco = pytest.importorskip("mujoco")


def _from_mjcf(folder: Path, text: str) -> kt.Model:
    (folder / "robot.xml").write_text(text, encoding="utf-8")
    return quietly(lambda: kt.load(folder / "robot.xml"))


def _sources() -> Iterator[Any]:
    for name in kt.zoo.names():
        yield pytest.param(lambda _, name=name: kt.zoo.load(name), id=f"zoo {name}")
    for k, one in enumerate(each_robot_file()):
        (file,) = one.values
        marks = one.marks or ((), pytest.mark.deep)[k % 2]
        yield pytest.param(lambda _, file=file: load_robot(file, mimic=True), id=f"URDF {file}", marks=marks)
    for name, text in ROBOTS.items():
        yield pytest.param(lambda folder, text=text: read(folder, text), id=f"SDF {name}")
    for name, text in FILES.items():
        yield pytest.param(lambda folder, text=text: _from_mjcf(folder, text), id=f"MJCF {name}")


@pytest.mark.parametrize("make", [*_sources()])
def test_what_was_written_can_be_read(make: Callable[[Path], kt.Model], tmp_path: Path) -> None:
    robot = make(tmp_path)
    for one in (robot, _with_equal_names(robot)):
        for format in FORMATS:
            _assert_readable(one, format, tmp_path)


def _with_equal_names(robot: kt.Model) -> kt.Model:
    """The robot whose bodies all have shapes called "visual", as is usual in SDF, whatever is around them."""
    builder = kt.ModelBuilder(robot.name, gravity=robot.parts.gravity)
    here = Transform.identity()
    shapes = (
        Geometry("visual", "box", (0.1, 0.1, 0.1), here, "visual"),
        Geometry("collision", "sphere", (0.1,), here, "visual"),
        Geometry("visual", "mesh", (1.0, 1.0, 1.0), here, "visual"),
    )
    links = [
        replace(link, geometry=(*(replace(x, name="visual") for x in link.geometry), *shapes))
        for link in robot.parts.links
    ]
    builder.add_parts(replace(robot.parts, links=tuple(links)))
    return quietly(lambda: builder.build(floating_base=robot.parts.floating_base))


NAMES = ("", "a", " a ", "visual", "x\ty", "ü", "a&b", "x" * 5000, "__a__", "a::b", "world", "mesh_1", "a\nb")
FILES_OF_MESHES = (
    *(None, "", " ", "a.stl", "a b.obj", " a.stl", "package://x/a.dae", "file:///a.stl", "../a.stl", "a.png"),
    *("x" * 5000 + ".stl", "b.STL", "a\\b.stl", "é.stl"),
)
LENGTHS = (0.1, 1.0, 0.5, 1e-9, 1e9, -1.0, 0.0, math.inf, 1e-310, 1e300)
SHAPES = {
    "box": 3, "cylinder": 2, "sphere": 1, "capsule": 2, "cone": 2, "ellipsoid": 3, "plane": 2, "heightfield": 4,
    "mesh": 3,
}  # fmt: skip


@st.composite
def _any_shapes(draw: st.DrawFn) -> list[Geometry]:
    """Shapes that a program may make, also those that no reader takes."""
    found = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(list(SHAPES)))
        lengths = (1.0, 0.5, -1.0, math.inf) if kind == "mesh" else LENGTHS  # MuJoCo refuses tiny meshes
        size = tuple(draw(st.sampled_from(lengths)) for _ in range(SHAPES[kind]))
        mesh = draw(st.sampled_from(FILES_OF_MESHES)) if kind in ("mesh", "heightfield") else None
        color = draw(st.sampled_from([None, (1.0, 0.0, 0.0, 1.0), (2.0, 0.0, -1.0, 1.0)]))
        role, name = draw(st.sampled_from(["visual", "collision"])), draw(st.sampled_from(NAMES))
        found.append(Geometry(role, kind, size, kt.lie.placement((0.0, 0.0, 0.5)), name, mesh, color=color))
    return found


@law(60)
@given(_any_shapes(), _any_shapes(), st.sampled_from(["world", "base"]), st.booleans())
def test_any_shapes_are_written_so_that_they_can_be_read_or_are_lost(
    one: list[Geometry], other: list[Geometry], root: str, floats: bool
) -> None:
    builder = kt.ModelBuilder("shapes")
    builder.add_body(root, kt.solids.box(1, 1, 1, mass=1.0))
    for name, shapes, kind in (("a", one, kt.Revolute([0, 0, 1])), ("b", other, kt.Fixed())):
        builder.add_body(name, kt.solids.box(1, 1, 1, mass=1.0), geometry=shapes)
        builder.add_joint(f"{name} joint", kind, root, name)
    robot = builder.build(floating_base=floats)
    with tempfile.TemporaryDirectory() as folder:
        for format in FORMATS:
            _assert_readable(robot, format, Path(folder))


EDGES = (0.0, 1e-320, 1e-16, 1e-9, 0.5, 1e9, 1e10, 2e10, 1e16, 1e30, 1e300)
SIGNED = (*EDGES, *(-x for x in EDGES[1:]))
INERTIAS = (0.0, 1e-320, 1e-16, 0.5, 1.0, 1e9, 1e30, 1e60)
PLACES = (0.0, 1e-9, 1.0, -1e3, 1e9, 1e20)
KINDS: dict[str, Callable[[], JointKind]] = {
    **{name: getattr(kt.joints, name) for name in ("Fixed", "Free", "Spherical", "Translation")},
    **{
        name: lambda name=name: getattr(kt.joints, name)([0, 0, 1])  # type: ignore[misc]
        for name in ("Revolute", "Continuous", "Prismatic", "Cylindrical", "Planar")
    },
    "Universal": lambda: kt.joints.Universal([1, 0, 0], [0, 1, 0]),
    "Helical": lambda: kt.joints.Helical([0, 0, 1], 1e-9),
}


@st.composite
def _any_numbers(draw: st.DrawFn) -> kt.Model:
    """A robot whose numbers and names are at the edges of what may be built; most of it is usual."""

    def one(usual: Any, values: Sequence[Any]) -> Any:
        return draw(st.sampled_from(values)) if draw(st.integers(0, 3)) == 0 else usual

    def body(name: str, shapes: Sequence[Geometry] = ()) -> None:
        moments = Sym3(*(one(1.0, INERTIAS) for _ in range(3)), 0.0, 0.0, 0.0)
        center = Vec3(*(one(0.0, PLACES) for _ in range(3)))
        builder.add_body(name, Inertia.from_com(one(1.0, INERTIAS), center, moments), geometry=shapes)

    names = [name for name in NAMES if name.isprintable() and name]
    builder = kt.ModelBuilder(one("robot", names))
    bodies = [draw(st.sampled_from(["world", "base"]))]
    body(bodies[0])
    for k in range(draw(st.integers(1, 2))):
        kind = KINDS[draw(st.sampled_from(list(KINDS)))]()
        bits = one(1, (0, -1, 2**31 - 1, -(2**31)))
        contact = ContactParameters(contype=bits, priority=bits, margin=one(0.0, SIGNED), solref=(one(0.02, SIGNED), 1))
        bodies.append(one(f"b{k}", [name for name in names if name not in bodies]))
        body(
            bodies[-1],
            one((), [[Geometry("collision", "sphere", (1.0,), kt.lie.placement((0, 0, 1)), contact=contact)]]),
        )
        lower, upper = sorted((one(-math.inf, SIGNED), one(math.inf, SIGNED)))
        speed, force = one(math.inf, EDGES), one(math.inf, EDGES)
        builder.add_joint(
            f"j{k}" if k else one("j0", names), kind, draw(st.sampled_from(bodies[:-1])), bodies[-1],
            kt.lie.placement([one(0.0, PLACES) for _ in range(3)], rpy=one((0.0, 0.0, 0.0), [(0.1, 0.2, 0.3)])),
            limits=Limits((lower,) * kind.nq, (upper,) * kind.nq, (speed,) * kind.nv, (force,) * kind.nv),
            **{name: [one(0.0, SIGNED)] * kind.nv for name in ("damping", "friction", "stiffness")},
            armature=[one(0.0, EDGES)] * kind.nv, rest=[one(0.0, SIGNED)] * kind.nq if kind.nq == kind.nv else None,
        )  # fmt: skip
    try:
        with np.errstate(all="ignore"):
            return quietly(lambda: builder.build(floating_base=draw(st.booleans())))
    except kt.errors.ModelError:  # as of a robot whose base floats, and in which a body is called "world"
        reject()


@law(100)
@given(_any_numbers())
def test_any_numbers_are_written_so_that_they_can_be_read_or_are_lost(robot: kt.Model) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for format in FORMATS:
            _assert_readable(robot, format, Path(folder))


BALL = Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(1.0))
POST = Inertia.from_com(1e9, Vec3.zero(), Sym3(2e8, 3e8, 8e8, 0.0, 0.0, 0.0))
FAR = kt.lie.placement((0.0, 1e9, 1e30), rpy=(0.1, 0.2, 0.3))
FAR_AWAY: dict[str, list[tuple[JointKind, Inertia, Transform]]] = {
    "a ball joint": [
        (kt.joints.Spherical(), Inertia.zero(), kt.lie.placement((0, 0, 0))),
        (kt.Prismatic([0, 1, 0]), BALL, kt.lie.placement((0, 0, -1e15))),
    ],
    "a hinge": [(kt.Revolute([0, 0, 1]), Inertia.zero(), FAR), (kt.joints.Spherical(), BALL, FAR)],
    "a post that no body can be": [
        (kt.Prismatic([0, 1, 0]), POST, kt.lie.placement((0, 0, 0))),
        (kt.Fixed(), BALL, kt.lie.placement((0, 0, -1e15), rpy=(0.1, 0.2, 0.3))),
    ],
    "next to no mass": [
        (
            kt.Prismatic([0, 1, 0]),
            Inertia.from_com(1e-30, Vec3(1e60, 0.0, 0.0), Sym3.zero()),
            kt.lie.placement((0, 0, 0)),
        )
    ],
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("parts", FAR_AWAY.values(), ids=FAR_AWAY)
def test_parts_far_away_are_written_so_that_they_can_be_read_or_are_lost(
    parts: list[tuple[JointKind, Inertia, Transform]], format: str, tmp_path: Path
) -> None:
    builder = kt.ModelBuilder("robot")
    builder.add_body("b0")
    for k, (kind, inertia, placement) in enumerate(parts):
        builder.add_body(f"b{k + 1}", inertia)
        builder.add_joint(f"j{k}", kind, f"b{k}", f"b{k + 1}", placement)
    _assert_readable(quietly(builder.build), format, tmp_path)


def _assert_readable(robot: kt.Model, format: str, folder: Path) -> None:
    text, losses = written(robot, format)
    if losses.impossible:
        return
    path = folder / f"written{FORMATS[format].suffixes[0]}"
    path.write_text(text, encoding="utf-8")
    again = quietly(lambda: kt.load(path))
    if format == "native":
        assert again == robot
    elif not (losses.lost or losses.changed):
        assert (again.nq, again.nv) == (robot.nq, robot.nv)
    if format == "mjcf":
        model = mujoco.MjModel.from_xml_string(text, _tetrahedra(text))
        assert model.njnt <= len(robot.joints) + 2 * robot.nv
        assert math.isfinite(float(model.body_mass.sum()))


def _tetrahedra(text: str) -> dict[str, bytes]:
    """A small mesh for each file that a text names."""
    triangles = struct.pack("<80xI", 4) + b"".join(
        struct.pack("<12f2x", *(0.0,) * 3, *points)
        for points in (
            (0, 0, 0, 0, 1, 0, 1, 0, 0), (0, 0, 0, 1, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1, 0, 1, 0),
            (1, 0, 0, 0, 1, 0, 0, 0, 1),
        )
    )  # fmt: skip
    contents = {
        ".obj": TETRAHEDRON.encode(),
        ".stl": triangles,
        ".png": png_bytes(np.arange(12, dtype=np.uint8).reshape(2, 2, 3)),
    }
    files = re.findall(r'<(?:mesh|hfield) [^>]*file="([^"]*)"', text)
    return {file: contents[Path(file).suffix.lower()] for file in files}
