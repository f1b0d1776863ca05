"""CasADi's cells of the table in docs/frameworks.md, and those of C; machine code of both is compiled in one file.

CasADi's derivatives are beside kinetree's for other kinds of joints in ../casadi/test_symbols.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from kinetree.expr import Port
from kinetree.interop.c.source import CSource
from kinetree.interop.c.writing import casadi_source, plain_source
from kinetree.interop.casadi import external
from kinetree.interop.casadi.functions import argument_names, result_names, symbolic_function
from kinetree.interop.casadi.symbols import matrix_shape
from tests.c_code import STRICT, called, library, needs
from tests.unit.interop.table.cases import FIRST_ONLY, NAMES, SAMPLES, Case, case
from tests.unit.interop.table.cells import cells_of, is_deep, kinds

casadi = pytest.importorskip("casadi", reason="casadi is not installed")


class Library:
    """Functions in C, with derivatives and with CasADi's convention, in one file of machine code."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.made: dict[tuple[str, str], CSource] = {}
        for name in names:
            self._write(folder, name)
        text = "".join(f'#include "{one.name}.c"\n' for one in self.made.values())
        (folder / "every.c").write_text(text)
        self.path = folder / "every.so"
        self.loaded = library(folder, "gcc", [folder / "every.c"], *STRICT, "-O0")

    def _write(self, folder: Path, name: str) -> None:
        this = case(name)
        subject, node = this.subject, this.node
        back = node.reverse(this.smooth)
        nodes = {
            "value": node,
            "float32": subject.node("float32"),
            "forward": node.forward(this.smooth),
            "reverse": back,
        }
        if name not in FIRST_ONLY:
            nodes["second"] = back.forward(this.smooth)
        for what, one in nodes.items():
            self.made[name, what] = plain_source(subject, one, f"f{len(self.made)}")
        self.made[name, "casadi"] = casadi_source(subject, node, f"f{len(self.made)}", 1)
        for what in (*nodes, "casadi"):
            self.made[name, what].save(folder)

    def run(self, name: str, what: str, more: Sequence[tuple[Any, Port]] = ()) -> list[np.ndarray]:
        """The results for three samples, in one array per result."""
        this, made = case(name), self.made[name, what]
        found = []
        for k in range(SAMPLES):
            seeds = [np.broadcast_to(x, (SAMPLES, *port.shape))[k] for x, port in more]
            given = [*this.sample(k), *seeds]
            sizes = [port.size for port in made.outputs]
            found.append(called(getattr(self.loaded, made.name), given, sizes, made.workspace, made.dtype))
        shapes = [port.shape for port in made.outputs]
        return [np.array(x).reshape(SAMPLES, *shape) for x, shape in zip(zip(*found, strict=True), shapes, strict=True)]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Library]:
    """By whether their functions are tested where all is deep."""

    @cache
    def made(deep: bool) -> Library:
        return Library(tmp_path_factory.mktemp("every"), [name for name in NAMES if is_deep("C", name) == deep])

    return made


@pytest.fixture
def machine_code(libraries: Callable[[bool], Library], name: str) -> Library:
    return libraries(is_deep("C", name))


def check_c(machine_code: Library, name: str) -> None:
    this = case(name)
    tangents = [(x, this.subject.ports[k]) for x, k in zip(this.directions, this.smooth, strict=True)]
    weights = [(this.weights, this.node.outputs[0])]
    for kind in kinds("C", name):
        if kind in ("value", "compiled"):
            this.close(machine_code.run(name, "value")[0], this.value)
        elif kind == "float32":
            this.close_in_single(machine_code.run(name, "float32")[0].reshape(SAMPLES, -1))
        elif kind == "first derivative":
            this.close(machine_code.run(name, "forward", tangents)[0], this.tangents)
            for x, y in zip(machine_code.run(name, "reverse", weights), this.cotangents, strict=True):
                this.close(x, y)
        else:
            assert kind == "second derivative"
            for x, y in zip(machine_code.run(name, "second", weights + tangents), this.curvatures, strict=True):
                this.close(x, y)


@needs("gcc")
@pytest.mark.parametrize("name", cells_of("C"))
def test_cells_of_c(name: str, machine_code: Library) -> None:
    """Compilers find nothing to say of the code, in which nothing is taken for granted beyond C99."""
    check_c(machine_code, name)


