"""The speeds of a form of dry friction: separable least squares.

Torques are linear in all parameters but one speed per joint, so for given speeds the others follow from linear least
squares, and the search is over the speeds alone. Its Gauss-Newton steps are those of the linear problem that has the
derivatives by the speeds as columns, too; each needs one pass over the logs. Where a search begins is found joint by
joint, among speeds from a two-hundredth to a third of the largest of the log; these are the limits, too: slower
variations are hard to distinguish from viscous friction.

Source: Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
separate" (1973); Kaufman, "A variable projection method for solving separable nonlinear least squares problems" (1975),
for the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.estimation.base_estimate import BaseEstimate, base_estimate, stacked
from kinetree.identification.estimation.regression import Regression
from kinetree.identification.friction.columns import FrictionColumns
from kinetree.identification.friction.forms import Form
from kinetree.identification.logs.log import Log

__all__ = ["Sought", "with_form"]

Array = NDArray[np.float64]

_PROMISING = 2.0
"""The gain over Coulomb friction, in squared errors relative to the noise, above which a search is begun."""
_LOWEST = 1.0 / 200.0
"""The lowest speed that is sought, as a part of the largest of the log."""
_HIGHEST = 1.0 / 3.0
_STARTS = 9
_ROWS = 20_000
"""The number of rows used to choose starts."""
_STEPS = 30
_LONGEST = float(np.log(3.0))
"""The longest step of the logarithm of a speed."""
_HALVINGS = 8
_CLOSE = 1e-6
"""The gain of a step that is not worth it, in squared errors relative to the noise: a thousandth of a deviation."""
_CLEAR = 3.0
"""A force or a speed is accepted if it is so many of its standard deviations."""
_SILENT = 1e-7
"""The relative length of a direction that the equations, with columns of unit length, do not determine."""


class Sought:
    """Friction of some form, found from logs."""

    def __init__(self, equations: Regression, remarks: list[str]) -> None:
        self.equations = equations
        """With the speeds among the unknowns, linearised at the solution."""
        self.remarks = remarks
        """Sentences on joints whose friction the logs do not show to be of this form; it is Coulomb's there."""


def with_form(logs: Sequence[Log], base: BaseParameters, form: Form, *, offsets: bool) -> Sought:
    """The equations of logs with friction of a form, at the speeds that explain them best."""
    columns = replace(FrictionColumns.of(base, form), has_slopes=True)
    most = np.max([np.abs(log.of_velocity(lambda v: v)).max(axis=0) for log in logs], axis=0)[list(columns.dofs)]
    limits = np.stack([_LOWEST * most, _HIGHEST * most])
    search = _Search(logs, base, np.maximum(limits, np.finfo(float).tiny), offsets=offsets)
    columns = replace(columns, speeds=search.start(columns, most > 0.0))
    names = [base.robot.v_names[dof] for dof in columns.dofs]
    remarks = []
    for k in np.flatnonzero(~columns.is_sought):
        low, high = limits[:, k]
        why = f"no speed between {low:.2g} and {high:.2g} explains the log better" if high else "it did not move"
        remarks.append(f"{_otherwise(names[k])}: {why}")
    while True:
        columns, equations, estimate = search.best(columns)
        unclear = [
            (k, why) for k in np.flatnonzero(columns.is_sought) if (why := _unclear(columns, int(k), estimate, limits))
        ]
        if not unclear:
            return Sought(equations, remarks)
        speeds = columns.speeds.copy()
        for k, why in unclear:
            speeds[k] = np.nan
            remarks.append(why)
        columns = replace(columns, speeds=speeds)


