"""Starts on a ground: how deep shapes are inside each other, and configurations raised until none is in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import collision  # its pairs are needed only where a robot has shapes
from kinetree.collision import Box, Capsule, Cylinder, Ellipsoid, HeightField, Plane, Shape, Sphere
from kinetree.compiler.definition import Array
from kinetree.compiler.forms.parameters import body_of_alternatives
from kinetree.contact_model import SoftConstraints, TouchingShape, TouchSpec, check_count
from kinetree.errors import OptionError
from kinetree.expr import maximum
from kinetree.functions.contact_options import soft_of
from kinetree.functions.kinematics import forward_kinematics
from kinetree.inputs import real_array
from kinetree.model import Joint, Model, check_robot
from kinetree.model.parameters import GivenNumbers
from kinetree.model.reference import reference_configuration
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["Overlap", "above_ground", "deepest_overlap", "free_bases", "usual_start"]

_ROUNDS = 10
"""How often raised bodies are checked again: they may meet another obstacle."""
_STEEPEST = 0.3
"""Cosine of the steepest slope that something is raised from; steeper ones are walls."""
_EXACT = 1e-12
"""m that may be missing, which is rounding."""
_GROUNDS = (Plane, HeightField)
_ROUND_OR_FLAT = (Sphere, Capsule, Box)


class Overlap(NamedTuple):
    """Two shapes inside each other."""

    depth: float
    """m."""
    sample: tuple[int, ...]
    first: str
    second: str


def above_ground(robot: Model, q: ArrayLike | None = None, *, clearance: float = 0.0) -> Array:
    """The configurations q with free bases raised until nothing of theirs is inside a ground or another fixed shape.

    Each free base moves against gravity, with all that it carries, by the least height after which none of its shapes
    is nearer than `clearance` to those that do not move. Bodies that are high enough stay in place. Only shapes that
    may touch count (`kt.contact.soft_constraints`).

    Args:
        robot: the robot, such as `robot.on_ground()`.
        q: configuration (…, nq); by default where an MJCF file places the robot, and `robot.neutral()` for others.
        clearance: the distance that is left, m.

    Returns:
        Configurations (…, nq).

    Raises:
        OptionError: the clearance is not a number from 0 on, or the robot floats with nothing fixed below it.
        ShapeError, DTypeError, ConfigurationError: as for `aba`.

    >>> import kinetree as kt
    >>> scene = kt.zoo.load("ragdoll").on_ground()
    >>> q = kt.contact.above_ground(scene, clearance=0.01)
    >>> scene.q_names[2], round(float(q[2] - scene.neutral()[2]), 3)
    ('root_joint.z', 0.985)
    """
    model = check_robot(robot)
    distance = real_array("clearance", clearance, "()")
    if distance.ndim or not 0.0 <= float(distance) < math.inf:
        raise OptionError(f"above_ground: clearance must be a distance from 0 on, in m, not {clearance!r:.60}")
    if model.floating_base:
        raise OptionError(
            f"above_ground: {model.name!r} has a floating base and nothing fixed below it; "
            "robot.on_ground() returns the same robot on a level floor"
        )
    given = reference_configuration(model) if q is None else real_array("q", q, f"(…, {model.nq})")
    model.check_configuration(given)
    raised = np.array(given, np.float64).reshape(-1, model.nq)
    touches = soft_of(model).touches
    check_count(model, touches)
    gravity = np.array(model.gravity, np.float64)
    strength = float(np.linalg.norm(gravity))
    up = Vec3(*(-gravity / strength).tolist()) if strength else Vec3(0.0, 0.0, 1.0)
    for base in free_bases(model):
        carried = _carried(model, base)
        met = [touch for touch in touches if _is_on_fixed(model, touch, carried)]
        direction = _upward(model, base, up)
        for _ in range(_ROUNDS if met else 0):
            height = _missing(model, raised, met, carried, up, float(distance))
            if (height < _EXACT).all():
                break
            raised[:, base.q_slice][:, :3] += height[:, None] * direction
    return raised.reshape(given.shape)


def usual_start(robot: Model, *, touches: bool) -> Array:
    """Where motions begin: where an MJCF file places the robot, or at neutral, out of the ground if it touches."""
    if touches and robot.extras.reference_configuration is None and not robot.floating_base:
        return above_ground(robot)
    return reference_configuration(robot)


def deepest_overlap(
    robot: Model, constraints: SoftConstraints, q: Array, parameters: Mapping[str, Array]
) -> Overlap | None:
    """The two shapes that are deepest inside each other in configurations (…, nq), if there are such.

    Of two curved or angular shapes, whose distance takes iterations to find, only the balls inside them count. Of the
    parameters, those that choose objects do.
    """
    rows = np.asarray(q, np.float64).reshape(-1, robot.nq)
    placed = _placed(robot, rows)
    objects = {body.name: x for name, x in parameters.items() if (body := body_of_alternatives(robot, name))}
    indices: dict[str, Any] = {name: np.broadcast_to(x, q.shape[:-1]).ravel() for name, x in objects.items()}
    numbers = GivenNumbers({}, {}, {}, indices)
    near = _near(constraints.touches, placed, len(rows))
    if not near:
        return None
    absent = [np.asarray(maximum(touch.first.absent(numbers), touch.second.absent(numbers))) for touch in near]
    there = [np.broadcast_to(x == 0.0, len(rows)) for x in absent]
    depth = np.where(there, -_distances(near, placed, len(rows)), -math.inf)
    pair, k = divmod(int(np.argmax(depth)), len(rows))
    if not depth[pair, k] > 0.0:
        return None
    sample = tuple(int(i) for i in np.unravel_index(k, q.shape[:-1]))
    return Overlap(float(depth[pair, k]), sample, _name(near[pair].first), _name(near[pair].second))


def _distances(touches: Sequence[TouchSpec], placed: Callable[[TouchingShape], Transform], count: int) -> Array:
    """The `_distance` of each pair of shapes in each configuration (…, N); pairs of the same kinds at once."""
    distances = np.empty((len(touches), count))
    alike: dict[tuple[str, str], list[int]] = {}
    for k, touch in enumerate(touches):
        a, b = touch.first.shape, touch.second.shape
        if isinstance(a, _ROUND_OR_FLAT) and isinstance(b, _ROUND_OR_FLAT) and not collision.has_loops(a.kind, b.kind):
            alike.setdefault((a.kind, b.kind), []).append(k)
        else:
            distances[k] = _distance(touch, placed(touch.first), placed(touch.second))
    for some in alike.values():
        (a, X_a), (b, X_b) = (
            (_shapes_of([side.shape for side in sides]), _placements_of([placed(side) for side in sides], count))
            for sides in zip(*((touches[k].first, touches[k].second) for k in some), strict=True)
        )
        points = collision.contacts(a, X_a, b, X_b, 0.0)
        distances[some] = np.min([np.broadcast_to(np.asarray(p.distance), (len(some), count)) for p in points], axis=0)
    return distances


def _shapes_of(shapes: Sequence[Any]) -> Any:
    """One shape whose numbers have a row for each of these."""
    kind = type(shapes[0])
    return kind(*(np.array([[getattr(shape, field.name)] for shape in shapes]) for field in fields(kind)))


def _placements_of(placements: Sequence[Transform], count: int) -> Transform:
    """One placement whose numbers have a row (N,) for each of these."""
    each = {id(X): X for X in placements}  # a shape is in many pairs
    numbers = np.empty((12, len(each), count))
    for k, X in enumerate(each.values()):
        parts = (X.E.x, X.E.y, X.E.z, X.r)
        for row, number in zip(numbers[:, k], (n for part in parts for n in part.components()), strict=True):
            row[:] = number
    place = {key: k for k, key in enumerate(each)}
    numbers = numbers[:, [place[id(X)] for X in placements]]
    x, y, z, r = (Vec3(*numbers[k : k + 3]) for k in range(0, 12, 3))
    return Transform(Mat3(x, y, z), r)


def _near(touches: Sequence[TouchSpec], placed: Callable[[TouchingShape], Transform], count: int) -> list[TouchSpec]:
    """The pairs of shapes whose balls meet in one of the configurations, and those with a ground."""
    sides = {id(side): side for touch in touches for side in (touch.first, touch.second)}
    if not sides:
        return []
    radii = np.array([math.inf if isinstance(x.shape, _GROUNDS) else _outer(x.shape) for x in sides.values()])
    centers = np.zeros((count, 3, len(sides)))
    for k, side in enumerate(sides.values()):
        for axis, x in enumerate(placed(side).r.components()):
            centers[:, axis, k] = x
    number = {key: k for k, key in enumerate(sides)}
    i, j = np.array([(number[id(touch.first)], number[id(touch.second)]) for touch in touches]).T
    is_near = np.zeros(len(touches), bool)
    for places in centers:
        is_near |= np.linalg.norm(places[:, i] - places[:, j], axis=0) <= radii[i] + radii[j]
    return [touches[k] for k in np.flatnonzero(is_near).tolist()]


def free_bases(scene: Model) -> list[Joint]:
    """The free joints on bodies that do not move."""
    return [
        joint
        for joint in scene.joints.values()
        if joint.parent and scene.bodies[joint.parent].slot == 0 and joint.kind.nv == 6 and joint.kind.quaternions
    ]


def _carried(scene: Model, base: Joint) -> set[str]:
    """The bodies that a joint moves."""
    return {
        body.name
        for body in scene.bodies.values()
        if body.slot and any(slot == base.slot for slot, _ in scene.tree.toward_root(body.slot))
    }


def _upward(scene: Model, base: Joint, up: Vec3) -> Array:
    """How the position (3,) among a free joint's coordinates changes when its body moves up by 1 m."""
    q = np.tile(scene.neutral(), (4, 1))
    q[1:, base.q_slice][:, :3] += np.eye(3)
    p = forward_kinematics(scene, q, frames=[base.child])[:, 0, :3, 3]
    return np.asarray(np.linalg.solve((p[1:] - p[0]).T, [float(x) for x in up.components()]))


