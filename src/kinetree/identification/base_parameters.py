"""Base parameters: the fewest combinations of inertial parameters that the joint forces depend on.

Most of a robot's ten parameters per body do not affect its joint forces on their own, only in sums with others, and
some not at all. With W the regressor at many states and W_b independent columns of it, W π = W_b β with β = K π: the
columns are examined from the root to the tips, and one that depends on those before it is grouped into them.

Source: Gautier, "Numerical calculation of the base inertial parameters of robots" (1991).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.forms.parameters import parameter_ports
from kinetree.compiler.reference import on_numbers
from kinetree.errors import DTypeError
from kinetree.functions.regressors import JOINT_TORQUE_REGRESSOR, joint_torque_regressor
from kinetree.identification.inertial_parameters import parameter_names
from kinetree.identification.options import random_generator
from kinetree.inputs import number_between, real_array, samples
from kinetree.model import Model, check_robot
from kinetree.records import record

__all__ = ["BaseParameters", "base_parameters"]

Array = NDArray[np.float64]

_DECIMALS = 6
_ROUNDING = 1e-11
"""Coefficients this close to a number with six decimals are replaced by it."""


@record(frozen=True, eq=False, repr=False)
class BaseParameters:
    """The identifiable base parameters of a robot: β = matrix @ π, and W π = W[:, columns] β."""

    robot: Model
    names: tuple[str, ...]
    """Each base parameter in words: a parameter, and those grouped with it."""
    matrix: Array
    """K (r, p): β = K π with π = `kt.identification.inertial_parameters(robot, drives=drives)`."""
    columns: tuple[int, ...]
    """The r columns of the regressor that are kept."""
    parameter_names: tuple[str, ...]
    """The names of π, such as "m(link)" or "damping(joint)"."""
    unseen: tuple[str, ...]
    """The parameters that no joint force depends on."""
    drives: bool
    """Whether the parameters of the joints' drives are included."""
    tolerance: float
    weakest: float
    """The smallest length of a kept column relative to the longest, or of the part that the others do not explain
    relative to the column, whichever is less. If it is near the tolerance, the number of base parameters is in doubt:
    angles rounded in the file can cause that.
    """
    parameters: Mapping[str, ArrayLike] = field(default_factory=dict)
    """The values used instead of the robot's own for some of its parameters."""

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        width = len(str(len(self)))
        lines = [f"{self.robot.name!r}: {len(self)} base parameters of {len(self.parameter_names)}"]
        lines += [f"  {k:{width}}  {name}" for k, name in enumerate(self.names)]
        if self.unseen:
            lines.append(f"  without influence: {', '.join(self.unseen)}")
        return "\n".join(lines)

    def of(self, inertial_parameters: ArrayLike) -> Array:
        """β (…, r) of inertial parameters (…, p), such as `kt.identification.inertial_parameters(robot)`.

        Raises:
            ShapeError: the length of the last axis is not the robot's number of parameters.
            DTypeError: they are not real numbers.
        """
        p = len(self.parameter_names)
        x = samples("inertial_parameters", inertial_parameters, (p,), repr(self.robot.name)).astype(np.float64)
        result: Array = x @ self.matrix.T
        return result

    def regressor(self, q: ArrayLike, v: ArrayLike, qdd: ArrayLike) -> Array:
        """The kept columns (…, nv, r) of `kt.dynamics.joint_torque_regressor`: times β, they give the joint forces.

        Nothing is computed for bodies without a kept column.
        """
        bodies, places = self.places
        Y = joint_torque_regressor(
            self.robot, q, v, qdd, bodies=bodies, drives=self.drives, parameters=self.parameters or None
        )  # fmt: skip
        return Y[..., places]

    @property
    def places(self) -> tuple[list[str], list[int]]:
        """The bodies that have a kept column, and where the kept columns are in their
        `kt.dynamics.joint_torque_regressor`."""
        count, names = len(self.robot.bodies), list(self.robot.bodies)
        bodies = sorted({column // 10 for column in self.columns if column < 10 * count})
        selection = bodies or [0]
        place = {10 * body + k: 10 * n + k for n, body in enumerate(selection) for k in range(10)}
        place |= {column: column - 10 * (count - len(selection)) for column in self.columns if column >= 10 * count}
        return [names[body] for body in selection], [place[column] for column in self.columns]


def base_parameters(
    robot: Model,
    *,
    drives: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    tolerance: float = 1e-9,
    rng: np.random.Generator | int = 0,
) -> BaseParameters:
    """The fewest combinations of inertial parameters that the joint forces depend on, found from random states.

    It works for every robot: fixed or floating, with followers, couplings and any kind of joint. The states are random
    and ignore joint limits; the same `rng` gives the same result. Nothing is compiled.

    Args:
        robot: the robot.
        drives: whether armature, damping and Coulomb friction of the joints are included; see `joint_torque_regressor`.
        parameters: other values for some of the robot's parameters, such as {"gravity": (0, 0, 0)}.
        tolerance: a column of the regressor is grouped if the others explain it except for this fraction of its length,
            and has no influence if it is shorter than this fraction of the longest. Angles that are rounded in a file
            (1.5708) make columns nearly dependent; 1e-4 then groups those, too, and the joint forces are right to about
            that.
        rng: the source of the random states, or its seed.

    Returns:
        The names, the matrix K of β = K π, the columns of the regressor that belong to β, and that regressor.

    Raises:
        OptionError: the tolerance is not between 0 and 1, drives is neither True nor False, or rng is not a seed.
        NameNotFoundError, ShapeError, DTypeError: for parameters that the robot lacks, or that are not numbers.

    Source: Gautier, "Numerical calculation of the base inertial parameters of robots" (1991), with Gram-Schmidt in
    place of his QR decomposition.

    >>> import kinetree as kt
    >>> base = kt.identification.base_parameters(kt.zoo.load("double_pendulum"))
    >>> len(base), base.names[3]
    (6, 'h_x(lower_rod) + h_x(tip)')
    """
    model = check_robot(robot)
    small = number_between("tolerance", tolerance, 0.0, 1.0, example="1e-9")
    check = JOINT_TORQUE_REGRESSOR.options["drives"]
    with_drives = bool(check(model, drives))
    names = parameter_names(model, list(model.bodies), with_drives)
    if not (parameters is None or isinstance(parameters, Mapping)):
        raise DTypeError(
            "base_parameters: parameters must be a dict from names of parameters to numbers, not "
            f"{type(parameters).__name__}"
        )
    generator = random_generator(rng)
    overrides = dict(parameters or {})
    ports = zip(parameter_ports(model, list(overrides)), overrides.values(), strict=True)
    flat = {
        port.name: real_array(port.name, x, str(port.shape)).astype(np.float64).ravel().tolist() for port, x in ports
    }
    W = stacked_at_random(model, len(names), with_drives, flat, generator)
    order = [*_from_the_root(model), *range(10 * len(model.bodies), len(names))]
    lengths = np.linalg.norm(W, axis=0)
    longest = float(lengths.max(initial=0.0))
    excited = [k for k in order if lengths[k] > small * longest]
    unit = W[:, excited] / lengths[excited]
    kept_columns, coefficients, weakest = _grouped(unit, small)
    columns = [excited[k] for k in kept_columns]
    K = np.zeros((len(kept_columns), len(names)))
    K[:, excited] = _cleaned(coefficients * lengths[excited] / lengths[columns][:, None])
    return BaseParameters(
        model,
        tuple(_in_words(row, column, order, names) for row, column in zip(K, columns, strict=True)),
        K,
        tuple(columns),
        tuple(names),
        tuple(names[k] for k in order if k not in set(excited)),
        with_drives,
        small,
        min(weakest, float(lengths[columns].min(initial=longest)) / longest) if longest else 1.0,
        overrides,
    )


def _from_the_root(model: Model) -> list[int]:
    """The columns of all bodies, each after those of the body that carries it."""
    place = {slot: n for n, slot in enumerate([0, *(i for i, _ in model.tree.outward)])}
    bodies = sorted(
        enumerate(model.bodies.values()), key=lambda numbered: (place[numbered[1].slot], numbered[1].is_fixed)
    )
    return [10 * n + k for n, _ in bodies for k in range(10)]


def _grouped(unit: Array, tolerance: float) -> tuple[list[int], Array, float]:
    """The columns that are kept, all columns as combinations of these, and the smallest independent part among them."""
    if not unit.shape[1]:
        return [], np.zeros((0, 0)), 1.0
    R = np.asarray(np.linalg.qr(unit, mode="r"))
    Q = np.zeros_like(R)
    columns: list[int] = []
    weakest = 1.0
    for k, column in enumerate(R.T):
        basis = Q[:, : len(columns)]
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)  # once more, against rounding
        left = float(np.linalg.norm(rest))
        if left > tolerance:
            Q[:, len(columns)] = rest / left
            columns.append(k)
            weakest = min(weakest, left)
    basis = Q[:, : len(columns)]
    coefficients = np.linalg.solve(basis.T @ R[:, columns], basis.T @ R)
    coefficients[:, columns] = np.eye(len(columns))
    return columns, coefficients, weakest


def _cleaned(K: Array) -> Array:
    """Remove rounding errors from coefficients that are plain numbers, above all zero."""
    plain = np.round(K, _DECIMALS) + 0.0
    return np.where(np.abs(K - plain) <= _ROUNDING * np.maximum(1.0, np.abs(K)), plain, K)


def _in_words(row: Array, column: int, order: list[int], names: list[str]) -> str:
    """A sum such as `I_xx(arm) - I_yy(arm) + 0.316 h_z(hand)`, the kept parameter first."""
    words = names[column]
    for k in order:
        x = float(row[k])
        if k != column and x != 0.0:
            size = "" if abs(x) == 1.0 else f"{abs(x):.6g} "
            words += f" {'-' if x < 0.0 else '+'} {size}{names[k]}"
    return words


_STATES_MORE = 2
"""The number of rows of the stacked regressor per column."""


def stacked_at_random(
    model: Model, columns: int, drives: bool, parameters: Mapping[str, list[float]], rng: np.random.Generator
) -> Array:
    """The regressor at random states, stacked: computed by the algorithm on arrays with one entry per state."""
    count = (_STATES_MORE * columns) // max(model.nv, 1) + 10
    q = np.array([_anywhere(model, rng) for _ in range(count)]).reshape(count, model.nq)
    # Accelerations due to v and to q̈ are comparable with gravity's 9.81.
    v, qdd = 3.0 * rng.normal(size=(count, model.nv)), 10.0 * rng.normal(size=(count, model.nv))
    state = [list(x.T) for x in (q, v, qdd)]
    numbers = on_numbers(JOINT_TORQUE_REGRESSOR, model, state, parameters=parameters, drives=drives)
    W = np.empty((count, model.nv * columns))
    for k, x in enumerate(numbers):
        W[:, k] = x
    return W.reshape(count * model.nv, columns)


def _anywhere(model: Model, rng: np.random.Generator) -> Array:
    """A random configuration that ignores limits: narrow ones would make the columns nearly dependent."""
    inf = math.inf
    pieces = [kind.random(rng, (-inf,) * kind.nq, (inf,) * kind.nq) for kind in model.tree.joint[1:]]
    return np.array(model.tree.joined(pieces, "nq"), dtype=np.float64)
