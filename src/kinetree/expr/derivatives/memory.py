"""Memory of a reverse derivative: the program's arrays, their arrays of adjoints, and cells for single values."""

from __future__ import annotations

from dataclasses import replace

from kinetree.expr.derivatives.activity import Activity
from kinetree.expr.program import Array, Port, Program

__all__ = ["AdjointMemory"]


class AdjointMemory:
    """Inputs are the program's and its outputs' adjoints; outputs are the program's and its inputs' adjoints."""

    def __init__(self, program: Program, wrt: tuple[int, ...], activity: Activity, *, outputs: bool) -> None:
        """`outputs`: whether the program's own outputs are returned too; otherwise their arrays are scratch memory."""
        self.inputs: tuple[Port, ...] = (*program.inputs, *map(_adjoint, program.outputs))
        own = program.outputs if outputs else ()
        self.outputs: tuple[Port, ...] = (*own, *(_adjoint(program.inputs[k]) for k in wrt))
        self.own: list[Array] = []
        """The arrays that are not ports."""
        n_in = len(program.inputs)
        own_outputs = len(self.inputs)
        first_adjoint = own_outputs + (len(program.outputs) if outputs else 0)
        self.arrays: dict[int, int] = {k: k for k in range(n_in)}
        """The new numbers of the program's arrays."""
        self.adjoints: dict[int, int] = {k: first_adjoint + n for n, k in enumerate(wrt)}
        """The numbers of the adjoints of the program's arrays, where they have one."""
        for k, port in enumerate(program.outputs, n_in):
            scratch = Array(port.name, port.size, clear=True, is_scratch=True)
            self.arrays[k] = own_outputs + k - n_in if outputs else self.new(scratch)
            if k in activity.arrays:
                self.adjoints[k] = self.new(replace(scratch, name=f"bar_{port.name}"))
        for k, array in enumerate(program.arrays, program.first_array):
            self.arrays[k] = self.new(array)
            if k in activity.arrays:
                self.adjoints[k] = self.new(replace(array, name=f"bar_{array.name}", clear=True, is_scratch=True))
        self.cells: dict[int, int] = {}
        """The places in `cell_array`, by name of a value, where users in other blocks add to its adjoint."""
        self._cell_array = -1

    @property
    def cell_array(self) -> int:
        if self._cell_array < 0:
            self._cell_array = self.new(Array("cells", 0, clear=True, is_scratch=True))
        return self._cell_array

    def cell(self, name: int) -> int:
        """The place of a value's cell, which is made if it does not exist yet."""
        return self.cells.setdefault(name, len(self.cells))

    def new(self, array: Array) -> int:
        """Add an array and return its number."""
        self.own.append(array)
        return len(self.inputs) + len(self.outputs) + len(self.own) - 1

    def resize(self, sizes: dict[int, int]) -> None:
        """Set the final sizes of arrays, by number, and of the cells."""
        if self.cells:
            sizes = {**sizes, self.cell_array: len(self.cells)}
        for k, size in sizes.items():
            own = k - len(self.inputs) - len(self.outputs)
            self.own[own] = replace(self.own[own], size=size)


def _adjoint(port: Port) -> Port:
    return Port(f"bar_{port.name}", port.shape)
