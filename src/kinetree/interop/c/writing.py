"""From a node to the texts of C.

A function and its derivatives as CasADi knows them, by the names that `casadi.external` looks for.

NAME is the function. jac_NAME has a matrix for each result and each argument; adj1_NAME the gradients, given weights of
the results; jac_adj1_NAME the matrices of those, which Hessians are made of. Derivatives get the results as arguments
as well; kinetree's do not need them, so they have a pattern without numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import accumulate
from typing import Any

import numpy as np

from kinetree.codegen.c.casadi import HEADER, Block, casadi_function, dense, order, zero
from kinetree.codegen.c.function import FunctionWriter
from kinetree.codegen.c.names import identifier
from kinetree.codegen.c.real import REALS, Real
from kinetree.codegen.c.self_test import self_test
from kinetree.codegen.c.unit import length_name, texts
from kinetree.expr import Port, in_pieces, interpret
from kinetree.interop.c.source import CSource
from kinetree.interop.node import Node
from kinetree.interop.subject import Subject
from kinetree.records import record

__all__ = ["casadi_source", "plain_source"]

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_SAMPLES = 3
"""How many samples a self-test has."""
_WITHIN = {"float64": 1e-10, "float32": 2e-4}
"""How far results of the self-test may be off."""
_LONG, _PIECE = 10_000, 4_000
"""Statements of a line from which on it is cut, since C compilers take more than twice as long for twice as many."""


def plain_source(subject: Subject, node: Node, name: str) -> CSource:
    """A function of arrays."""
    ports = _named_ports(node, name)
    function, real = _function(node, name, ports), REALS[node.dtype.name]
    about = _about(subject, node, ports)
    source, header = texts(
        name, [function], real, about, [_identity(name, node), *_initialisers(subject, name, ports, real)]
    )
    given, expected = _samples(subject, node, ports)
    test = self_test(name, name, real, given, expected, _WITHIN[node.dtype.name], function.memory)
    return _made(node, name, ports, source, header, test, function.memory)


def casadi_source(subject: Subject, node: Node, name: str, derivatives: int) -> CSource:
    """A function that CasADi calls, with its derivatives."""
    ports, real, inputs = _named_ports(node, name), REALS[node.dtype.name], len(node.inputs)
    functions, wrappers, lengths = [], [], []
    for one in with_derivatives(name, node, ports[:inputs], ports[inputs:], derivatives):
        plain = _function(one.node, f"{one.name}_x", _named_ports(one.node, name))
        text, declared, memory = casadi_function(one.name, plain, one.inputs, one.outputs)
        functions.append(plain)
        wrappers.append((text, declared))
        lengths.append(memory)
    about = _about(subject, node, ports)
    about[-2] = "By CasADi's convention: numbers of matrices column by column, without those that are always zero."
    constants = [
        _identity(name, node),
        HEADER,
        f"#define {length_name(name)} {lengths[0]} /* numbers of working memory */",
    ]
    source, header = texts(name, functions, real, about, constants, wrappers)
    given, expected = _samples(subject, node, ports, in_columns=True)
    test = self_test(name, name, real, given, expected, _WITHIN[node.dtype.name], lengths[0], as_casadi=True)
    return _made(node, name, ports, source, header, test, lengths[0])


def _named_ports(node: Node, name: str) -> list[tuple[str, Port]]:
    """The ports and their names in C, in a function that is called `name`."""
    found: dict[str, Port] = {}
    for port in (*node.inputs, *node.outputs):
        called = "result" if identifier(port.name) == name else port.name
        found[identifier(called, {name, *found})] = port
    return [*found.items()]


def _function(node: Node, name: str, ports: Sequence[tuple[str, Port]]) -> FunctionWriter:
    return FunctionWriter(in_pieces(node.program, _LONG, _PIECE), REALS[node.dtype.name], name, [c for c, _ in ports])


def _samples(
    subject: Subject, node: Node, ports: Sequence[tuple[str, Port]], *, in_columns: bool = False
) -> tuple[list[tuple[str, list[list[float]]]], list[tuple[str, list[list[float]]]]]:
    """The arguments and the results of the self-test, of the arrays that have numbers; for CasADi of all."""
    given = _arguments(subject, node)
    numbers = [*given, *_results(node, given)]
    samples = []
    for (c, port), rows in zip(ports, numbers, strict=True):
        if in_columns:
            rows = rows[:, order(port.shape)]
        samples.append((c, rows.tolist()))
    return samples[: len(given)], samples[len(given) :]


def _identity(name: str, node: Node) -> str:
    return f'#define {name.upper()}_ID "{node.fingerprint[:16]}"'


def _initialisers(subject: Subject, name: str, ports: Sequence[tuple[str, Port]], real: Real) -> list[str]:
    """A macro for each argument that has values already: `const double gain[2] = NAME_DEFAULT_gain;`."""
    known = {ports[k][0]: x.ravel().tolist() for k, x in subject.own_numbers().items() if x.size}
    lines = [f"#define {name.upper()}_DEFAULT_{c} {{{', '.join(map(real.bare, x))}}}" for c, x in known.items()]
    return ["#include <math.h> /* INFINITY */", *lines] if any("INFINITY" in line for line in lines) else lines


def _about(subject: Subject, node: Node, ports: Sequence[tuple[str, Port]]) -> list[str]:
    """Lines about the function, for readers of the files."""
    precision = "double" if node.dtype.name == "float64" else "single"
    known = subject.own_numbers()
    described = [_described(c, port, known.get(k)) for k, (c, port) in enumerate(ports) if port.size]
    parts = subject.results(node.dtype.name) if node is subject.node(node.dtype.name) else []
    if len(parts) > 1:
        described += [f"    from {at.start}: {ports[-1][0]}{name}, shape {part.shape}" for name, at, part in parts]
    owner = "" if subject.robot_name is None else f" of {subject.robot_name!r}"
    return [
        f"{node.name}{owner}, in {precision} precision",
        "",
        *described,
        "",
        "Matrices are stored row by row. Results and memory w may not overlap anything else.",
        f"Written by kinetree {version('kinetree')}, fingerprint {node.fingerprint}",
    ]


def _described(name: str, port: Port, own: np.ndarray[Any, Any] | None) -> str:
    """A line about a port. `own`: the numbers that the robot or the options have for it."""
    notes = [port.name] if port.name != name else []
    notes += [f"shape {port.shape}"] if len(port.shape) > 1 else []
    notes += [f"as given {', '.join(map(repr, own.ravel().tolist()))}"] if own is not None else []
    return f"  {name}[{port.size}]{': ' if notes else ''}{', '.join(notes)}"


def _made(
    node: Node, name: str, ports: Sequence[tuple[str, Port]], source: str, header: str, test: str, memory: int
) -> CSource:
    renamed = [Port(c, port.shape) for c, port in ports]
    inputs = len(node.inputs)
    return CSource(
        name=name,
        source=source,
        header=header,
        test=test,
        workspace=memory,
        inputs=tuple(renamed[:inputs]),
        outputs=tuple(renamed[inputs:]),
        dtype=node.dtype.name,
        operations=node.program.operation_counts().total(),
        fingerprint=node.fingerprint[:16],
    )


def _arguments(subject: Subject, node: Node) -> list[Array]:
    """A few samples of each argument (n, size): configurations, the robot's own numbers, and numbers from 0.1 to 1."""
    rng = np.random.default_rng(0)
    configurations, known = subject.source.configurations, subject.own_numbers()
    samples = []
    for k, port in enumerate(node.inputs):
        if k in configurations:
            rows = np.stack([configurations[k].random(rng) for _ in range(_SAMPLES)])
        elif k in known:
            rows = np.tile(known[k].ravel(), (_SAMPLES, 1))
        elif k < len(subject.kinds) and subject.kinds[k] is not float:
            rows = np.ones((_SAMPLES, port.size))
        else:
            rows = rng.uniform(0.1, 1.0, size=(_SAMPLES, port.size))
        samples.append(rows.astype(node.dtype).astype(float))
    return samples