def _is_on_fixed(scene: Model, touch: TouchSpec, carried: set[str]) -> bool:
    """Whether one of two shapes is carried, and the other one does not move."""
    sides = touch.first, touch.second
    is_carried = [side.body in carried for side in sides]
    is_fixed = [side.body is None or scene.bodies[side.body].slot == 0 for side in sides]
    return any(is_carried) and any(is_fixed)


def _missing(scene: Model, q: Array, touches: list[TouchSpec], carried: set[str], up: Vec3, clearance: float) -> Array:
    """How much higher a base must be in each configuration (N, nq): that of the touch that lacks most."""
    placed, height = _placed(scene, q), np.zeros(len(q))
    for touch in touches:
        X_a, X_b = placed(touch.first), placed(touch.second)
        if (_bound(touch, X_a, X_b) > clearance).all():
            continue
        sign = 1.0 if touch.second.body in carried else -1.0
        for point in collision.contacts(touch.first.shape, X_a, touch.second.shape, X_b, math.inf):
            distance = np.asarray(point.distance, np.float64)
            slope = sign * np.asarray(point.normal.dot(up), np.float64)
            lacks = (distance < clearance) & (slope > _STEEPEST) & (abs(distance) < 0.5 * collision.FAR)
            height = np.maximum(height, np.where(lacks, (clearance - distance) / np.where(lacks, slope, 1.0), 0.0))
    return height


