"""The arguments of a call: shapes, dtypes and leading axes, and errors that name the expected ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.definition import Array
from kinetree.compiler.source import Source
from kinetree.errors import DTypeError, ShapeError, nearest_names
from kinetree.expr import Port
from kinetree.inputs import MOST_AXES, is_masked, real_array, sample_shape
from kinetree.model import Body, Model
from kinetree.model.conditioning import refuse_singular
from kinetree.model.parameters import check_alternatives
from kinetree.model.robot import refuse_zero_quaternions

__all__ = ["Arguments", "LeftOut", "bound", "check_out", "dtype_like"]


Named = Mapping[str, Any]


class LeftOut:
    """Values in place of arguments that a call leaves out: zeros for the last few of those that are optional, and
    the numbers that options have, all of these together."""

    def __init__(self, source: Source, dtype: np.dtype[Any], numbers: Sequence[Array] = ()) -> None:
        """`numbers`: those of the options, in order; they precede external forces and parameters."""
        ports, optional = source.inputs, source.optional
        count, k = len(ports), len(numbers)
        first = count - k - len(getattr(source, "forces", ())) - len(getattr(source, "parameters", ()))
        zeros = tuple(np.zeros(ports[i].shape, dtype) for i in optional)
        self.values: Mapping[int, Array] = {
            **dict(zip(optional, zeros, strict=True)),
            **dict(enumerate(numbers, first)),
        }
        """By the number of the argument."""
        self.by_count: dict[int, tuple[int, Sequence[Array]]] = {
            count - n: (optional.stop - n, zeros[-n:]) for n in range(1, len(zeros) + 1)
        }
        if numbers:
            self.by_count[count - k] = first, tuple(numbers)
            if optional.stop == first:
                for n in range(1, len(zeros) + 1):
                    self.by_count[count - k - n] = first - n, (*zeros[-n:], *numbers)

    def filled(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """All arguments of a call by position; as they are if none can be left out in this way."""
        place = self.by_count.get(len(arguments))
        return arguments if place is None else (*arguments[: place[0]], *place[1], *arguments[place[0] :])


def bound(
    function: str, names: Sequence[str], given: Sequence[Any], named: Named, defaults: Callable[[], Named]
) -> list[Any]:
    """The arguments of a call in order, some by position and some by name; `defaults` are for those left out."""
    if not named and len(given) == len(names):
        return [*given]
    if len(given) > len(names):
        raise DTypeError(f"{function} takes {len(names)} arrays ({', '.join(names)}), not {len(given)}")
    by_name = dict(zip(names, given, strict=False))
    for name, x in named.items():
        if name not in names:
            raise DTypeError(f"{function} has no argument {name!r:.60}: {nearest_names(name, names)}")
        if name in by_name:
            raise DTypeError(f"{function}: {name} is given twice, by position and by name")
        by_name[name] = x
    if len(by_name) < len(names):
        by_name = {**defaults(), **by_name}
    if missing := [name for name in names if name not in by_name]:
        raise DTypeError(f"{function} takes {len(names)} arrays ({', '.join(names)}); {missing[0]} is missing")
    return [by_name[name] for name in names]


class Arguments:
    """How the arguments of one function of one robot must look."""

    def __init__(
        self,
        function: str,
        subject: str,
        ports: Sequence[Port],
        core: tuple[int, ...],
        dtype: np.dtype[Any],
        quaternions: Sequence[tuple[int, Mapping[str, slice]]],
        left_out: LeftOut | None = None,
        alternatives: Sequence[tuple[int, Body]] = (),
    ) -> None:
        """`subject`: whose arguments they are, as messages say it; `alternatives`: those that are numbers of objects,
        and the bodies that these are."""
        self.ports = ports
        self.core = core
        self.ranks: list[int] = [len(port.shape) for port in ports]
        self._function = function
        self._subject = subject
        self._shapes = [port.shape for port in ports]
        self._dtype = dtype
        self._quaternions = quaternions
        self.left_out = left_out
        self.alternatives: Sequence[tuple[int, Body]] = alternatives

    def repeated(self, rows: Sequence[int], steps: int) -> Arguments:
        """Arguments for a number of steps: the length of the first axis of the arguments `rows` and of the result."""
        ports = [Port(port.name, (steps, *port.shape[1:])) if k in rows else port for k, port in enumerate(self.ports)]
        core = (steps, *self.core[1:])
        return Arguments(
            self._function, self._subject, ports, core, self._dtype, self._quaternions, self.left_out, self.alternatives
        )

    @property
    def numbers(self) -> int:
        """The number of scalars in one sample's arguments and result together."""
        return sum(port.size for port in self.ports) + math.prod(self.core)

    def prepared(self, arguments: Sequence[Any], out: Array | None) -> Sequence[Array]:
        """The arguments as arrays that fit, or the error that says why not."""
        arrays = arguments if self._fit(arguments, out) else self._converted(arguments, out)
        for k, body in self.alternatives:
            check_alternatives(body, arrays[k], self.ports[k].name)
        return arrays

    def check_quaternions(self, arrays: Sequence[Array]) -> None:
        """Raise if a quaternion in one of them has no direction."""
        for k, quaternions in self._quaternions:
            refuse_zero_quaternions(arrays[k], quaternions, self.ports[k].name)

    def check_singularities(self, arrays: Sequence[Array], wrong: Array, robots: Mapping[int, Model]) -> None:
        """Raise if numbers of the result (…, *core) are wrong since the coordinates of a joint are singular."""
        samples = np.asarray(wrong.reshape(*wrong.shape[: wrong.ndim - len(self.core)], -1).any(axis=-1))
        for k, robot in robots.items():
            refuse_singular(self._function, robot, arrays[k], samples, self.ports[k].name)

    def _fit(self, arguments: Sequence[Any], out: Any) -> bool:
        """Whether everything already is an array of the right dtype and size: the usual case, decided quickly."""
        if len(arguments) != len(self._shapes):
            return False
        dtype = self._dtype
        batch: tuple[int, ...] | None = None
        for x, core in zip(arguments, self._shapes, strict=True):
            if type(x) is not np.ndarray or x.dtype is not dtype:
                return False
            shape = x.shape
            if (core and shape[-len(core) :] != core) or len(shape) > MOST_AXES:
                return False
            if out is not None:
                leading = shape[: len(shape) - len(core)]
                if batch is not None and leading != batch:
                    return False
                batch = leading
        return out is None or (
            type(out) is np.ndarray
            and out.dtype is dtype
            and out.shape == (*(batch or ()), *self.core)
            and out.flags.writeable
        )

    def _converted(self, arguments: Sequence[ArrayLike], out: Array | None) -> list[Array]:
        arrays = [x if x.dtype == self._dtype else x.astype(self._dtype) for x in self.checked(arguments)]
        if out is not None:
            self._check_out(arrays, out)
        return arrays

    def checked(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments as arrays of the right shapes, symbolic ones as they are; none may be missing."""
        if len(arguments) != len(self.ports):
            expected = ", ".join(port.name for port in self.ports)
            left_out = ", ".join(self.ports[k].name for k in (self.left_out.values if self.left_out else ()))
            hint = f"; {left_out} may be left out" if left_out else ""
            raise DTypeError(
                f"{self._function} takes {len(self.ports)} arrays ({expected}{hint}), not {len(arguments)}"
            )
        return [self._checked(port, x) for port, x in zip(self.ports, arguments, strict=True)]

    def _checked(self, port: Port, x: ArrayLike) -> Array:
        shape = _shape_text(port)
        array = real_array(port.name, x, shape)
        if port.shape and array.shape[-len(port.shape) :] != port.shape:
            raise ShapeError(
                f"{self._function}: {port.name} has shape {array.shape}, but {self._subject} needs {shape}"
                f"{_hint(port, array)}"
            )
        return array

    def batch_shape(self, arrays: Sequence[Array]) -> tuple[int, ...]:
        """The shape that the leading axes broadcast to."""
        shapes = {a.shape[: a.ndim - rank] for rank, a in zip(self.ranks, arrays, strict=True)}
        try:
            return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(f"{p.name} {a.shape}" for p, a in zip(self.ports, arrays, strict=True))
            raise ShapeError(
                f"{self._function}: the leading axes do not broadcast together: {listed}; "
                "they must be equal, or 1, or absent"
            ) from None

    def _check_out(self, arrays: list[Array], out: Array) -> None:
        shape = (*self.batch_shape(arrays), *self.core)
        check_out(self._function, out, shape, self._dtype)


def _hint(port: Port, array: Array) -> str:
    """Advice to someone who gives a pose for a position and a quaternion."""
    if port.name.endswith(".placement") and array.shape[-2:] == (4, 4):
        return "; of a pose T, give X = kinetree.Transform.from_matrix(T) as [*X.position, *X.quaternion]"
    return ""


def check_out(function: str, out: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise if a result of this shape and dtype cannot go into `out`."""
    if not isinstance(out, np.ndarray) or is_masked(out):
        what = "a NumPy array" if not is_masked(out) else "a NumPy array without a mask"
        raise DTypeError(f"{function}: out must be {what}, not {type(out).__name__}")
    if out.dtype != dtype:
        raise DTypeError(f"{function}: out has dtype {out.dtype}, but the result is {dtype}")
    if out.shape != shape:
        raise ShapeError(f"{function}: out has shape {out.shape}, but the result has {shape}")
    if not out.flags.writeable:
        raise ShapeError(f"{function}: out is read-only")


def dtype_like(argument: ArrayLike) -> np.dtype[Any]:
    """The dtype for an argument that is filled in next to another one, so that the result's dtype does not change."""
    is_single = str(getattr(argument, "dtype", "")).endswith("float32")  # PyTorch's as well
    return np.dtype(np.float32 if is_single else np.float64)


def _shape_text(port: Port) -> str:
    """The shape of an argument: (…, n), or (…) for one number per sample."""
    return sample_shape(port.shape)
