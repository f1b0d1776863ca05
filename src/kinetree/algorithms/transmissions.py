"""Transmissions of actuators: a length that depends on the configuration, and its moment.

The moment has one number per degree of freedom of each joint that is moved: ℓ̇ = Σ moment · v, and an actuator's force f
along the length is the joint forces moment · f. Of some transmissions the length is not measured and counts as zero;
the moment alone then determines the effect of a force.

Source: MuJoCo documentation, "Computation", section on transmission; version 4. Columns of Jacobians are those of
relative motion (Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 3.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.kinematics import placements
from kinetree.expr import Scalar, less, select, sqrt
from kinetree.spatial import Motion, Transform, Vec3
from kinetree.spatial.exponential import quaternion_log
from kinetree.spatial.rotation_log import rotation_log
from kinetree.spatial.rotations import quaternion_normalize
from kinetree.tree import Tree

__all__ = [
    "Reach",
    "View",
    "across_ball",
    "across_coordinate",
    "across_free",
    "along_tendon",
    "at_site",
    "between_sites",
    "reach_velocity",
    "slider_crank",
    "viewed",
]

Pieces = Sequence[Sequence[Scalar]]

_TINY = 1e-30


class Reach(NamedTuple):
    """The length of a transmission, and how it changes with v."""

    length: Scalar
    moment: Mapping[int, list[Scalar]]
    """By the slots of the joints that are moved, one number per degree of freedom."""


class View(NamedTuple):
    """A configuration, and the motions of all joints."""

    tree: Tree
    q: Pieces
    X_0: Sequence[Transform]
    """From the world's coordinates to those of each body."""
    columns: Sequence[tuple[Motion, ...]]
    """The motion that each joint gives per unit rate, in the world's coordinates."""


def viewed(tree: Tree, q: Pieces) -> View:
    """Common quantities of all transmissions of a robot."""
    X_0 = placements(tree, q)
    columns = tree.slots(tuple[Motion, ...])
    for j, _ in tree.outward:
        S = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).S
        columns[j] = tuple(X_0[j].back(s) for s in S.columns)
    return View(tree, q, X_0, columns)


def across_coordinate(view: View, slot: int, gear: Scalar, place: int = 0) -> Reach:
    """A coordinate of a joint, by its place in q; not part of a quaternion."""
    joint, q = view.tree.joint[slot], view.q[slot]
    units = ([float(i == k) for i in range(joint.nv)] for k in range(joint.nv))
    return Reach(q[place] * gear, {slot: [joint.rates(q, unit)[place] * gear for unit in units]})


def across_ball(view: View, slot: int, gear: Vec3, in_parent: bool) -> Reach:
    """A ball joint, turned about an axis of its moving or of its fixed side; the length is a rotation vector's."""
    x, y, z, w = view.q[slot]
    X_J, S, _, _ = view.tree.joint[slot].calc(view.q[slot], [0.0] * 3)
    axis = X_J.E @ gear if in_parent else gear
    turn = quaternion_log(quaternion_normalize((x, y, z, w)))
    return Reach(turn.dot(axis), {slot: [axis.dot(s.angular) for s in S.columns]})


def across_free(view: View, slot: int, force: Vec3, torque: Vec3, in_parent: bool) -> Reach:
    """A free joint: a force in the axes of its fixed side, a torque in those of its moving side or of the fixed one."""
    joint = view.tree.joint[slot]
    X_J, S, _, _ = joint.calc(view.q[slot], [0.0] * joint.nv)
    f = X_J.E @ force
    t = X_J.E @ torque if in_parent else torque
    return Reach(0.0, {slot: [f.dot(s.linear) + t.dot(s.angular) for s in S.columns]})


def along_tendon(view: View, terms: Sequence[tuple[int, float]], gear: Scalar) -> Reach:
    """A weighted sum of joint coordinates: terms of slots and factors."""
    length: Scalar = 0.0
    moment: dict[int, list[Scalar]] = {}
    for slot, factor in terms:
        (q,) = view.q[slot]
        length = length + factor * q
        moment[slot] = [moment.get(slot, [0.0])[0] + factor * gear]
    return Reach(length * gear, moment)


