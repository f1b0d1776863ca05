"""<joint> and <freejoint>: kinds, limits, friction and springs.

Stiffness and damping of joints with `springdamper` follow from the inertia that they move at first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.io.mjcf.bodies import IDENTITY, Part
from kinetree.joints import FloatingBase, Free, JointKind, Placed, Prismatic, Revolute, Spherical
from kinetree.model import Limits
from kinetree.records import record
from kinetree.spatial import Inertia, Transform, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = ["Moved", "MovingJoint", "joint_type", "read_joint", "set_springs"]

_TYPES = {"free": "free", "ball": "ball", "slide": "slide", "hinge": "hinge"}
_SHORT = 1e-7
_NOTHING = (0.0, 0.0, 0.0)
_LEAST = 1e-15
"""MuJoCo's smallest divisor."""

Array = NDArray[np.float64]


@record(slots=True)
class MovingJoint:
    """A joint as the model takes it."""

    type: str
    kind: JointKind
    before: Transform
    """The placement of its fixed side in the body's frame before it moves; the identity where `kind` has it."""
    limits: Limits
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    armature: tuple[float, ...]
    reference: tuple[float, ...]
    """Its coordinates where the file places the bodies."""
    spring_damper: tuple[float, float] = (0.0, 0.0)
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    """The axis of a hinge or slide, in the body's frame where the file places it."""
    anchor: tuple[float, ...] = _NOTHING
    spring: tuple[float, float] | None = None
    """The stiffness and damping that follow from `spring_damper` and the inertia that the joint moves."""


def joint_type(part: Part) -> str:
    """The type of a joint: free, ball, slide or hinge."""
    return "free" if part.element.tag == "freejoint" else part.attributes.word("type", _TYPES, "hinge")


def read_joint(part: Part) -> MovingJoint:
    """A joint of a body. Its coordinates are MuJoCo's: with `ref`, they are not zero where the file places the body."""
    a = part.attributes
    if part.element.tag == "freejoint":
        return _free()
    type_ = a.word("type", _TYPES, "hinge")
    if type_ == "free":
        return _free(part)
    settings = part.scope.settings
    anchor = Vec3(*a.numbers("pos", _NOTHING))
    if part.frame is not IDENTITY:
        anchor = part.frame.r + part.frame.E.T @ anchor
    degrees = type_ != "slide"
    reference, rest = a.number("ref"), a.number("springref")
    if type_ == "hinge":
        reference, rest = settings.radians(reference), settings.radians(rest)
    is_away = any(anchor.components())
    before = Transform(IDENTITY.E, anchor) if is_away else IDENTITY
    kind: JointKind
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    if type_ == "ball":
        kind, n = Spherical(), 3
        reference_q, rest_q = kind.neutral(), kind.neutral()
    else:
        axis = _axis(part)
        kind, n = (Revolute(axis) if type_ == "hinge" else Prismatic(axis)), 1
        reference_q, rest_q = (reference,), (rest,)
        if type_ == "slide":
            is_away, before = False, Transform(IDENTITY.E, Vec3(*axis) * -reference) if reference else IDENTITY
        elif reference:
            before = Transform(from_axis_angle(Vec3(*axis), -reference).T, anchor)
    if is_away:
        kind = Placed(kind, Transform(IDENTITY.E, -anchor))
    return MovingJoint(
        type_,
        kind,
        before,
        _limits(part, type_, kind, degrees),
        (_first(part, "damping"),) * n,
        (_not_negative(part, "frictionloss"),) * n,
        (_first(part, "stiffness"),) * n,
        rest_q,
        (_not_negative(part, "armature"),) * n,
        reference_q,
        _spring_damper(part),
        axis,
        tuple(map(float, anchor.components())),
    )


