"""Motors on other degrees of freedom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinetree.errors import ModelError, NameNotFoundError, listed, nearest_names, quoted
from kinetree.model.changes.common import Changed, base_joint, changed, leader_of
from kinetree.model.given import flags
from kinetree.model.robot import Robot
from kinetree.model.specs import CouplingSpec, JointSpec, shortest, usual_motors

__all__ = ["with_actuation"]

Motors = Mapping[str, bool | Sequence[bool]]


def with_actuation(model: Robot, motors: Motors) -> Changed:
    """See `Model.with_actuation`."""
    if not isinstance(motors, Mapping):
        raise ModelError(f"with_actuation takes True or False by name, such as {{'joint': False}}, not {motors!r:.60}")
    owners = {owner.name: owner for owner in model.owners}
    found: dict[str, tuple[bool, ...]] = {}
    for name, given in motors.items():
        _check_owner(model, name)
        place = owners[name].v_slice
        found[name] = flags(f"the actuation of {name!r}", given, place.stop - place.start, "")
    parts = model.parts
    told = listed((f"{name!r} {shortest(given)}" for name, given in found.items()), separator="; ") or "nothing"
    return changed(
        replace(
            parts,
            joints=tuple(_joint(spec, found[spec.name]) if spec.name in found else spec for spec in parts.joints),
            couplings=tuple(
                _coupling(spec, found[spec.name]) if spec.name in found else spec for spec in parts.couplings
            ),
        ),
        f"actuation changed: {told}",
    )


def _joint(spec: JointSpec, given: tuple[bool, ...]) -> JointSpec:
    return replace(spec, actuated=None if given == usual_motors(spec.kind, spec.mimic) else given)


def _coupling(spec: CouplingSpec, given: tuple[bool, ...]) -> CouplingSpec:
    return replace(spec, actuated=None if all(given) else given)


def _check_owner(model: Robot, name: object) -> None:
    """Raise unless it is the name of a coupling, or of a joint with coordinates, other than a floating base's."""
    if isinstance(name, str) and name in base_joint(model):
        raise ModelError(
            f"{name!r} is the joint of a floating base, which has no motor; build the robot with a free joint on a "
            "massless root, actuated=True, if it is to have one"
        )
    if isinstance(name, str) and name in model.joints:
        joint = model.joints[name]
        leader = leader_of(model, joint)
        if leader.coupling is not None:
            raise ModelError(f"joint {name!r} has no coordinates of its own; name coupling {leader.coupling!r} instead")
        if leader is not joint:
            raise ModelError(f"joint {name!r} mimics {leader.name!r}; name that joint instead")
        return
    if name not in model.couplings:
        if any(spec.name == name for spec in model.parts.joints):
            raise ModelError(f"joint {name!r} is fixed and has no motor; leave it out")
        known = [owner.name for owner in model.owners]
        raise NameNotFoundError(
            f"{model.name!r} has no joint or coupling {quoted(name)}: {nearest_names(str(name), known)}"
        )
