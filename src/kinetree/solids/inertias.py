"""Inertias that are already known, about any point and in any axes that a data sheet or a CAD program uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, ShapeError
from kinetree.inputs import real_array
from kinetree.solids.amounts import positive
from kinetree.spatial import Inertia, Sym3, Vec3
from kinetree.spatial.placement import finite_numbers

__all__ = ["inertia"]

_SYMMETRY = 1e-9
_POSITIVE = 1e-6
"""How far below zero, relative to the largest, a principal moment may be: data sheets have six or seven digits."""


def inertia(
    mass: float,
    com: Sequence[float],
    matrix: ArrayLike,
    *,
    about: Literal["com"] | Sequence[float] = "com",
    axes: ArrayLike | None = None,
) -> Inertia:
    """The inertia of a body from known numbers.

    Args:
        mass: kg.
        com: (3,) centre of mass in the body's frame, m.
        matrix: rotational inertia, kg·m²: (3, 3), or the six numbers xx, yy, zz, xy, xz, yz with the matrix's own signs
            (the products of inertia -∫ x y dm; some CAD programs print them without the minus).
        about: the point it is about: "com", or (3,) a point in the body's frame, such as (0, 0, 0) for its origin.
        axes: (3, 3) rotation whose columns are the axes it is given in, in the body's frame, or a Rotation of SciPy; by
            default the body's own.

    Raises:
        ShapeError: for other shapes.
        DTypeError: for values that are not real numbers.
        OptionError: for numbers that are not finite, a mass that is not positive, a matrix that is not symmetric (to
            1e-9 of its size; its two halves are averaged) or has a negative principal moment about the centre of mass
            (beyond 1e-6 of the largest), and axes that are not a rotation.

    A matrix that violates the triangle inequality is accepted here; `ModelBuilder.build` warns of it.

    >>> import kinetree as kt
    >>> about_its_end = kt.solids.inertia(3.0, (0, 0, 0.5), (1.0, 1.0, 0.01, 0, 0, 0), about=(0, 0, 0))
    >>> about_its_middle = kt.solids.inertia(3.0, (0, 0, 0.5), (0.25, 0.25, 0.01, 0, 0, 0))
    >>> about_its_end == about_its_middle
    True
    """
    m = positive("inertia", "mass", mass)
    c = np.array(finite_numbers("com", com, 3))
    I = _matrix(matrix)
    if isinstance(about, str) and about != "com":
        raise OptionError(f'about must be "com" or a point of three numbers, not {about!r:.60}')
    point = None if isinstance(about, str) else finite_numbers("about", about, 3)
    R = None if axes is None else _rotation(axes)
    with np.errstate(over="ignore", invalid="ignore"):
        if R is not None:
            I = R @ I @ R.T
            I = 0.5 * (I + I.T)
        if point is not None:
            I = I - m * _steiner(c - np.array(point))
        rounding = 1e-14 * m * float(1.0 + c @ c)
    if not (np.isfinite(I).all() and math.isfinite(rounding)):
        raise OptionError("inertia: its mass, matrix and points overflow when put together; give them in SI units")
    moments = np.linalg.eigvalsh(I)
    # From a distant point, the inertia about the centre of mass is known only to the rounding of the larger numbers.
    if moments[0] < -(_POSITIVE * float(np.abs(moments).max()) + rounding):
        where = "the centre of mass" if point is None else f"the centre of mass, taken from {point},"
        raise OptionError(
            f"inertia: its principal moments about {where} are {', '.join(f'{x:.3g}' for x in moments)} kg·m²; none "
            "can be negative: check the point it is about, and the signs and order of its entries"
        )
    central = Sym3(*map(float, (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])))
    return Inertia.from_com(m, Vec3(*map(float, c)), central)


def _steiner(d: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inertia of a unit mass at d about the origin."""
    result: NDArray[np.float64] = (d @ d) * np.eye(3) - np.outer(d, d)
    return result


def _matrix(matrix: ArrayLike) -> NDArray[np.float64]:
    array = _array("matrix", matrix)
    if array.shape == (6,):
        xx, yy, zz, xy, xz, yz = array
        array = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if array.shape != (3, 3):
        raise ShapeError(
            f"matrix must have the shape (3, 3), or (6,) with xx, yy, zz, xy, xz, yz; this one has {array.shape}"
        )
    with np.errstate(over="ignore"):
        error = np.abs(array - array.T)
    if error.max() > _SYMMETRY * np.abs(array).max():
        i, j = np.unravel_index(int(error.argmax()), (3, 3))
        raise OptionError(
            f"matrix is not symmetric: its {'xyz'[i]}{'xyz'[j]} is {array[i, j]:g}, its {'xyz'[j]}{'xyz'[i]} "
            f"{array[j, i]:g}"
        )
    return 0.5 * array + 0.5 * array.T


def _rotation(rotation: ArrayLike) -> NDArray[np.float64]:
    as_matrix = getattr(rotation, "as_matrix", None)
    R = _array("axes", as_matrix() if callable(as_matrix) else rotation)
    if R.shape != (3, 3):
        raise ShapeError(f"axes must have the shape (3, 3), one axis per column; these have {R.shape}")
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0.0:
        raise OptionError(
            "axes must be a rotation: columns of length one, at right angles, the third the cross product of the first "
            "two"
        )
    return R


def _array(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = real_array(name, values, "(3, 3)").astype(np.float64)
    if not np.isfinite(array).all():
        raise OptionError(f"{name} must be finite, not {array.ravel().tolist()}")
    return array
