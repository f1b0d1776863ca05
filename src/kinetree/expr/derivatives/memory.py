"""Memory of a reverse derivative: the program's arrays, one of adjoints beside each, and cells for single values."""

from __future__ import annotations

from dataclasses import replace

from kinetree.expr.derivatives.activity import Activity
from kinetree.expr.named import NamedProgram
from kinetree.expr.program import Array, Port

__all__ = ["AdjointMemory"]


class AdjointMemory:
    """Inputs are the program's and the adjoints of its outputs; outputs the other way round."""

    def __init__(self, program: NamedProgram, wrt: tuple[int, ...], activity: Activity, *, outputs: bool) -> None:
        """`outputs`: whether the program's own are given back too; otherwise their arrays are scratch memory."""
        self.inputs = (*program.inputs, *map(_adjoint, program.outputs))
        self.outputs = (*(program.outputs if outputs else ()), *(_adjoint(program.inputs[k]) for k in wrt))
        self.own: list[Array] = []
        """Those that are no ports."""
        n_in = len(program.inputs)
        own_outputs = len(self.inputs)
        first_adjoint = own_outputs + (len(program.outputs) if outputs else 0)
        self.arrays: dict[int, int] = {k: k for k in range(n_in)}
        """By the number of a program's array."""
        self.adjoints: dict[int, int] = {k: first_adjoint + n for n, k in enumerate(wrt)}
        """The same, of those that have an adjoint."""
        for k, port in enumerate(program.outputs, n_in):
            scratch = Array(port.name, port.size, clear=True)
            self.arrays[k] = own_outputs + k - n_in if outputs else self.new(scratch)
            if k in activity.arrays:
                self.adjoints[k] = self.new(replace(scratch, name=f"bar_{port.name}"))
        for k, array in enumerate(program.arrays, program.first_array):
            self.arrays[k] = self.new(array)
            if k in activity.arrays:
                self.adjoints[k] = self.new(replace(array, name=f"bar_{array.name}", clear=True))
        self.cells: dict[int, int] = {}
        """By the name of a value, where in `cell_array` its users in other blocks add to its adjoint."""
        self._cell_array = -1

    @property
    def cell_array(self) -> int:
        if self._cell_array < 0:
            self._cell_array = self.new(Array("cells", 0, clear=True))
        return self._cell_array

    def cell(self, name: int) -> int:
        """The place of a value's cell, now or from now on."""
        return self.cells.setdefault(name, len(self.cells))

    def new(self, array: Array) -> int:
        """The number of one more array."""
        self.own.append(array)
        return len(self.inputs) + len(self.outputs) + len(self.own) - 1

    def resize(self, sizes: dict[int, int]) -> None:
        """Give arrays the sizes that they turned out to have, by number; cells too."""
        if self.cells:
            sizes = {**sizes, self.cell_array: len(self.cells)}
        for k, size in sizes.items():
            own = k - len(self.inputs) - len(self.outputs)
            self.own[own] = replace(self.own[own], size=size)


def _adjoint(port: Port) -> Port:
    return Port(f"bar_{port.name}", port.shape)
