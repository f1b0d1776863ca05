"""Pinocchio as a side of a comparison."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.comparison.engine import Engine, Places, Raw, UnreadableError
from kinetree.comparison.side import FIXED, Array, SeenBody, SeenJoint, Solid, inverse
from kinetree.comparison.source import Source

__all__ = ["PinocchioSide"]

_HUGE = 1e300
"""Numbers beyond this mean that a limit is absent."""


class PinocchioSide(Engine):
    """A file as Pinocchio reads it. Joints that mimic others move on their own here, as they do by default."""

    library = "pinocchio"

    def __init__(self, source: Source) -> None:
        pin: Any = importlib.import_module("pinocchio")
        self._pin = pin
        self.name = "pinocchio"
        self.title: str = f"pinocchio {pin.__version__}"
        self.notes: list[str] = []
        self.remarks: dict[str, str] = {}
        self.model: Any = _read(pin, source)
        if source.format == "URDF":
            self.model.gravity.linear = np.array(source.robot.gravity)
        x, y, z = self.model.gravity.linear.tolist()
        self.gravity: tuple[float, float, float] = (x, y, z)
        self.data: Any = self.model.createData()
        self._describe(source)

    def _describe(self, source: Source) -> None:
        model, pin = self.model, self._pin
        ours = {joint.child: name for name, joint in source.robot.joints.items()}
        named = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
        carriers = {0: FIXED}
        at = {0: np.eye(4)}
        for frame in named:
            joint = int(frame.parentJoint)
            if joint not in carriers or (carriers[joint] not in ours and frame.name in ours):
                carriers[joint], at[joint] = frame.name, frame.placement.homogeneous
        self._body_frames = {frame.name: int(model.getFrameId(frame.name, pin.FrameType.BODY)) for frame in named}
        self.bodies: dict[str, SeenBody] = {}
        for frame in named:
            joint = int(frame.parentJoint)
            placement = inverse(at[joint]) @ frame.placement.homogeneous
            self.bodies[frame.name] = SeenBody(frame.name, carriers[joint], placement, None)
        self._solids = {
            carriers[k]: _solid(inertia).seen_from(inverse(at[k]))
            for k, inertia in enumerate(model.inertias)
            if k in carriers
        }
        self.joints: dict[str, SeenJoint] = {}
        self.places: dict[str, Places] = {}
        for k in range(1, model.njoints):
            theirs, joint = str(model.names[k]), model.joints[k]
            child = carriers.get(k, theirs)
            name = theirs if theirs in source.robot.joints else ours.get(child, theirs)
            self.places[name] = Places(
                [*range(joint.idx_q, joint.idx_q + joint.nq)], [*range(joint.idx_v, joint.idx_v + joint.nv)]
            )
            self.joints[name] = SeenJoint(
                name, (_word(joint.shortname()),), carriers.get(int(model.parents[k]), FIXED), child, joint.nv, "",
                self._numbers(joint),
            )  # fmt: skip

    def _numbers(self, joint: Any) -> dict[str, Sequence[float] | None]:
        model, plain = self.model, joint.nq == joint.nv
        q, v = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
        return {
            "lower limit": _limits(model.lowerPositionLimit[q]) if plain else None,
            "upper limit": _limits(model.upperPositionLimit[q]) if plain else None,
            "velocity limit": _limits(model.upperVelocityLimit[v]),
            "effort limit": _limits(model.upperEffortLimit[v]),
            "armature": tuple(model.armature[v].tolist()),
            "damping": tuple(model.damping[v].tolist()),
            "friction": tuple(model.upperDryFrictionLimit[v].tolist()),
        }

    def solid_of(self, carrier: str) -> Solid | None:
        return self._solids.get(carrier)

    def neutral(self) -> Array:
        return np.array(self._pin.neutral(self.model))

    def raw(self, q: Array, v: Array) -> Raw:
        pin, model, data = self._pin, self.model, self.data
        upper = np.triu(pin.crba(model, data, q))
        bias = pin.nonLinearEffects(model, data, q, v).copy()
        gravity = pin.computeGeneralizedGravity(model, data, q).copy()
        J = pin.computeJointJacobians(model, data, q).reshape(6, model.nv)  # one column is given as a vector
        pin.updateFramePlacements(model, data)
        return Raw(
            {name: data.oMf[k].homogeneous for name, k in self._body_frames.items()},
            {name: J[:, at.v].copy() for name, at in self.places.items()},
            upper + upper.T - np.diag(np.diag(upper)), bias, gravity,
        )  # fmt: skip


def _read(pin: Any, source: Source) -> Any:
    path, afloat = str(source.file), source.robot.floating_base
    root = [pin.JointModelFreeFlyer(), source.root_joint] if afloat else []
    if source.format == "URDF":
        return pin.buildModelFromUrdf(path, *root)
    if source.format == "MJCF":
        return pin.buildModelFromMJCF(path)
    if source.format == "SDF" and hasattr(pin, "buildModelFromSdf"):
        return pin.buildModelFromSdf(path, *root)
    raise UnreadableError("it reads URDF and MJCF")


def _solid(inertia: Any) -> Solid:
    return Solid.from_center(inertia.mass, np.array(inertia.lever), np.array(inertia.inertia))


def _limits(x: Array) -> tuple[float, ...]:
    return tuple(float(np.copysign(np.inf, value)) if abs(value) > _HUGE else float(value) for value in x)


_WORDS = (
    ("JointModelRU", "continuous"),
    ("JointModelR", "revolute"),
    ("JointModelP", "prismatic"),
    ("JointModelFreeFlyer", "free"),
    ("JointModelSphericalZYX", "euler"),
    ("JointModelSpherical", "spherical"),
    ("JointModelTranslation", "translation"),
    ("JointModelPlanar", "planar"),
    ("JointModelH", "helical"),
    ("JointModelUniversal", "universal"),
)


def _word(shortname: str) -> str:
    """kinetree's word for a kind of joint: `JointModelRUBX` is continuous, `JointModelRevoluteUnaligned` revolute."""
    if shortname.startswith(("JointModelRevoluteUnbounded", "JointModelRUB")):
        return "continuous"
    if shortname.startswith("JointModelPlanar"):
        return "planar"
    for start, word in _WORDS[1:]:
        if shortname.startswith(start):
            return word
    return shortname.removeprefix("JointModel").lower()
