"""Attitudes from SciPy's rotations and to them."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, ShapeError
from kinetree.lie.conversion import convert
from kinetree.spatial.transform import scipy_rotation

__all__ = ["from_scipy", "to_scipy"]


def to_scipy(x: ArrayLike, source: str) -> Any:
    """The attitudes as a `scipy.spatial.transform.Rotation`, which is always in double precision.

    Args:
        x: (…, 3, 3), (…, 4) or (…, 3), as `source` says.
        source: As in `convert`.

    Raises:
        MissingPackageError: If SciPy is not installed.
        ShapeError: For more than one leading axis, if this SciPy does not take them.
        OptionError, ShapeError, DTypeError, ConfigurationError: As `convert` does.
    """
    quaternions = convert(x, source, "quaternion")
    try:
        return scipy_rotation(quaternions)
    except ValueError as error:
        if quaternions.ndim <= 2:
            raise
        raise ShapeError(
            f"{source} has {quaternions.ndim - 1} leading axes, and this SciPy's rotations have at most one ({error}); "
            "give x.reshape(-1, …)"
        ) from None


def from_scipy(rotation: Any, target: str) -> NDArray[Any]:
    """The attitudes of a `scipy.spatial.transform.Rotation`, as `target` says.

    Args:
        rotation: A rotation, or several; anything with a method `as_quat` that returns x, y, z, w (…, 4).
        target: As in `convert`.

    Raises:
        DTypeError: For an object without `as_quat`.
        OptionError: For a representation that is not in the list.

    >>> import kinetree as kt
    >>> class QuarterTurn:
    ...     def as_quat(self):
    ...         return [0.0, 0.0, 1.0, 1.0]
    >>> kt.lie.from_scipy(QuarterTurn(), "ZYX").round(6).tolist()
    [1.570796, 0.0, 0.0]
    """
    as_quat = getattr(rotation, "as_quat", None)
    if not callable(as_quat):
        raise DTypeError(f"from_scipy takes a Rotation of SciPy, with a method as_quat, not {type(rotation).__name__}")
    return convert(as_quat(), "quaternion", target)
