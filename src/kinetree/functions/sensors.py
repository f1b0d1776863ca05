"""What the sensors of a robot's file measure, as a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.algorithms import sensors as measured
from kinetree.algorithms.sensors import FrameMotion
from kinetree.algorithms.transmissions import View, along_tendon, reach_velocity, viewed
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.functions.actuators import Acting, acting
from kinetree.functions.sensor_choice import AXES, Place, SensorChoice, SensorSpec, names_option, needing, numbers_of
from kinetree.model import Model, check_robot
from kinetree.spatial import Inertia, Motion, Transform, Vec3

__all__ = ["sensor_places", "sensors"]


class _State(NamedTuple):
    """A robot in a state, as its sensors see it."""

    robot: Model
    q: Slots
    v: Slots
    view: View
    velocities: Sequence[Motion]
    accelerations: Sequence[Motion]
    """Accelerations of the bodies, less gravity."""
    acting: Acting | None


def _sensors(
    model: Form, q: Slots, v: Slots, qdd: Slots, ctrl: Sequence[Scalar], act: Sequence[Scalar], *, names: SensorChoice
) -> list[Scalar]:
    tree, robot = model.tree, model.one_by_one
    moving = algorithms.motions(tree, q, v, qdd, -tree.gravity)
    driven = acting(model, q, v, ctrl, act, names.actuation) if names.actuation.actuators else None
    state = _State(robot, q, v, viewed(tree, q), moving.v, moving.a, driven)
    found: list[Scalar] = []
    for one in names.specs:
        found += _cut(one, _measured(state, one))
    return found


def _cut(one: SensorSpec, numbers: Sequence[Scalar]) -> list[Scalar]:
    """Numbers within the sensor's cutoff; quaternions and axes have none."""
    if not one.cutoff or one.kind in AXES or one.kind in ("framequat", "ballquat"):
        return list(numbers)
    return [algorithms.within_range(x, (-one.cutoff, one.cutoff)) for x in numbers]


def _measured(state: _State, one: SensorSpec) -> Sequence[Scalar]:
    if one.joint:
        return _of_joint(state, one)
    if one.kind.startswith("tendon"):
        return [_of_tendon(state, one)]
    if one.kind.startswith("actuator"):
        assert state.acting is not None
        (k,) = one.actuators
        reach = state.acting.reaches[k]
        if one.kind == "actuatorfrc":
            return [state.acting.forces[k]]
        return [reach.length if one.kind == "actuatorpos" else reach_velocity(reach, state.v)]
    if one.bodies:
        return _of_subtree(state, one)
    return _of_frame(one, _frame(state, one.place), _frame(state, one.reference) if one.reference else None)


def _of_joint(state: _State, one: SensorSpec) -> Sequence[Scalar]:
    slot = state.robot.joints[one.joint].slot
    if one.kind == "jointpos":
        return state.q[slot]
    if one.kind in ("jointvel", "ballangvel"):
        return state.v[slot]
    if one.kind == "ballquat":
        x, y, z, w = state.q[slot]
        return [w, x, y, z]
    assert state.acting is not None
    return state.acting.pieces[slot]


def _of_tendon(state: _State, one: SensorSpec) -> Scalar:
    if one.kind == "tendonactuatorfrc":
        assert state.acting is not None
        total: Scalar = 0.0
        for k in one.actuators:
            total = total + state.acting.forces[k]
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
        found = measured.place_seen(frame, reference)
    elif kind in ("framelinvel", "frameangvel"):
        found = measured.velocity_seen(frame, reference)[kind == "framelinvel"]
    elif kind in ("framelinacc", "frameangacc"):
        found = measured.acceleration_in_world(frame)[kind == "framelinacc"]
    elif kind == "accelerometer":
        found = measured.felt_acceleration(frame)
    elif kind == "magnetometer":
        found = frame.X.E @ Vec3(*one.field)
    else:
        found = frame.v.angular if kind == "gyro" else frame.v.linear
    return found.components()


def _of_subtree(state: _State, one: SensorSpec) -> Sequence[Scalar]:
    """The centre of mass of a body and of all that it carries, or its velocity."""
    parts: list[tuple[Inertia, FrameMotion]] = []
    for name in one.bodies:
        inertia = state.robot.bodies[name].inertia
        if inertia.mass != 0.0:
            parts.append((inertia, _frame(state, Place(body=name))))
    if not parts:
        own = _frame(state, one.place)
        return (own.X.r if one.kind == "subtreecom" else own.X.E.T @ own.v.linear).components()
    of_all = measured.center_of if one.kind == "subtreecom" else measured.center_velocity_of
    return of_all(parts).components()


