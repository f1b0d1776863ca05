"""A program's arguments: the shape of one sample of each, and the kind of its numbers."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, OptionError
from kinetree.expr import Port
from kinetree.inputs import framework_of, real_array, sample_shape
from kinetree.model import Model
from kinetree.model.robot import refuse_zero_quaternions
from kinetree.records import record

__all__ = ["Argument", "checked_argument"]

_KINDS = {float: "real numbers", int: "whole numbers", bool: "booleans"}


@record(frozen=True, slots=True, repr=False)
class Argument:
    """An argument of a program: the shape of one sample, and the kind of its numbers.

    In `kt.program(q=robot, v=robot.nv, target=(4, 4), gain=(), grasp=bool)` most arguments are named by less: a number
    n stands for shape (n,), a tuple for itself, a robot for a configuration of it, `bool` or `int` for one such number.

    Args:
        shape: the shape of one sample: a length, or a tuple of lengths; () is one number.
        dtype: `float`; `int` for whole numbers and `bool` for truth values, which are checked in every call.
        robot: set for a configuration of this robot. Its quaternions are checked, and derivatives by it are by
            displacements (nv), as for kinetree's own functions.

    >>> import kinetree as kt
    >>> @kt.program(x=3, mask=kt.programs.Argument(3, bool))
    ... def kept(x, mask):
    ...     return np.where(mask, x, 0.0)
    >>> kept([1.0, 2.0, 3.0], [True, False, True]).tolist()
    [1.0, 0.0, 3.0]
    """

    shape: tuple[int, ...]
    dtype: type = float
    robot: Model | None = None

    def __init__(self, shape: int | tuple[int, ...] = (), dtype: type = float, robot: Model | None = None) -> None:
        if robot is not None:
            if not isinstance(robot, Model):
                raise OptionError(f"robot must be the robot of a configuration, not {robot!r:.60}")
            shape, dtype = (robot.nq,), float
        if dtype not in _KINDS:
            raise OptionError(f"the dtype of a program's argument is float, int or bool, not {dtype!r:.60}")
        object.__setattr__(self, "shape", _shape(shape))
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "robot", robot)

    def __repr__(self) -> str:
        if self.robot is not None:
            return f"Argument(robot={self.robot.name!r})"
        return f"Argument({self.shape}, {self.dtype.__name__})"

    @property
    def quaternions(self) -> Mapping[str, slice]:
        """Where its quaternions are, if it is a configuration."""
        return {} if self.robot is None else self.robot.quaternions

    @property
    def direction(self) -> tuple[int, ...]:
        """The shape of a displacement of it."""
        return self.shape if self.robot is None else (self.robot.nv,)

    def port(self, name: str) -> Port:
        """The argument of the compiled function."""
        return Port(name, self.shape)

    def symbolic_dtype(self, floats: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype that the user's function sees in a trace of this dtype."""
        return floats if self.dtype is float else np.dtype(np.int64 if self.dtype is int else np.bool_)

    def refuse_zero_quaternions(self, name: str, x: NDArray[Any]) -> None:
        """Raise `ConfigurationError` if this is a configuration and x (…, nq) has a quaternion of no direction."""
        refuse_zero_quaternions(x, self.quaternions, name)

    def numbers(self, program: str, name: str, x: ArrayLike) -> Any:
        """Whole numbers and truth values as the compiled function takes them, after a check of each; those of other
        frameworks, which may have no values yet, as they are."""
        if self.dtype is float or framework_of(x) is not None:
            return x
        array = np.asarray(x)
        if self.dtype is bool and array.dtype == np.bool_:
            return array.astype(np.float64)
        array = real_array(name, x, sample_shape(self.shape))
        fits = (array == 0) | (array == 1) if self.dtype is bool else np.floor(array) == array
        fits &= np.isfinite(array)
        if not np.all(fits):
            wrong = array[~fits].ravel()[0].item()
            raise DTypeError(f"{program}: {name} holds {_KINDS[self.dtype]}, and {wrong!r} is none")
        return array.astype(np.float64)


def checked_argument(name: str, given: Any) -> Argument:
    """The argument that a user's declaration stands for."""
    if isinstance(given, Argument):
        return given
    if isinstance(given, Model):
        return Argument(robot=given)
    if any(given is kind for kind in _KINDS):
        return Argument((), given)
    try:
        return Argument(given)
    except (TypeError, OptionError):
        raise OptionError(
            f"argument {name!r} of a program is declared by the shape of one sample, such as 7, (3, 4) or (), by a "
            f"robot for a configuration of it, by bool or int, or by kt.programs.Argument(shape, dtype), not by "
            f"{given!r:.60}"
        ) from None


def _shape(given: Any) -> tuple[int, ...]:
    lengths = given if isinstance(given, tuple | list) else (given,)
    shape = tuple(-1 if isinstance(n, bool) else operator.index(n) for n in lengths)
    if any(n < 0 for n in shape):
        raise OptionError(f"a shape has lengths of 0 and more, not {given!r:.60}")
    return shape
