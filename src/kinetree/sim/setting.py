"""Settings that all steps of a motion share, where contacts are held, and where steps begin."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.actuation import Actuation
from kinetree.contact_model import SoftConstraints
from kinetree.errors import ConfigurationError, OptionError
from kinetree.functions.constraint_options import ALL, apart, checked_constraints, first_sample, listed
from kinetree.functions.integrator_options import ADAPTIVE, simulated_integrator, usual_integrator
from kinetree.functions.kinematics import frame_placement
from kinetree.functions.step_stages import HELD_STAGES, HeldStages
from kinetree.functions.steps import StepKind
from kinetree.model import Model
from kinetree.model.constraints import Constraint, Contact, holds
from kinetree.model.external_forces import ForceKey
from kinetree.records import record

__all__ = ["RK45", "Setting", "Start", "chosen_integrator", "held_frames", "leading_axes"]

_FINEST = 1e-13
"""Smaller relative tolerances are below rounding."""
_MET = 1e-6
"""The largest error of a start under constraints, m or rad, and of its velocity relative to 1 + |v|."""


@record(frozen=True, slots=True)
class RK45:
    """The integrator "rk45" of `simulate`, the pair of Dormand and Prince, with tolerances for the error of each step.

    Attributes:
        rtol: the largest error of a configuration, rad or m, and the largest relative error of a velocity.
        atol: an absolute error that is added to both.

    Raises:
        OptionError: a tolerance is not a positive number, or rtol is below 1e-13.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> exact = kt.sim.RK45(rtol=1e-9, atol=1e-11)
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0, dt=0.1, integrator=exact)
    >>> bool(abs(motion.balance_error).max() < 1e-7)
    True
    """

    rtol: float = 1e-6
    atol: float = 1e-8

    def __post_init__(self) -> None:
        for name, usual, least in (("rtol", 1e-6, _FINEST), ("atol", 1e-8, 0.0)):
            x = getattr(self, name)
            is_number = isinstance(x, Real) and not isinstance(x, bool)
            if not is_number or not 0.0 < x <= sys.float_info.max:
                raise OptionError(f"RK45: {name} must be a positive number, such as {usual:g}, not {x!r:.60}")
            if x < least:
                raise OptionError(f"RK45: {name} must be at least {least:g}, which is near rounding, not {x:g}")
            object.__setattr__(self, name, float(x))


def chosen_integrator(robot: Model, given: Any, contact: SoftConstraints | None) -> tuple[str, RK45 | None]:
    """The name of a motion's integrator, and its tolerances, unless it has fixed steps. Raises OptionError."""
    if given is None:
        return usual_integrator(robot, contact is not None), None
    if not isinstance(given, RK45):
        name = str.__str__(simulated_integrator(given))
        if name != ADAPTIVE:
            return name, None
        given = RK45()
    if contact is not None and contact.setting is not None:
        raise OptionError(
            f"simulate: contacts of this setting are laws of a whole step, but {ADAPTIVE!r} divides it into stages; "
            'take integrator="discrete", or the setting "mujoco"'
        )
    return ADAPTIVE, given


Array = NDArray[np.float64]


@record(frozen=True, slots=True)
class Setting:
    """The settings shared by all steps of a motion, or of a piece of one."""

    robot: Model
    dt: float
    integrator: str
    passive: Sequence[str]
    limits: bool
    shape: tuple[int, ...]
    """Leading axes of a batch; () for one motion."""
    forces: Mapping[ForceKey, Array]
    """External forces (…, steps, 6)."""
    parameters: Mapping[str, Array]
    held: tuple[Constraint, ...]
    """Constraints, every contact with a place."""
    contact: SoftConstraints | None = None
    """The soft constraints: contacts, limits, dry friction; None if nothing pushes."""
    first: int = 0
    """How many steps the motion has had before these."""
    actuation: Actuation | None = None
    """The actuators that have commands; None without commands."""
    tolerances: RK45 | None = None
    """How exact steps are whose length follows from that; None for steps of dt."""
    sources: Mapping[ForceKey, str] = field(default_factory=dict)
    """The external forces that functions or programs give, with the names by which they are recorded."""

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall (…, 3)."""
        return self.parameters.get("gravity", np.array(self.robot.gravity, dtype=np.float64))

    @property
    def activations(self) -> int:
        """How many activations the state has."""
        return 0 if self.actuation is None else len(self.actuation.with_activation)

    @property
    def commands(self) -> int:
        """How many commands there are."""
        return 0 if self.actuation is None else len(self.actuation.actuators)

    @property
    def ends(self) -> tuple[int, int, int]:
        """Where q, v and the activations end in a row [q, v, act, work, loss]."""
        nq, nv = self.robot.nq, self.robot.nv
        return nq, nq + nv, nq + nv + (self.activations if self.actuation is not None else 0)

    @property
    def kind(self) -> StepKind:
        """The kind of its steps."""
        contact = self.contact
        names, sleeps = () if contact is None else ("error", "qdd"), contact is not None and contact.sleep is not None
        switches = bool(self.held), self.actuation is not None, bool(self.activations)
        return StepKind(*switches, reports=names, sleeps=sleeps)

    @property
    def pushes(self) -> SoftConstraints | None:
        """The soft constraints at a state, as in the steps of this motion."""
        if self.contact is None or self.contact.setting is None:
            return self.contact
        return replace(self.contact, setting=replace(self.contact.setting, timestep=self.dt))

    @property
    def under_constraints(self) -> HeldStages | None:
        """The functions of a step under constraints, if there are any."""
        return HELD_STAGES if self.held else None

    @property
    def options(self) -> dict[str, Any]:
        """The options of the functions of a step."""
        constraints = {"constraints": self.held} if self.held else {}
        contact = {} if self.contact is None else {"contact": self.contact}
        return {"integrator": self.integrator, "passive": self.passive, "limits": self.limits, **constraints, **contact}

    @property
    def known_forces(self) -> list[Array]:
        """External forces that are known in advance (…, steps, 6)."""
        return [rows for key, rows in self.forces.items() if key not in self.sources]

    def with_rows(self, recorded: Mapping[str, NDArray[Any]], count: int) -> Setting:
        """The setting in which forces that are recorded (…, count + 1, 6) are known, one row per step."""
        if not self.sources:
            return self
        rows = {key: recorded[name][..., :count, :] for key, name in self.sources.items()}
        return replace(self, forces={**self.forces, **rows})

    def piece(self, begin: int, count: int) -> Setting:
        """The setting of `count` of these steps, from number `begin` on."""
        forces = {key: rows[..., begin : begin + count, :] for key, rows in self.forces.items()}
        return replace(self, first=self.first + begin, forces=forces)


@record(frozen=True, slots=True, eq=False)
class Start:
    """A moment of a motion between two steps."""

    step: int
    """How many steps were taken since the motion began."""
    row: Array
    """[q, v, act, work, loss] (…, nq + nv + na + 2)."""
    ended: Array
    """When each motion of a batch ended (…,), s; infinite for those that go on."""
    carried: Mapping[str, NDArray[Any]]
    """The controller's state, and its outputs, which are held until it runs again."""
    stiffness: Mapping[str, NDArray[Any]]
    """Into how many parts steps are divided, and where the next search for the fastest motion begins."""
    places: Mapping[int, Array]
    """Where contacts are held that were given without a place, by their number."""


