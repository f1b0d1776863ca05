"""Constants of all bodies, looked up in loops: values that all bodies of a kind share stay constants and fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.expr import Index, Memory, Range, Recorder, Scalar, Symbol
from kinetree.tree.rolled.memory import Bodies, Slot, numbers_of, rebuilt

__all__ = ["Columns", "QuantityTable"]


class Columns:
    """The numbers of all quantities, component by component, made once for all traces of a robot."""

    def __init__(self, quantities: Sequence[Any]) -> None:
        self._rows: list[list[Scalar]] = []
        self._forms = []
        whole: dict[int, tuple[Any, list[Scalar]]] = {}
        parts: dict[int, tuple[Any, list[Scalar]]] = {}
        for quantity in quantities:
            known = whole.get(id(quantity))
            if known is None:
                numbers: list[Scalar] = []
                plain = quantity.plain() if hasattr(quantity, "plain") else quantity
                form = _numbers_of(plain, numbers, parts) if plain is quantity else numbers_of(plain, numbers)
                known = whole[id(quantity)] = form, numbers
            self._forms.append(known[0])
            self._rows.append(known[1])
        self._common: dict[frozenset[int], tuple[Any, list[float | None]]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def quantity(self, i: int) -> Any:
        return rebuilt(self._forms[i], self._rows[i])

    def common(self, kinds: frozenset[int], kind_of: Sequence[int]) -> tuple[Any, list[float | None]]:
        """The form of the quantities of these kinds, and each component that is the same constant for all of them."""
        if kinds not in self._common:
            members = [i for i, kind in enumerate(kind_of) if kind in kinds]
            (form,) = {self._forms[i] for i in members}
            columns = zip(*(self._rows[i] for i in members), strict=True)
            constants = [x[0] if x.count(x[0]) == len(x) and isinstance(x[0], float) else None for x in columns]
            self._common[kinds] = form, constants
        return self._common[kinds]

    def column(self, k: int) -> list[Scalar]:
        """Component k of every quantity; zero where it does not exist."""
        return [row[k] if k < len(row) else 0.0 for row in self._rows]


def _numbers_of(quantity: Any, numbers: list[Scalar], parts: dict[int, tuple[Any, list[Scalar]]]) -> Any:
    """As `numbers_of`; parts of tuples that several of them have are looked at once."""
    if type(quantity) is tuple:
        return (tuple, tuple([_numbers_of(part, numbers, parts) for part in quantity]))
    if isinstance(quantity, float | Symbol):
        return numbers_of(quantity, numbers)
    entry = parts.get(id(quantity))
    if entry is None:
        own: list[Scalar] = []
        form = numbers_of(quantity, own)
        entry = parts[id(quantity)] = form, own
    numbers += entry[1]
    return entry[0]


class QuantityTable:
    """`table[i]` as in a list of the quantities, for a number or the current body of a loop."""

    def __init__(
        self,
        recorder: Recorder,
        bodies: Bodies,
        columns: Columns,
        record: str = "bodies",
        varying: frozenset[int] = frozenset(),
    ) -> None:
        """`varying`: kinds for which no component counts as a constant."""
        self._recorder = recorder
        self._bodies = bodies
        self._columns = columns
        self._record = record
        self._varying = varying
        self._arrays: dict[int, Memory] = {}

    def __getitem__(self, i: int | Slot) -> Any:
        if isinstance(i, int):
            return self._columns.quantity(i)
        form, constants = self._columns.common(i.kinds, self._bodies.kind_of)
        if i.kinds <= self._varying:
            constants = [None] * len(constants)
        return rebuilt(form, [self._array(k)[i.index] if x is None else x for k, x in enumerate(constants)])

    def _array(self, k: int) -> Memory:
        if k not in self._arrays:
            self._arrays[k] = self._made(self._columns.column(k))
        return self._arrays[k]

    def _made(self, column: list[Scalar]) -> Memory:
        """A table of constants; or memory, if some of the numbers are symbols of the trace."""
        recorder, count = self._recorder, len(column)
        constants = [0.0 if isinstance(x, Symbol) else x for x in column]
        table = recorder.array("constants", count, constants, record=self._record)
        symbols = [(i, x) for i, x in enumerate(column) if isinstance(x, Symbol)]
        if not symbols:
            return table
        memory = recorder.array("parameters", count, record=self._record)
        # Numbers of a step of time are known in its loop alone.
        with recorder.outside(max((x.graph for _, x in symbols), key=lambda block: len(block.around))):
            with recorder.loop(Range(Index(0), Index(count))) as i:
                memory[i] = table[i]
            for n, x in symbols:
                memory[n] = x
        return memory