def _frame(state: _State, place: Place) -> FrameMotion:
    """A frame in this state."""
    if place.frame:
        frame = state.robot.frames[place.frame]
        slot, X = frame.slot, frame.placement
    else:
        body = state.robot.bodies[place.body]
        slot, X = body.slot, place.offset @ body.placement
        if place.is_center and body.inertia.mass != 0.0:
            X = Transform(Transform.identity().E, body.inertia.h * (1.0 / body.inertia.mass)) @ X
    return FrameMotion(X @ state.view.X_0[slot], X @ state.velocities[slot], X @ state.accelerations[slot])


def _count(choice: SensorChoice) -> int:
    return sum(map(numbers_of, choice.specs))


SENSORS = Definition(
    "sensors",
    (("q", "nq"), ("v", "nv"), ("qdd", "nv"), ("ctrl", "nu"), ("act", "na")),
    lambda _, options: (_count(options["names"]),),
    _sensors,
    {"names": names_option},
    sizes={
        "nu": lambda options: len(options["names"].actuation.actuators),
        "na": lambda options: len(options["names"].actuation.with_activation),
    },
    optional=("qdd", "ctrl", "act"),
    strategy=Strategy(loops=False),
)


@defined_by(SENSORS)
def sensors(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike | None = None,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """What the sensors of a robot's file measure, with the meaning that MuJoCo gives them.

    Sensors of joints, fixed tendons, actuators, frames and inertial units are computed; others are refused by name, as
    those of forces and contacts are: see docs/actuators.md. Noise is not added.

    Args:
        robot: the robot.
        q: configuration (…, nq); rad, m, unit quaternions.
        v: velocity (…, nv); rad/s, m/s.
        qdd: acceleration (…, nv), for sensors of accelerations.
        ctrl: controls (…, nu), for sensors of the forces of actuators; as for `actuator_forces`.
        act: activations (…, na), for the same; zeros by default.
        names: the sensors that are wanted, in this order; by default all, in the order of the file.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, of the result's dtype.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        The numbers (…, n) of all sensors, one after the other; `kt.sensor_places` says where each is. Quaternions are
        w x y z, with w not negative.

    Raises:
        OptionError: the robot has no sensors, or one that is not computed; or qdd or ctrl is missing.
        NameNotFoundError: there is no sensor of that name.
        ShapeError, DTypeError, ConfigurationError: as for `aba`.

    Source: MuJoCo documentation, "XML Reference", section on sensors; version 4.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import Extras, Sensor
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> builder.extras = Extras(sensors=(Sensor("angle", "jointpos", "joint", "hinge"),))
    >>> kt.sensors(builder.build(), [0.5, 0.25], [0.0, 0.0]).tolist()
    [0.25]
    """
    model = check_robot(robot)
    choice = names_option(model, names)
    for what, given in (("qdd", qdd), ("ctrl", ctrl)):
        if given is None and (who := needing(model, choice, what)) is not None:
            raise OptionError(f"sensors: {who} needs {what}, which is not given")
    nu, na = len(choice.actuation.actuators), len(choice.actuation.with_activation)
    zeros = [np.zeros(model.nv) if qdd is None else qdd]
    for size, x in ((nu, ctrl), (na, act)):
        zeros.append(np.zeros(size) if x is None or not size else x)
    options: dict[str, Any] = {} if names is None else {"names": choice}
    return run(SENSORS, model, (q, v, *zeros), parameters=parameters, out=out, threads=threads, **options)


def sensor_places(robot: Model, names: Sequence[str] | None = None) -> dict[str, slice]:
    """Where the numbers of each sensor are in what `sensors` returns, by name.

    Args:
        robot: the robot.
        names: the sensors that are wanted, as for `sensors`.

    Returns:
        A slice per sensor. One without a name is called by its kind and its number in the file: "gyro[3]".

    Raises:
        OptionError, NameNotFoundError: as for `sensors`.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import Extras, Sensor
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> builder.extras = Extras(
    ...     sensors=(Sensor("x", "jointpos", "joint", "slider"), Sensor("p", "framepos", "xbody", "pole"))
    ... )
    >>> kt.sensor_places(builder.build())
    {'x': slice(0, 1, None), 'p': slice(1, 4, None)}
    """
    model = check_robot(robot)
    places, start = {}, 0
    for k in names_option(model, names).numbers:
        one = model.extras.sensors[k]
        places[one.name or f"{one.kind}[{k}]"] = slice(start, start + numbers_of(one))
        start += numbers_of(one)
    return places
