"""The equations of logs of any length, kept as one triangular matrix per joint.

Row blocks of [W y] are reduced by a QR decomposition as they come, so memory does not grow with the log. There is one
matrix per degree of freedom, because each has its own noise: weights are chosen after everything has been read.

Source: Lawson and Hanson, *Solving Least Squares Problems* (1974), chapter 27, for sequential accumulation; Gautier,
"Dynamic identification of robots with power model" (1997), for the weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, OptionError
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.estimation.reduction import reduce_rows
from kinetree.identification.friction.columns import FrictionColumns
from kinetree.identification.logs.log import Log, check_log
from kinetree.inputs import flag

__all__ = ["Regression"]

Array = NDArray[np.float64]

_ROWS = 4096
"""Moments whose regressor is in memory at the same time."""


class Regression:
    """The equations W β = τ of logs, accumulated in memory that does not depend on their length.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=2.0, passive=False)
    >>> log = kt.identification.log_of(robot, motion.time, motion.q, motion.tau, v=motion.v, qdd=motion.qdd)
    >>> equations = kt.identification.Regression(kt.identification.base_parameters(robot))
    >>> equations.add(log)
    >>> equations.rows
    2001
    """

    base: BaseParameters
    rows: int
    """The number of moments so far."""
    factors: Array
    """(nv, n + 1, n + 1): upper triangular, R[j]ᵀ R[j] = [W_j y_j]ᵀ [W_j y_j], for the n columns of W and y = τ."""

    names: tuple[str, ...]
    """The parameters of the columns: base parameters, others of friction, then offset(NAME) for each torque."""

    def __init__(
        self, base: BaseParameters, *, offsets: bool = False, friction: FrictionColumns | None = None
    ) -> None:  # fmt: skip
        """No equations yet.

        Args:
            base: the parameters; `base_parameters(robot, drives=True)` has armature, damping and dry friction.
            offsets: whether each torque may have a constant error, too: a column for each degree of freedom.
            friction: columns of dry friction; by default those of Coulomb friction, if the base parameters have it.

        Raises:
            OptionError: base is not made by `base_parameters`, or offsets is neither True nor False.
        """
        if not isinstance(base, BaseParameters):
            raise OptionError(
                f"Regression takes the result of kt.identification.base_parameters, not {type(base).__name__}"
            )
        self.base = base
        self.offsets: bool = flag("offsets", offsets)
        self.friction: FrictionColumns = FrictionColumns.of(base) if friction is None else friction
        more = [f"offset({name})" for name in base.robot.v_names] if offsets else []
        self.names = (*base.names, *self.friction.names(base), *more)
        n = len(self.names) + 1
        self.rows, self.factors = 0, np.zeros((base.robot.nv, n, n))

    def add(self, log: Log) -> None:
        """Take in another log, or another piece of one.

        Raises:
            LogError: it has no velocities or accelerations (see `filtered`), or belongs to another robot.
        """
        if check_log("add", log).robot != self.base.robot:
            raise LogError(
                f"the log{log.origin} belongs to {log.robot.name!r}, the parameters to {self.base.robot.name!r}"
            )
        if log.v is None or log.qdd is None:
            raise LogError(
                f"the log{log.origin} has no {'velocities' if log.v is None else 'accelerations'}; "
                "kinetree.identification.filtered(log, cutoff) takes them from the positions"
            )
        curves = log.of_velocity(self.friction.curves)
        for start in range(0, len(log), _ROWS):
            part = slice(start, start + _ROWS)
            W = self.friction.in_regressor(self.base.regressor(log.q[part], log.v[part], log.qdd[part]), curves[part])
            self._reduce(self._with_offsets(W), log.tau[part])
        self.rows += len(log)

    def _with_offsets(self, W: Array) -> Array:
        if not self.offsets:
            return W
        nv = self.base.robot.nv
        return np.concatenate([W, np.broadcast_to(np.eye(nv), (len(W), nv, nv))], axis=-1)

    def _reduce(self, W: Array, tau: Array) -> None:
        both = np.concatenate([W, tau[..., None]], axis=-1)
        between = np.empty(both.shape[-1])
        for j, R in enumerate(self.factors):
            reduce_rows(R, both[:, j].copy(), between)
