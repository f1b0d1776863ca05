"""From a robot to the springs and dampers of its tendons: what MuJoCo takes from an MJCF file."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.tendons import TendonLaw
from kinetree.errors import OptionError
from kinetree.model import Model
from kinetree.model.extras import SimulationOptions, Tendon, TendonJoint
from kinetree.records import record

__all__ = ["PulledTendon", "pulled_tendons"]


@record(frozen=True, slots=True)
class PulledTendon:
    """A tendon made of joints that has a spring or a damper."""

    terms: tuple[tuple[str, float], ...]
    law: TendonLaw


def pulled_tendons(robot: Model, springs: bool = True, dampers: bool = True) -> tuple[PulledTendon, ...]:
    """All tendons with springs or dampers; dampers of actuators on them are theirs.

    Raises:
        OptionError: a tendon's force is not computed here; the message names it and says why.
    """
    flags = (robot.extras.options or SimulationOptions()).flags
    found = []
    for k, tendon in enumerate(robot.extras.tendons):
        stiffness = tendon.stiffness if springs and flags.spring else (0.0, 0.0, 0.0)
        damping = _damping(robot, tendon) if dampers and flags.damper else (0.0, 0.0, 0.0)
        if not any(stiffness) and not any(damping):
            continue
        for is_so, what in ((tendon.kind != "fixed", "is spatial"), (tendon.spring_yield, "has a spring that yields")):
            if is_so:
                who = repr(tendon.name) if tendon.name else f"number {k}"
                raise OptionError(
                    f"{robot.name!r}: the tendon {who} {what}, which is not computed; compute its force yourself and "
                    "give it as tau"
                )
        terms = tuple((part.joint, part.coefficient) for part in tendon.path if isinstance(part, TendonJoint))
        found.append(PulledTendon(terms, TendonLaw(stiffness, _slack(robot, tendon, terms), damping)))
    return tuple(found)


def _slack(robot: Model, tendon: Tendon, terms: Sequence[tuple[str, float]]) -> tuple[float, float]:
    if tendon.spring_length is not None:
        return tendon.spring_length
    length = sum(factor * robot.joints[joint].rest[0] for joint, factor in terms)
    return length, length


def _damping(robot: Model, tendon: Tendon) -> tuple[float, float, float]:
    total = list(tendon.damping)
    for one in robot.extras.actuators:
        if one.transmission == "tendon" and one.target == tendon.name:
            total = [x + y * one.gear[0] ** 2 for x, y in zip(total, one.damping, strict=True)]
    return total[0], total[1], total[2]
