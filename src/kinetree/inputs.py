"""Checks of user input: arrays of real numbers, single numbers, names."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, OptionError, ShapeError

__all__ = [
    "MOST_AXES",
    "array_or_foreign",
    "chosen_word",
    "common_axes",
    "flag",
    "framework_of",
    "holds_symbols",
    "is_masked",
    "number_between",
    "number_or_row",
    "plain",
    "real_array",
    "real_number",
    "refuse_symbols",
    "refuses_symbols",
    "repeated",
    "sample",
    "sample_shape",
    "samples",
    "takes_symbols",
    "whole_number",
]


MOST_AXES = 32
"""Axes of an argument: results have a few more, and NumPy's limit is 64, for some functions 32."""


def real_array(name: str, x: ArrayLike, shape: str) -> NDArray[Any]:
    """Return x as an array of real numbers of at most 64 bits, not copied; the message names `shape`, such as "(…, 7)".

    Raises `DTypeError`, whose message begins with `name`, for numbers that are not real, for wider ones, which would
    lose digits, for rows of different lengths, and for masked arrays, whose masks would be lost; and `ShapeError`
    for more than 32 axes. Symbolic arrays are returned as they are, and lists and arrays of dtype object with symbolic
    numbers as symbolic arrays.
    """
    if type(x) is np.ndarray and x.dtype is _F64 and x.ndim <= MOST_AXES:  # fast path for the usual array
        return x
    if holds_symbols(x):
        symbolic: NDArray[Any] = _reader[0](x)
        return symbolic
    expected = f"{name} must be an array of real numbers of shape {shape}"
    if (framework := framework_of(x)) is not None:
        raise DTypeError(f"{expected}, not {type(x).__name__} of {framework}; give {_AS_NUMPY[framework]}")
    if is_masked(x):
        raise DTypeError(f"{expected}, not a masked array; give x.filled(number), or x.data if nothing in it is masked")
    try:
        array = np.asarray(x)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{expected}: {error}") from None
    if array.dtype.kind not in "fiu":
        raise DTypeError(f"{expected}, not of dtype {array.dtype}")
    if array.dtype.itemsize > 8:
        raise DTypeError(f"{expected}, not of dtype {array.dtype}, which has more digits; give x.astype(numpy.float64)")
    if array.ndim > MOST_AXES:
        raise ShapeError(f"{expected}, with at most {MOST_AXES} axes, not {array.ndim}; give x.reshape(-1, …)")
    return array


def samples(name: str, x: ArrayLike, shape: tuple[int, ...], subject: str, hint: str = "") -> NDArray[Any]:
    """Return x as an array (…, *shape) of real numbers, as `real_array` does.

    Raises `ShapeError` if its last axes are not those of `shape`, which `subject` needs; the hint ends the message.
    """
    if type(x) is np.ndarray and x.dtype is _F64 and x.shape[x.ndim - len(shape) :] == shape and x.ndim <= MOST_AXES:
        return x
    expected = sample_shape(shape)
    array = real_array(name, x, expected)
    if array.shape[max(array.ndim - len(shape), 0) :] != shape:
        raise ShapeError(f"{name} has shape {array.shape}, but {subject} needs {expected}{hint}")
    return array


def sample(name: str, x: ArrayLike, shape: tuple[int, ...], subject: str, hint: str = "") -> NDArray[Any]:
    """`samples` for one sample, without leading axes."""
    array = real_array(name, x, f"{shape}")
    if array.shape != shape:
        raise ShapeError(f"{name} has shape {array.shape}, but {subject} needs {shape}{hint}")
    return array


def number_or_row(name: str, x: ArrayLike, n: int, each: str) -> NDArray[np.float64]:
    """n numbers, new, given as one for all or as (n,), one per `each`; raises `ShapeError` for others."""
    array = real_array(name, x, f"() or ({n},)").astype(np.float64)
    if array.shape not in ((), (n,)):
        raise ShapeError(f"{name} has shape {array.shape}, but must be one number or ({n},), one per {each}")
    return np.broadcast_to(array, (n,)).copy()


