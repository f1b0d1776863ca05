"""Random robots that a format can hold, and what must come back of them when they are written and read again."""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.model import Geometry, Limits, Mimic
from kinetree.model.extras import ContactParameters, Extras, SimulationFlags, SimulationOptions
from kinetree.model.extras.bodies import Site
from kinetree.spatial import Inertia, Transform
from tests.strategies import axes, inertias, numbers, positive, roundings, transforms

__all__ = ["BY_ANGLES", "BY_QUATERNION", "came_back", "differences", "quietly"]

NAMES = ("{}", "{} & <co>", "the \u201c{}\u201d", 'a"b {}', "über {}")
SIZES_IN_URDF = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "mesh": 3}
SIZES = {**SIZES_IN_URDF, "ellipsoid": 3, "cone": 2}
_UNSEEN = frozenset(("where", "notes", "source", "mesh_path", "turns", "before", "extras"))
"""Fields that a format need not keep; extras have tests of their own."""

BY_ANGLES = roundings(34)
"""Bound of differences where three angles are written: the entries of the robot's matrix are up to 17 roundings off a
rotation (a turn of a half by from_quaternion), those of the nearest angles 6, and of the matrix made from these 11."""
BY_QUATERNION = roundings(170)
"""Bound of differences where a quaternion is written: a robot's matrix is off by 17 roundings as above; up to three of
its entries are summed for a component, 60 in numbers of length two; normalised, each component is off by 34, and the
entries of the matrix, quadratic forms, by 136 and 17 of their own."""