class _Search:
    """The logs whose friction is sought."""

    def __init__(self, logs: Sequence[Log], base: BaseParameters, limits: Array, *, offsets: bool) -> None:
        self.logs, self.base, self.limits, self.offsets = logs, base, limits, offsets

    def equations(self, logs: Sequence[Log], columns: FrictionColumns) -> Regression:
        """The equations at the speeds of `columns`, in one pass."""
        equations = Regression(self.base, offsets=self.offsets, friction=columns)
        for log in logs:
            equations.add(log)
        return equations

    def start(self, columns: FrictionColumns, moving: NDArray[np.bool_]) -> Array:
        """The best of some speeds for each joint by itself; NaN where none is better than Coulomb friction."""
        total = sum(map(len, self.logs))
        few = [log.at_rows(np.arange(0, len(log), max(total // _ROWS, 1))) for log in self.logs]
        some = np.where(moving, np.geomspace(self.limits[0], self.limits[1], _STARTS), np.nan)
        tried = np.concatenate([np.full((1, len(moving)), np.nan), some])
        squares = np.full(tried.shape, np.inf)
        for row, speeds in zip(squares, tried, strict=True):
            here = replace(columns, speeds=speeds, has_slopes=False)
            equations = self.equations(few, here)
            for k, dof in enumerate(here.dofs):
                A, b = equations.factors[dof, :, :-1], equations.factors[dof, :, -1]
                x = _least(A, b)
                is_rising = not (here.form.bump and here.is_sought[k]) or x[_place(equations, here, k, "bump")] > 0.0
                row[k] = np.sum((A @ x - b) ** 2) if is_rising else np.inf
        best = np.argmin(squares, axis=0)
        noise = squares[0] / sum(map(len, few))
        each = np.arange(len(moving))
        return np.where(squares[0] - squares[best, each] > _PROMISING * noise, tried[best, each], np.nan)

    def best(self, columns: FrictionColumns) -> tuple[FrictionColumns, Regression, BaseEstimate]:
        """The speeds that explain the logs best, and the equations linearised there."""
        noise = base_estimate(self.equations(self.logs, replace(columns, has_slopes=False))).torque_noise
        for _ in range(2):  # the second time with the noise that is left
            columns, equations = self._descended(columns, noise)
            estimate = base_estimate(equations)
            noise = estimate.torque_noise
        return columns, equations, estimate

    def _descended(self, columns: FrictionColumns, noise: Array) -> tuple[FrictionColumns, Regression]:
        """Gauss-Newton steps, halved until they lead down, with this noise of the joints."""
        here = self.point(columns, noise)
        for _ in range(_STEPS):
            if here.gain < _CLOSE:
                break
            step, low, high = np.clip(here.step, -_LONGEST, _LONGEST), *np.log(self.limits)
            for _ in range(_HALVINGS):
                ahead = np.exp(np.clip(np.log(columns.speeds) + step, low, high))
                there = self.point(replace(columns, speeds=ahead), noise)
                if there.square <= here.square:
                    break
                step = 0.5 * step
            else:
                break
            columns, here = there.columns, there
        return columns, here.linearised

    def point(self, columns: FrictionColumns, noise: Array) -> _Point:
        """Least squares at the speeds of `columns`."""
        return _Point(self.equations(self.logs, columns), columns, noise)


class _Point:
    """Least squares at some speeds."""

    def __init__(self, equations: Regression, columns: FrictionColumns, noise: Array) -> None:
        self.columns = columns
        n = len(equations.names)
        R = stacked(equations.factors, 1.0 / noise)
        sought = np.flatnonzero(columns.is_sought).tolist()
        slopes = [_place(equations, columns, k, "slope") for k in sought]
        others = [k for k in range(n) if k not in slopes]
        x = np.zeros(n)
        x[others] = _least(R[:, others], R[:, -1])
        self.square = float(np.sum((R[:, :-1] @ x - R[:, -1]) ** 2))
        forces = np.array([x[_place(equations, columns, k, "bump" if columns.form.bump else "rise")] for k in sought])
        speeds = columns.speeds[sought]
        # The unknown of a slope is the speed itself: force · slope · (s' - s), with s subtracted on the right.
        self.linearised = Regression(equations.base, offsets=equations.offsets, friction=columns)
        self.linearised.rows = equations.rows
        factors = self.linearised.factors = equations.factors.copy()
        factors[:, :, slopes] *= forces
        factors[:, :, -1] += factors[:, :, slopes] @ speeds
        R[:, slopes] *= forces
        change = _least(R[:, :-1], R[:, -1] - R[:, :-1] @ x)
        left = R[:, :-1] @ (x + change) - R[:, -1]
        self.gain = self.square - float(left @ left)
        """How much lower the step would lead if all were linear."""
        self.step = np.zeros(len(columns.speeds))
        self.step[sought] = change[slopes] / speeds


def _place(equations: Regression, columns: FrictionColumns, k: int, kind: str) -> int:
    """The column of one of the parameters of joint k's friction."""
    return columns.kept[k] if kind == "rise" else len(equations.base) + columns.more.index((k, kind))


def _least(A: Array, b: Array) -> Array:
    """The least squares solution of smallest size, of columns of unit length."""
    lengths = np.linalg.norm(A, axis=0)
    scale = np.where(lengths > 0.0, lengths, 1.0)
    solution: Array = np.linalg.lstsq(A / scale, b, rcond=_SILENT)[0] / scale
    return solution


def _unclear(columns: FrictionColumns, k: int, estimate: BaseEstimate, limits: Array) -> str:
    """Why the logs do not show that the friction of joint k has this form; empty if they do."""
    form, name = columns.form, estimate.base.robot.v_names[columns.dofs[k]]
    estimates = {n: (x, d) for n, x, d in zip(estimate.names, estimate.values, estimate.deviations, strict=True)}
    if form.bump:
        force, deviation = estimates[f"{form.bump}({name})"]
        if not force > _CLEAR * deviation:
            why = f"the log does not show that it rises towards rest ({force:.2g} ± {deviation:.2g})"
            return f"{_otherwise(name)}: {why}"
    speed, deviation = estimates[f"{form.speed}({name})"]
    low, high = limits[:, k]
    if not 1.01 * low < columns.speeds[k] < 0.99 * high:
        return f"{_otherwise(name)}: no speed between {low:.2g} and {high:.2g} explains the log best"
    if not speed > _CLEAR * deviation:
        return f"{_otherwise(name)}: the log does not show the speed of a {form.name} ({speed:.2g} ± {deviation:.2g})"
    return ""


def _otherwise(name: str) -> str:
    return f"the dry friction of {name} is taken as Coulomb's, with the robot's own speed"
