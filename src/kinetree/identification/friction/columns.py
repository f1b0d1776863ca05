"""The columns of dry friction in the regressor, joint by joint, with speeds that may be sought.

They are functions of the velocity that jump where a joint turns round. So they pass the same filter as the torques of
the log did: the filter is linear, and filtering both sides of an equation keeps it true.

Source: Gautier, "Dynamic identification of robots with power model" (1997), for the parallel filtering of columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.friction.curve import has_own_friction
from kinetree.identification.friction.forms import COULOMB, Form
from kinetree.identification.inertial_parameters import driven_names
from kinetree.records import record

__all__ = ["FrictionColumns"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class FrictionColumns:
    """The dry friction of n degrees of freedom."""

    form: Form
    dofs: tuple[int, ...]
    """(n,): their places in v."""
    kept: tuple[int, ...]
    """(n,): the base parameters that are their F."""
    own: Array
    """(n,): the robot's own speeds v_s."""
    speeds: Array
    """(n,): the speeds s; NaN where friction is Coulomb's."""
    has_slopes: bool = False
    """Whether the derivatives by s are columns, too."""

    @staticmethod
    def of(base: BaseParameters, form: Form = COULOMB) -> FrictionColumns:
        """Coulomb friction, with those joints for which another form may be sought.

        None of them if joints share coordinates: their friction is not a function of one velocity.
        """
        robot = base.robot
        if not base.drives or not has_own_friction(robot):
            return FrictionColumns(form, (), (), np.zeros(0), np.zeros(0))
        names = driven_names(robot)
        count = 10 * len(robot.bodies)
        columns = [count + 3 * k + 2 for k in range(len(names))]
        speeds = [speed for joint in robot.driven_joints for speed in joint.friction_speed]
        places = [k for k, column in enumerate(columns) if column in base.columns]
        return FrictionColumns(
            form,
            tuple(robot.v_names.index(names[k]) for k in places),
            tuple(base.columns.index(columns[k]) for k in places),
            np.array([speeds[k] for k in places]),
            np.full(len(places), np.nan),
        )

    @property
    def is_sought(self) -> NDArray[np.bool_]:
        """(n,): where the form is not Coulomb's."""
        return np.isfinite(self.speeds)

    @property
    def more(self) -> list[tuple[int, str]]:
        """The columns other than those of F: which of the n they belong to, and "bump" or "slope"."""
        kinds = [*(["bump"] if self.form.bump else []), *(["slope"] if self.has_slopes else [])]
        return [(int(k), kind) for k in np.flatnonzero(self.is_sought) for kind in kinds]

    def names(self, base: BaseParameters) -> list[str]:
        """The names of those columns, such as "stribeck(elbow)" and "stribeck_speed(elbow)"."""
        words = {"bump": self.form.bump, "slope": self.form.speed}
        return [f"{words[kind]}({base.robot.v_names[self.dofs[k]]})" for k, kind in self.more]

    def curves(self, v: Array) -> Array:
        """The columns (T, n + m) at velocities (T, nv): those of F, then the others."""
        curves = []
        for k, (dof, own, s) in enumerate(zip(self.dofs, self.own, self.speeds, strict=True)):
            form = self.form if self.is_sought[k] else COULOMB
            curves.append(form.rise(v[:, dof], own, s))
        for k, kind in self.more:
            function = self.form.falling if kind == "bump" else self.form.slope
            curves.append(function(v[:, self.dofs[k]], self.own[k], self.speeds[k]))
        return np.stack(curves, axis=1) if curves else np.zeros((len(v), 0))

    def in_regressor(self, W: Array, curves: Array) -> Array:
        """The base regressor (T, nv, r) with these columns of F, and the others (T, nv, r + m) after its own."""
        n = len(self.dofs)
        more = np.zeros((*W.shape[:2], len(self.more)))
        for k, (dof, column) in enumerate(zip(self.dofs, self.kept, strict=True)):
            W[:, dof, column] = curves[:, k]
        for j, (k, _) in enumerate(self.more):
            more[:, self.dofs[k], j] = curves[:, n + j]
        return np.concatenate([W, more], axis=-1)