def common_axes(function: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The axes that the leading axes of named arguments broadcast to; raises `ShapeError` if they do not."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ShapeError(
            f"{function}: the leading axes do not broadcast together: {listed}; they must be equal, or 1, or absent"
        ) from None


def array_or_foreign(name: str, x: Any, shape: str) -> Any:
    """The same for NumPy's arrays; an array of another framework as it is, for its adapter to check."""
    return real_array(name, x, shape) if framework_of(x) is None or isinstance(x, list | tuple) else x


_AS_NUMPY = {
    "casadi": "numbers: symbolic values have none",
    "cupy": "x.get()",
    "dask": "x.compute()",
    "jax": "numpy.asarray(x), outside jax.jit",
    "tensorflow": "x.numpy()",
    "torch": "x.detach().cpu().numpy()",
    "xarray": "x.values",
}
"""Frameworks with arrays of their own, and how an x of theirs becomes NumPy's."""


def framework_of(x: object) -> str | None:
    """The framework whose array x is, or one that is found in a list; None for NumPy's, and for everything else."""
    return _framework_of(x) if any(name in sys.modules for name in _AS_NUMPY) else None


def _framework_of(x: object, depth: int = 64) -> str | None:
    kind = type(x)
    if kind is np.ndarray:
        return None
    if isinstance(x, list | tuple):
        if depth == 0 or set(map(type, x)) <= _NUMBERS:  # fast path for the usual list
            return None
        return next((framework for y in x if (framework := _framework_of(y, depth - 1)) is not None), None)
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root in _AS_NUMPY or root == "jaxlib":
            return "jax" if root == "jaxlib" else root
    return None


_Read = TypeVar("_Read", bound=Callable[[Any], Any])
_reader: list[Callable[[Any], Any]] = []


def takes_symbols(reader: _Read) -> _Read:
    """A decorator: the function that makes a symbolic array of one, and of lists and arrays of symbolic numbers."""
    _reader.append(reader)
    return reader


_Refuse = Callable[[str, str, Any], None]
_refusal: list[_Refuse] = []


def refuses_symbols(refusal: _Refuse) -> _Refuse:
    """A decorator: the function that raises for a symbolic array whose numbers are needed."""
    _refusal.append(refusal)
    return refusal


def refuse_symbols(what: str, instead: str, *arrays: object) -> None:
    """Raise if one of these depends on arguments of a program, where numbers are needed.

    `what`: the quantity that depends on the numbers, as the subject of the message; `instead`: the remedy.
    """
    for x in arrays:
        if holds_symbols(x):
            _refusal[0](what, instead, x)


def holds_symbols(x: object, depth: int = 64) -> bool:
    """Whether x is a symbolic array, or a list or an array of dtype object with a symbolic number in it."""
    kind = type(x)
    if kind is np.ndarray:
        array: NDArray[Any] = x  # type: ignore[assignment]
        return array.dtype == object and any(hasattr(type(y), "flat_elements") for y in array.flat)
    if not (kind is list or kind is tuple or isinstance(x, list | tuple)):
        return kind is not float and hasattr(kind, "flat_elements")
    kinds = set(map(type, x))  # type: ignore[call-overload]
    if kinds <= _NUMBERS or depth == 0:  # fast path for the usual list
        return False
    if any(hasattr(k, "flat_elements") for k in kinds):
        return True
    nested = any(issubclass(k, list | tuple | np.ndarray) for k in kinds)
    return nested and any(holds_symbols(y, depth - 1) for y in x)  # type: ignore[attr-defined]