def _free(part: Part | None = None) -> MovingJoint:
    """A free joint; a <freejoint> has no other attributes and no defaults."""
    damping = friction = armature = 0.0
    spring_damper = (0.0, 0.0)
    if part is not None:
        spring_damper = _spring_damper(part)
        damping, friction, armature = (
            _first(part, "damping"),
            _not_negative(part, "frictionloss"),
            _not_negative(part, "armature"),
        )
    # Armature and dry friction act along MuJoCo's coordinates, in which the linear velocity is in the world's axes.
    kind = FloatingBase() if armature or friction else Free()
    nothing = (0.0,) * kind.nv
    return MovingJoint(
        "free", kind, IDENTITY, Limits.none(kind), (damping,) * kind.nv, (friction,) * kind.nv, nothing,
        kind.neutral(), (armature,) * kind.nv, kind.neutral(), spring_damper,
    )  # fmt: skip


def _spring_damper(part: Part) -> tuple[float, float]:
    """Time constant and damping ratio."""
    constant, ratio = part.attributes.numbers("springdamper", (0.0, 0.0))
    return constant, ratio


def _axis(part: Part) -> tuple[float, ...]:
    xyz = part.attributes.numbers("axis", (0.0, 0.0, 1.0))
    if part.frame is not IDENTITY:
        xyz = tuple(map(float, (part.frame.E.T @ Vec3(*xyz)).components()))
    length = math.hypot(*xyz)
    if length < _SHORT:
        part.attributes.fail("its axis has length zero, which is not a direction; give a unit vector", "bad-axis")
    return tuple(x / length for x in xyz)


def _limits(part: Part, type_: str, kind: JointKind, degrees: bool) -> Limits:
    a, settings, none = part.attributes, part.scope.settings, Limits.none(kind)
    lower, upper = a.numbers("range", (0.0, 0.0))
    limited, effort = _limited(part, "limited", "range", (lower, upper)), none.effort
    if type_ == "ball":
        if limited and lower:
            a.fail("the first number of a ball joint's range must be 0: the second is the largest angle", "bad-limits")
        return none
    if limited and lower >= upper:
        a.fail(f"range is {lower:g} to {upper:g}; the first number must be smaller than the second", "bad-limits")
    if limited and degrees:
        lower, upper = settings.radians(lower), settings.radians(upper)
    least, most = a.numbers("actuatorfrcrange", (0.0, 0.0))
    if _limited(part, "actuatorfrclimited", "actuatorfrcrange", (least, most)):
        if least >= most:
            a.fail(
                f"actuatorfrcrange is {least:g} to {most:g}; the first number must be smaller than the second",
                "bad-limits",
            )
        effort = (max(abs(least), abs(most)),)
    return Limits((lower,) if limited else none.lower, (upper,) if limited else none.upper, none.velocity, effort)


def _limited(part: Part, attribute: str, bounds: str, values: tuple[float, float]) -> bool:
    """Whether a range is in force; by itself if the attribute does not say so."""
    a = part.attributes
    choice = a.choice(attribute)
    if choice is not None:
        return choice
    has_range = values != (0.0, 0.0)
    if has_range and not part.scope.settings.autolimits:
        a.fail(
            f'it has a {bounds} but does not say {attribute}="true" or "false", which autolimits="false" demands',
            "missing-attribute",
        )
    return has_range


def _first(part: Part, name: str) -> float:
    """The linear coefficient of damping or stiffness."""
    value = part.attributes.numbers(name, _NOTHING, least=1)[0]
    if value < 0.0:
        part.attributes.fail(f"{name} is {value:g}, but it cannot be negative", "bad-drive")
    return value


def _not_negative(part: Part, name: str) -> float:
    value = part.attributes.number(name)
    if value < 0.0:
        part.attributes.fail(f"{name} is {value:g}, but it cannot be negative", "bad-drive")
    return value


@record(slots=True)
class Moved:
    """A body with its joints, as the sums below need it."""

    above: int
    """The place of the body around it; -1 for the world."""
    placement: Transform
    """In the body around it."""
    inertia: Inertia
    joints: Sequence[tuple[MovingJoint, float]]
    """Its joints, in their order, with the armature that actuators add."""


