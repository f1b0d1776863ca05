"""Motion constraints: their Jacobian J, their velocity J v, the bias J̇ v, and position errors.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), sections 3.2 and 8.2 (J q̈ + J̇ v = 0 and its sign); the
stabilising terms are Baumgarte's (section 8.3): a* = -velocity_gain J v - position_gain error.

A row holds one component of the motion of a point p of a body, or of its rotation, relative to a carrier: another body
or the world. It depends only on the joints between the two, so everything is computed in the coordinates of the body
where their paths to the root meet, as if that body were at rest. Names: u is the velocity of the point relative to the
carrier, w the relative angular velocity, and E leads to the axes of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.expr import Scalar, less, select, sqrt
from kinetree.records import record
from kinetree.spatial import Force, Mat3, Motion, Transform, Vec3
from kinetree.spatial.rotation_log import rotation_log
from kinetree.tree import Tree
from kinetree.tree.holds import Anchor, Hold
from kinetree.tree.matrices import JointColumns

__all__ = ["HeldMotion", "Side", "Wrench", "constraint_columns", "constraint_error", "held_motion", "side_of"]

Pieces = Sequence[Sequence[Scalar]]
_ALL = 6
"""Degrees of freedom of a free body."""


class Side(NamedTuple):
    """A frame, and the joints that move it, in the coordinates of the body where the two sides meet."""

    sign: float
    base: int
    """The body where the two sides meet."""
    slot: int
    """The body of the frame."""
    X: Transform
    """Transform to the frame's coordinates."""
    seen: Sequence[Transform]
    """Transforms to the coordinates of each body between the two, indexed by slot."""
    columns: Sequence[tuple[Motion, ...]]
    """The motion of the frame's body at a unit rate of each degree of freedom, indexed by slot."""
    is_free: bool
    """Whether one of the joints alone allows any motion of the body."""
    v: Motion
    a: Motion

    def joints(self, tree: Tree) -> Iterator[tuple[int, int]]:
        """(j, λ(j)) for each joint j that moves the frame."""
        return iter(tree.toward_tip(self.base, self.slot))


@record(frozen=True, slots=True)
class Wrench:
    """A force on bodies, in their own coordinates: equal and opposite on the two bodies of a loop."""

    on: tuple[tuple[int, Force], ...]


@record(frozen=True, slots=True)
class HeldMotion:
    """A constraint at one configuration, velocity and acceleration."""

    sides: tuple[Side, ...]
    """The frame that is held, and the carrier unless it is the world."""
    p: Vec3
    """The point, at the frame's origin."""
    E: Mat3
    linear: tuple[Vec3, ...]
    """The directions of the linear rows, along the axes of E."""
    turns: bool
    velocity: list[Scalar]
    acceleration: list[Scalar]
    """The derivative of `velocity`, J q̈ + J̇ v: the bias J̇ v where q̈ is zero."""
    wanted: list[Scalar]
    """Baumgarte's acceleration a*."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.velocity)

    def rows(self, angular: Vec3, linear: Vec3) -> list[Scalar]:
        """Components along the rows of a relative rotation and of a relative motion of the point."""
        e = self.E @ linear
        components = [d.dot(e) for d in self.linear]
        return [*components, *(self.E @ angular).components()] if self.turns else components

    def wrench(self, forces: Sequence[Scalar]) -> Wrench:
        """The wrench that forces along the rows exert on the bodies."""
        along = Vec3.zero()
        for d, x in zip(self.linear, forces, strict=False):
            along = along + d * x
        couple = Vec3(*forces[len(self.linear) :]) if self.turns else Vec3.zero()
        f = self.E.T @ along
        total = Force(self.p.cross(f) + self.E.T @ couple, f)
        return Wrench(tuple((side.slot, side.seen[side.slot].inverse.back(total * side.sign)) for side in self.sides))


def held_motion(tree: Tree, hold: Hold, q: Pieces, qd: Pieces, qdd: Pieces) -> HeldMotion:
    """Motion of a constraint: its velocity and acceleration, and the geometry of its rows."""
    meeting = 0 if hold.carrier is None else tree.meeting(hold.carrier.slot, hold.frame.slot)
    held = side_of(tree, 1.0, hold.frame, meeting, q, qd, qdd)
    p, v, a = held.X.r, held.v, held.a
    p_rate = v.linear + v.angular.cross(p)
    sides, spin, E = [held], Vec3.zero(), Mat3.identity()
    if hold.axes == "local":
        E, spin = held.X.E, v.angular
    if hold.carrier is not None:
        carrier = side_of(tree, -1.0, hold.carrier, meeting, q, qd, qdd)
        sides.append(carrier)
        E, spin = carrier.X.E, carrier.v.angular
        v, a = v - carrier.v, a - carrier.a
    u = v.linear + v.angular.cross(p)
    u_rate = a.linear + a.angular.cross(p) + v.angular.cross(p_rate)
    directions = hold.directions
    if hold.length is not None:
        r = p - carrier.X.r
        _, per_distance = _distance(r)
        E, directions = Mat3.identity(), (r * per_distance,)
    moving = HeldMotion(tuple(sides), p, E, directions, hold.turns, [], [], [])
    velocity = moving.rows(v.angular, u)
    if hold.length is not None:  # d/dt (r . u / |r|), where r . u = r . r_rate
        r_rate = u + carrier.v.angular.cross(r)
        (rate,) = velocity
        acceleration = [moving.rows(a.angular, u_rate)[0] + (r_rate.dot(u) - rate * rate) * per_distance]
    else:  # rates of components along the axes of E, which rotate
        acceleration = moving.rows(a.angular - spin.cross(v.angular), u_rate - spin.cross(u))
    damping, stiffness = hold.velocity_gain, hold.position_gain
    reference: list[Scalar] = [0.0] * len(velocity) if damping is None else [-damping * x for x in velocity]
    if stiffness is not None:
        off = constraint_error(hold, moving)
        reference = [a - stiffness * x for a, x in zip(reference, off, strict=True)]
    return HeldMotion(tuple(sides), p, E, directions, hold.turns, velocity, acceleration, reference)


def constraint_columns(tree: Tree, motion: HeldMotion, J: JointColumns, first: int) -> None:
    """Write a constraint's rows into J, from row `first` on."""
    for side in motion.sides:
        for j, _ in side.joints(tree):
            J[j, first] = [
                motion.rows(m.angular * side.sign, (m.linear + m.angular.cross(motion.p)) * side.sign)
                for m in side.columns[j]
            ]


