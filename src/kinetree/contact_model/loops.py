"""Closed loops and held frames, `kt.constraints.Loop` and `kt.constraints.Contact`, as rows that are almost rigid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.softness import Softness
from kinetree.contact_model.held_spec import LoopSpec
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.errors import OptionError
from kinetree.model import Model
from kinetree.model.constraint_numbers import listed
from kinetree.model.constraints import Constraint, Contact, Loop, holds

__all__ = ["loop_rows"]

_HARD = 0.9999
"""The impedance: a force moves rows by a ten-thousandth of the displacement without the constraint."""
_USUAL = (0.02, 1.0)
"""The time constant, s, and the damping ratio with which errors vanish unless gains are given: those of MuJoCo."""


def loop_rows(robot: Model, weights: InverseWeights, constraints: Any, period: float) -> list[LoopSpec]:
    """The rows of the constraints.

    Raises:
        OptionError: it is not a list of constraints, a number differs from sample to sample, or a contact has no place.
        NameNotFoundError: the robot has no such frame.
    """
    rows = []
    for c in _checked(constraints):
        (hold,) = holds(robot.frames, [c])
        if isinstance(c, Contact) and hold.has_place and c.at is None:
            raise OptionError(
                f"soft_constraints: {c!r} says not where {c.frame!r} is held, and it would creep; give at=, such as "
                "kt.frame_placement(robot, q, frame)"
            )
        bodies = [robot.frames[name].body for name in _frames(c)]
        inverse = [weights.of_body(body) for body in bodies]
        reference = _reference(c)
        soft = Softness(
            reference, (_HARD, _HARD, 0.0, 0.5, 2.0), sum(one.translation for one in inverse),
            period if reference is _USUAL else 0.0,
        )  # fmt: skip
        rows.append(LoopSpec(c, soft, sum(one.rotation for one in inverse)))
    return rows


def _checked(constraints: Any) -> Sequence[Constraint]:
    several, kind = (
        listed(constraints),
        "soft_constraints: constraints must be a list of kt.constraints.Contact and kt.constraints.Loop",
    )
    if not isinstance(several, tuple):
        raise OptionError(f"{kind}, not {several!r:.60}")
    for k, c in enumerate(several):
        if not isinstance(c, Contact | Loop):
            raise OptionError(f"{kind}, but constraint {k} is {c!r:.60}")
        numbers = [c.position_gain, c.velocity_gain, *([c.length] if isinstance(c, Loop) else [])]
        is_array = isinstance(c, Contact) and hasattr(c.at, "shape")
        if is_array or not all(x is None or isinstance(x, float) for x in numbers):
            raise OptionError(
                f"soft_constraints: the place, the length or a gain of constraint {k} on {' and '.join(_frames(c))} "
                "differs from sample to sample, but it is part of the compiled function here; give one for all"
            )
    return several


def _frames(c: Constraint) -> tuple[str, ...]:
    return (c.frame,) if isinstance(c, Contact) else (c.frame_a, c.frame_b)


def _reference(c: Constraint) -> tuple[float, float]:
    """How errors vanish: by the gains that are given, if any is, as stiffness and damping with the opposite sign."""
    assert isinstance(c.position_gain, float)
    assert isinstance(c.velocity_gain, float)
    if not c.position_gain and not c.velocity_gain:
        return _USUAL
    return -c.position_gain * _HARD, -c.velocity_gain * _HARD
