"""The values of each kind of sensor in a state."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree import algorithms
from kinetree.algorithms import sensors as measured
from kinetree.algorithms.contact_sensors import carried_wrench, wrench_in
from kinetree.algorithms.sensors import FrameMotion
from kinetree.algorithms.transmissions import along_tendon, reach_velocity
from kinetree.collision.closest import closest
from kinetree.collision.contact_point import FAR, ContactPoint, either
from kinetree.collision.rays import MISSED, holds, ray_distance
from kinetree.expr import Scalar, is_zero, less, minimum, select
from kinetree.functions.actuators import Acting
from kinetree.functions.sensed_contacts import connected_wrench, contact_data, limit_value, pushes_on, touch_force
from kinetree.functions.sensed_state import SensedState
from kinetree.functions.sensor_choice import AXES
from kinetree.functions.sensor_specs import Place, SensorSpec
from kinetree.spatial import Inertia, Vec3

__all__ = ["sensed"]

_WITHOUT_CUTOFF = (*AXES, "framequat", "ballquat", "contact", "fromto", "normal")
_OF_GROUPS = ("subtreecom", "subtreelinvel", "subtreeangmom")


def sensed(state: SensedState, one: SensorSpec, acting: Acting | None, time: Sequence[Scalar] = ()) -> Sequence[Scalar]:
    """The numbers of a sensor, within its cutoff; clocks measure time."""
    numbers = time if one.kind == "clock" else _sensed(state, one, acting)
    if not one.cutoff or one.kind in _WITHOUT_CUTOFF:
        return numbers
    return [algorithms.within_range(x, (-one.cutoff, one.cutoff)) for x in numbers]


def _sensed(state: SensedState, one: SensorSpec, acting: Acting | None) -> Sequence[Scalar]:
    kind = one.kind
    if "limit" in kind:
        return [limit_value(state, one)]
    if one.joint:
        return _of_joint(state, one, acting)
    if kind.startswith("tendon"):
        return [_of_tendon(state, one, acting)]
    if kind.startswith("actuator"):
        assert acting is not None
        (k,) = one.actuators
        reach = acting.reaches[k]
        if kind == "actuatorfrc":
            return [acting.forces[k]]
        return [reach.length if kind == "actuatorpos" else reach_velocity(reach, state.v)]
    if kind in _OF_GROUPS:
        return _of_group(state, one)
    if kind in ("force", "torque"):
        held = carried_wrench(_parts(state, one), pushes_on(state, one.bodies)) - connected_wrench(state, one.bodies)
        wrench = wrench_in(state.frame(one.place), held)
        return (wrench.linear if kind == "force" else wrench.angular).components()
    if kind == "touch":
        return [touch_force(state, one)]
    if kind == "contact":
        return contact_data(state, one)
    if kind == "insidesite":
        assert one.zone is not None
        return [holds(one.zone.shape, state.frame(one.zone.place).X, state.frame(one.place).X.r)]
    if kind == "rangefinder":
        return _of_ray(state, one)
    if kind in ("distance", "normal", "fromto"):
        return _of_distance(state, one)
    if kind == "e_kinetic":
        return [algorithms.kinetic_energy(state.tree, state.q, state.v)]
    if kind == "e_potential":
        return [_potential_energy(state, one)]
    return _of_frame(one, state.frame(one.place), state.frame(one.reference) if one.reference else None)


def _of_joint(state: SensedState, one: SensorSpec, acting: Acting | None) -> Sequence[Scalar]:
    slot = state.robot.joints[one.joint].slot
    if one.kind == "jointpos":
        return state.q[slot]
    if one.kind in ("jointvel", "ballangvel"):
        return state.v[slot]
    if one.kind == "ballquat":
        x, y, z, w = state.q[slot]
        return [w, x, y, z]
    assert acting is not None
    return acting.pieces[slot]


def _of_tendon(state: SensedState, one: SensorSpec, acting: Acting | None) -> Scalar:
    if one.kind == "tendonactuatorfrc":
        assert acting is not None
        total: Scalar = 0.0
        for k in one.actuators:
            total = total + acting.forces[k]
        return total
    reach = along_tendon(state.view, [(state.robot.joints[joint].slot, factor) for joint, factor in one.terms], 1.0)
    return reach.length if one.kind == "tendonpos" else reach_velocity(reach, state.v)


def _of_frame(one: SensorSpec, frame: FrameMotion, reference: FrameMotion | None) -> Sequence[Scalar]:
    kind = one.kind
    if kind in AXES:
        axes = measured.axes_seen(frame, reference)
        return (axes.x, axes.y, axes.z)[AXES[kind]].components()
    if kind == "framequat":
        return measured.quaternion_seen(frame, reference)
    if kind == "framepos":
        vector = measured.place_seen(frame, reference)
    elif kind in ("framelinvel", "frameangvel"):
        vector = measured.velocity_seen(frame, reference)[kind == "framelinvel"]
    elif kind in ("framelinacc", "frameangacc"):
        vector = measured.acceleration_in_world(frame)[kind == "framelinacc"]
    elif kind == "accelerometer":
        vector = measured.felt_acceleration(frame)
    elif kind == "magnetometer":
        vector = frame.X.E @ Vec3(*one.field)
    else:
        vector = frame.v.angular if kind == "gyro" else frame.v.linear
    return vector.components()


def _parts(state: SensedState, one: SensorSpec) -> list[tuple[Inertia, FrameMotion]]:
    """The inertias of a body and of all that it carries."""
    parts = []
    for name in one.bodies:
        inertia = state.robot.bodies[name].inertia
        if not all(map(is_zero, (inertia.mass, *inertia.I.components()))):
            parts.append((inertia, state.frame(Place(body=name))))
    return parts


def _of_group(state: SensedState, one: SensorSpec) -> Sequence[Scalar]:
    """The centre of mass of a body and of all that it carries, its velocity, or the angular momentum about it.

    Without any mass the centre is that of the body, and its velocity zero, as in MuJoCo.
    """
    parts = _parts(state, one)
    if all(is_zero(inertia.mass) for inertia, _ in parts):
        center, velocity = state.frame(one.place).X.r, Vec3.zero()
    else:
        center, velocity = measured.center_of(parts), measured.center_velocity_of(parts)
    if one.kind == "subtreeangmom":
        return measured.angular_momentum_of(parts, center).components()
    return (center if one.kind == "subtreecom" else velocity).components()


def _of_ray(state: SensedState, one: SensorSpec) -> Sequence[Scalar]:
    """The first hit of the ray along a site's z axis; -1 for nothing, and a point at its origin."""
    site = state.frame(one.place).X
    origin, direction = site.r, site.E.z
    distance: Scalar = MISSED
    for placed in one.shapes[0]:
        distance = minimum(distance, ray_distance(placed.shape, state.frame(placed.place).X, origin, direction))
    meets = less(distance, MISSED)
    distance = select(meets, distance, -1.0)
    there = origin + direction * select(meets, distance, 0.0)
    numbers: dict[str, Sequence[Scalar]] = {
        "dist": [distance],
        "dir": [select(meets, x, 0.0) for x in direction.components()],
        "origin": origin.components(),
        "point": [select(meets, x, 0.0) for x in there.components()],
        "depth": [distance],
    }
    return [x for name in one.data for x in numbers[name]]