def constraint_error(hold: Hold, motion: HeldMotion) -> list[Scalar]:
    """Error of the frame: along the linear rows, then a rotation vector; zero where no placement is prescribed."""
    held, *carriers = motion.sides
    if hold.length is not None:
        distance, _ = _distance(motion.p - carriers[0].X.r)
        return [distance - hold.length]
    if carriers:
        origin, R = carriers[0].X.r, carriers[0].X.E.times(held.X.E.T)
    elif hold.at is None:
        return [0.0] * hold.size
    elif hold.axes == "local":
        origin, R = hold.at.r, hold.at.E.times(held.X.E.T)
    else:
        origin, R = hold.at.r, held.X.E.T.times(hold.at.E)
    off = motion.E @ (motion.p - origin)
    error = [d.dot(off) for d in hold.directions]
    return [*error, *rotation_log(R).components()] if hold.turns else error


def _distance(r: Vec3) -> tuple[Scalar, Scalar]:
    """|r| and 1 / |r|; both are zero where r is zero."""
    square = r.dot(r)
    is_apart = less(0.0, square)
    distance = sqrt(select(is_apart, square, 1.0))
    return select(is_apart, distance, 0.0), select(is_apart, 1.0 / distance, 0.0)


def side_of(tree: Tree, sign: float, frame: Anchor, base: int, q: Pieces, qd: Pieces, qdd: Pieces) -> Side:
    """Outward pass of RBDA Table 5.1 from `base` to the frame; motions are returned in the coordinates of `base`."""
    X = tree.slots(Transform)
    v, a = tree.slots(Motion, 2)
    columns = tree.slots(tuple[Motion, ...])
    X[base], v[base], a[base] = Transform.identity(), Motion.zero(), Motion.zero()
    end, is_free = frame.slot, False
    for i, p in tree.toward_tip(base, end):
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X_i = X_J @ tree.X_T[i]
        X[i] = X_i @ X[p]
        v[i] = X_i @ v[p] + v_J
        a[i] = X_i @ a[p] + S @ qdd[i] + c_J + v[i].cross(v_J)
        columns[i] = tuple(X[i].back(s) for s in S.columns)
        is_free = is_free or tree.joint[i].nv == _ALL
    X_end = X[end]
    return Side(sign, base, end, frame.placement @ X_end, X, columns, is_free, X_end.back(v[end]), X_end.back(a[end]))
