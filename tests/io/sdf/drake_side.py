"""A robot of an SDF file in Drake, with our coordinates: what `kt.interop.Layout` does, but without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt

__all__ = ["Drake"]

Array = NDArray[np.float64]


class Drake:
    """The file as Drake reads it; raises what Drake raises if it does not."""

    def __init__(self, path: Path, robot: kt.Model) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant

        self.robot = robot
        self.plant = plant = MultibodyPlant(0.0)
        parser = Parser(plant)
        for folder in path.parent.iterdir():
            if folder.is_dir():
                parser.package_map().Add(folder.name, str(folder))
        before = plant.num_model_instances()
        parser.AddModels(str(path))
        plant.mutable_gravity_field().set_gravity_vector(np.array(robot.gravity))
        plant.Finalize()
        self.context = plant.CreateDefaultContext()
        names = [plant.GetModelInstanceName(m) for m in _instances(plant)[before:]]
        # In a file with one model, our names begin inside it.
        self._top = "" if "<world" in path.read_text(encoding="utf-8") else f"{names[0]}::"

    def _named(self, name: str) -> tuple[str, Any]:
        around, _, own = f"{self._top}{name}".rpartition("::")
        if self.plant.HasModelInstanceNamed(around):
            return own, self.plant.GetModelInstanceByName(around)
        return name, self.plant.GetModelInstanceByName(self._top[:-2])  # a name with :: in it

    def body(self, name: str) -> Any:
        return self.plant.world_body() if name == "world" else self.plant.GetBodyByName(*self._named(name))

    def _joint(self, name: str) -> Any:
        """Drake keeps a joint with the model of its child, so names are looked for there, too."""
        own, model = name, None
        if "::" in name or self._top:
            own, model = self._named(name)
        if self.plant.HasJointNamed(own) if model is None else self.plant.HasJointNamed(own, model):
            return self.plant.GetJointByName(own) if model is None else self.plant.GetJointByName(own, model)
        child = self._named(self.robot.joints[name].child)[1]
        return self.plant.GetJointByName(own, child)

    def set(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Set our state; T and b, with which their v is T v, and their v̇ is T v̇ + b."""
        plant, n = self.plant, self.robot.nv
        theirs_q, T, b = np.zeros(plant.num_positions()), np.zeros((plant.num_velocities(), n)), np.zeros(n)
        for joint in self.robot.joints.values():
            ours, rates = q[joint.q_slice], v[joint.v_slice]
            columns = np.arange(n)[joint.v_slice]
            kind = getattr(joint.kind, "kind", joint.kind)
            if isinstance(kind, kt.Free):
                body = self.body(joint.child)
                k, m = body.floating_positions_start(), body.floating_velocities_start_in_v()
                x, y, z, w = ours[3:]
                theirs_q[k : k + 7] = w, x, y, z, *ours[:3]
                R = kt.Transform.from_matrix(_pose(ours)).rotation
                T[np.ix_(range(m, m + 3), columns[3:])] = R
                T[np.ix_(range(m + 3, m + 6), columns[:3])] = R
                b[m + 3 : m + 6] = R @ np.cross(rates[3:], rates[:3])
                continue
            other = self._joint(joint.name)
            k, m = other.position_start(), other.velocity_start()
            if isinstance(kind, kt.joints.Spherical):
                R = kt.Transform.from_matrix(_pose([0.0, 0.0, 0.0, *ours])).rotation
                theirs_q[k : k + 3] = _rpy(R)
                T[np.ix_(range(m, m + 3), columns)] = R
            else:
                theirs_q[k : k + len(ours)] = ours
                T[np.ix_(range(m, m + len(columns)), columns)] = np.eye(len(columns))
        plant.SetPositions(self.context, theirs_q)
        plant.SetVelocities(self.context, T @ v)
        return T, b

    def dynamics(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Mass matrix and bias forces in our coordinates."""
        T, b = self.set(q, v)
        M = self.plant.CalcMassMatrix(self.context)
        h = self.plant.CalcBiasTerm(self.context) - self.plant.CalcGravityGeneralizedForces(self.context)
        return T.T @ M @ T, T.T @ (h + M @ b)

    def placement(self, name: str) -> Array:
        """The pose (4, 4) of a body or frame in the world, at the state that was set last."""
        if name in self.robot.bodies:
            body = self.body(name)
            pose: Array = body.EvalPoseInWorld(self.context).GetAsMatrix4()
            return pose
        own, model = (name, None) if "::" not in name and not self._top else self._named(name)
        if model is not None and not self.plant.HasFrameNamed(own, model):
            model = self._named(self.robot.frames[name].body)[1]  # Drake keeps it with its body
        frame = self.plant.GetFrameByName(own) if model is None else self.plant.GetFrameByName(own, model)
        pose = frame.CalcPoseInWorld(self.context).GetAsMatrix4()
        return np.asarray(pose)

    def inertia(self, name: str) -> Array:
        """Mass, first moment and inertia about the origin, as `Inertia` has them."""
        M = self.body(name).default_spatial_inertia()
        I = M.CalcRotationalInertia().CopyToFullMatrix3()
        com = M.get_com() * M.get_mass()
        return np.array([M.get_mass(), *com, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def _instances(plant: Any) -> list[Any]:
    from pydrake.multibody.tree import ModelInstanceIndex

    return [ModelInstanceIndex(k) for k in range(plant.num_model_instances())]


def _pose(numbers: Any) -> Array:
    x, y, z, *quaternion = numbers
    matrix: Array = kt.lie.placement((x, y, z), quaternion=quaternion).matrix
    return matrix


def _rpy(R: Array) -> list[float]:
    return [
        float(np.arctan2(R[2, 1], R[2, 2])),
        float(-np.arcsin(np.clip(R[2, 0], -1.0, 1.0))),
        float(np.arctan2(R[1, 0], R[0, 0])),
    ]
