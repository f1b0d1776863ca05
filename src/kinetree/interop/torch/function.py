"""The result of `kt.to_torch`: a function of PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.autograd import forward_ad

from kinetree.interop.subject import Subject
from kinetree.interop.torch.calls import Call
from kinetree.interop.torch.gradients import differentiable
from kinetree.interop.torch.operator import computed
from kinetree.interop.torch.tensors import as_tensor, common_dtype

__all__ = ["TorchFunction"]

_Array, _F32, _F64 = np.ndarray, torch.float32, torch.float64
_NAMES = {_F32: "float32", _F64: "float64"}
_as_array, _as_tensor = torch.Tensor.numpy, torch.from_numpy
_observers = torch._C._len_torch_dispatch_stack  # how many see all operators, to make graphs of them for instance
_is_compiling = torch.compiler.is_dynamo_compiling


class TorchFunction:
    """A function of kinetree, or a program, for PyTorch's tensors; `kt.to_torch` makes it."""

    def __init__(self, subject: Subject) -> None:
        self.names = subject.names
        """The names of its arguments, in order."""
        self.__name__ = self.__qualname__ = subject.name
        self._subject = subject
        self._compiled = {
            getattr(torch, name): subject.compiled(name)
            for name in ("float32", "float64")
            if subject.dtype in (None, name)
        }
        self._calls: dict[torch.dtype, Call] = {}
        self._in_graph = self._leaves  # one object, which PyTorch knows by its identity
        self._is_taken_whole = _taken_whole(self._in_graph)
        is_plain = set(subject.kinds) == {float} and subject.is_one
        self._quick_count = len(self.names) if is_plain else -1
        self._single, self._double = (self._compiled.get(dtype) for dtype in (torch.float32, torch.float64))

    def __repr__(self) -> str:
        shapes = [
            f"{name}[{', '.join(map(str, port.shape))}]"
            for name, port in zip(self.names, self._subject.ports, strict=True)
        ]
        return f"<{self.__name__}({', '.join(shapes)}) of {self._subject.source.subject} for PyTorch>"

    def __reduce__(self) -> tuple[Any, ...]:
        return TorchFunction, (self._subject,)

    def __deepcopy__(self, memo: object) -> TorchFunction:
        return self

    def __call__(self, /, *arrays: Any, **named: Any) -> Any:
        """Tensors (…, n) by position or by name, whose leading axes broadcast."""
        if _is_compiling():
            self._is_taken_whole()
            return self._subject.filled(self._in_graph(*arrays, **named))
        if not named and len(arrays) == self._quick_count and forward_ad._current_level < 0 and not _observers():
            try:
                if arrays[0].requires_grad or arrays[-1].requires_grad:  # sooner than by an error, which takes 40 µs
                    compiled = None
                elif arrays[0].dtype is _F64:
                    compiled = self._double
                else:
                    compiled = self._single if all(x.dtype is _F32 for x in arrays) else None
                if compiled is not None:
                    found = compiled.call(*map(_as_array, arrays))
                    return _as_tensor(found if type(found) is _Array else np.asarray(found))
            except (AttributeError, RuntimeError, TypeError):  # not a tensor, or one that is differentiated or mapped
                pass
        return self._subject.filled(self._leaves(*arrays, **named))

    def _leaves(self, *given: Any, **named: Any) -> tuple[torch.Tensor, ...]:
        """The arrays of the result."""
        subject = self._subject
        bound = subject.bound(given, named)
        own = {id(x) for x in (*given, *named.values())}
        dtype = self._dtype([x for x, kind in zip(bound, subject.kinds, strict=True) if kind is float and id(x) in own])
        call = self._call(dtype)
        kinds = subject.kinds if subject.dtype is None else (None,) * len(bound)  # of one that is compiled: unknown
        name, rows = subject.name, zip(subject.names, subject.ports, kinds, bound, strict=True)
        arrays = [x if x.dtype is dtype else x.to(dtype) for x in (as_tensor(name, *row) for row in rows)]
        broadcast = torch.broadcast_shapes if _observers() else np.broadcast_shapes  # for symbols in shapes
        subject.batch_shape(call.node, [tuple(x.shape) for x in arrays], broadcast)
        (whole,) = differentiable(call, arrays) if _has_derivatives(arrays) else computed(call, arrays)
        return tuple(subject.leaves(whole, _NAMES[dtype], _cast))

    def _dtype(self, arrays: list[Any]) -> torch.dtype:
        only = self._subject.dtype
        return common_dtype(self.__name__, arrays) if only is None else getattr(torch, only)

    def _call(self, dtype: torch.dtype) -> Call:
        if dtype not in self._calls:
            compiled = self._compiled[dtype]
            node = self._subject.node(compiled.dtype.name)
            self._calls[dtype] = Call(node, lambda *arrays: [np.asarray(compiled.call(*arrays))])
        return self._calls[dtype]


def _taken_whole(function: Callable[..., Any]) -> Callable[[], bool]:
    """A function that `torch.compile` calls while it makes a graph with a call of this one, to learn that it is not to
    look inside.

    `torch.compiler.assume_constant_result` would mark it too, but imports torch._dynamo, which takes two seconds; so
    does `allow_in_graph`, which is therefore called no earlier.
    """

    def announce() -> bool:
        torch.compiler.allow_in_graph(function)
        return True

    announce._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return announce


def _has_derivatives(arrays: list[torch.Tensor]) -> bool:
    """Whether results must know where they come from."""
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(x.requires_grad for x in arrays)


def _cast(x: torch.Tensor, dtype: np.dtype[Any]) -> torch.Tensor:
    return x.to(getattr(torch, dtype.name))