def at_site(view: View, body: int, frame: Transform, force: Vec3, torque: Vec3) -> Reach:
    """A force and a torque on a body, in the axes of a frame on it and about its origin."""
    X = frame @ view.X_0[body]
    back = X.E.T
    f, t = back @ force, back @ torque
    return Reach(0.0, {j: _powers(view.columns[j], X.r, f, t, 1.0) for j, _ in view.tree.toward_root(body)})


def between_sites(
    view: View,
    site: tuple[int, Transform],
    reference: tuple[int, Transform],
    force: Vec3,
    torque: Vec3,
) -> Reach:
    """Where a frame on one body is as seen from a frame on another one, along axes of the latter.

    Joints that move both bodies do not count.
    """
    (i, frame_i), (j, frame_j) = site, reference
    X, Y = frame_i @ view.X_0[i], frame_j @ view.X_0[j]
    offset = Y.E @ (X.r - Y.r)
    length = offset.dot(force)
    if any(torque.components()):
        length = length + rotation_log(Y.E.times(X.E.T)).dot(torque)
    back = Y.E.T
    f, t = back @ force, back @ torque
    moment: dict[int, list[Scalar]] = {}
    meeting = view.tree.meeting(i, j)
    for body, point, sign in ((i, X.r, 1.0), (j, Y.r, -1.0)):
        for k, _ in view.tree.toward_tip(meeting, body):
            moment[k] = _powers(view.columns[k], point, f, t, sign)
    return Reach(length, moment)


def slider_crank(
    view: View, crank: tuple[int, Transform], slider: tuple[int, Transform], rod: float, gear: Scalar
) -> Reach:
    """Where a slider is along the z axis a of its frame, whose rod of length l ends at the origin of another frame.

    With r from the slider's frame to that point, ℓ = a·r - √((a·r)² + l² - r·r); where the rod is too short, ℓ = a·r.
    Joints that move both bodies do not count.
    """
    (i, frame_i), (j, frame_j) = crank, slider
    X, Y = frame_i @ view.X_0[i], frame_j @ view.X_0[j]
    a, r = Y.E.z, X.r - Y.r
    along = a.dot(r)
    squared = along * along + rod * rod - r.dot(r)
    reaches = less(_TINY, squared)
    root = sqrt(select(reaches, squared, 1.0))
    length = along - select(reaches, root, 0.0)
    # ∂ℓ/∂r and ∂ℓ/∂a
    part, pull = select(reaches, 1.0 - along / root, 1.0), select(reaches, 1.0 / root, 0.0)
    by_r, by_a = a * part + r * pull, r * part
    moment: dict[int, list[Scalar]] = {}
    meeting = view.tree.meeting(i, j)
    for k, _ in view.tree.toward_tip(meeting, i):
        moment[k] = _powers(view.columns[k], X.r, by_r * gear, Vec3.zero(), 1.0)
    for k, _ in view.tree.toward_tip(meeting, j):
        moment[k] = _powers(view.columns[k], Y.r, by_r * gear, by_a.cross(a) * gear, -1.0)
    return Reach(length * gear, moment)


def reach_velocity(reach: Reach, qd: Pieces) -> Scalar:
    """How fast the length changes; without a length, the rate whose product with the force is the power."""
    rate: Scalar = 0.0
    for slot, row in reach.moment.items():
        for m, x in zip(row, qd[slot], strict=True):
            rate = rate + m * x
    return rate


def _powers(columns: Sequence[Motion], point: Vec3, force: Vec3, torque: Vec3, sign: float) -> list[Scalar]:
    """The power of a force at a point, and of a torque, in each of some motions; all in the world's coordinates."""
    return [sign * ((m.linear + m.angular.cross(point)).dot(force) + m.angular.dot(torque)) for m in columns]
