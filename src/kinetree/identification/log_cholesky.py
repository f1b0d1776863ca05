"""Ten unbounded numbers for the inertia of a body, which is physically consistent for all values.

A body's ten inertial parameters π = [m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz] are those of a distribution
of positive mass if and only if its pseudo-inertia, the second moments of mass in homogeneous coordinates,

    J = [[Σ, h], [hᵀ, m]],    Σ = ∫ x xᵀ dm = tr(I) / 2 - I,

is positive definite. Each such J is U Uᵀ for exactly one upper triangular U with a positive diagonal,

    U = exp(α) [[exp d1, s12, s13, t1], [0, exp d2, s23, t2], [0, 0, exp d3, t3], [0, 0, 0, 1]],

and θ = [α, d1, d2, d3, s12, s23, s13, t1, t2, t3] may be any ten numbers: m = exp(2 α), the centre of mass is t. So an
identification can search over θ without constraints. Points, rods and plates (J singular) are only approached.

All functions take arrays (…, 10), and any number of samples at once.

Source: Rucker and Wensing, "Smooth parameterization of rigid-body inertia" (2022), eqs. 7 to 15; J by Wensing, Kim,
Slotine, "Linear matrix inequalities for physically consistent inertial parameter identification" (2018).

>>> import kinetree as kt, numpy as np
>>> ball = [2.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1, 0.0, 0.0, 0.1]
>>> theta = kt.identification.log_cholesky.from_parameters(ball)
>>> bool(np.allclose(kt.identification.log_cholesky.to_parameters(theta), ball, rtol=0.0, atol=1e-12))
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ModelError
from kinetree.inputs import holds_symbols, samples
from kinetree.spatial.pseudo_inertia import pseudo_inertia as matrix_of
from kinetree.spatial.pseudo_inertia import ten_parameters

__all__ = ["from_parameters", "jacobian", "pseudo_inertia", "to_parameters"]

Array = NDArray[np.float64]


def to_parameters(theta: ArrayLike) -> Array:
    """The inertial parameters (…, 10) of θ (…, 10): physically consistent for any ten finite numbers.

    Raises:
        ModelError: θ is not finite, or so large that a parameter overflows 64-bit numbers (α or α + d above 354).
        ShapeError, DTypeError: θ is not an array of real numbers whose last axis is ten.

    >>> import kinetree as kt
    >>> kt.identification.log_cholesky.to_parameters([0.0] * 10).tolist()
    [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0]
    """
    numbers = _ten("theta", theta)
    with np.errstate(over="ignore", invalid="ignore"):
        U = _factor(numbers)
        parameters: Array = ten_parameters(U @ np.swapaxes(U, -1, -2))
    _check_finite(numbers, parameters)
    return parameters


def jacobian(theta: ArrayLike) -> Array:
    """The derivative (…, 10, 10) of `to_parameters` with respect to θ (…, 10); its determinant is never zero.

    Raises:
        ModelError, ShapeError, DTypeError: as for `to_parameters`.

    >>> import kinetree as kt
    >>> kt.identification.log_cholesky.jacobian([0.0] * 10)[0].tolist()
    [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    numbers = _ten("theta", theta)
    with np.errstate(over="ignore", invalid="ignore"):
        U = _factor(numbers)
        scale = np.exp(numbers[..., 0])
        columns = [ten_parameters(2.0 * (U @ np.swapaxes(U, -1, -2)))]
        for row, column in _PLACES:
            dU = _matrix({(row, column): U[..., row, column] if row == column else scale}, np.zeros_like(scale))
            half = dU @ np.swapaxes(U, -1, -2)
            columns.append(ten_parameters(half + np.swapaxes(half, -1, -2)))
        result = np.stack(columns, axis=-1)
    _check_finite(numbers, result)
    return result


def from_parameters(parameters: ArrayLike) -> Array:
    """The θ (…, 10) of inertial parameters (…, 10) that a body of positive mass in all directions can have.

    Raises:
        ModelError: a sample's mass is not positive, or its pseudo-inertia is not positive definite: impossible
            parameters, and those of points, rods and plates, which have no θ. The message says which.
        ShapeError, DTypeError: as for `to_parameters`.

    >>> import kinetree as kt
    >>> kt.identification.log_cholesky.from_parameters([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0]).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    pi = _ten("parameters", parameters)
    mass, is_known = pi[..., 0], not holds_symbols(pi)
    finite, massless = np.isfinite(pi).all(axis=-1), mass <= 0.0
    if is_known and not finite.all():
        _refuse(~finite, "has parameters that are not finite")
    if is_known and massless.any():
        where = _first(massless)
        what = (
            "no mass, and a θ has some: keep it out" if mass[where] == 0.0 else f"the negative mass {mass[where]:g} kg"
        )
        _refuse(massless, f"has {what}")
    J = pseudo_inertia(pi)
    t = J[..., :3, 3] / mass[..., None]
    # Second moments of unit mass, about the centre of mass.
    central = J[..., :3, :3] / mass[..., None, None] - t[..., :, None] * t[..., None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        e3 = np.sqrt(central[..., 2, 2])
        s23, s13 = central[..., 1, 2] / e3, central[..., 0, 2] / e3
        e2 = np.sqrt(central[..., 1, 1] - s23 * s23)
        s12 = (central[..., 0, 1] - s13 * s23) / e2
        e1 = np.sqrt(central[..., 0, 0] - s12 * s12 - s13 * s13)
        smallest = np.fmin(np.fmin(e1, e2), e3)
        possible = np.isfinite(e1) & np.isfinite(e2) & np.isfinite(e3) & (smallest > 0.0)
    if is_known and not possible.all():
        _refuse(~possible, _why(mass[_first(~possible)], central[_first(~possible)]))
    d = np.log(np.stack([e1, e2, e3], axis=-1))
    s = np.stack([s12, s23, s13], axis=-1)
    return np.concatenate([0.5 * np.log(mass)[..., None], d, s, t], axis=-1)


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """J (…, 4, 4) of inertial parameters (…, 10): [[Σ, h], [hᵀ, m]] with Σ = tr(I) / 2 - I.

    It is positive definite exactly for those of a distribution of positive mass that fills space.

    Raises:
        ShapeError, DTypeError: as for `to_parameters`.

    >>> import kinetree as kt, numpy as np
    >>> J = kt.identification.log_cholesky.pseudo_inertia([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0])
    >>> bool((J == np.eye(4)).all())
    True
    """
    J: Array = matrix_of(_ten("parameters", parameters))
    return J


_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
"""The places in U of the entries of θ after the first: d1, d2, d3, s12, s23, s13, t1, t2, t3."""

_NAMES = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")


def _factor(theta: Array) -> Array:
    """The factor U."""
    scale = np.exp(theta[..., 0])
    entries = {
        place: scale * (np.exp(theta[..., k]) if place[0] == place[1] else theta[..., k])
        for k, place in enumerate(_PLACES, 1)
    }
    return _matrix(entries | {(3, 3): scale}, np.zeros_like(scale))


def _matrix(entries: Mapping[tuple[int, int], Array], zero: Array) -> Array:
    """Matrices (…, 4, 4) of these entries (…), and zeros."""
    rows = [np.stack([entries.get((row, column), zero) for column in range(4)], axis=-1) for row in range(4)]
    return np.stack(rows, axis=-2)


def _ten(name: str, values: ArrayLike) -> Array:
    return samples(name, values, (10,), "a body").astype(np.float64, copy=False)


def _check_finite(theta: Array, result: Array) -> None:
    """Raise for a θ that does not give finite numbers; `result` has the same leading axes. Symbolic ones pass."""
    if holds_symbols(theta):
        return
    finite, consistent = np.isfinite(theta), np.isfinite(result).reshape(*theta.shape[:-1], -1).all(axis=-1)
    if not finite.all():
        *where, k = _first(~finite)
        raise ModelError(f"theta{_place(where)}: its {_NAMES[k]} is {theta[(*where, k)]}; a θ is ten finite numbers")
    if not consistent.all():
        where = list(_first(~consistent))
        numbers = ", ".join(f"{name} = {x:g}" for name, x in zip(_NAMES, theta[tuple(where)], strict=True) if x)
        raise ModelError(
            f"theta{_place(where)}: its body is beyond all 64-bit numbers ({numbers}); the mass is exp(2 alpha) kg"
        )


def _first(mask: Any) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argwhere(mask)[0])


def _refuse(mask: Any, sentence: str) -> NoReturn:
    raise ModelError(f"parameters{_place(_first(mask))}: the body {sentence}")


def _place(index: Sequence[int]) -> str:
    return "".join(f"[{k}]" for k in index)


def _why(mass: Any, central: Array) -> str:
    """Why no θ exists for the second moments of unit mass about the centre of mass."""
    second = np.linalg.eigvalsh(central) * mass
    moments = second.sum() - second[::-1]
    numbers = ", ".join(f"{x:.3g}" for x in moments)
    about = f"the principal moments about its centre of mass are {numbers} kg·m²"
    if moments[0] < -1e-12 * np.abs(moments).max():
        return f"is none that can be: {about}, and one is negative; check the signs and that I is about the origin"
    if second[0] < -1e-12 * np.abs(moments).max():
        return f"is none that can be: {about}, and the largest is more than the sum of the other two"
    return (
        f"is a point, a rod or a plate: {about}, and the largest is the sum of the other two; a θ only comes near "
        "it, so give it some thickness"
    )