def _of_distance(state: SensedState, one: SensorSpec) -> Sequence[Scalar]:
    """The distance of two shapes, or of the nearest shapes of two bodies, up to the cutoff; or from where to where."""
    nearest: ContactPoint | None = None
    for first in one.shapes[0]:
        for second in one.shapes[1]:
            X_1, X_2 = state.frame(first.place).X, state.frame(second.place).X
            pair = closest(first.shape, X_1, second.shape, X_2)
            nearest = pair if nearest is None else either(less(pair.distance, nearest.distance), pair, nearest)
    if nearest is None:
        return {"distance": [one.cutoff], "normal": [0.0] * 3, "fromto": [0.0] * 6}[one.kind]
    is_near = less(nearest.distance, minimum(one.cutoff, FAR))
    if one.kind == "distance":
        return [select(is_near, nearest.distance, one.cutoff)]
    if one.kind == "normal":
        sign = select(less(nearest.distance, 0.0), -1.0, 1.0) * is_near
        return [x * sign for x in nearest.normal.components()]
    start, end = nearest.ends
    return [select(is_near, x, 0.0) for x in (*start.components(), *end.components())]


def _potential_energy(state: SensedState, one: SensorSpec) -> Scalar:
    """Gravity's, and that of springs."""
    energy = algorithms.potential_energy(state.tree, state.q)
    if one.has_springs:
        energy = energy + algorithms.spring_energy(state.tree, state.q)
    for tendon in one.springs:
        terms = [(state.robot.joints[joint].slot, factor) for joint, factor in tendon.terms]
        energy = energy + algorithms.tendon_energy(tendon.law, along_tendon(state.view, terms, 1.0).length)
    return energy