def quietly(work: Callable[[], Any]) -> Any:
    """The result, without warnings about a robot that is suspicious."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return work()


def came_back(robot: kt.Model, suffix: str, **options: Any) -> kt.Model:
    """The robot after it was written to a file with this suffix and read again."""
    with tempfile.TemporaryDirectory() as folder:
        return quietly(lambda: kt.load(kt.save(robot, Path(folder) / f"robot{suffix}", **options)))


def differences(a: kt.Model, b: kt.Model) -> tuple[float, str]:
    """The largest difference of numbers of two robots, relative to the largest beside it, and where it is.

    Anything else must be equal.
    """
    worst, place = 0.0, ""
    for (where, one), (_, other) in zip(_groups(a.parts, "parts"), _groups(b.parts, "parts"), strict=True):
        plain, others = ([x for x in group if not isinstance(x, float)] for group in (one, other))
        assert plain == others, where
        pairs = [(x, y) for x, y in zip(one, other, strict=True) if isinstance(x, float)]
        scale = max((abs(x) for pair in pairs for x in pair if math.isfinite(x)), default=0.0)
        for x, y in pairs:
            error = 0.0 if x == y else abs(x - y) / scale
            if error > worst:
                worst, place = error, where
    return worst, place


def _groups(value: Any, where: str) -> Iterator[tuple[str, list[Any]]]:
    """Each record's or tuple's own values; those of matrices and vectors belong to what holds them."""
    if isinstance(value, Transform | Inertia):
        yield where, list(_leaves(value))
        return
    inside = dict(enumerate(value)) if isinstance(value, tuple) else _fields(value)
    yield where, [x if isinstance(x, float | str | bool | int) else type(x).__name__ for x in inside.values()]
    for name, part in inside.items():
        if isinstance(part, tuple | JointKind) or is_dataclass(part):
            label = getattr(part, "name", "")
            yield from _groups(part, f"{where}.{name}{f'({label})' if label else ''}")


def _fields(value: Any) -> dict[str, Any]:
    names = vars(value) if isinstance(value, JointKind) else [entry.name for entry in fields(value)]
    return {name: getattr(value, name) for name in names if name not in _UNSEEN}


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, float | str | bool | int) or value is None:
        yield value
    else:
        for part in _fields(value).values():
            yield from _leaves(part)


# -- robots that a format can hold


@cache
def shapes(kinds: tuple[str, ...]) -> st.SearchStrategy[Geometry]:
    """Shapes with and without names, colours and meshes."""

    @st.composite
    def shape(draw: st.DrawFn) -> Geometry:
        kind = draw(st.sampled_from(kinds))
        role = draw(st.sampled_from(["visual", "collision"]))
        return Geometry(
            role,
            kind,
            draw(st.tuples(*[positive(0.01, 2.0)] * SIZES[kind])),
            draw(transforms()),
            draw(st.sampled_from(["", "skin", "a & b"])),
            "meshes/a part.stl" if kind == "mesh" else None,
            color=draw(st.none() | st.tuples(*[positive(0.0, 1.0)] * 4)) if role == "visual" else None,
        )

    return shape()


@st.composite
def urdf_kinds(draw: st.DrawFn) -> JointKind:
    """A kind that URDF has a word for."""
    kinds = st.sampled_from([kt.Revolute, kt.Revolute, kt.joints.Continuous, kt.Prismatic, kt.joints.Planar])
    return draw(st.one_of(st.builds(lambda kind, axis: kind(axis), kinds, axes()), st.just(kt.Free())))


@st.composite
def urdf_robots(draw: st.DrawFn) -> kt.Model:
    """Robots of everything that URDF can hold."""
    builder = kt.ModelBuilder("robot")
    count = draw(st.integers(1, 8))
    pattern = draw(st.sampled_from(NAMES))
    bodies: list[str] = []
    leaders: list[str] = []
    for k in range(count + 1):
        name = pattern.format(f"body{k}")
        geometry = draw(st.lists(shapes(tuple(SIZES_IN_URDF)), max_size=2))
        builder.add_body(name, draw(inertias() if k else st.just(Inertia.zero()) | inertias()), geometry=geometry)
        if k:
            kind = draw(st.just(kt.Fixed()) | urdf_kinds())
            joint = pattern.format(f"joint{k}")
            damping, friction = (draw(st.just(0.0) | positive(0.0, 5.0)) for _ in range(2))
            mimic = None
            if isinstance(kind, kt.Revolute | kt.Prismatic):
                if leaders and draw(st.booleans()):
                    mimic = Mimic(draw(st.sampled_from(leaders)), draw(numbers(2.0)), draw(numbers(1.0)))
                leaders.append(joint)
            builder.add_joint(
                joint,
                kind,
                draw(st.sampled_from(bodies)),
                name,
                draw(transforms()),
                limits=draw(limits(kind)),
                damping=(damping,) * kind.nv,
                friction=(friction,) * kind.nv,
                mimic=mimic,
            )
        bodies.append(name)
    return quietly(builder.build)


@st.composite
def limits(draw: st.DrawFn, kind: JointKind) -> Limits | None:
    """Limits where a file can have them: some infinite."""
    if not isinstance(kind, kt.Revolute | kt.Prismatic):
        return None
    velocity, effort = (draw(st.just(math.inf) | positive(0.001, 100.0)) for _ in range(2))
    lower, upper = draw(st.just(-math.inf) | numbers(2.0)), math.inf
    if isinstance(kind, kt.joints.Continuous):
        lower = -math.inf
    elif draw(st.booleans()):
        upper = (0.0 if math.isinf(lower) else lower) + draw(positive(0.0, 3.0))
    return Limits((lower,), (upper,), (velocity,), (effort,))


def _are_skew(pair: tuple[tuple[float, ...], tuple[float, ...]]) -> bool:
    cosine = sum(x * y for x, y in zip(*pair, strict=True)) / math.hypot(*pair[0]) / math.hypot(*pair[1])
    return abs(cosine) < 0.95


@st.composite
def sdf_kinds(draw: st.DrawFn) -> JointKind:
    """A kind that SDF has a word for."""
    one = st.sampled_from([kt.Revolute, kt.Revolute, kt.joints.Continuous, kt.Prismatic])
    kind: JointKind = draw(
        st.one_of(
            st.builds(lambda kind, axis: kind(axis), one, axes()),
            st.builds(kt.joints.Helical, axes(), numbers(1.0)),
            st.tuples(axes(), axes()).filter(_are_skew).map(lambda pair: kt.joints.Universal(*pair)),
            st.just(kt.joints.Spherical()),
        )
    )
    if isinstance(kind, kt.Prismatic) or draw(st.booleans()):
        return kind
    after = draw(transforms().filter(lambda X: any(X.r.components())))
    return kt.joints.Placed(kind, after)


@st.composite
def sdf_robots(draw: st.DrawFn) -> kt.Model:
    """Robots of everything that SDF can hold."""
    floats = draw(st.booleans())
    builder = kt.ModelBuilder("robot")
    pattern = draw(st.sampled_from(NAMES))
    bodies: list[str] = []
    leaders: list[str] = []  # of joints that others may follow
    for k in range(draw(st.integers(1, 8)) + 1):
        name = pattern.format(f"body{k}") if k or floats else "world"
        is_link = name != "world"
        drawn = draw(st.lists(shapes(("ellipsoid", "cone", *SIZES_IN_URDF)), max_size=2)) if is_link else []
        geometry = [replace(shape, name=f"{shape.name}{i}") for i, shape in enumerate(drawn)]
        builder.add_body(name, draw(inertias()) if is_link else Inertia.zero(), geometry=geometry)
        if draw(st.booleans()) and is_link:
            builder.add_frame(f"frame{k}", name, draw(transforms()))
        if k:
            kind = draw(st.just(kt.Fixed()) | sdf_kinds())
            joint = pattern.format(f"joint{k}")
            inner = kind.kind if isinstance(kind, kt.joints.Placed) else kind
            mimic = None
            if kind.nv == 1:
                if leaders and draw(st.booleans()):
                    mimic = Mimic(draw(st.sampled_from(leaders)), draw(numbers(2.0)), draw(numbers(1.0)))
                leaders.append(joint)
            is_ball = isinstance(inner, kt.joints.Spherical)
            values = [draw(st.just(0.0) | positive(0.0, 5.0)) for _ in range(4 * kind.nv)]
            drive = [tuple(values[i::4]) for i in range(4)]
            builder.add_joint(
                joint,
                kind,
                draw(st.sampled_from(bodies)),
                name,
                draw(transforms()),
                limits=draw(limits(inner)),
                damping=(values[0],) * 3 if is_ball else drive[0],
                friction=(values[1],) * 3 if is_ball else drive[1],
                stiffness=None if is_ball else drive[2],
                rest=None if is_ball else drive[3],
                mimic=mimic,
            )
        bodies.append(name)
    return quietly(lambda: builder.build(floating_base=floats))


def mjcf_kinds(*, may_turn: bool = True) -> st.SearchStrategy[JointKind]:
    """A kind that MJCF has a word for, at the body's origin or with an anchor elsewhere."""
    turns = st.builds(kt.Revolute, axes()) | (st.just(kt.joints.Spherical()) if may_turn else st.nothing())
    anchors = transforms().filter(lambda X: any(X.r.components())).map(lambda X: kt.lie.placement(X.r.components()))
    return st.one_of(st.builds(kt.Prismatic, axes()), turns, st.builds(kt.joints.Placed, turns, anchors))