def is_masked(x: object, depth: int = 64) -> bool:
    """Whether x is a masked array, or a list that contains one; lists are searched no deeper than arrays can nest."""
    listed = type(x) is list or type(x) is tuple or isinstance(x, list | tuple)
    kinds = set(map(type, x)) if listed else {type(x)}  # type: ignore[call-overload]
    if kinds <= _NUMBERS:  # fast path for the usual list
        return False
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)  # if it was never imported, there are none
    if masked is None:
        return False
    if any(issubclass(kind, masked) for kind in kinds):
        return True
    if not listed or depth == 0 or not any(issubclass(kind, list | tuple) for kind in kinds):
        return False
    return any(is_masked(y, depth - 1) for y in x)  # type: ignore[attr-defined]


_NUMBERS = frozenset({float, int})
_F64 = np.dtype(np.float64)


@cache
def sample_shape(shape: tuple[int, ...]) -> str:
    """The shape of one sample as messages say it, with leading axes before.

    >>> sample_shape((7,)), sample_shape(())
    ('(…, 7)', '(…)')
    """
    return f"({', '.join(('…', *map(str, shape)))})"


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time; None without one."""
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    return None


def chosen_word(option: str, given: Any, *allowed: str) -> str:
    """An option that is one of several words; raises `OptionError` for any other."""
    if not isinstance(given, str) or given not in allowed:
        listed = ", ".join(map(repr, allowed[:-1]))
        raise OptionError(f"{option} must be {listed} or {allowed[-1]!r}, not {given!r:.60}")
    return str.__str__(given)


def flag(option: str, given: Any, hint: str = "") -> bool:
    """True or False; raises `OptionError`, whose message ends with the hint, for anything else, such as 1."""
    if not isinstance(given, bool | np.bool_):
        raise OptionError(f"{option} must be True or False, not {given!r:.60}{hint}")
    return bool(given)


def whole_number(given: Any) -> int | None:
    """A whole number of Python's or NumPy's as Python's; None for anything else, such as a truth value.

    >>> whole_number(np.int32(3)), whole_number(3.0), whole_number(True)
    (3, None, None)
    """
    if isinstance(given, bool | np.bool_):
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def whole_between(option: str, given: Any, least: int = 0, most: int | None = None) -> int:
    """An option that is a whole number from `least` on, up to `most`; raises `OptionError` for any other.

    >>> whole_between("samples", np.int64(5), 1)
    5
    """
    number = whole_number(given)
    if number is None or not least <= number <= (2**63 if most is None else most):
        end = "on" if most is None else f"to {most:,}" if most >= 100_000 else f"to {most}"
        raise OptionError(f"{option} must be a whole number from {least} {end}, not {given!r:.60}")
    return number


def real_number(given: Any) -> float | None:
    """A real number of Python's or NumPy's as Python's; None for anything else, such as a truth value or NaN.

    >>> real_number(np.float32(0.5)), real_number(2), real_number(True), real_number("2")
    (0.5, 2.0, None, None)
    """
    number = plain(given)
    return None if isinstance(given, bool | np.bool_) or not isinstance(number, float) or math.isnan(number) else number


def number_between(
    option: str, given: Any, low: float = 0.0, high: float = math.inf, *, unit: str = "", example: str = ""
) -> float:
    """An option that is a number between two, both excluded; raises `OptionError` for any other.

    >>> number_between("dt", 0.01, unit="seconds")
    0.01
    """
    number = real_number(given)
    if number is None or not low < number < high:
        between = f"a number between {low:g} and {high:g}"
        open_ends = {0.0: "a positive number", -math.inf: "a finite number"}
        expected = between if high < math.inf else open_ends.get(low, f"a number above {low:g}")
        unit, example = unit and f" of {unit}", example and f", such as {example}"
        raise OptionError(f"{option} must be {expected}{unit}{example}, not {given!r:.60}")
    return number


def plain(x: Any) -> Any:
    """Convert any real number to a Python float and any str subclass to str; return anything else unchanged.

    NumPy's numbers and strings compare like Python's, but they have no text form and a different fingerprint.
    """
    if type(x) is float or type(x) is str:
        return x
    if isinstance(x, str):
        return str.__str__(x)
    if not isinstance(x, Real):
        return x
    try:
        return float(x)
    except OverflowError:
        return math.nan  # NaN is refused everywhere, infinity is not
