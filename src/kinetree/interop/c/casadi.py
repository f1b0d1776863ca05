"""A function and its derivatives as CasADi knows them, by the names that `casadi.external` looks for.

NAME is the function. jac_NAME has a matrix for each result and each argument; adj1_NAME the gradients, given weights of
the results; jac_adj1_NAME the matrices of those, which Hessians are made of. Derivatives get the results as arguments
as well; kinetree's do not need them, so they have a pattern without numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from kinetree.codegen.c.casadi import Block, dense, order, zero
from kinetree.expr import Port
from kinetree.interop.node import Node
from kinetree.records import record

__all__ = ["Exported", "with_derivatives"]

Named = tuple[str, Port]


@record(frozen=True, slots=True, eq=False)
class Exported:
    """One function of the file."""

    name: str
    node: Node
    inputs: tuple[Block, ...]
    outputs: tuple[Block, ...]


def with_derivatives(
    name: str, node: Node, inputs: Sequence[Named], outputs: Sequence[Named], count: int
) -> list[Exported]:
    """The function; with `count` 1 its Jacobian; with 2 also gradients and their Jacobian.

    `inputs` and `outputs`: the ports with their names in C.
    """
    own = [dense(c, port.shape, k) for k, (c, port) in enumerate(inputs)]
    found = [Exported(name, node, tuple(own), tuple(dense(c, port.shape, k) for k, (c, port) in enumerate(outputs)))]
    every = range(len(inputs))
    unread = [zero(f"out_{c}", port.shape) for c, port in outputs]
    columns: list[tuple[int | None, Named]] = [*enumerate(inputs)]
    if count >= 1:
        jacobian = node.jacobian(every)
        blocks = _matrices(jacobian, outputs, columns, len(inputs))
        found.append(Exported(f"jac_{name}", jacobian, (*own, *unread), tuple(blocks)))
    if count >= 2:
        reverse = node.reverse(every)
        weights = [(f"adj_{c}", port) for c, port in outputs]
        gradients = [(f"adj_{c}", port) for c, port in inputs]
        given = [dense(c, port.shape, len(inputs) + k) for k, (c, port) in enumerate(weights)]
        results = [dense(c, port.shape, k) for k, (c, port) in enumerate(gradients)]
        found.append(Exported(f"adj1_{name}", reverse, (*own, *unread, *given), tuple(results)))
        jacobian = reverse.jacobian(range(len(reverse.inputs)))
        columns += [(None, (f"out_{c}", port)) for c, port in outputs]
        columns += [*enumerate(weights, len(inputs))]
        blocks = _matrices(jacobian, gradients, columns, len(reverse.inputs))
        more = [zero(f"out_{c}", port.shape) for c, port in gradients]
        found.append(Exported(f"jac_adj1_{name}", jacobian, (*own, *unread, *given, *more), tuple(blocks)))
    return found


def _matrices(
    jacobian: Node, rows: Sequence[Named], columns: Sequence[tuple[int | None, Named]], arguments: int
) -> list[Block]:
    """The matrix of each result by each argument, in this order; `columns` has the numbers of the arguments, None for
    those by which nothing changes."""
    height = sum(port.size for _, port in rows)
    widths = [port.size for port in jacobian.inputs[:arguments]]
    starts = [height * n for n in accumulate(widths, initial=0)]
    firsts = [*accumulate((port.size for _, port in rows), initial=0)]
    results = jacobian.program.results
    blocks = []
    for first, (row_name, row_port) in zip(firsts, rows, strict=False):
        for argument, (column_name, column_port) in columns:
            name, shape = f"jac_{row_name}_{column_name}", (row_port.size, column_port.size)
            if argument is None:
                blocks.append(zero(name, shape))
                continue
            width, nonzeros, places = widths[argument], [], []
            for column, j in enumerate(order(column_port.shape)):
                for row, i in enumerate(order(row_port.shape)):
                    place = starts[argument] + (first + i) * width + j
                    if results is None or results[place] != 0.0 or isinstance(results[place], int):
                        nonzeros.append((column, row))
                        places.append(place)
            blocks.append(Block(name, *shape, tuple(nonzeros), 0, tuple(places)))
    return blocks