def _results(node: Node, given: Sequence[Array]) -> list[Array]:
    """The results of the node's program for them."""
    count = len(given[0]) if given else 1
    rows = [interpret(node.program, *(x[k].tolist() for x in given)) for k in range(count)]
    return [np.array([row[n] for row in rows]) for n in range(len(node.outputs))]


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
    result = [Exported(name, node, tuple(own), tuple(dense(c, port.shape, k) for k, (c, port) in enumerate(outputs)))]
    every = range(len(inputs))
    unread = [zero(f"out_{c}", port.shape) for c, port in outputs]
    columns: list[tuple[int | None, Named]] = [*enumerate(inputs)]
    if count >= 1:
        jacobian = node.jacobian(every)
        blocks = _matrices(jacobian, outputs, columns, len(inputs))
        result.append(Exported(f"jac_{name}", jacobian, (*own, *unread), tuple(blocks)))
    if count >= 2:
        reverse = node.reverse(every)
        weights = [(f"adj_{c}", port) for c, port in outputs]
        gradients = [(f"adj_{c}", port) for c, port in inputs]
        given = [dense(c, port.shape, len(inputs) + k) for k, (c, port) in enumerate(weights)]
        results = [dense(c, port.shape, k) for k, (c, port) in enumerate(gradients)]
        result.append(Exported(f"adj1_{name}", reverse, (*own, *unread, *given), tuple(results)))
        jacobian = reverse.jacobian(range(len(reverse.inputs)))
        columns += [(None, (f"out_{c}", port)) for c, port in outputs]
        columns += [*enumerate(weights, len(inputs))]
        blocks = _matrices(jacobian, gradients, columns, len(reverse.inputs))
        more = [zero(f"out_{c}", port.shape) for c, port in gradients]
        result.append(Exported(f"jac_adj1_{name}", jacobian, (*own, *unread, *given, *more), tuple(blocks)))
    return result


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
