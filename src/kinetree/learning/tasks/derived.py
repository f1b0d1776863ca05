"""Quantities that MuJoCo derives from a state, as gymnasium's environments see them after a step.

mj_step leaves positions, velocities and forces of bodies as they were where it evaluated forces last: at the beginning
of the step with Euler's method, at the fourth stage with "rk4". They lag behind q and v, which are those at the end;
`kt.environment` gives that state to `update` as `evaluated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.contact import contact_forces, contact_pairs
from kinetree.functions.contact_options import ContactOption, own_contact_option
from kinetree.functions.kinematics import forward_kinematics
from kinetree.kinematics import body_velocities, center_of_mass
from kinetree.model import Model

__all__ = ["Derived"]

_XX, _YY, _ZZ, _XY, _XZ, _YZ = range(6)


class Derived:
    """Rows of MuJoCo's mjData for the bodies that have mass, in the order of the file, of a robot that is one tree.

    They are about the robot's centre of mass and in the world's axes, with angular parts first.

    Args:
        robot: the robot.
        contact: as for `kt.contact_forces`.
    """

    def __init__(self, robot: Model, contact: ContactOption = True) -> None:
        self.robot = robot
        self.contact: ContactOption = contact
        self.names: list[str] = [body.name for body in robot.bodies.values() if body.mass > 0.0]

    def inertias(self, q: Any, parameters: Mapping[str, Any]) -> Any:
        """cinert (B, 10): xx, yy, zz, xy, xz, yz, mass times the place of a body's centre of mass, mass."""
        mass, six = (
            np.stack(
                [parameters.get(key, self.robot.parameter(key)) for key in (f"body.{b}.{kind}" for b in self.names)]
            )
            for kind in ("mass", "inertia")
        )
        X = forward_kinematics(self.robot, q, frames=self.names, about="center_of_mass", parameters=parameters)
        R, r = X[:, :3, :3], X[:, :3, 3] - center_of_mass(self.robot, q, parameters=parameters)
        own = six[:, [_XX, _XY, _XZ, _XY, _YY, _YZ, _XZ, _YZ, _ZZ]].reshape(-1, 3, 3)
        squares = np.sum(r**2, axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
        I = R @ own @ R.mT + mass[:, None, None] * squares
        entries = I.reshape(-1, 9)[:, [0, 4, 8, 1, 2, 5]]
        return np.concatenate([entries, mass[:, None] * r, mass[:, None]], axis=1)

    def velocities(self, q: Any, v: Any, parameters: Mapping[str, Any]) -> Any:
        """cvel (B, 6): the velocity of each body at the robot's centre of mass."""
        p = forward_kinematics(self.robot, q, frames=self.names, parameters=parameters)[:, :3, 3]
        twist = body_velocities(
            self.robot, q, v, frames=self.names, expressed_in="local_world_aligned", parameters=parameters
        )
        linear, angular = twist[:, :3], twist[:, 3:]
        r = center_of_mass(self.robot, q, parameters=parameters) - p
        return np.concatenate([angular, linear + np.cross(angular, r)], axis=1)

    def contact_wrenches(self, q: Any, v: Any, qdd: Any, parameters: Mapping[str, Any]) -> Any:
        """cfrc_ext (B, 6): the wrench of contacts on each body."""
        contacts = contact_forces(self.robot, q, v, qdd, contact=self.contact, parameters=parameters)
        wrenches = contacts.wrenches(contact_pairs(self.robot, contact=self.contact))
        force, moment = wrenches[:, :3], wrenches[:, 3:]
        center = center_of_mass(self.robot, q, parameters=parameters)
        rows = np.concatenate([moment - np.cross(center, force), force], axis=1)
        total: dict[str | None, Any] = dict.fromkeys(self.names, np.zeros(6))
        for touch, row in zip(own_contact_option(self.robot, self.contact).touches, rows, strict=True):
            for body, sign in ((touch.first.body, -1.0), (touch.second.body, 1.0)):
                total[body] = total.get(body, 0.0) + sign * row
        return np.stack([total[name] for name in self.names])
