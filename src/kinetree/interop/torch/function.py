"""The result of `kt.interop.to_torch`: a function of PyTorch's tensors.

The operator `kinetree::call`, the form of a call in the graphs of `torch.compile` and `torch.export`.

It computes on the CPU, and knows the shapes of its results without computing. Its derivatives are those of `gradients`,
which calls it, so it has none of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd import forward_ad

from kinetree.codegen.exchange import Exchange, exchange_functions
from kinetree.compiler.compiled import CompiledFunction
from kinetree.errors import KinetreeError
from kinetree.interop.subject import Subject
from kinetree.interop.torch.calls import Call, called
from kinetree.interop.torch.tensors import as_tensor, cast, common_dtype, on_one_device
from kinetree.locks import compiling

if TYPE_CHECKING:
    from kinetree.codegen.backend import TensorCall

__all__ = ["TorchFunction"]

_NAMES = {torch.float32: "float32", torch.float64: "float64"}
_observers = torch._C._len_torch_dispatch_stack  # how many see all operators, to make graphs of them for instance
_transformations = torch._C._are_functorch_transforms_active
_is_traced = torch._C._is_tracing
_is_compiling = torch.compiler.is_dynamo_compiling

_functions = exchange_functions(torch.Tensor)
_EXCHANGE = (
    None
    if _functions is None
    else Exchange(
        functions=_functions,
        types=(torch.Tensor, torch.nn.Parameter),
        tracked="requires_grad",
        recording=torch.is_grad_enabled,
        altered=torch.Tensor.is_neg,
    )
)
"""How machine code reads and makes tensors; None if this PyTorch does not export the functions."""


class TorchFunction:
    """A function of kinetree, or a program, for PyTorch's tensors; `kt.interop.to_torch` makes it."""

    def __init__(self, subject: Subject) -> None:
        self.names: tuple[str, ...] = subject.names
        """The names of its arguments, in order."""
        self.__name__: str = subject.name
        self.__qualname__ = subject.name
        self._subject = subject
        self._compiled = {
            getattr(torch, name): subject.compiled(name)
            for name in ("float32", "float64")
            if subject.dtype in (None, name)
        }
        self._calls: dict[torch.dtype, Call] = {}
        self._in_graph = self._leaves  # one object, which PyTorch knows by its identity
        self._is_taken_whole = _taken_whole(self._in_graph)
        self._builtins: dict[torch.dtype, TensorCall] = {}
        self._is_one = subject.is_one
        is_plain = set(subject.kinds) == {float}
        self._exchange = _EXCHANGE if is_plain else None
        self._quickest: Callable[..., torch.Tensor] = self._by_numpy if is_plain else self._whole

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
        if named or forward_ad._current_level >= 0 or _observers() or _transformations() or _is_traced():
            numbers = self._whole(*arrays, **named)
        else:
            numbers = self._quickest(*arrays)
        return numbers if self._is_one else self._subject.filled(self._parts(numbers))

    def _leaves(self, *given: Any, **named: Any) -> tuple[torch.Tensor, ...]:
        """The arrays of the result."""
        return self._parts(self._whole(*given, **named))

    def _parts(self, whole: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self._subject.leaves(whole, _NAMES[whole.dtype], cast))

    def _by_numpy(self, *arrays: Any) -> torch.Tensor:
        """The result for tensors that NumPy's arrays can stand for as they are, such as large batches; else as
        `_whole`."""
        try:
            dtype = arrays[0].dtype
            compiled = self._compiled[dtype]
            if len(arrays) != len(self.names) or any(x.dtype is not dtype or x.requires_grad for x in arrays):
                return self._whole(*arrays)
            (result,) = _quiet(compiled, *map(torch.Tensor.numpy, arrays))
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, KinetreeError):
            return self._whole(*arrays)  # unsupported and wrong arguments
        self._quicken(dtype)
        return torch.from_numpy(result)

    def _whole(self, *given: Any, **named: Any) -> torch.Tensor:
        """All numbers of the result, of any call."""
        subject = self._subject
        bound = subject.bound(given, named)
        own = {id(x) for x in (*given, *named.values())}
        dtype = self._dtype([x for x, kind in zip(bound, subject.kinds, strict=True) if kind is float and id(x) in own])
        call = self._call(dtype)
        kinds = [  # None: a program has made numbers of NumPy's truth values and whole numbers
            kind if kind is float or subject.dtype is None or isinstance(x, torch.Tensor) else None
            for kind, x in zip(subject.kinds, bound, strict=True)
        ]
        name, rows = subject.name, zip(subject.names, subject.ports, kinds, bound, strict=True)
        tensors = on_one_device(name, subject.names, bound, [as_tensor(name, *row) for row in rows])
        arrays = [x if x.dtype is dtype else x.to(dtype) for x in tensors]
        broadcast = torch.broadcast_shapes if _observers() else np.broadcast_shapes  # for symbols in shapes
        subject.batch_shape(call.node, [tuple(x.shape) for x in arrays], broadcast)
        if _has_derivatives(arrays):
            (numbers,) = differentiable(call, arrays)
        else:
            (numbers,) = computed(call, arrays)
            self._quicken(dtype)
        return numbers

    def _quicken(self, dtype: torch.dtype) -> None:
        """Let calls like those that were computed so far go straight to the machine code from now on."""
        if self._exchange is None:
            return
        with compiling:
            if dtype in self._builtins:
                self._builtins[dtype].refresh()
                return
            made = self._compiled[dtype].tensor_call(self._exchange, self, self._by_numpy)
            if made is None:
                self._exchange = None
                return
            for other in self._builtins.values():
                other.then(made)
            self._builtins[dtype] = made
            self._quickest = next(iter(self._builtins.values())).call

    def _dtype(self, arrays: list[Any]) -> torch.dtype:
        only = self._subject.dtype
        return common_dtype(self.__name__, arrays) if only is None else getattr(torch, only)

    def _call(self, dtype: torch.dtype) -> Call:
        if dtype not in self._calls:
            compiled = self._compiled[dtype]
            node = self._subject.node(compiled.dtype.name)
            self._calls[dtype] = Call(node, lambda *arrays: _quiet(compiled, *arrays))
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


