"""From a robot to its springs and dampers other than those of `Joint`, as MuJoCo takes them from an MJCF file.

They are those along fixed tendons, and the quadratic and cubic terms of joints with one coordinate: each such joint is
a tendon of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.tendons import TendonLaw
from kinetree.errors import OptionError
from kinetree.joints import FloatingBase, Free, JointKind
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Model
from kinetree.model.extras import JointSettings, SimulationOptions, Tendon, TendonJoint
from kinetree.records import record

__all__ = ["PulledTendon", "pulled_tendons"]

Cubic = tuple[float, float, float]


@record(frozen=True, slots=True)
class PulledTendon:
    """A tendon made of joints that has a spring or a damper; or one joint."""

    terms: tuple[tuple[str, float], ...]
    law: TendonLaw


def pulled_tendons(robot: Model, springs: bool = True, dampers: bool = True) -> tuple[PulledTendon, ...]:
    """All tendons and joints with such springs or dampers; dampers of actuators on them are theirs.

    Raises:
        OptionError: the force of a tendon or joint is not computed here; the message names it and says why.
    """
    flags = (robot.extras.options or SimulationOptions()).flags
    tendons = []
    for k, tendon in enumerate(robot.extras.tendons):
        stiffness = tendon.stiffness if springs and flags.spring else (0.0, 0.0, 0.0)
        damping = (
            _with_actuators(robot, ("tendon",), tendon.name, tendon.damping)
            if dampers and flags.damper
            else (0.0, 0.0, 0.0)
        )
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
        tendons.append(PulledTendon(terms, TendonLaw(stiffness, _slack(robot, tendon, terms), damping)))
    return (*tendons, *_of_joints(robot, springs and flags.spring, dampers and flags.damper))


def _of_joints(robot: Model, springs: bool, dampers: bool) -> Iterator[PulledTendon]:
    """Joints whose springs or dampers have quadratic or cubic terms; `Joint` has the linear ones."""
    settings = {one.joint: one for one in robot.extras.joints}
    for name, joint in robot.joints.items():
        own = settings.get(name, JointSettings(name))
        damping = _with_actuators(robot, ("joint", "jointinparent"), name, own.damping)
        stiffness = (0.0, *own.stiffness[1:]) if springs else (0.0, 0.0, 0.0)
        damping = (0.0, *damping[1:]) if dampers else (0.0, 0.0, 0.0)
        is_free = isinstance(_plain(joint.kind), Free | FloatingBase)
        if joint.kind.nv > 1 and (any(stiffness) or any(damping) or (springs and is_free and own.stiffness[0])):
            what = "a spring of a free joint" if is_free and own.stiffness[0] else "quadratic or cubic terms"
            raise OptionError(
                f"{robot.name!r}: the joint {name!r} has {what}, which is computed for joints with one coordinate "
                "only; compute its force yourself and give it as tau"
            )
        if any(stiffness) or any(damping):
            rest = joint.rest[0]
            yield PulledTendon(((name, 1.0),), TendonLaw(stiffness, (rest, rest), damping))


def _plain(kind: JointKind) -> JointKind:
    while isinstance(kind, Wrapping):
        kind = kind.kind
    return kind


def _slack(robot: Model, tendon: Tendon, terms: Sequence[tuple[str, float]]) -> tuple[float, float]:
    if tendon.spring_length is not None:
        return tendon.spring_length
    length = sum(factor * robot.joints[joint].rest[0] for joint, factor in terms)
    return length, length


def _with_actuators(robot: Model, kinds: Sequence[str], name: str, damping: Cubic) -> Cubic:
    """The damping of a tendon or joint with that of the actuators on it."""
    total = list(damping)
    for actuator in robot.extras.actuators:
        if actuator.transmission in kinds and actuator.target == name:
            total = [x + y * actuator.gear[0] ** 2 for x, y in zip(total, actuator.damping, strict=True)]
    return total[0], total[1], total[2]
