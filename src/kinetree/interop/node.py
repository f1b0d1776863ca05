"""Nodes, which frameworks call: a program in one dtype, and its derivatives, which are nodes again.

Derivatives are those that frameworks ask for: by the numbers of each input, so by those of q (nq), not by displacements
as `kt.jvp` and `kt.vjp`. Forward, a node is linear in the tangents that follow its inputs; in reverse, in the
cotangents of its outputs. Either can be differentiated again, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.announcement import announced, phase
from kinetree.codegen.backend import Kernel
from kinetree.compiler.compiled import kernel_of, seconds_of
from kinetree.compiler.derived_source import Derivation
from kinetree.compiler.source import Source
from kinetree.compiler.specialization import program_to_differentiate
from kinetree.expr import Joined, Port, Program, forward_derivative, reverse_derivative, with_outputs, without_slopes
from kinetree.locks import compiling
from kinetree.model import Model
from kinetree.model.fingerprint import digest

if TYPE_CHECKING:
    from kinetree.codegen.cpu.backend import CpuKernels
    from kinetree.codegen.ptx.backend import PtxKernel

__all__ = ["Node"]

Key = Callable[..., bytes | None]


class Node:
    """A function of arrays of one dtype; `program` is traced when it is first read."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        dtype: str,
        program: Callable[[], Program],
        key: Key,
        quaternions: Sequence[tuple[int, Mapping[str, slice]]] = (),
        to_differentiate: Callable[[], Program] | None = None,
    ) -> None:
        """`program` may have marks for derivatives (`without_slopes`); `key` is as that of a `Source`;
        `to_differentiate`: the program that derivatives are made from, if it is another one."""
        self.name = name
        self.inputs: tuple[Port, ...] = tuple(inputs)
        self.outputs: tuple[Port, ...] = tuple(outputs)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.quaternions: tuple[tuple[int, Mapping[str, slice]], ...] = tuple(quaternions)
        """The inputs that hold quaternions, by number, and the slices of them."""
        self.key = key
        self._marked = program
        self._to_differentiate = to_differentiate
        self._derivatives: dict[tuple[str, tuple[int, ...]], Node] = {}

    @classmethod
    def of(cls, source: Source, dtype: str) -> Node:
        """The node of anything that is compiled, with a single output."""
        return cls(
            source.name, source.inputs, [source.output], dtype, source.program, source.key, source.quaternions,
            partial(program_to_differentiate, source),
        )  # fmt: skip

    def __repr__(self) -> str:
        ports, results = (", ".join(f"{p.name}{list(p.shape)}" for p in x) for x in (self.inputs, self.outputs))
        return f"<{self.name}({ports}) -> {results}, {self.dtype}>"

    @cached_property
    def marked_program(self) -> Program:
        """The program with its marks for derivatives."""
        with compiling, announced(self.name), phase("recording"):
            return self._marked()

    @cached_property
    def program(self) -> Program:
        """The program that is compiled."""
        marked = self.marked_program
        with phase("lowering"):
            return without_slopes(marked)

    @cached_property
    def _differentiated(self) -> Program:
        """The program that derivatives are made from."""
        with compiling:
            return (self._to_differentiate or self._marked)()

    @cached_property
    def fingerprint(self) -> str:
        """A name for its computation, the same in every process; frameworks know it by that."""
        key = self.key(self.dtype.name) or digest(self.program, self.dtype.name)
        assert key is not None
        return key.hex()

    @cached_property
    def seconds(self) -> float:
        """How long a sample takes on one thread; a guess, which is enough to cut a batch."""
        return seconds_of((*self.inputs, *self.outputs))

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel to compile, for any processor."""
        return kernel_of(self, self, self.outputs)

    @cached_property
    def kernels(self) -> CpuKernels:
        """Its functions on this processor: `batch` makes a gufunc of several outputs, `batch_code` its callee."""
        from kinetree.codegen.cpu.backend import CpuKernels

        return CpuKernels(self.kernel)

    @cached_property
    def ptx(self) -> PtxKernel:
        """Its kernel for NVIDIA's graphics processors."""
        from kinetree.codegen.ptx.backend import PtxKernel

        return PtxKernel(self.kernel)

    def forward(self, wrt: Sequence[int]) -> Node:
        """The tangents of its outputs, from its inputs and then the tangents of the inputs `wrt`."""
        return self._derivative("forward", tuple(wrt))

    def reverse(self, wrt: Sequence[int]) -> Node:
        """The cotangents of its inputs `wrt`, from its inputs and then the cotangents of its outputs."""
        return self._derivative("reverse", tuple(wrt))

    def jacobian(self, wrt: Sequence[int]) -> Node:
        """The matrices of derivatives by the inputs `wrt`, one after another in one output (n,).

        Each is stored row by row, with one row for each number of all outputs and one column for each of the input.
        """
        return self._derivative("jacobian", tuple(wrt))

    def _derivative(self, direction: str, wrt: tuple[int, ...]) -> Node:
        with compiling:
            if (direction, wrt) not in self._derivatives:
                self._derivatives[direction, wrt] = self._made(direction, wrt)
            return self._derivatives[direction, wrt]

    def _made(self, direction: str, wrt: tuple[int, ...]) -> Node:
        by, own = [self.inputs[k] for k in wrt], [*self.outputs]
        prefix = {"forward": "d_", "reverse": "bar_", "jacobian": "jac_"}[direction]
        name = f"{prefix}{self.name}"
        more, outputs = (by, own) if direction == "forward" else (own, by)
        more, outputs = ([Port(f"{prefix}{port.name}", port.shape) for port in x] for x in (more, outputs))
        if direction == "jacobian":
            more, outputs = [], [Port(name, (sum(port.size for port in own) * sum(port.size for port in by),))]

        def program() -> Program:
            if direction == "jacobian":
                return jacobian_program(self._differentiated, wrt)
            differentiated = forward_derivative if direction == "forward" else reverse_derivative
            derived = differentiated(self._differentiated, wrt)
            return with_outputs(derived, range(len(self.outputs), len(derived.outputs)))

        def key(*added: object) -> bytes | None:
            return self.key(*added, direction, wrt)

        return Node(name, [*self.inputs, *more], outputs, self.dtype.name, program, key, self.quaternions)


