"""Conversions between representations of attitudes, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError
from kinetree.lie.arguments import attitudes, on_numbers, representation
from kinetree.spatial import Vec3

__all__ = ["convert", "jacobian"]

_UNITS = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def convert(x: ArrayLike, source: str, target: str) -> NDArray[Any]:
    """The same attitudes in another representation.

    Args:
        x: (…, 3, 3), (…, 4) or (…, 3), as `source` says.
        source: "matrix", "quaternion" (x, y, z, w), "quaternion_wxyz", "rotation_vector", or an order of Euler angles
            in capital letters such as "ZYX"; see `help(kt.lie)`.
        target: another of these, or the same for its normal form.

    Returns:
        The attitudes as `target` says, in float32 if x is, otherwise in float64. They are chosen as follows:

        - A quaternion has length one. From a matrix w >= 0, and at exactly half a turn its largest component is
          positive; from a quaternion it keeps its sign; from angles and vectors it changes continuously with them.
        - A rotation vector is at most π long. At exactly half a turn it is along (x, y, z) of the quaternion.
        - Of Euler angles the first and third are in (-π, π], the second is within ±π/2 if the letters differ, and in
          [0, π] if the first is repeated. At gimbal lock, where the first and third are one rotation, the third is
          zero; closer to it than 16 roundings of x's type counts as there.

    Raises:
        OptionError: For a representation that is not in the list.
        ShapeError, DTypeError: For an x that is not an array of such numbers.
        ConfigurationError: For a quaternion of zero length, and for a matrix that is not a rotation (R Rᵀ may differ
            from 1 by 1e-6, or 1e-5 in float32); the message names the sample. A NaN or an infinity makes its own sample
            NaN.

    Source: Shepperd, "Quaternion from rotation matrix" (1978); Diebel, "Representing attitude: Euler angles, unit
    quaternions, and rotation vectors" (2006).

    >>> import kinetree as kt, numpy as np
    >>> R = kt.lie.convert([0.3, -0.2, 0.1], "ZYX", "matrix")
    >>> kt.lie.convert(R, "matrix", "ZYX").round(12).tolist()
    [0.3, -0.2, 0.1]
    >>> kt.lie.convert([[0.0, 0.0, np.pi], [0.1, 0.0, 0.0]], "rotation_vector", "quaternion").shape
    (2, 4)
    """
    array, kind, dtype = attitudes(x, source)
    other = representation("target", target)
    eps = float(np.finfo(dtype).eps)
    return on_numbers(
        lambda x: other.from_quaternion(kind.to_quaternion(x), eps), array, kind.shape, other.shape, dtype
    )


def jacobian(x: ArrayLike, source: str, target: str, *, wrt: str) -> NDArray[Any]:
    """The derivative of `convert(x, source, target)`.

    Args:
        x: The attitudes, as `source` says.
        source: As in `convert`.
        target: As in `convert`, or "displacement" for the displacement δ itself.
        wrt: "displacement": by δ (3), rad, which turns the attitude in its own axes, R → R exp([δ]), as displacements
            of a configuration do everywhere in kinetree; so rates are this matrix times the angular velocity in the
            rotated frame. "coordinates": by the numbers of x. The length of a quaternion has no influence, nor has a
            change of a matrix that makes it other than a rotation (the symmetric part of Rᵀ dR).

    Returns:
        (…, shape of the target, 3) or (…, shape of the target, shape of the source). Euler angles have no derivative
        at gimbal lock: it is NaN there. That of a rotation vector of length π is one-sided.

    Raises:
        OptionError: For a representation or `wrt` that is not in the list.
        ShapeError, DTypeError, ConfigurationError: As `convert` does.

    Source: Diebel, "Representing attitude: Euler angles, unit quaternions, and rotation vectors" (2006); Solà, Deray
    and Atchuthan, "A micro Lie theory for state estimation in robotics" (2018).

    >>> import kinetree as kt
    >>> rates = kt.lie.jacobian([0.0, 0.0, 0.0, 1.0], "quaternion", "ZYX", wrt="displacement")
    >>> (rates @ [0.1, 0.2, 0.3]).tolist()  # of yaw, pitch and roll, at this angular velocity
    [0.3, 0.2, 0.1]
    """
    array, kind, dtype = attitudes(x, source)
    if not isinstance(wrt, str) or wrt not in ("displacement", "coordinates"):
        raise OptionError(f"wrt must be 'displacement' or 'coordinates', not {wrt!r:.60}")
    other = None if target == "displacement" else representation("target", target)
    eps = float(np.finfo(dtype).eps)

    def entries(numbers: Sequence[Any]) -> list[Any]:
        q = kind.to_quaternion(numbers)
        rows = _UNITS if other is None else other.rates(q, eps)
        columns = _UNITS if wrt == "displacement" else kind.displacement(numbers)
        return [row.dot(column) for row in rows for column in columns]

    shape = ((3,) if other is None else other.shape) + ((3,) if wrt == "displacement" else kind.shape)
    return on_numbers(entries, array, kind.shape, shape, dtype)
