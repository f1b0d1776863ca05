"""Cells of the table in docs/frameworks.md: NumPy, and the arrays of Dask and xarray in the same calls.

Derivatives are computed by the interpreter of `kinetree.expr` here: their machine code is tests/laws' and others'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Port
from tests.functions import gives_one_array
from tests.kernels import interpreted
from tests.unit.interop.table.cases import PROGRAM, SAMPLES, Case, case
from tests.unit.interop.table.cells import cells_of, kinds

Put = Callable[[Any, Port], Any]


def as_numpy(x: Any, _: Port) -> Any:
    return x


def as_dask(x: Any, port: Port) -> Any:
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    leading = np.ndim(x) - len(port.shape)
    return da.from_array(np.asarray(x), chunks=((2,) * leading + port.shape) or -1)


def as_xarray(x: Any, port: Port) -> Any:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    own = [f"{port.name}_{axis}" for axis in range(len(port.shape))]
    return xarray.DataArray(x, dims=["run", *own] if np.ndim(x) > len(own) else own)


PUT: dict[str, Put] = {"NumPy": as_numpy, "Dask": as_dask, "xarray": as_xarray}


def leaves(result: Any) -> list[Any]:
    return [*result.values()] if isinstance(result, dict) else [result]


def put(case: Case, framework: str, arrays: Sequence[Any], dtype: str = "float64") -> list[Any]:
    """All arguments that the function is given, of the framework."""
    given = zip(arrays, case.given_ports, strict=True)
    return [PUT[framework](x.astype(dtype) if x.dtype == np.float64 else x, port) for x, port in given]


def is_of(framework: str, x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == framework.lower()


def called(case: Case, arrays: Sequence[Any]) -> list[Any]:
    """The results of the public function, or of the compiled one where the public one gives named parts."""
    if case.name == PROGRAM:
        return leaves(case.function(*arrays))
    if gives_one_array(case.function) or case.name == "rollout":
        named = dict(zip(case.given_names, arrays, strict=True))  # options stand between arguments in some
        options = {name: x for name, x in case.options.items() if name != "steps"}  # which follows from the arrays
        return [case.function(case.robot, **named, **options)]
    return [compiled(case)(*arrays)]


def compiled(case: Case, dtype: str = "float64") -> Callable[..., Any]:
    if case.robot is None:
        return case.function.compile(dtype=dtype)  # type: ignore[attr-defined, no-any-return]
    return kt.compile(case.robot, case.function, dtype=dtype, **case.options)


def by(case: Case) -> list[int]:
    """Which of `smooth` kinetree differentiates by: not by numbers of quaternions, but by displacements."""
    robot = case.robot
    return [k for k, n in enumerate(case.smooth) if n or robot is None or robot.nq == robot.nv]


def value(case: Case, framework: str) -> None:
    found = called(case, put(case, framework, case.given_sample(1)))
    assert all(is_of(framework, x) or framework == "NumPy" for x in found)
    case.close(np.concatenate([np.ravel(x) for x in found]), case.expected[1])


def batch(case: Case, framework: str) -> None:
    case.close(case.flat(called(case, put(case, framework, case.given))), case.expected)


def differentiated(case: Case, framework: str) -> tuple[Any, dict[str, Any], list[Any]]:
    """What kinetree's derivatives take first, the tangents, and all directions in order."""
    chosen, ports = by(case), [case.subject.ports[k] for k in case.smooth]
    directions = [x if k in chosen else np.zeros_like(x) for k, x in enumerate(case.directions)]
    tangents = {case.subject.names[case.smooth[k]]: PUT[framework](directions[k], ports[k]) for k in chosen}
    function = partial(case.function, **case.options) if case.options else case.function
    who = [function] if case.robot is None else [case.robot, function]
    return [*who, tuple(put(case, framework, case.given))], tangents, directions


def weights(case: Case, framework: str) -> Any:
    found = case.in_form(case.weights)
    if isinstance(found, dict):
        return {name: PUT[framework](x, Port(name, x.shape[1:])) for name, x in found.items()}
    return PUT[framework](found, Port(case.subject.name, found.shape[1:]))


def first_derivative(case: Case, framework: str) -> None:
    request, tangents, directions = differentiated(case, framework)
    with interpreted():
        _, slope = kt.jvp(*request, tangents)
        _, gradients = kt.vjp(*request, weights(case, framework), wrt=[*tangents])
        case.close(case.flat(leaves(slope)), case.tangents_along(directions).reshape(SAMPLES, -1))
        for k, name in zip(by(case), tangents, strict=True):
            case.close(gradients[name], case.cotangents[k])


def second_derivative(case: Case, framework: str) -> None:
    request, tangents, directions = differentiated(case, framework)
    with interpreted():
        found = kt.hvp(*request, weights(case, framework), tangents, wrt=[*tangents])
        expected = case.curvatures_along(directions)
        for k, name in zip(by(case), tangents, strict=True):
            case.close(found[name], expected[k])


def compiled_once(case: Case, framework: str) -> None:
    numbers = put(case, framework, [np.asarray(x, float) for x in case.given])  # also for truth values
    case.close(case.flat(leaves(compiled(case)(*numbers))), case.expected)


def single(case: Case, framework: str) -> None:
    found = called(case, put(case, framework, case.given, "float32"))
    if case.name == PROGRAM or gives_one_array(case.function):
        assert all(x.dtype in (np.float32, bool) for x in found)
    case.close_in_single(case.flat(found))


CHECKS = {
    "value": value,
    "batch": batch,
    "first derivative": first_derivative,
    "second derivative": second_derivative,
    "compiled": compiled_once,
    "float32": single,
}


@pytest.mark.parametrize(
    ("framework", "name"),
    [pytest.param(f, *x.values, id=f"{f}-{x.id}", marks=x.marks) for f in PUT for x in cells_of(f)],
)
def test_cells(framework: str, name: str) -> None:
    for kind in kinds(framework, name):
        CHECKS[kind](case(name), framework)
