"""The interface of backends: they make functions, or source text, of a program. Each is a room next to this file.

The compiler describes a kernel and asks for its functions; the program itself is traced only when a backend asks for
it, so code that is kept from an earlier process costs no tracing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinetree.codegen.optimization import Optimization, optimization
from kinetree.expr import Port, Program
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.codegen.exchange import Exchange

__all__ = ["HUGE", "Backend", "Batch", "Kernel", "Kernels", "TensorCall"]

HUGE = 1e12
"""Accelerations and inverse inertias from here on are doubtful."""


@record(frozen=True, eq=False)
class Kernel:
    """A program to compile, and the form of its calls."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    """One, if quicker functions than that of batches are needed."""
    dtype: np.dtype[Any]
    quaternions: tuple[tuple[int, int], ...]
    """(input, start) of four numbers that need a direction."""
    program: Callable[[], Program]
    key: Callable[..., bytes | None]
    """A key that depends on the program, the robot and all arguments given; None if something has no known identity."""
    imported: float
    """When kinetree was imported, in seconds since the epoch."""
    most: int
    """The largest batch that is worth computing on one thread."""
    release_from: int
    """The smallest batch that is worth releasing the interpreter's lock for."""
    owner: object
    """The `__self__` of a builtin."""
    subject: str = ""
    """As in `Source`."""
    rows: tuple[int, ...] = ()
    """Inputs with one row per round, if the program is run repeatedly."""
    state: tuple[int, ...] = ()
    """Inputs that the result of a round replaces in the next."""
    optional: range = range(0)
    """Inputs whose last few may be omitted in calls, and are then zero."""
    general: Callable[..., Any] | None = None
    """The function that takes all calls which a quicker one declines; None: no quicker ones."""
    optimize: Callable[[], Optimization] = optimization
    """When its machine code is optimised; asked whenever some has been made."""
    declines_huge: bool = False
    """Whether quicker functions leave results to the general one that have NaN or numbers from `HUGE` on."""


class Batch(NamedTuple):
    """A function of whole batches."""

    call: Callable[..., Any]
    flags: ctypes.Array[ctypes.c_int64] | None
    """[a quaternion was doubtful, do not check], if the kernel checks quaternions; a batch stops at the first one."""


class TensorCall(Protocol):
    """A function of the tensors of a library, in one dtype; it passes other calls to a general one."""

    call: Callable[..., Any]

    def refresh(self) -> None:
        """Use code that has been compiled meanwhile."""

    def then(self, other: Any, /) -> None:
        """Let that of another dtype, with the same owner and general function, try calls that this does not take."""


class Kernels(Protocol):
    """The functions of one kernel; each is made when it is first asked for."""

    quickest: Callable[..., Any] | None
    """The quickest way in so far: it takes the calls it can and passes the rest to `Kernel.general`."""

    bare: Callable[..., Any] | None
    """The result of `single` for a program that is run repeatedly, without checks: `out=` must be given, contiguous and
    apart from the arguments, and warnings are NumPy's."""

    @property
    def optimized(self) -> bool:
        """Whether all code made so far is optimised."""

    def optimize(self) -> None:
        """Have the code made so far optimised, as `Kernel.optimize` says now."""

    def single(self) -> Callable[..., Any] | None:
        """The function of one sample in contiguous arrays, with `out=`; None if this backend has none here."""

    def batch(self) -> Batch:
        """The function of batches, as a NumPy gufunc."""

    def tensor_call(self, exchange: Exchange, owner: object, general: Callable[..., Any]) -> TensorCall | None:
        """The function for tensors, which uses the results of `single` and `batch`; None if it is not possible. `owner`
        keeps its data alive."""

    def text(self) -> str:
        """The source text of the batch's module, to read or to compile elsewhere."""


Backend = Callable[[Kernel], Kernels]
