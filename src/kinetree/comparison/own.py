"""kinetree's own robots as sides of a comparison: the algorithms run on floats, with nothing compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.comparison.side import (
    FIXED,
    Array,
    SeenBody,
    SeenJoint,
    Side,
    Solid,
    State,
    UnfollowableError,
    word_for,
)
from kinetree.compiler.reference import on_numbers
from kinetree.functions.dynamics import bias_forces, gravity_forces, mass_matrix
from kinetree.functions.kinematics import forward_kinematics
from kinetree.joints import JointKind, Placed, Revolute
from kinetree.model import Coupling, Joint, Model
from kinetree.spatial import Inertia

__all__ = ["OwnSide", "same_coordinates"]

_SAME = 1e-9
"""How closely the coordinates of a follower must be those that follow from its leader's."""


class OwnSide(Side):
    """A robot of kinetree."""

    def __init__(self, robot: Model, title: str, aliases: Mapping[str, str] | None = None) -> None:
        """`aliases` are the names under which some joints are compared, by their own."""
        names = aliases or {}
        self._names = {name: names.get(name, name) for name in robot.joints}
        self.robot = robot
        self.name = title
        self.title = title
        self.gravity: tuple[float, float, float] = robot.gravity
        self.notes: list[str] = []
        self.remarks: dict[str, str] = {}
        moved = {joint.slot: joint.child for joint in robot.joints.values()}
        self.bodies: dict[str, SeenBody] = {
            body.name: SeenBody(body.name, moved.get(body.slot, FIXED), body.placement.matrix, _solid(body.inertia))
            for body in robot.bodies.values()
        }
        self.joints: dict[str, SeenJoint] = {
            self._names[joint.name]: SeenJoint(
                joint.name, (word_for(joint.kind),), self._carrier(joint.parent), joint.child, joint.kind.nv,
                _leader(joint, self._names), _numbers(joint),
            )
            for joint in robot.joints.values()
        }  # fmt: skip
        self.kinds: dict[str, JointKind] = {self._names[joint.name]: joint.kind for joint in robot.joints.values()}

    def _carrier(self, body: str) -> str:
        return self.bodies[body].carrier if body in self.bodies else FIXED

    @property
    def spread(self) -> Array:
        shared = self.robot.tree.coordinates
        return np.eye(self.robot.nv) if shared is None else shared.matrix()

    def accepts(self, joint: str, kind: JointKind) -> bool:
        return joint in self.kinds and same_coordinates(self.kinds[joint], kind)

    def joint_coordinates(self, q: Array, v: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """(q, v) of each joint from the robot's own."""
        shared = self.robot.tree.coordinates
        q_all, v_all = q.tolist(), v.tolist()
        if shared is not None:
            q_all, v_all = shared.spread(q_all, "nq"), shared.spread(v_all, "nv")
        qs, vs, start_q, start_v = {}, {}, 0, 0
        for name, kind in self.kinds.items():
            qs[name] = np.array(q_all[start_q : start_q + kind.nq], dtype=np.float64)
            vs[name] = np.array(v_all[start_v : start_v + kind.nv], dtype=np.float64)
            start_q, start_v = start_q + kind.nq, start_v + kind.nv
        return qs, vs

    def state(self, kinds: Mapping[str, JointKind], q: Mapping[str, Array], v: Mapping[str, Array]) -> State:
        accepted = [name for name in q if self.accepts(name, kinds[name])]
        own_q, own_v = self._own_coordinates({name: q[name] for name in accepted}, {name: v[name] for name in accepted})
        qs, vs = self.joint_coordinates(own_q, own_v)
        for name in accepted:
            self._check_follows(name, qs[name], q[name])
            self._check_follows(name, vs[name], v[name])
        return self.own_state(own_q, own_v)

    def own_state(self, q: Array, v: Array) -> State:
        """The state at the robot's own q (nq,) and v (nv,)."""
        robot, nv = self.robot, self.robot.nv
        places = _run(forward_kinematics, robot, q).reshape(-1, 4, 4)
        placements = dict(zip(robot.bodies, places, strict=True))
        qs, _ = self.joint_coordinates(q, v)
        return State(
            placements,
            {name: _twist(placements[joint.child], self.kinds[name], qs[name]) for name, joint in self.joints.items()},
            _run(mass_matrix, robot, q).reshape(nv, nv),
            _run(bias_forces, robot, q, v),
            _run(gravity_forces, robot, q),
        )

    def _own_coordinates(self, q: Mapping[str, Array], v: Mapping[str, Array]) -> tuple[Array, Array]:
        """The robot's own q and v, with neutral ones for joints that are not given."""
        own_q, own_v = self.robot.neutral(), np.zeros(self.robot.nv)
        for owner in self.robot.owners:
            if isinstance(owner, Coupling):
                names = [self._names[name] for name in owner.joints]
                if all(name in q for name in names):
                    together = np.concatenate([q[name] for name in names]) - owner.offset
                    rates = np.concatenate([v[name] for name in names])
                    own_q[owner.q_slice] = np.linalg.lstsq(np.array(owner.matrix), together)[0]
                    own_v[owner.v_slice] = np.linalg.lstsq(np.array(owner.matrix), rates)[0]
            elif (name := self._names[owner.name]) in q:
                own_q[owner.q_slice], own_v[owner.v_slice] = q[name], v[name]
        return own_q, own_v

    def _check_follows(self, name: str, has: Array, expected: Array) -> None:
        if not np.allclose(has, expected, rtol=_SAME, atol=_SAME):
            raise UnfollowableError(f"joint {name!r} follows {self.joints[name].follows} in {self.name}")


def same_coordinates(a: JointKind, b: JointKind) -> bool:
    """Whether two kinds of joint have coordinates of the same meaning, so that one's can be given to the other."""
    while isinstance(a, Placed):
        a = a.kind
    while isinstance(b, Placed):
        b = b.kind
    if isinstance(a, Revolute) and isinstance(b, Revolute):
        return True
    if a.is_flat and b.is_flat:
        return (a.nq, a.nv) == (b.nq, b.nv)
    return type(a) is type(b)


def _solid(inertia: Inertia) -> Solid:
    xx, yy, zz, xy, xz, yz = (float(x) for x in inertia.I.components())
    return Solid(
        float(inertia.mass),
        np.array([float(x) for x in inertia.h.components()]),
        np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
    )


def _leader(joint: Joint, names: Mapping[str, str]) -> str:
    if joint.mimic is not None:
        mimic = joint.mimic
        return f"{names[mimic.joint]!r} (multiplier {mimic.multiplier!r}, offset {mimic.offset!r})"
    return "" if joint.coupling is None else f"the coupling {joint.coupling!r}"


def _numbers(joint: Joint) -> dict[str, Sequence[float] | None]:
    plain = joint.kind.nq == joint.kind.nv
    return {
        "lower limit": joint.limits.lower if plain else None,
        "upper limit": joint.limits.upper if plain else None,
        "velocity limit": joint.limits.velocity,
        "effort limit": joint.limits.effort,
        "armature": joint.armature,
        "damping": joint.damping,
        "friction": joint.friction,
        "stiffness": joint.stiffness,
    }


def _run(function: Any, robot: Model, *arguments: Array) -> Array:
    """A public function's algorithm on floats, flat."""
    return np.array(on_numbers(function.definition, robot, [x.tolist() for x in arguments]), dtype=np.float64)


def _twist(T: Array, kind: JointKind, q: Array) -> Array:
    """The motions that a joint allows, of a point at the world's origin, [linear; angular] (6, nv)."""
    R, p = T[:3, :3], T[:3, 3]
    columns = []
    for motion in kind.calc(q.tolist(), [0.0] * kind.nv).S.columns:
        linear, angular = (R @ np.array(x.components(), dtype=np.float64) for x in (motion.linear, motion.angular))
        columns.append(np.concatenate([linear + np.cross(p, angular), angular]))
    return np.array(columns).reshape(-1, 6).T
