"""Measurements of the sensors of a robot's file, as a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.arguments import dtype_like
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.functions.actuators import acting
from kinetree.functions.contact_options import ContactOption, contact_option, contact_switch
from kinetree.functions.sensed_state import SensedState
from kinetree.functions.sensor_choice import names_option, needing, numbers_of
from kinetree.functions.sensor_specs import SensorChoice
from kinetree.functions.sensor_values import sensed
from kinetree.model import Model, check_robot

__all__ = ["sensor_places", "sensors"]


def _sensors(
    model: Form, q: Slots, v: Slots, qdd: Slots, ctrl: Sequence[Scalar], act: Sequence[Scalar],
    time: Sequence[Scalar], *, names: SensorChoice, contact: SoftConstraints | None,
) -> list[Scalar]:  # fmt: skip
    if contact is None:
        _check_contact(model.one_by_one, names)
    driven = acting(model, q, v, ctrl, act, names.actuation) if names.actuation.actuators else None
    state = SensedState(model, q, v, qdd, contact)
    numbers: list[Scalar] = []
    for spec in names.specs:
        numbers += sensed(state, spec, driven, time)
    return numbers


def _check_contact(model: Model, choice: SensorChoice) -> None:
    """Reject sensors of contacts and limits where these do not act."""
    who = needing(model, choice, "contact")
    if who is not None:
        raise OptionError(f"sensors: {who} measures contacts or limits: give contact=True, or choose others by names=")


def _count(choice: SensorChoice) -> int:
    return sum(map(numbers_of, choice.specs))


def _has_loops(_: Model, options: Mapping[str, Any]) -> bool:
    """Whether a ray may meet a table of triangles."""
    kinds = (placed.shape.kind for spec in options["names"].specs for placed in spec.shapes[0])
    return not {"mesh", "heightfield"}.isdisjoint(kinds)


SENSORS = Definition(
    "sensors",
    (("q", "nq"), ("v", "nv"), ("qdd", "nv"), ("ctrl", "nu"), ("act", "na"), ("time", "nt")),
    lambda _, options: (_count(options["names"]),),
    _sensors,
    {"contact": contact_option, "names": names_option},
    sizes={
        "nu": lambda options: len(options["names"].actuation.actuators),
        "na": lambda options: len(options["names"].actuation.with_activation),
        "nt": lambda options: int(options["names"].has_clock),
    },
    optional=("qdd", "ctrl", "act", "time"),
    strategy=Strategy(loops=False, is_dense=_has_loops),
)


@defined_by(SENSORS, in_units=True)
def sensors(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike | None = None,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    time: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    contact: ContactOption = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Measurements of the sensors of a robot's file, as MuJoCo defines them.

    `kinetree docs actuators` lists the supported sensors, and those that are rejected by name. Forces of contacts and
    limits follow from the state and the acceleration, so sensors of forces need qdd as well:
    `kt.contact_dynamics(…).qdd`. Noise is not added.

    Args:
        qdd: acceleration (…, nv), for sensors of accelerations and forces.
        ctrl: controls (…, nu), for sensors of the forces of actuators; as for `actuator_forces`.
        act: activations (…, na), for the same; zeros by default.
        time: the time (…), s, for clocks.
        names: the sensors that are wanted, in this order; by default all, in the order of the file.
        contact: whether contacts and limits act, as for `contact_dynamics`. Sensors of contacts and limits need it;
            those of wrenches ("force", "torque") are without contacts otherwise.
        parameters: values that override some of the robot's parameters, as for `aba`.

    Returns:
        The numbers (…, n) of all sensors, one after the other; `kt.dynamics.sensor_places` says where each is.
        Quaternions are w x y z, with w not negative.

    Raises:
        OptionError: the robot has no sensors, or one that is not computed; or qdd, ctrl, time or contact is missing.
        NameNotFoundError: the robot has no such sensor.

    Source: MuJoCo documentation, "XML Reference", section on sensors; version 4.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import Extras, Sensor
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> builder.extras = Extras(sensors=(Sensor("angle", "jointpos", "joint", "hinge"),))
    >>> kt.dynamics.sensors(builder.build(), [0.5, 0.25], [0.0, 0.0]).tolist()
    [0.25]
    """
    model = check_robot(robot)
    switch = contact_switch(model, contact)
    choice = names_option(model, names)
    for what, given in (("qdd", qdd), ("ctrl", ctrl), ("time", time)):
        if given is None and (who := needing(model, choice, what)) is not None:
            hint = "; kt.contact_dynamics(…).qdd has it" if what == "qdd" and contact else ""
            raise OptionError(f"sensors: {who} needs {what}, which is not given{hint}")
    if not switch:
        _check_contact(model, choice)
    nu, na = len(choice.actuation.actuators), len(choice.actuation.with_activation)
    dtype = dtype_like(q)
    zeros = [np.zeros(model.nv, dtype) if qdd is None else qdd]
    for size, x in ((nu, ctrl), (na, act)):
        zeros.append(np.zeros(size, dtype) if x is None or not size else x)
    zeros.append(np.zeros(0, dtype) if time is None or not choice.has_clock else np.expand_dims(time, -1))
    options: dict[str, Any] = {**({} if names is None else {"names": choice}), **switch}
    return run(SENSORS, model, (q, v, *zeros), parameters=parameters, out=out, threads=threads, **options)


def sensor_places(robot: Model, names: Sequence[str] | None = None) -> dict[str, slice]:
    """The places of each sensor's numbers in the result of `sensors`, by name.

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
    >>> kt.dynamics.sensor_places(builder.build())
    {'x': slice(0, 1, None), 'p': slice(1, 4, None)}
    """
    model = check_robot(robot)
    places, start = {}, 0
    for k in names_option(model, names).numbers:
        one = model.extras.sensors[k]
        places[one.name or f"{one.kind}[{k}]"] = slice(start, start + numbers_of(one))
        start += numbers_of(one)
    return places