def _quiet(compiled: CompiledFunction, *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The result of a compiled function, without warnings of infinities and NaN, as PyTorch's own give none."""
    with np.errstate(all="ignore"):
        return [np.asarray(compiled.call(*arrays))]


def _has_derivatives(arrays: list[torch.Tensor]) -> bool:
    """Whether results must know where they come from."""
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(x.requires_grad for x in arrays)


def differentiable(call: Call, arrays: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The results of a call with arrays of its dtype, whose leading axes broadcast."""
    results: tuple[torch.Tensor, ...] = _Differentiable.apply(call, *arrays)
    return results


class _Differentiable(torch.autograd.Function):  # type: ignore[misc]
    """A call; its first argument is the call itself."""

    @staticmethod
    def forward(call: Call, *arrays: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(computed(call, arrays))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004
        ctx.call, *arrays = inputs
        ctx.save_for_backward(*arrays)
        ctx.save_for_forward(*arrays)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        arrays = ctx.saved_tensors
        active = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        bars: list[torch.Tensor | None] = [None] * len(arrays)
        results = differentiable(ctx.call.reverse(active), [*arrays, *cotangents])
        for k, result in zip(active, results, strict=True):
            bars[k] = result.sum_to_size(arrays[k].shape)  # the cotangents of what samples share add up
        return None, *bars

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        given = {k: x for k, x in enumerate(tangents[1:]) if x is not None}
        return differentiable(ctx.call.forward(tuple(given)), [*ctx.saved_tensors, *given.values()])

    @staticmethod
    def vmap(
        info: Any,  # noqa: ARG004
        in_dims: tuple[int | None, ...],
        call: Call,
        *arrays: torch.Tensor,
    ) -> tuple[tuple[torch.Tensor, ...], tuple[int, ...]]:
        """The axis that is mapped becomes the first of the batch."""
        cores = [len(port.shape) for port in call.node.inputs]
        pairs = list(zip(arrays, in_dims[1:], cores, strict=True))
        rank = max(x.dim() - (axis is not None) - core for x, axis, core in pairs)
        results = differentiable(call, [_first(x, axis, rank + core + 1) for x, axis, core in pairs])
        return results, (0,) * len(results)


# PyTorch asks for it in each call, and it takes long to find.
_Differentiable.forward.__signature__ = inspect.signature(_Differentiable.forward)  # type: ignore[attr-defined]


def _first(x: torch.Tensor, axis: int | None, rank: int) -> torch.Tensor:
    """The axis first, and then as many of length 1 as the rank needs."""
    if axis is None:
        return x
    x = x.movedim(axis, 0)
    return x[(slice(None), *(None,) * (rank - x.dim()))]


_library = torch.library.Library("kinetree", "FRAGMENT")
_library.define("call(Tensor[] arrays, str program) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
_KINDS = frozenset((torch.Tensor, torch.nn.Parameter))


def computed(call: Call, arrays: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a call, without derivatives; in a graph that is being made, the operator."""
    is_plain = _KINDS.issuperset(map(type, arrays)) and all(x.device.type == "cpu" for x in arrays)
    if is_plain and not torch._C._len_torch_dispatch_stack():
        return _on_cpu(arrays, call)
    results: list[torch.Tensor] = torch.ops.kinetree.call(list(arrays), call.name)
    return results


def _on_cpu(arrays: Sequence[torch.Tensor], call: Call) -> list[torch.Tensor]:
    results = call.computed(*(x.numpy(force=True) for x in arrays))  # detached, with pending negations applied
    return [torch.from_numpy(np.ascontiguousarray(x).reshape(x.shape)) for x in results]


def _named(arrays: Sequence[torch.Tensor], program: str) -> list[torch.Tensor]:
    return _on_cpu(arrays, called(program))


def _shapes(arrays: Sequence[torch.Tensor], program: str) -> list[Any]:
    node = called(program).node
    leading = [x.shape[: x.dim() - len(port.shape)] for x, port in zip(arrays, node.inputs, strict=True)]
    batch = torch.broadcast_shapes(*leading)
    return [arrays[0].new_empty((*batch, *port.shape)) for port in node.outputs]


_library.impl("call", _named, "CPU")
torch.library.register_fake("kinetree::call", _shapes, lib=_library)