def set_springs(bodies: Sequence[Moved]) -> None:
    """Fill the stiffness and damping of all joints with `springdamper`; each body comes after the one around it.

    The inertia of a joint is the number of its degrees of freedom by the trace of its block of M⁻¹: the inertia that a
    force at the joint would have to move if nothing held the others.
    """
    joints = [joint for body in bodies for joint, _ in body.joints if min(joint.spring_damper) > 0.0]
    traces = _traces(bodies)
    for joint in joints:
        constant, ratio = joint.spring_damper
        n = joint.kind.nv
        inertia = n / max(_LEAST, traces[id(joint)])
        stiffness, damping = inertia / max(_LEAST, (constant * ratio) ** 2), 2.0 * inertia / max(_LEAST, constant)
        joint.spring = stiffness, damping
        joint.damping = (damping,) * n
        if joint.type != "free":  # whose springs are only data
            joint.stiffness = (stiffness,) * n


def _traces(bodies: Sequence[Moved]) -> Mapping[int, float]:
    """The trace of each joint's block of M⁻¹, by the joint's identity.

    All is in the world's axes and at its origin, so that nothing need be transformed: inward articulated inertias,
    outward the inverse inertia that a body shows to forces.
    """
    R: list[Array] = []
    p: list[Array] = []
    inertia: list[Array] = []
    directions: list[list[Array]] = []
    for body in bodies:
        X = body.placement.matrix
        R.append(R[body.above] @ X[:3, :3] if body.above >= 0 else X[:3, :3])
        p.append(p[body.above] + R[body.above] @ X[:3, 3] if body.above >= 0 else X[:3, 3])
        inertia.append(_at_origin(body.inertia, R[-1], p[-1]))
        directions.append([_directions(joint, R[-1], p[-1]) for joint, _ in body.joints])
    factors: list[list[tuple[Array, Array]]] = [[] for _ in bodies]
    for k in range(len(bodies) - 1, -1, -1):
        I = inertia[k]
        for (joint, added), S in zip(reversed(bodies[k].joints), reversed(directions[k]), strict=True):
            U = I @ S
            D = S.T @ U + np.diag(joint.armature) + added * np.eye(joint.kind.nv)
            D_inverse: Array = np.linalg.inv(D).astype(np.float64, copy=False)
            factors[k].insert(0, (U, D_inverse))
            I = I - U @ D_inverse @ U.T
        if bodies[k].above >= 0:
            inertia[bodies[k].above] += I
    traces: dict[int, float] = {}
    free: list[Array] = []
    for k, body in enumerate(bodies):
        W = free[body.above] if body.above >= 0 else np.zeros((6, 6))
        for (joint, _), S, (U, D_inverse) in zip(body.joints, directions[k], factors[k], strict=True):
            back = U @ D_inverse
            traces[id(joint)] = float(np.trace(D_inverse + back.T @ W @ back))
            P = np.eye(6) - S @ back.T
            W = S @ D_inverse @ S.T + P @ W @ P.T
        free.append(W)
    return traces


def _at_origin(inertia: Inertia, R: Array, p: Array) -> Array:
    """A body's inertia (6, 6) about the world's origin, turning first."""
    mass = float(inertia.mass)
    center = p + R @ inertia.center_of_mass if mass else np.zeros(3)
    c = _cross(center)
    I = R @ inertia.about_center_of_mass @ R.T - mass * c @ c
    return np.block([[I, mass * c], [mass * c.T, mass * np.eye(3)]])


def _directions(joint: MovingJoint, R: Array, p: Array) -> Array:
    """Effects of the joint's velocities: columns of turning and of the velocity at the world's origin."""
    if joint.type == "free":
        S = np.zeros((6, 6))
        S[3:, :3] = np.eye(3)
        S[:3, 3:], S[3:, 3:] = R, _cross(p) @ R
        return S
    if joint.type == "slide":
        return np.concatenate([np.zeros(3), R @ np.array(joint.axis)])[:, None]
    axes = R if joint.type == "ball" else (R @ np.array(joint.axis))[:, None]
    return np.concatenate([axes, _cross(p + R @ np.array(joint.anchor)) @ axes])


def _cross(v: Array) -> Array:
    x, y, z = v.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