def _placed(robot: Model, q: Array) -> Callable[[TouchingShape], Transform]:
    """The placement of each shape, whose numbers are those of all configurations (N,); plain numbers if N is 1."""
    poses: Any = forward_kinematics(robot, q)
    numbers = poses[0].tolist() if len(q) == 1 else np.moveaxis(poses, 0, -1)
    bodies, placements = {}, dict[int, Transform]()
    for k, name in enumerate(robot.bodies):
        x, y, z, r = (Vec3(*(numbers[k][i][j] for i in range(3))) for j in range(4))
        bodies[name] = Transform(Mat3(x, y, z), r)

    def placed(side: TouchingShape) -> Transform:
        if id(side) not in placements:  # a shape is in many pairs, which live as long as the robot's constraints
            placements[id(side)] = side.placement if side.body is None else side.placement @ bodies[side.body]
        return placements[id(side)]

    return placed


def _distance(touch: TouchSpec, X_a: Transform, X_b: Transform) -> Array:
    """The smallest distance of two shapes (N,), or less than it; a bound where it would be positive or iterated."""
    a, b = touch.first.shape, touch.second.shape
    bound = _bound(touch, X_a, X_b)
    if (bound > 0.0).all():
        return bound
    if not isinstance(a, _GROUNDS) and collision.has_loops(a.kind, b.kind):
        return np.asarray(_apart(X_a, X_b) - _inner(a) - _inner(b))
    points = collision.contacts(a, X_a, b, X_b, 0.0)
    return np.asarray(np.array([np.broadcast_to(np.asarray(p.distance), bound.shape) for p in points]).min(axis=0))