@st.composite
def mjcf_robots(draw: st.DrawFn) -> kt.Model:
    """Robots of everything that MJCF can hold."""
    pull = draw(st.tuples(*[numbers(10.0)] * 3))
    builder = kt.ModelBuilder("robot", gravity=pull)
    flags = SimulationFlags(contact=draw(st.booleans()), energy=draw(st.booleans()))
    builder.extras = Extras(options=SimulationOptions(draw(positive(0.001, 0.1)), pull, integrator="RK4", flags=flags))
    pattern = draw(st.sampled_from(NAMES))
    builder.add_body("world")
    path = ["world"]
    for k in range(draw(st.integers(1, 8))):
        name = pattern.format(f"body{k}")
        parent = path[draw(st.integers(0, len(path) - 1))]
        path = [*path[: path.index(parent) + 1], name]  # bodies come in the order of the tree
        kinds = draw(st.lists(mjcf_kinds(may_turn=False), max_size=2))
        if not kinds:
            kinds = draw(st.just([kt.Fixed()]) | mjcf_kinds().map(lambda kind: [kind]))
        if parent == "world" and draw(st.sampled_from([False, False, True])):
            kinds = [kt.Free()]
        above, X = parent, draw(transforms()) if not isinstance(kinds[0], kt.Free) else Transform.identity()
        for i, kind in enumerate(kinds):
            joint = pattern.format(f"joint{k}_{i}") if kind.nv else name
            between = f"{name}:{joint}" if i < len(kinds) - 1 else name
            builder.add_body(
                between, *([draw(inertias())] if between == name else []), geometry=draw(_geoms(name, between))
            )
            placement = (
                X if i == 0 else kind.after.inverse if isinstance(kind, kt.joints.Placed) else Transform.identity()
            )
            builder.add_joint(joint, kind, above, between, placement, **draw(_mjcf_numbers(kind)))
            above = between
        if draw(st.booleans()):
            builder.add_frame(f"site{k}", name, draw(transforms()))
            site = Site(f"site{k}", name, f"site{k}", size=(0.01 * (k + 1), 0.005, 0.005), group=k % 3)
            builder.extras = builder.extras.with_those_of(Extras(sites=(site,)))
    return quietly(builder.build)


@st.composite
def _geoms(draw: st.DrawFn, body: str, between: str) -> list[Geometry]:
    """Shapes of a body, and none of one between joints."""
    found = draw(st.lists(shapes(("box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh")), max_size=2))
    return [
        replace(
            shape,
            name=f"{body} {i}" if shape.name else "",
            color=shape.color or (0.25, 0.5, 0.75, 1.0),
            contact=ContactParameters(condim=4, margin=0.01)
            if shape.role == "collision"
            else ContactParameters(contype=0, conaffinity=0),
        )
        for i, shape in enumerate(found)
        if body == between
    ]


@st.composite
def _mjcf_numbers(draw: st.DrawFn, kind: JointKind) -> dict[str, Any]:
    """Limits, friction, springs and armature of a joint."""
    if not kind.nv:
        return {}
    damping, friction, stiffness, armature = (draw(st.just(0.0) | positive(0.0, 5.0)) for _ in range(4))
    if isinstance(kind, kt.Free):
        return {"damping": (damping,) * 6}
    numbers_: dict[str, Any] = {
        "damping": (damping,) * kind.nv,
        "friction": (friction,) * kind.nv,
        "stiffness": (stiffness,) * kind.nv,
        "armature": (armature,) * kind.nv,
    }
    if kind.nq == 1:
        lower, effort = draw(numbers(2.0)), draw(st.just(math.inf) | positive(0.1, 100.0))
        bounds = draw(st.just((-math.inf, math.inf)) | positive(0.1, 3.0).map(lambda x: (lower, lower + x)))
        numbers_["limits"] = Limits((bounds[0],), (bounds[1],), (math.inf,), (effort,))
        numbers_["rest"] = (draw(numbers(1.0)),)
    return numbers_
