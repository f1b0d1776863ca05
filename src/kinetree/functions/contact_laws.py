"""The law of each constraint row of a robot under a contact setting, for a step of some length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from kinetree.algorithms.compliance import Compliance, step_of
from kinetree.algorithms.near_rigid import NearRigid
from kinetree.algorithms.soft_rows import Friction, Law
from kinetree.algorithms.softness import Softness
from kinetree.contact_model import Compliant, Rigid, Setting, SoftConstraints
from kinetree.expr import Scalar, is_zero

__all__ = ["ahead", "law_of_contact", "timed_laws"]

_ROUNDS = 40
_FASTEST = 1.0
"""The largest speed at which the joints of a compliant robot are brought back to their limits, rad/s or m/s."""


def timed_laws(setting: Setting, dt: Scalar, *, at_the_end: bool = False) -> Callable[..., Law]:
    """From the softness of a row, and whether it is to give way, to its law in a step of dt, or as at its end.

    Without a step it is that in one of the robot's options.
    """
    if setting is None:

        def soft(own: Softness, gives_way: bool = False) -> Law:
            """Its shortest time constant is twice the step, if it has one."""
            if at_the_end:
                return own.at_the_end_of(dt, gives_way)
            return own if is_zero(dt) or is_zero(own.period) else replace(own, period=2.0 * dt)

        return soft
    h = setting.timestep if is_zero(dt) else step_of(dt)
    if isinstance(setting, Rigid):
        time, fastest, e = setting.correction, setting.fastest_correction, setting.restitution
    else:
        time, fastest, e = setting.dissipation, _FASTEST, 0.0
    return lambda own, gives_way=False: NearRigid(h, time, own.inverse_inertia, fastest, e if gives_way else 0.0)


def ahead(law: Law) -> Law:
    """The law of a limit, which pushes to one side and is in sight from anywhere."""
    return replace(law, reach=inf) if isinstance(law, NearRigid) else law


def contact_law(setting: Setting, law: Law) -> Law:
    """The law of a contact's normal row."""
    if not isinstance(law, NearRigid):
        return law
    if isinstance(setting, Compliant):
        return Compliance(law.step, setting.stiffness, setting.dissipation, law.inverse_inertia)
    assert isinstance(setting, Rigid)
    rounds = _ROUNDS if setting.accurate else 1
    return replace(
        law, restitution=setting.restitution, reach=setting.reach, rounds=rounds, tolerance=setting.tolerance
    )


def law_of_contact(
    constraints: SoftConstraints, timed: Callable[..., Law], softness: Softness, coefficients: Sequence[Scalar],
    friction_reference: tuple[float, float],
) -> tuple[Law, Friction | None]:  # fmt: skip
    """The laws of a contact's normal row and of its friction, which has as many coefficients as rows."""
    own = contact_law(constraints.setting, timed(softness, True))
    if not coefficients:
        return own, None
    across = timed(replace(softness, reference=friction_reference)) if any(friction_reference) else None
    ratio = friction_ratio(own, constraints.friction_ratio)
    return own, Friction(tuple(coefficients), constraints.is_elliptic, ratio, across)


def friction_ratio(law: Law, own: float) -> Scalar:
    """How much stiffer friction is than the normal direction."""
    if isinstance(law, Compliance):
        return law.friction_ratio
    return 1.0 if isinstance(law, NearRigid) else own