def _bound(touch: TouchSpec, X_a: Transform, X_b: Transform) -> Array:
    """A number that two shapes are at least apart, (N,), from balls around them; -inf where hills are near."""
    a, b = touch.first.shape, touch.second.shape
    if isinstance(a, HeightField):
        local = X_a.E @ (X_b.r - X_a.r)
        x, y = (np.atleast_1d(np.asarray(one)) for one in (local.x, local.y))
        gap = np.asarray(local.z) - _outer(b) - _highest(a, x, y, _outer(b))
        return np.where(gap > 0.0, _STEEPEST * gap, -math.inf)
    if isinstance(a, Plane):
        return np.asarray(X_a.E.z.dot(X_b.r - X_a.r) - _outer(b), np.float64)
    return np.asarray(_apart(X_a, X_b) - _outer(a) - _outer(b))


def _highest(field: HeightField, x: Array, y: Array, around: float) -> Array:
    """The greatest height of a field (N,) in the squares of cells around places."""
    heights = np.array(field.heights)
    heights_there = np.full(x.shape, -math.inf)
    axes = [np.linspace(-half, half, n) for half, n in zip((field.half_y, field.half_x), heights.shape, strict=True)]
    for k in range(len(x)):
        rows, columns = (
            slice(max(int(np.searchsorted(axis, at - around)) - 1, 0), int(np.searchsorted(axis, at + around)) + 1)
            for axis, at in zip(axes, (y[k], x[k]), strict=True)
        )
        heights_there[k] = heights[rows, columns].max(initial=-math.inf)
    return heights_there


def _apart(X_a: Transform, X_b: Transform) -> Array:
    d = X_b.r - X_a.r
    return np.sqrt(np.asarray(d.dot(d), np.float64))


def _outer(shape: Shape) -> float:
    """The radius of the ball around a shape's origin that contains it."""
    return float(collision.convex.core_of(shape).reach)


def _inner(shape: Shape) -> float:
    """The radius of a ball around a shape's origin that it contains."""
    match shape:
        case Sphere() | Capsule():
            return float(shape.radius)
        case Box() | Ellipsoid():
            return min(float(x) for x in (shape.x, shape.y, shape.z))
        case Cylinder():
            return min(float(shape.radius), float(shape.half_length))
    return 0.0


def _name(side: TouchingShape) -> str:
    return repr(side.name) if side.body is None else f"{side.name!r} of {side.body!r}"
