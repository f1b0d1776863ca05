"""The result of `kt.interop.to_jax`: a function of JAX's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetree.errors import DTypeError
from kinetree.inputs import framework_of, real_array, sample_shape
from kinetree.interop.jax.calls import Call, common_dtype
from kinetree.interop.jax.primitive import call_with
from kinetree.interop.subject import Subject

__all__ = ["JaxFunction"]

_TAKEN: dict[type | None, str] = {None: "real numbers", float: "real numbers", int: "whole numbers", bool: "booleans"}


class JaxFunction:
    """A function of kinetree, or a program, for JAX's arrays; `kt.interop.to_jax` makes it."""

    def __init__(self, subject: Subject) -> None:
        self.names: tuple[str, ...] = subject.names
        """The names of its arguments, in order."""
        self.__name__: str = subject.name
        self.__qualname__ = subject.name
        self._subject = subject
        self._calls: dict[str, Call] = {}
        self._leaves = jax.jit(self._computed, inline=True)

    def __repr__(self) -> str:
        shapes = [
            f"{name}[{', '.join(map(str, port.shape))}]"
            for name, port in zip(self.names, self._subject.ports, strict=True)
        ]
        return f"<{self.__name__}({', '.join(shapes)}) of {self._subject.source.subject} for JAX>"

    def __call__(self, /, *arrays: Any, **named: Any) -> Any:
        """Arrays (…, n) by position or by name, whose leading axes broadcast."""
        if self._subject.dtype is not None:
            self._check_kinds(arrays)
        try:
            leaves = self._leaves(*arrays, **named)
        except TypeError:
            self._check_origin([*arrays, *named.values()])
            raise
        return self._subject.filled(leaves)

    def _check_kinds(self, given: Sequence[Any]) -> None:
        """Raise `DTypeError` for arrays of JAX in place of truth values or whole numbers; those of NumPy are numbers
        already."""
        for name, port, kind, x in zip(self.names, self._subject.ports, self._subject.kinds, given, strict=False):
            if kind is not float and framework_of(x) is not None:
                self._array(name, port, kind, x)

    def _check_origin(self, given: Sequence[Any]) -> None:
        """Raise `DTypeError` for an array of another framework, which JAX calls no array."""
        for x in given:
            if framework_of(x) not in (None, "jax"):
                real_array(f"{self.__name__}: an argument", x, "(…, n)")

    def _computed(self, *given: Any, **named: Any) -> tuple[Any, ...]:
        """The arrays of the result."""
        subject = self._subject
        bound = subject.bound(given, named)
        own = {id(x) for x in (*given, *named.values())}
        kinds = [kind if kind is float or subject.dtype is None else None for kind in subject.kinds]  # None: as numbers
        arrays = [self._array(*x) for x in zip(subject.names, subject.ports, kinds, bound, strict=True)]
        dtype = self._dtype([x for x, kind in zip(bound, subject.kinds, strict=True) if kind is float and id(x) in own])
        call = self._call(dtype.name)
        subject.batch_shape(call.node, [x.shape for x in arrays], jnp.broadcast_shapes)
        (numbers,) = call_with([x.astype(dtype) for x in arrays], call)
        return tuple(subject.leaves(numbers, dtype.name, lambda x, its: x.astype(jax.dtypes.canonicalize_dtype(its))))

    def _call(self, dtype: str) -> Call:
        if dtype not in self._calls:
            self._calls[dtype] = Call(self._subject.node(dtype))
        return self._calls[dtype]

    def _array(self, name: str, port: Any, kind: type[int] | type[float] | None, x: Any) -> Any:
        shape = sample_shape(port.shape)
        expected = f"{self.__name__}: {name} must be an array of {_TAKEN[kind]} of shape {shape}"
        try:
            array = jnp.asarray(x)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"{expected}: {error}") from None
        is_whole, is_truth = jnp.issubdtype(array.dtype, jnp.integer), array.dtype == jnp.bool_
        is_real = jnp.issubdtype(array.dtype, jnp.floating) or is_whole
        fits: dict[type | None, bool] = {float: is_real, int: is_whole, bool: is_truth, None: is_real or is_truth}
        if not fits[kind]:
            raise DTypeError(f"{expected}, not of dtype {array.dtype}")
        return array

    def _dtype(self, arrays: Sequence[Any]) -> np.dtype[Any]:
        """The dtype of the computation: float32 or float64."""
        if self._subject.dtype is not None:
            only = np.dtype(self._subject.dtype)
            if jax.dtypes.canonicalize_dtype(only) != only:
                raise DTypeError(
                    f"{self.__name__}: these arrays need double precision, which JAX has after "
                    'jax.config.update("jax_enable_x64", True); for single precision give float32 arrays alone'
                )
            return only
        return common_dtype(self.__name__, arrays)
