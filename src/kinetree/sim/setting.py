"""What all steps of a motion have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.actuation import Actuation
from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.functions.integrator_options import ADAPTIVE
from kinetree.functions.step_stages import HELD_STAGES, HeldStages
from kinetree.functions.steps import StepKind
from kinetree.model import Model
from kinetree.model.constraints import Constraint
from kinetree.model.external_forces import ForceKey
from kinetree.records import record

__all__ = ["Setting", "Tolerances", "tolerances_of"]

_RTOL, _ATOL = 1e-6, 1e-8
_FINEST = 1e-13
"""Smaller relative tolerances are below what rounding leaves."""


@record(frozen=True, slots=True)
class Tolerances:
    """What the error of one step may be: of a velocity v, atol + rtol |v|; of a configuration, atol + rtol (rad, m)."""

    rtol: float
    atol: float


def tolerances_of(integrator: Any, rtol: Any, atol: Any, contact: SoftConstraints | None) -> Tolerances | None:
    """The tolerances of a motion; None for an integrator of fixed steps. Raises OptionError."""
    if integrator != ADAPTIVE:
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None:
                raise OptionError(
                    f"simulate: {name}= is for the integrator {ADAPTIVE!r}, which chooses its steps by it; leave it "
                    f'out, or give integrator="{ADAPTIVE}"'
                )
        return None
    if contact is not None and contact.setting is not None:
        raise OptionError(
            f"simulate: contacts of this setting are laws of a whole step, but {ADAPTIVE!r} divides it into stages; "
            'take integrator="discrete", or the setting "mujoco"'
        )
    return Tolerances(_checked("rtol", rtol, _RTOL, _FINEST), _checked("atol", atol, _ATOL, 0.0))


def _checked(name: str, value: Any, default: float, least: float) -> float:
    if value is None:
        return default
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0.0:
        raise OptionError(f"simulate: {name} must be a positive number, such as {default:g}, not {value!r:.60}")
    if value < least:
        raise OptionError(f"simulate: {name} must be at least {least:g}, which is near rounding, not {value:g}")
    return float(value)


Array = NDArray[np.float64]


@record(frozen=True, slots=True)
class Setting:
    """What all steps of a motion, or of a piece of one, have in common."""

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
    """What pushes softly: contacts, limits, dry friction; None if nothing does."""
    first: int = 0
    """How many steps the motion has had before these."""
    actuation: Actuation | None = None
    """The actuators that have commands; None if there are no commands."""
    tolerances: Tolerances | None = None
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
        """What its steps have to do with."""
        tells = () if self.contact is None else ("error", "qdd")
        return StepKind(bool(self.held), self.actuation is not None, bool(self.activations), tells=tells)

    @property
    def pushes(self) -> SoftConstraints | None:
        """What pushes at a state, as it does in the steps of this motion."""
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