def held_frames(
    robot: Model, constraints: Any, q: Array, v: Array, parameters: Mapping[str, Array], places: Mapping[int, Array]
) -> tuple[tuple[Constraint, ...], dict[int, Array]]:
    """The constraints of a motion that starts at q and v, every contact with a place. Raises unless they are met.

    The places of contacts that have none of their own are those of the start, or of an earlier one, by their numbers;
    they are returned too.
    """
    given = listed(constraints)
    if given is None or given == ():
        return (), {}
    from kinetree.functions.constrained import constraint_errors, constraint_jacobian

    checked = checked_constraints(robot, given)
    given_parameters = parameters or None
    has_place = np.concatenate([np.full(hold.size, hold.has_place) for hold in holds(robot.frames, checked)])
    off = constraint_errors(robot, q, checked, parameters=given_parameters)
    errors = np.abs(off * has_place).max(axis=-1)
    _refuse_start(
        robot, errors > _MET, errors, "are not met at the start", "an error of {:.3g} (m or rad)",
        "kt.constraints.nearest_configuration(robot, q, constraints).q",
    )  # fmt: skip
    J = constraint_jacobian(robot, q, checked, parameters=given_parameters)
    rates = np.abs((J @ v[..., None])[..., 0]).max(axis=-1)
    _refuse_start(
        robot, rates > _MET * (1.0 + np.abs(v).max(axis=-1, initial=0.0)), rates, "forbid the initial velocity",
        "their frames move by {:.3g} (m/s or rad/s)",
        "kt.constraints.nearest_velocity(robot, q, v, constraints), or kt.constraints.impact(robot, q, v, "
        "constraints).v after a collision",
    )  # fmt: skip
    own = {
        k: places[k] if k in places else _place(robot, c, q, given_parameters)
        for k, c in enumerate(checked)
        if isinstance(c, Contact) and c.at is None
    }
    return tuple(_held(c, own.get(k)) for k, c in enumerate(checked)), own


def leading_axes(constraints: Any) -> dict[str, tuple[int, ...]]:
    """The leading axes of the numbers of constraints, by name; of anything else none, which is rejected later."""
    if constraints is None:
        return {}
    rest, arrays = apart(constraints, ALL)
    ports = ALL.ports(None, {"constraints": rest}) if arrays else []
    return {port.name: x.shape[: x.ndim - len(port.shape)] for port, x in zip(ports, arrays, strict=True)}


def _refuse_start(robot: Model, wrong: NDArray[np.bool_], sizes: Array, what: str, measure: str, instead: str) -> None:
    if not wrong.any():
        return
    sample, where = first_sample(np.asarray(wrong))
    raise ConfigurationError(
        f"simulate: the constraints on {robot.name!r} {what}{where}: {measure.format(float(sizes[sample]))}; "
        f"start from {instead}"
    )


def _held(c: Constraint, at: Array | None) -> Constraint:
    """The constraint, at a place that it was not given with."""
    return c if at is None or not isinstance(c, Contact) else replace(c, at=at)


def _place(robot: Model, c: Contact, q: Array, parameters: Mapping[str, Array] | None) -> Array:
    """Where the frame of a contact is."""
    at: Array = frame_placement(robot, q, c.frame, parameters=parameters)
    return at if c.directions == "fixed" else at[..., :3, 3]