@cache
def symbolic(name: str) -> Any:
    return symbolic_function(case(name).subject, "f")


def compiled(name: str, machine_code: Library) -> Any:
    """As `kt.interop.to_casadi(form="external")` makes it, without a run of the compiler of its own."""
    subject = case(name).subject
    arguments = argument_names(subject)
    with (
        patch.object(external, "casadi_source", lambda *_: machine_code.made[name, "casadi"]),
        patch.object(external, "_compiled", lambda _: machine_code.path),
    ):
        return external.external_function(subject, "f", arguments, result_names(subject, arguments), 1)


def matrix(x: Any, port: Port) -> Any:
    return casadi.DM(np.reshape(np.asarray(x, float), matrix_shape(port.shape)))


class Calls:
    """A function of CasADi with the arguments of a case, sample by sample."""

    def __init__(self, this: Case, function: Any) -> None:
        self.this, self.function = this, function
        self.parts = [(part, port) for _, part, port in this.subject.results("float64")]
        at = dict(zip(this.smooth, this.directions, strict=True))
        self.tangents = [
            at.get(this.subject.names.index(name), np.zeros(port.shape))
            for name, port in zip(this.given_names, this.given_ports, strict=True)
        ]

    def given(self, k: int) -> list[Any]:
        return [matrix(x, port) for x, port in zip(self.this.given_sample(k), self.this.given_ports, strict=True)]

    def along(self, k: int) -> list[Any]:
        pairs = zip(self.tangents, self.this.given_ports, strict=True)
        return [matrix(np.broadcast_to(x, (SAMPLES, *port.shape))[k], port) for x, port in pairs]

    def weights(self, k: int) -> list[Any]:
        flat = self.this.weights[k].ravel()
        return [matrix(flat[part], port) for part, port in self.parts]

    def numbers(self, results: Sequence[Any]) -> np.ndarray:
        return np.concatenate([np.ravel(np.array(casadi.DM(x))) for x in results])

    def value(self) -> None:
        self.this.close(self.numbers(self.function.call(self.given(1))), self.this.expected[1])

    def batch(self) -> None:
        every = [casadi.horzcat(*x) for x in zip(*map(self.given, range(SAMPLES)), strict=True)]
        found = [np.split(np.array(casadi.DM(x)), SAMPLES, 1) for x in self.function.map(SAMPLES).call(every)]
        self.this.close([self.numbers(x) for x in zip(*found, strict=True)], self.this.expected)

    def first(self) -> None:
        forward, reverse = self.function.forward(1), self.function.reverse(1)
        for k in range(SAMPLES):
            given = self.given(k)
            base = [*given, *self.function.call(given)]
            changes = self.numbers(forward.call([*base, *self.along(k)]))
            self.this.close(changes, self.this.tangents[k].ravel())
            self.compare(reverse.call([*base, *self.weights(k)]), self.this.cotangents, k)

    def second(self) -> None:
        reverse = self.function.reverse(1)
        change = reverse.forward(1)
        for k in range(SAMPLES):
            given = self.given(k)
            results = self.function.call(given)
            base = [*given, *results, *self.weights(k)]
            unchanged = [casadi.DM.zeros(*x.shape) for x in (*results, *self.weights(k))]
            found = change.call([*base, *reverse.call(base), *self.along(k), *unchanged])
            self.compare(found, self.this.curvatures, k)

    def compare(self, found: Sequence[Any], expected: Sequence[Any], k: int) -> None:
        names = [self.this.subject.names[i] for i in self.this.smooth]
        at = dict(zip(self.this.given_names, found, strict=True))
        for name, y in zip(names, expected, strict=True):
            self.this.close(np.ravel(np.array(casadi.DM(at[name]))), y[k].ravel())


@needs("gcc")
@pytest.mark.parametrize("name", cells_of("CasADi"))
def test_cells_of_casadi(name: str, machine_code: Library) -> None:
    this, possible = case(name), kinds("CasADi", name)
    machine = Calls(this, compiled(name, machine_code))
    calls = machine if name in FIRST_ONLY else Calls(this, symbolic(name))  # what iterates is no expression
    checks = {
        "value": calls.value,
        "batch": calls.batch,
        "first derivative": calls.first,
        "second derivative": calls.second,
    }
    for kind in possible:
        if kind == "compiled":
            machine.value()
            machine.first()
        else:
            checks[kind]()
