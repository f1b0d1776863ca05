"""Hypothesis strategies: random robots, states and spatial quantities, for laws that hold for all of them.

Numbers are thousandths of whole ones: they shrink to something readable, zero is among them, and none is so small
that an identity drowns in rounding. Strategies are made once: checking a new one costs more than drawing from it. They
are made of integers, with as few strategies inside of each other as can be: each takes its time at every number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.model import Coupling
from kinetree.spatial import Force, Inertia, Mat3, Motion, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion, from_rpy

__all__ = [
    "Blueprint",
    "JointPlan",
    "State",
    "axes",
    "blueprints",
    "configurations",
    "forces",
    "inertias",
    "kinds",
    "law",
    "motions",
    "moving_trees",
    "numbers",
    "rates",
    "rotations",
    "roundings",
    "states",
    "transforms",
    "trees",
    "vectors",
    "wrenches",
]

Array = NDArray[np.float64]
_LEAST = 3
"""How many examples are tried in any case, if a law has so many."""


def law(examples: int = 25) -> settings:
    """How a law is tried: a modest number of examples, as long as they need.

    All are tried when new ones are explored, and a quarter where they are always the same ones: Hypothesis draws the
    first ten by themselves, and makes most of the others by repeating parts of those. The profiles of tests/conftest.py
    have the percentages as their numbers of examples.
    """
    percentage = settings().max_examples
    return settings(
        max_examples=max(examples * percentage // 100, min(examples, _LEAST)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def roundings(count: int) -> float:
    """The most that so many roundings of float64 numbers near one add up to: bounds say what they count."""
    return count * 2.0**-53


# -- numbers, vectors and rotations


@cache
def thousandths(low: float, high: float) -> st.SearchStrategy[int]:
    """How many thousandths a number between two others has."""
    return st.integers(round(1000 * low), round(1000 * high))


@cache
def numbers(bound: float) -> st.SearchStrategy[float]:
    """Thousandths within plus or minus the bound, zero among them."""
    return positive(-bound, bound)


@cache
def positive(low: float, high: float) -> st.SearchStrategy[float]:
    """Thousandths between two numbers, positive ones as a rule."""
    return thousandths(low, high).map(lambda k: k / 1000)


@cache
def several(count: int, bound: float) -> st.SearchStrategy[tuple[float, ...]]:
    """As many `numbers`."""
    one = thousandths(-bound, bound)
    return st.tuples(*[one] * count).map(lambda found: tuple(k / 1000 for k in found))


@cache
def vectors(bound: float = 2.0) -> st.SearchStrategy[Vec3]:
    """Vectors with components within the bound."""
    one = thousandths(-bound, bound)
    return st.tuples(one, one, one).map(lambda k: Vec3(k[0] / 1000, k[1] / 1000, k[2] / 1000))


@cache
def _offsets(bound: float) -> st.SearchStrategy[Vec3]:
    """None, or some."""
    return st.just(Vec3.zero()) | vectors(bound)


@cache
def axes() -> st.SearchStrategy[tuple[float, float, float]]:
    """Directions: the coordinate axes, both ways, or skew and of any length."""
    aligned = st.sampled_from([tuple(s * float(k == i) for k in range(3)) for i in range(3) for s in (1.0, -1.0)])
    skew = several(3, 2.0).filter(lambda a: math.hypot(*a) > 0.1)
    return aligned | skew


@cache
def quaternions() -> st.SearchStrategy[tuple[float, float, float, float]]:
    """Unit quaternions x, y, z, w: the identity, half turns and general ones."""
    return (
        several(4, 1.0)
        .filter(lambda q: math.hypot(*q) > 0.1)
        .map(
            lambda q: tuple(x / math.hypot(*q) for x in q)  # type: ignore[arg-type, return-value]
        )
    )


@cache
def rotations() -> st.SearchStrategy[Mat3]:
    """The identity, quarter turns about several axes, a turn about an axis after or before such, or a general one."""
    quarter = st.integers(0, 3).map(lambda k: k * math.pi / 2)
    quarters = st.builds(from_rpy, quarter, quarter, quarter)
    one_axis = st.tuples(st.integers(0, 2), numbers(4.0)).map(
        lambda turn: from_rpy(*(turn[1] if k == turn[0] else 0.0 for k in range(3)))
    )
    general = quaternions().map(lambda q: from_quaternion(*q))
    return st.just(Mat3.identity()) | quarters | st.builds(Mat3.times, quarters, one_axis) | one_axis | general


@cache
def transforms() -> st.SearchStrategy[Transform]:
    """Placements: unturned, unmoved, both or neither."""
    return st.builds(Transform, rotations(), _offsets(2.0))


@cache
def motions() -> st.SearchStrategy[Motion]:
    """Spatial motions."""
    return st.builds(Motion, vectors(3.0), vectors(3.0))


@cache
def forces() -> st.SearchStrategy[Force]:
    """Spatial forces."""
    return st.builds(Force, vectors(10.0), vectors(10.0))


@cache
def wrenches() -> st.SearchStrategy[Array]:
    """[f; n], shape (6,)."""
    return several(6, 10.0).map(np.array)


@cache
@st.composite
def inertias(draw: st.DrawFn) -> Inertia:
    """Of a solid ellipsoid of any mass, half-axes, orientation and centre: one that a real body could have."""
    mass = draw(thousandths(0.1, 10.0)) / 1000
    a, b, c = ((draw(thousandths(0.05, 0.5)) / 1000) ** 2 for _ in range(3))
    principal = Sym3(b + c, a + c, a + b, 0.0, 0.0, 0.0)
    R = draw(rotations())
    rotated = R.times(principal.full).times(R.T)
    k = mass / 5.0
    central = Sym3(*(k * x for x in Sym3.upper(rotated).components()))
    return Inertia.from_com(mass, draw(_offsets(0.5)), central)


# -- robots


@dataclass(frozen=True)
class JointPlan:
    """A joint of a blueprint."""

    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    armature: tuple[float, ...]


@dataclass(frozen=True)
class Blueprint:
    """The parts of a robot, from which variants can be built."""

    bodies: dict[str, Inertia]
    joints: tuple[JointPlan, ...]
    """In the order of the file, which need not lead from the root outward."""
    frames: dict[str, tuple[str, Transform]]
    gravity: tuple[float, float, float]
    floating_base: bool

    def build(self) -> kt.Model:
        """The robot."""
        builder = kt.ModelBuilder("random tree", gravity=self.gravity)
        for name, inertia in self.bodies.items():
            builder.add_body(name, inertia)
        for joint in self.joints:
            builder.add_joint(
                joint.name, joint.kind, joint.parent, joint.child, joint.placement, armature=joint.armature
            )
        for name, (body, placement) in self.frames.items():
            builder.add_frame(name, body, placement)
        return builder.build(floating_base=self.floating_base)

    def with_joints(self, change: Callable[[JointPlan], JointPlan]) -> Blueprint:
        """The same robot with each joint changed."""
        return replace(self, joints=tuple(change(joint) for joint in self.joints))


_ORDERS = ("ZYX", "XYZ", "YXZ", "ZXY", "XZY", "YZX", "ZXZ", "XYX")


@cache
def _one_axis_kinds() -> st.SearchStrategy[JointKind]:
    return st.builds(
        lambda kind, axis: kind(axis), st.sampled_from([kt.Revolute, kt.joints.Continuous, kt.Prismatic]), axes()
    )


def _are_skew(pair: tuple[tuple[float, ...], tuple[float, ...]]) -> bool:
    a, b = (np.array(axis) / np.linalg.norm(axis) for axis in pair)
    return abs(float(a @ b)) < 0.95


@cache
def _simple_kinds() -> st.SearchStrategy[JointKind]:
    """Of one degree of freedom, or of several along fixed axes."""
    return st.one_of(
        _one_axis_kinds(),
        st.builds(kt.joints.Helical, axes(), numbers(1.0)),
        st.builds(kt.joints.Screw, angular=vectors(1.5).map(Vec3.components), linear=axes()),
        st.builds(kt.joints.Cylindrical, axes()),
        st.tuples(axes(), axes()).filter(_are_skew).map(lambda pair: kt.joints.Universal(*pair)),
        st.just(kt.joints.Translation()),
    )


def _is_independent(kind: JointKind) -> bool:
    """Whether it moves in as many ways as it has degrees of freedom, and well so in general."""
    rng = np.random.default_rng(1)
    q = kind.random(rng, (-math.inf,) * kind.nq, (math.inf,) * kind.nq)
    S = np.array([column.linear_first() for column in kind.calc(q, (0.0,) * kind.nv).S.columns])
    sizes = np.linalg.svd(S, compute_uv=False)
    return bool(kind.nv <= 6 and sizes[-1] > _SINGULAR * sizes[0])


@cache
def _other_kinds() -> st.SearchStrategy[JointKind]:
    radius = positive(0.2, 2.0)
    placed = st.tuples(st.one_of(_one_axis_kinds(), st.just(kt.joints.Spherical())), transforms())
    return st.one_of(
        st.just(kt.Free()),
        st.builds(kt.joints.Planar, axes()),
        st.just(kt.joints.Spherical()),
        st.just(kt.joints.FloatingBase()),
        st.sampled_from(_ORDERS).map(kt.joints.Euler),
        st.just(kt.joints.ExponentialMap()),
        st.just(kt.joints.FreeRPY()),
        st.tuples(radius, radius, radius).map(kt.joints.Ellipsoid),
        st.lists(placed, min_size=2, max_size=2).map(kt.joints.Composite).filter(_is_independent),
    )


@cache
def kinds() -> st.SearchStrategy[JointKind]:
    """Every kind of joint, those of one axis most often."""
    return st.one_of(_one_axis_kinds(), _one_axis_kinds(), _simple_kinds(), _other_kinds())


_BASES = st.just(Inertia.zero()) | inertias()
_ROTORS = st.sampled_from([0.0, 0.0, 0.0, 0.05, 1.0])
_GRAVITIES = st.just((0.0, 0.0, -9.81)) | st.tuples(numbers(10.0), numbers(10.0), numbers(10.0))


@st.composite
def blueprints(
    draw: st.DrawFn,
    *,
    floating: bool | None = None,
    gravity: Sequence[float] | None = None,
    max_joints: int = 5,
    fixed_bodies: bool | None = None,
) -> Blueprint:
    """Random trees of 1 to `max_joints` moving joints.

    Any branching; all kinds of joint; placements with and without quarter turns; up to three bodies on fixed joints,
    which may carry others; a rotor's inertia on some joints; the joints in any order in the
    file. What is None is drawn.
    """
    count = draw(st.integers(1, max_joints))
    bodies = {"base": draw(_BASES)}
    floating_base = draw(st.booleans()) if floating is None else floating
    if floating_base:
        bodies["base"] = draw(inertias())
    least, most = {None: (0, 3), True: (1, 3), False: (0, 0)}[fixed_bodies]
    welds = [True] * draw(st.integers(least, most)) + [False] * (count - floating_base)
    joints: list[JointPlan] = []
    for k, is_weld in enumerate(draw(st.permutations(welds)), 1):
        kind = kt.Fixed() if is_weld else draw(kinds())
        rotor = 0.0 if is_weld else draw(_ROTORS)
        parent = draw(st.sampled_from(list(bodies)))
        joints.append(JointPlan(f"joint{k}", kind, parent, f"body{k}", draw(transforms()), (rotor,) * kind.nv))
        bodies[f"body{k}"] = draw(inertias())
    if draw(st.booleans()):
        joints = draw(st.permutations(joints))
    pull = draw(_GRAVITIES)
    return Blueprint(
        bodies=bodies,
        joints=tuple(joints),
        frames={"tool": (draw(st.sampled_from(list(bodies))), draw(transforms()))},
        gravity=pull if gravity is None else (gravity[0], gravity[1], gravity[2]),
        floating_base=floating_base,
    )


def trees(
    *, floating: bool | None = None, gravity: Sequence[float] | None = None, max_joints: int = 5
) -> st.SearchStrategy[kt.Model]:
    """Random robots; see `blueprints`. Each has a frame "tool" besides those of its bodies."""
    return blueprints(floating=floating, gravity=gravity, max_joints=max_joints).map(Blueprint.build)


# -- states


class State(NamedTuple):
    """A configuration (nq,), a velocity (nv,), and two more vectors (nv,) to serve as acceleration and force."""

    q: Array
    v: Array
    qdd: Array
    tau: Array


_ANGLES = st.sampled_from([3.0, 3.0, 3.0, 1000.0])
"""How far an angle may go; sine and cosine take a longer way for large ones."""
_SINGULAR = 0.1
"""Of the conditioning of joints: nearer to their singularities numbers grow, and rounding with them."""
_RESTS = st.sampled_from([True, False, False, False])


@st.composite
def configurations(draw: st.DrawFn, model: kt.Model) -> Array:
    """Configurations: zeros, ordinary and large angles, any orientation; none near where a joint is singular."""
    q: list[float] = []
    for owner in model.owners:
        if isinstance(owner, Coupling):
            q += [draw(thousandths(-2.0, 2.0)) / 1000 for _ in owner.coordinates]
            continue
        bounds = (draw(_ANGLES) if unit == "rad" else 2.0 for unit in owner.kind.q_units)
        piece = [draw(thousandths(-bound, bound)) / 1000 for bound in bounds]
        for first in owner.kind.quaternions:
            piece[first : first + 4] = draw(quaternions())
        q += piece
    assume(model.conditioning(q).min(initial=1.0) > _SINGULAR)
    return np.array(q)


@st.composite
def rates(draw: st.DrawFn, model: kt.Model, bound: float) -> Array:
    """Vectors (nv,), at times zero."""
    if draw(_RESTS):
        return np.zeros(model.nv)
    return np.array([draw(thousandths(-bound, bound)) / 1000 for _ in range(model.nv)])


@st.composite
def states(draw: st.DrawFn, model: kt.Model) -> State:
    """States of a robot: at rest or moving, with zeros and large angles among the coordinates."""
    return State(
        draw(configurations(model)), draw(rates(model, 3.0)), draw(rates(model, 10.0)), draw(rates(model, 10.0))
    )


def moving_trees(
    *, floating: bool | None = None, gravity: Sequence[float] | None = None, max_joints: int = 5
) -> st.SearchStrategy[tuple[kt.Model, State]]:
    """A random robot and a state of it."""
    return trees(floating=floating, gravity=gravity, max_joints=max_joints).flatmap(
        lambda model: st.tuples(st.just(model), states(model))
    )
