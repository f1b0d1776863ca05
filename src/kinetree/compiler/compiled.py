"""A source compiled for one dtype: a function of NumPy arrays. Usually that is a definition for one robot.

An algorithm sees one sample, slot by slot; a caller sees arrays of shape (…, nq) whose leading axes broadcast. One
sample goes through a builtin made of the one-lane kernel, a small batch in ordinary arrays through one that calls the
kernel of a batch, any other batch through a generalised ufunc, a large one in pieces on several threads.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinetree import expr
from kinetree.announcement import announced, phase
from kinetree.codegen.backend import HUGE, Backend, Kernel, TensorCall
from kinetree.codegen.optimization import Optimization, optimization, strongest
from kinetree.compiler.arguments import Arguments, LeftOut
from kinetree.compiler.batch_pieces import call_in_pieces, most_on_one_thread, worth_splitting
from kinetree.compiler.definition import Array
from kinetree.compiler.foreign import answered_abroad, framework_among
from kinetree.compiler.source import MOST_ARRAYS, Source
from kinetree.compiler.thread_count import thread_count
from kinetree.compiler.tracing import inlined, is_symbolic
from kinetree.errors import OptionError
from kinetree.expr import Port, Program
from kinetree.garbage import collector_paused
from kinetree.locks import compiling

if TYPE_CHECKING:
    from kinetree.codegen.exchange import Exchange

__all__ = ["IMPORTED", "BareFunction", "CompiledFunction", "kernel_of", "seconds_of"]

_SECONDS_A_NUMBER = 2e-9  # of a sample's arguments and result, on one thread; a guess is enough to cut a batch
_WORTH_RELEASING = 5e-6  # seconds of a batch, by that guess, from which the interpreter's lock is released
IMPORTED = time.time()
"""When kinetree was imported, in seconds since the epoch."""
_DOUBTFUL, _UNCHECKED = 0, 1  # the flags of a kernel that checks quaternions (`Batch.flags`)


class BareFunction(Protocol):
    """The type of the functions that `kinetree.compile` and `Program.compile` return: builtins, where possible.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm7")
    >>> def holding(gravity_forces: kt.programs.BareFunction, q: np.ndarray) -> np.ndarray:
    ...     return gravity_forces(q, out=np.empty(robot.nv))
    >>> f = kt.compile(robot, kt.gravity_forces)
    >>> holding(f, robot.neutral()).shape, f(np.zeros((4096, 7)), threads=2).shape
    ((7,), (4096, 7))
    """

    @property
    def __self__(self) -> CompiledFunction:
        """The `CompiledFunction` that it belongs to, with `program`, `dtype` and `optimized`."""

    def __call__(self, *arguments: ArrayLike, out: Array | None = None, threads: int | None = None) -> Array:
        """The result for one sample, or for each of many.

        Args:
            arguments: the arrays of the function that was compiled, in its order, such as q (…, nq), v (…, nv) and tau
                (…, nv) for `kt.aba`, whose leading axes broadcast; then those of the options of `kinetree.compile`,
                such as external forces and parameters.
            out: an array for the result, with its shape and dtype.
            threads: the largest number of threads for a batch; by default as many as make it faster.

        Returns:
            The function's result, (…, *shape of one sample); several results are one array (…, n), in order.

        Raises:
            ShapeError: an array's shape does not fit.
            DTypeError: an array is missing, or contains something other than real numbers.
            ConfigurationError: a quaternion has no direction.
        """


class CompiledFunction:
    """A source compiled for one dtype; call it with arrays.

    Its machine code is compiled, or loaded from the disk, when it is first needed, separately for one sample and for
    batches. `call` is the fastest way to call it.
    """

    def __init__(
        self,
        source: Source,
        dtype: str,
        backend: Backend | None = None,
        general: Callable[..., Any] | None = None,
    ) -> None:
        """`general`: the function for calls that a faster one declines, by default this object itself."""
        source.check()
        self._optimize: Optimization | None = None  # until someone asks
        self.source = source
        self.name: str = source.name
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._output = source.output
        ports, core = source.inputs, self._output.shape
        self.left_out: LeftOut = LeftOut(source, self.dtype)
        """The values of arguments that a call leaves out."""
        self._arguments = Arguments(
            source.name, source.subject, ports, core, self.dtype, source.quaternions, self.left_out,
            getattr(source, "alternatives", ()),
        )  # fmt: skip
        self._rows = source.rows
        self._singular = {
            k: robot
            for k, robot in (source.configurations if source.divides_by_inertia else {}).items()
            if any(kind.can_be_singular for kind in robot.tree.joint[1:])
        }
        self._may_be_single = self._output.size > 0
        self._seconds = seconds_of((*ports, self._output))
        self._program: Program | None = None
        self._batch: Callable[..., Any] | None = None
        self._single: Callable[..., Any] | None = None
        self._flags: ctypes.Array[ctypes.c_int64] | None = None
        self._declined = threading.local()
        self.adapters: dict[str, Callable[..., Any]] = {}
        """Functions for calls with arrays of a framework, by its name."""
        self.asked: tuple[Any, ...] | None = None
        """A function that makes this one again, and its arguments; for pickles."""
        if backend is None:
            from kinetree.codegen.cpu.backend import CpuKernels

            backend = CpuKernels
        self._kernels = backend(
            kernel_of(
                self,
                source,
                (self._output,),
                subject=source.subject,
                rows=self._rows,
                state=source.state,
                optional=source.optional,
                general=general or self.__call__,
                optimize=lambda: self._optimize or optimization(),
                declines_huge=bool(self._singular),
            )
        )
        self._set_call(self.__call__)

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self._arguments.ports)
        return f"<{self.name}({ports}) compiled for {self.source.subject}, {self.dtype}>"

    @property
    def arrays(self) -> int:
        """The number of arrays that a call takes."""
        return len(self._arguments.ports)

    @property
    def __self__(self) -> CompiledFunction:
        """Itself, as for a builtin made for it."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """The request to `kinetree.compile`, which is repeated where it is unpickled."""
        if self.asked is None:
            raise TypeError(f"{self!r} cannot be pickled, because kinetree.compile did not make it")
        again, *asked = self.asked
        return again, (*asked,)

    def _set_call(self, call: Any) -> None:
        """Python pickles a builtin by its `__self__` and its name, so it must be found under that name here."""
        self.call: BareFunction = call
        vars(self)[self.name] = call

    @property
    def program(self) -> Program:
        """The program that is compiled, to read and to count. It is traced when it is first read, if not before."""
        if self.arrays >= MOST_ARRAYS:  # inside another program there may be more
            raise OptionError(
                f"{self.name} takes {self.arrays} arrays; a compiled function takes at most {MOST_ARRAYS - 1}: join "
                "some of them, or name fewer parameters and external forces"
            )
        with compiling:
            if self._program is None:
                with announced(self.name, self.source.subject), collector_paused():
                    with phase("recording"):
                        program = self.source.program()
                    with phase("lowering"):
                        self._program = expr.without_slopes(program)
            return self._program

    @property
    def optimized(self) -> bool:
        """Whether its machine code has been optimised; until then it gives the same results in about twice the time."""
        return self._kernels.optimized

    def optimize(self, when: Optimization) -> None:
        """Request that its machine code is optimised at this time, or earlier, if an earlier request says so."""
        with compiling:
            self._optimize = strongest(self._optimize or when, when)
            self._kernels.optimize()

    def prepare(self) -> BareFunction:
        """Compile it now for one sample, or load its machine code from the disk; return the fastest function for it."""
        if self._output.size and not self._has_single():
            self._batch_function()
        return self.call

    def tensor_call(self, exchange: Exchange, owner: object, general: Callable[..., Any]) -> TensorCall | None:
        """A function of the tensors of a library, by what has been compiled so far; `general` has all other calls.

        None if there can be none. `owner` keeps alive what it needs.
        """
        if not self._output.size or self._arguments.alternatives:  # no kernel looks at these
            return None
        return self._kernels.tensor_call(exchange, owner, general)

    def unchecked(self) -> Callable[..., Any]:
        """A function of one sample for callers who know that their arrays fit, and who call it often.

        All arrays must be contiguous and of the dtype, with quaternions that have a direction; `out=` must be given,
        and apart from them. Floating-point warnings are NumPy's.
        """
        if self._has_single() and self._kernels.bare is not None:
            return self._kernels.bare
        return self.call

    def __call__(self, *arguments: ArrayLike, out: Array | None = None, threads: int | None = None) -> Array:
        """Arguments in the order of the public function, then external forces, then parameters; each (…, n)."""
        if threads is not None:
            thread_count(threads)  # reports its fault
        if len(arguments) < self.arrays:
            filled = self.left_out.filled(arguments)
            if threads is None and filled is not arguments:
                return self.call(*filled, out=out)
            arguments = tuple(filled)
        expected = self._expected(arguments)
        if is_symbolic(arguments):
            inside: Array = inlined(self.source, expected, arguments, out)
            return inside
        if (framework := framework_among(arguments)) is not None:
            abroad: Array = answered_abroad(framework, self, arguments, out, threads)
            return abroad
        arrays = expected.prepared(arguments, out)
        if not self._output.size:
            expected.check_quaternions(arrays)
            shape = *expected.batch_shape(arrays), *expected.core
            return np.empty(shape, self.dtype) if out is None else out
        if self._is_one_sample(arrays) and not hasattr(self._declined, "now") and self._has_single():
            assert self._single is not None
            expected.check_quaternions(arrays)
            self._declined.now = True  # what it does not take comes here again
            try:
                result: Array = self._single(*(np.asarray(x, order="C") for x in arrays), out=out)
            finally:
                del self._declined.now
            if self._singular:
                self._is_answered(expected, arrays, result)
            return result
        if self._rows and (self._batch is None or self._single is not None):
            shape = expected.batch_shape(arrays)
            if shape and math.prod(shape) == 1 and self._has_single():
                return self._by_itself(expected, arrays, shape, out)
        if self._batch is None:
            self._batch_function()
        if self._singular:
            if out is not None:
                arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                result = self._checked_batch(expected, arrays, out, threads)
            if self._is_answered(expected, arrays, result):
                return result
        return self._checked_batch(expected, arrays, out, threads)  # which warns as NumPy does

    def _is_answered(self, expected: Arguments, arrays: Sequence[Array], result: Array) -> bool:
        """Whether all numbers are finite. Raises if singular coordinates of a joint make some NaN, or huge (`HUGE`)."""
        moderate = np.abs(result) < HUGE
        if moderate.all():
            return True
        expected.check_singularities(arrays, ~moderate, self._singular)
        return bool(np.isfinite(result).all())

    def _checked_batch(
        self, expected: Arguments, arrays: Sequence[Array], out: Array | None, threads: int | None
    ) -> Array:
        """A batch whose quaternions have a direction, or the error that says which has none."""
        if self._flags is None:  # no quaternions, or no kernel that looks at them
            expected.check_quaternions(arrays)
            return self._in_batch(expected, arrays, out, threads)
        if out is not None:  # what a kernel leaves undone must still find its arguments
            arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
        if not self._flags[_DOUBTFUL]:
            result = self._in_batch(expected, arrays, out, threads)
            if not self._flags[_DOUBTFUL]:
                return result
        # Some quaternion was doubtful, here or in an earlier call: from now on all are checked before the kernel runs.
        expected.check_quaternions(arrays)
        self._flags[_UNCHECKED] = 1
        return self._in_batch(expected, arrays, out, threads)

    def _expected(self, arguments: Sequence[ArrayLike]) -> Arguments:
        """The arguments that a call needs; if calls have their own number of steps, the first with rows decides."""
        if not self._rows:
            return self._arguments
        return self._arguments.repeated(self._rows, np.shape(arguments[self._rows[0]])[-2])

    def _in_batch(self, expected: Arguments, arrays: Sequence[Array], out: Array | None, threads: int | None) -> Array:
        """Call the function of batches, on several threads if that is worth it."""
        batch = self._batch
        assert batch is not None
        ports, core, seconds = expected.ports, expected.core, self._seconds
        if self._rows:
            seconds = _SECONDS_A_NUMBER * expected.numbers
        samples = max(
            x.size // port.size if port.size else math.prod(x.shape[: x.ndim - rank])
            for x, port, rank in zip(arrays, ports, expected.ranks, strict=True)
        )
        result: Array
        try:
            if threads != 1 and worth_splitting(samples, seconds):
                result = call_in_pieces(batch, arrays, out, expected.ranks, core, self.dtype, seconds, threads)
            else:
                result = batch(*arrays, out=out)
        except ValueError:
            expected.batch_shape(arrays)
            raise
        return result

    def _by_itself(
        self, expected: Arguments, arrays: Sequence[Array], shape: tuple[int, ...], out: Array | None
    ) -> Array:
        """The result of a program that runs repeatedly, for a batch of one sample: a group would take twice as long.

        It warns as NumPy does for other batches. A batch that has code already needs no other.
        """
        expected.check_quaternions(arrays)
        assert self._kernels.bare is not None
        samples = [x.reshape(x.shape[x.ndim - n :]) for x, n in zip(arrays, expected.ranks, strict=True)]
        flat: Array = self._kernels.bare(*(np.asarray(x, order="C") for x in samples))
        result = flat.reshape(*shape, *expected.core)
        if self._singular:
            self._is_answered(expected, arrays, result)
        if out is None:
            return result
        out[...] = result
        return out

    def _is_one_sample(self, arrays: Sequence[Array]) -> bool:
        return all(x.ndim == rank for x, rank in zip(arrays, self._arguments.ranks, strict=True))

    def _has_single(self) -> bool:
        """Whether there is a builtin for one sample; it is made if it can be."""
        if self._single is None and self._may_be_single:
            with compiling:
                if self._single is None:
                    self._single = self._kernels.single()
                    self._may_be_single = self._single is not None
                    self._quicken()
        return self._single is not None

    def _batch_function(self) -> Callable[..., Any]:
        """The function of batches: a gufunc."""
        with compiling:
            if self._batch is None:
                self._batch, self._flags = self._kernels.batch()
                self._quicken()
            return self._batch

    def _quicken(self) -> None:
        if self._kernels.quickest is not None and not self._arguments.alternatives:
            self._set_call(self._kernels.quickest)

    @property
    def text(self) -> str:
        """The source text of the module for batches, in the backend's language."""
        return self._kernels.text()


def seconds_of(ports: Sequence[Port]) -> float:
    """About how long a sample of these arguments and results takes on one thread."""
    return _SECONDS_A_NUMBER * max(sum(port.size for port in ports), 1)


def kernel_of(function: Any, source: Any, outputs: tuple[Port, ...], **more: Any) -> Kernel:
    """The kernel of a function in one dtype, whose inputs, quaternions and key are those of `source`."""
    seconds, dtype = seconds_of((*source.inputs, *outputs)), function.dtype
    return Kernel(
        function.name,
        source.inputs,
        outputs,
        dtype,
        quaternions=tuple((k, x.start) for k, found in source.quaternions for x in found.values()),
        program=lambda: function.program,
        key=lambda *added: source.key(*added, dtype.name),
        imported=IMPORTED,
        most=most_on_one_thread(seconds),
        release_from=math.ceil(_WORTH_RELEASING / seconds),
        owner=function,
        **more,
    )
