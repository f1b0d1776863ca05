"""Arrays of symbols that behave as NumPy's do."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kinetree.errors import KinetreeError
from kinetree.expr import MixedTracesError, Scalar, Symbol
from kinetree.symbolic.indexing import element
from kinetree.symbolic.refusals import function_name, line_of, misfit, no_rule, refuse, refuse_value
from kinetree.symbolic.registry import FUNCTIONS, UFUNCS

__all__ = ["BOOL", "FLOAT32", "FLOAT64", "INT64", "SymbolicArray", "made"]

FLOAT64, FLOAT32, INT64, BOOL = np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.bool_)
_SUPPORTED = (FLOAT64, FLOAT32, INT64, BOOL)
_new = object.__new__
_OBJECT_METHODS = frozenset({
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos", "cosh", "deg2rad",
    "degrees", "exp", "exp2", "expm1", "fabs", "hypot", "log", "log10", "log1p", "log2", "logical_not", "rad2deg",
    "radians", "rint", "sin", "sinh", "sqrt", "tan", "tanh",
})  # fmt: skip
"""Methods that NumPy calls on each element of an array of dtype object."""


class SymbolicArray:
    """An array whose elements are numbers of one trace: symbols, or floats where they are constant.

    It takes NumPy's functions and operators, and returns the same as NumPy: shapes, broadcasting, dtypes. A function
    that is written for plain arrays runs on it unchanged, unless its way depends on values; then an error names a
    replacement. It never changes: `x += y` binds x to a new array, and `x[0] = y` is an error.

    A number is an array of shape (). Python's lists of such numbers become arrays by `np.stack`, or by
    `np.array([a, 2.0 * b, 0.0])`: that is a plain array of dtype object with a number of shape () in each place, which
    can be indexed, assigned to, added, multiplied, summed and taken as an operand, an argument of NumPy's functions
    together with a `SymbolicArray`, or a result. Operations that NumPy lacks for dtype object (comparisons,
    `np.linalg.solve`, `np.maximum`) need `np.stack`. `np.array` and `np.asarray` of a whole symbolic array are errors.
    """

    __slots__ = ("_dtype", "_elements")
    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    _elements: NDArray[np.object_]
    _dtype: np.dtype[Any]

    def __init__(self, elements: NDArray[np.object_], dtype: DTypeLike) -> None:
        """`elements`: floats and symbols, 1.0 or 0.0 for booleans; `dtype`: float64, float32, int64 or bool."""
        self._elements = elements
        self._dtype = np.dtype(dtype)
        if self._dtype not in _SUPPORTED:
            raise TypeError(f"symbolic arrays are of dtype float64, float32, int64 or bool, not {self._dtype}")

    @property
    def elements(self) -> NDArray[np.object_]:
        """The numbers, as floats and symbols in an array of dtype object; it must not be changed."""
        return self._elements

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype that NumPy's result would have."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self._elements.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._elements.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._elements.size

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self) -> SymbolicArray:
        """The array with its axes reversed."""
        return made(self._elements.T, self._dtype)

    @property
    def mT(self) -> Any:
        """The array with its last two axes swapped."""
        return self.swapaxes(-1, -2)

    @property
    def flat(self) -> SymbolicArray:
        """All elements in C order."""
        return self.ravel()

    @property
    def real(self) -> SymbolicArray:
        """The array itself."""
        return self

    def flat_elements(self) -> list[Scalar]:
        """The numbers in C order, as floats and symbols."""
        elements: list[Scalar] = self._elements.ravel().tolist()
        return elements

    def __len__(self) -> int:
        if not self._elements.ndim:
            raise TypeError("len() of unsized object")
        return len(self._elements)

    def __iter__(self) -> Iterator[SymbolicArray]:
        if not self._elements.ndim:
            raise TypeError("iteration over a 0-d array")
        dtype = self._dtype
        return (made(row, dtype) for row in self._elements)

    def __getitem__(self, key: Any) -> SymbolicArray:
        return made(element(self._elements, key), self._dtype)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        refuse_value("item")

    def __delitem__(self, key: Any) -> NoReturn:
        refuse_value("item")

    def __repr__(self) -> str:
        return f"SymbolicArray(shape={self.shape}, dtype={self._dtype})"

    def __format__(self, spec: str) -> str:
        if spec:
            refuse_value("text")
        return repr(self)

    def __copy__(self) -> SymbolicArray:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicArray:
        return self

    # What it is not: a plain number or array, unless it is constant.

    def _value(self, kind: str) -> Any:
        elements = self.flat_elements()
        if len(elements) != 1:
            if kind == "bool":
                refuse(f"the truth of an array of shape {self.shape} is ambiguous; use np.any, np.all and np.where")
            refuse(f"an array of shape {self.shape} is not one number; index it, or use NumPy's functions on it")
        if not isinstance(elements[0], float):
            refuse_value(kind)
        return elements[0]

    def __bool__(self) -> bool:
        return bool(self._value("bool"))

    def __float__(self) -> float:
        return float(self._value("float"))

    def __int__(self) -> int:
        return int(self._value("int"))

    def __complex__(self) -> complex:
        return complex(self._value("float"))

    def __index__(self) -> int:
        if self._dtype is not INT64:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self._value("index"))

    @property
    def __array__(self) -> Callable[..., NDArray[Any]]:
        """NumPy's hook for making a plain array. A number has none, and becomes an element of dtype object.

        An integer or boolean number has one that rejects, so that its use as an index raises an error.
        """
        if self._elements.ndim == 0 and self._dtype.kind == "f" and not isinstance(self._elements.item(), float):
            raise AttributeError("__array__")
        return self._plain

    def _plain(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if not all(isinstance(x, float) for x in self.flat_elements()):
            refuse_value("index" if self._dtype.kind in "ib" else "array")
        if copy is False:
            raise ValueError("a symbolic array of constants cannot become a plain array without a copy")
        return self._elements.astype(self._dtype).astype(self._dtype if dtype is None else dtype)

    # NumPy's protocol.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return FUNCTIONS[np.ufunc](ufunc, method, *inputs, **options)
        ours = UFUNCS.get(ufunc)
        if ours is None:
            no_rule(ufunc)
        return ours(*inputs)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        ours = FUNCTIONS.get(function)
        if ours is None:
            no_rule(function)
        try:
            return ours(*args, **options)
        except (KinetreeError, MixedTracesError):
            raise
        except (ValueError, IndexError) as error:
            if line_of(error.__traceback__):
                raise  # from a function of the user's that was passed to NumPy's
            misfit(function_name(function), _shapes(args), error)
        except TypeError as error:
            try:
                signature(ours).bind(*args, **options)
            except TypeError as unbound:
                refuse(f"{function_name(function)} of arrays of a program: {unbound}")
            raise error

    def __getattr__(self, name: str) -> Any:
        if name in _OBJECT_METHODS:
            ufunc = getattr(np, name)
            return lambda *others: ufunc(self, *others)
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            refuse(f"symbolic arrays have no {name}; see `kinetree docs programs_functions` for what they have")
        raise AttributeError(f"'SymbolicArray' object has no attribute {name!r}")

    # Operators.

    def __neg__(self) -> SymbolicArray:
        return _unary(np.negative, self)

    def __pos__(self) -> SymbolicArray:
        return self

    def __abs__(self) -> SymbolicArray:
        return _unary(np.absolute, self)

    def __invert__(self) -> SymbolicArray:
        return _unary(np.invert, self)

    def __add__(self, other: Any) -> SymbolicArray:
        return _binary(np.add, operator.add, self, other)

    def __sub__(self, other: Any) -> SymbolicArray:
        return _binary(np.subtract, operator.sub, self, other)

    def __mul__(self, other: Any) -> SymbolicArray:
        return _binary(np.multiply, operator.mul, self, other)

    def __radd__(self, other: Any) -> SymbolicArray:
        return _reflected(np.add, operator.add, self, other)

    def __rsub__(self, other: Any) -> SymbolicArray:
        return _reflected(np.subtract, operator.sub, self, other)

    def __rmul__(self, other: Any) -> SymbolicArray:
        return _reflected(np.multiply, operator.mul, self, other)

    def __truediv__(self, other: Any) -> SymbolicArray:
        return _operation(np.true_divide, self, other)

    def __rtruediv__(self, other: Any) -> SymbolicArray:
        return _operation(np.true_divide, other, self)

    def __floordiv__(self, other: Any) -> SymbolicArray:
        return _operation(np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> SymbolicArray:
        return _operation(np.floor_divide, other, self)

    def __mod__(self, other: Any) -> SymbolicArray:
        return _operation(np.remainder, self, other)

    def __rmod__(self, other: Any) -> SymbolicArray:
        return _operation(np.remainder, other, self)

    def __divmod__(self, other: Any) -> tuple[SymbolicArray, SymbolicArray]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[SymbolicArray, SymbolicArray]:
        return other // self, other % self

    def __pow__(self, other: Any) -> SymbolicArray:
        return _operation(np.power, self, other)

    def __rpow__(self, other: Any) -> SymbolicArray:
        return _operation(np.power, other, self)

    def __matmul__(self, other: Any) -> SymbolicArray:
        return _operation(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> SymbolicArray:
        return _operation(np.matmul, other, self)

    def __and__(self, other: Any) -> SymbolicArray:
        return _operation(np.bitwise_and, self, other)

    def __rand__(self, other: Any) -> SymbolicArray:
        return _operation(np.bitwise_and, other, self)

    def __or__(self, other: Any) -> SymbolicArray:
        return _operation(np.bitwise_or, self, other)

    def __ror__(self, other: Any) -> SymbolicArray:
        return _operation(np.bitwise_or, other, self)

    def __xor__(self, other: Any) -> SymbolicArray:
        return _operation(np.bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> SymbolicArray:
        return _operation(np.bitwise_xor, other, self)

    def __lt__(self, other: Any) -> SymbolicArray:
        return _operation(np.less, self, other)

    def __le__(self, other: Any) -> SymbolicArray:
        return _operation(np.less_equal, self, other)

    def __gt__(self, other: Any) -> SymbolicArray:
        return _operation(np.greater, self, other)

    def __ge__(self, other: Any) -> SymbolicArray:
        return _operation(np.greater_equal, self, other)

    def __eq__(self, other: Any) -> SymbolicArray:  # type: ignore[override]
        return _operation(np.equal, self, other)

    def __ne__(self, other: Any) -> SymbolicArray:  # type: ignore[override]
        return _operation(np.not_equal, self, other)

    def __round__(self, digits: int | None = None) -> SymbolicArray:
        return self.round(digits or 0)

    def __floor__(self) -> SymbolicArray:
        return _unary(np.floor, self)

    def __ceil__(self) -> SymbolicArray:
        return _unary(np.ceil, self)

    def __trunc__(self) -> SymbolicArray:
        return _unary(np.trunc, self)

    # Methods: NumPy's functions of the same names.

    def astype(self, dtype: DTypeLike, *_: Any, **__: Any) -> SymbolicArray:
        """The array with its elements converted."""
        return _call(np.astype, self, np.dtype(dtype))

    def copy(self, *_: Any) -> SymbolicArray:
        """The array itself, which never changes."""
        return self

    def reshape(self, *shape: Any, **options: Any) -> SymbolicArray:
        """The elements in another shape."""
        return _call(np.reshape, self, shape[0] if len(shape) == 1 else shape, **options)

    def ravel(self, order: str = "C") -> SymbolicArray:
        """All elements in one row."""
        return _call(np.ravel, self, order)

    def flatten(self, order: str = "C") -> SymbolicArray:
        """All elements in one row."""
        return _call(np.ravel, self, order)

    def transpose(self, *axes: Any) -> SymbolicArray:
        """The array with its axes in another order."""
        return _call(np.transpose, self, (axes[0] if len(axes) == 1 else axes) or None)

    def item(self, *index: Any) -> SymbolicArray:
        """One element, as an array of shape ()."""
        if not index and self.size != 1:
            misfit("item()", (self.shape,), "can only convert an array of size 1")
        return self.ravel()[0] if not index else self[index] if len(index) > 1 else self.ravel()[index[0]]

    def tolist(self) -> Any:
        """Nested lists of arrays of shape ()."""
        return [row.tolist() for row in self] if self.ndim else self

    def dot(self, other: Any) -> SymbolicArray:
        """The product of matrices, as by `np.dot`."""
        return _call(np.dot, self, other)

    def round(self, decimals: int = 0) -> SymbolicArray:
        """The elements, rounded to even."""
        return _call(np.round, self, decimals)

    def clip(self, min: Any = None, max: Any = None) -> SymbolicArray:
        """The elements, limited to an interval."""
        return _call(np.clip, self, min, max)

    def conj(self) -> SymbolicArray:
        """The array itself."""
        return self

    conjugate = conj

    def _method(function: Callable[..., Any]) -> Any:  # type: ignore[misc]
        def method(self: SymbolicArray, *args: Any, **options: Any) -> Any:
            return _call(function, self, *args, **options)

        method.__name__ = function.__name__
        method.__doc__ = f"The same as `np.{function.__name__}` of this array."
        return method

    squeeze: Callable[..., Any] = _method(np.squeeze)
    swapaxes: Callable[..., Any] = _method(np.swapaxes)
    repeat: Callable[..., Any] = _method(np.repeat)
    take: Callable[..., Any] = _method(np.take)
    diagonal: Callable[..., Any] = _method(np.diagonal)
    trace: Callable[..., Any] = _method(np.trace)
    sum: Callable[..., Any] = _method(np.sum)
    prod: Callable[..., Any] = _method(np.prod)
    mean: Callable[..., Any] = _method(np.mean)
    var: Callable[..., Any] = _method(np.var)
    std: Callable[..., Any] = _method(np.std)
    min: Callable[..., Any] = _method(np.min)
    max: Callable[..., Any] = _method(np.max)
    any: Callable[..., Any] = _method(np.any)
    all: Callable[..., Any] = _method(np.all)
    argmin: Callable[..., Any] = _method(np.argmin)
    argmax: Callable[..., Any] = _method(np.argmax)
    cumsum: Callable[..., Any] = _method(np.cumsum)
    cumprod: Callable[..., Any] = _method(np.cumprod)
    del _method


_OPERANDS = (SymbolicArray, float, int, complex, list, tuple, Symbol)


def made(elements: Any, dtype: np.dtype[Any]) -> SymbolicArray:
    """A symbolic array of these elements, or of one element that NumPy has taken out of its array of shape ()."""
    if type(elements) is not np.ndarray:
        inside = np.empty((), object)
        inside[()] = elements
        elements = inside
    array: SymbolicArray = _new(SymbolicArray)
    array._elements = elements
    array._dtype = dtype
    return array


def _call(function: Callable[..., Any], array: SymbolicArray, *args: Any, **options: Any) -> SymbolicArray:
    result: SymbolicArray = array.__array_function__(function, (), (array, *args), options)
    return result


def _unary(ufunc: np.ufunc, x: SymbolicArray) -> SymbolicArray:
    result: SymbolicArray = UFUNCS[ufunc](x)
    return result


def _operation(ufunc: np.ufunc, a: Any, b: Any) -> SymbolicArray:
    other = b if type(a) is SymbolicArray else a
    result: Any = NotImplemented  # a stranger may know what to do; x == None is False
    if isinstance(other, _OPERANDS) or hasattr(other, "__array__"):
        result = UFUNCS[ufunc](a, b)
    return result  # type: ignore[no-any-return]


def _binary(ufunc: np.ufunc, operation: Callable[..., Any], a: SymbolicArray, b: Any) -> SymbolicArray:
    """a ∘ b. The usual case, double precision alone, goes straight to the elements; numbers avoid NumPy altogether."""
    if a._dtype is FLOAT64:
        x = a._elements
        if type(b) is SymbolicArray:
            if b._dtype is FLOAT64:
                y = b._elements
                if not x.ndim and not y.ndim:
                    return made(operation(x.item(), y.item()), FLOAT64)
                try:
                    return made(operation(x, y), FLOAT64)
                except MixedTracesError:
                    raise
                except ValueError:
                    misfit(function_name(ufunc), (x.shape, y.shape), "these do not broadcast")
        elif isinstance(b, float | int):
            return made(operation(x if x.ndim else x.item(), float(b)), FLOAT64)
    return _operation(ufunc, a, b)


def _reflected(ufunc: np.ufunc, operation: Callable[..., Any], a: SymbolicArray, b: Any) -> SymbolicArray:
    """b ∘ a."""
    if a._dtype is FLOAT64 and isinstance(b, float | int):
        x = a._elements
        return made(operation(float(b), x if x.ndim else x.item()), FLOAT64)
    return _operation(ufunc, b, a)


def _shapes(args: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    """The shapes of all arrays among arguments, for a message."""
    shapes: list[tuple[int, ...]] = []
    for x in args:
        if isinstance(x, SymbolicArray | np.ndarray):
            shapes.append(x.shape)
        elif isinstance(x, list | tuple) and len(x) <= 20:
            shapes.extend(_shapes(x))
    return tuple(shapes)