class _Numbers(NamedTuple):
    """The ports of a program, all of whose inputs are plain numbers."""

    inputs: tuple[Port, ...]
    names: tuple[str, ...]
    output: Port
    configurations: Mapping[int, Model] = {}


def jacobian_program(program: Program, wrt: Sequence[int]) -> Program:
    """The matrices by the inputs `wrt`, one after another in one output; each has one row per number of all outputs.

    >>> from kinetree.expr import interpret, trace
    >>> product = trace(lambda x, y: [[x[0] * y[0], y[0]]], [Port("x", (1,)), Port("y", (1,))], [Port("z", (2,))], "f")
    >>> interpret(jacobian_program(product, [0, 1]), [3.0], [5.0])
    ([5.0, 0.0, 3.0, 1.0],)
    """
    joined = _with_one_output(program)
    names = tuple(port.name for port in program.inputs)
    of, by = _Numbers(program.inputs, names, joined.outputs[0]), tuple(names[k] for k in wrt)
    matrices = Derivation(f"jac_{program.name}", of, "jacobian", by).derivative_of(joined)
    (output,) = matrices.outputs
    return replace(matrices, outputs=(Port(output.name, (output.size,)),))


def _with_one_output(program: Program) -> Program:
    """The numbers of all outputs in one."""
    all_outputs = Port(program.name, (program.output_size,))
    if program.results is not None or len(program.outputs) == 1:
        return replace(program, outputs=(all_outputs,))
    joined, places = Joined(program.name, program.inputs, [all_outputs]), []
    (at,) = joined.outputs
    for port in program.outputs:
        places.append(at)
        at += port.size
    joined.run(program, joined.inputs, places)
    return joined.program()
