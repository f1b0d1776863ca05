"""PyTorch's cells of the table in docs/frameworks.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.unit.interop.table.cases import NAMES, SAMPLES, Case, case
from tests.unit.interop.table.cells import cells_of, is_deep, kinds

torch = pytest.importorskip("torch", reason="torch is not installed")


@cache
def made(name: str) -> Any:
    from kinetree.interop.torch import adapted

    return adapted(case(name).subject)


def leaves(result: Any) -> list[Any]:
    return [*result.values()] if isinstance(result, dict) else [result]


def numbers(name: str, smooth: Sequence[Any]) -> Any:
    """All results of three samples, one row per sample."""
    this = case(name)
    given = dict(zip(this.smooth, smooth, strict=True))
    arrays = [given.get(k, torch.as_tensor(x)) for k, x in enumerate(this.arrays)]
    return torch.cat([x.to(torch.float64).reshape(SAMPLES, -1) for x in leaves(made(name)(*arrays))], 1)


def tensors(arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(torch.tensor(x) for x in arrays)


def value(case: Case) -> None:
    found = leaves(made(case.name)(*tensors(case.sample(1))))
    assert all(isinstance(x, torch.Tensor) for x in found)
    case.close(np.concatenate([x.numpy().ravel() for x in found]), case.expected[1])


def batch(case: Case) -> None:
    mapped = tuple(0 if x.ndim > len(p.shape) else None for x, p in zip(case.arrays, case.subject.ports, strict=True))
    found = torch.func.vmap(made(case.name), in_dims=mapped)(*tensors(case.arrays))
    case.close(case.flat(leaves(found)), case.expected)


def slopes(case: Case) -> Any:
    """A function of `smooth`: the gradients of the weighted sum of the results."""
    weights = torch.as_tensor(case.weights.reshape(SAMPLES, -1))

    def weighted(*smooth: Any) -> Any:
        return (numbers(case.name, smooth) * weights).sum()

    return torch.func.grad(weighted, argnums=tuple(range(len(case.smooth))))


def first_derivative(case: Case) -> None:
    smooth, along = tensors([case.arrays[k] for k in case.smooth]), tensors(case.directions)
    _, tangents = torch.func.jvp(lambda *x: numbers(case.name, x), smooth, along)
    case.close(tangents, case.tangents.reshape(SAMPLES, -1))
    equal(case, slopes(case)(*smooth), case.cotangents)


def second_derivative(case: Case) -> None:
    smooth, along = tensors([case.arrays[k] for k in case.smooth]), tensors(case.directions)
    _, curvatures = torch.func.jvp(slopes(case), smooth, along)
    equal(case, curvatures, case.curvatures)


def equal(case: Case, found: Sequence[Any], expected: Sequence[Any]) -> None:
    for x, y in zip(found, case.summed(expected), strict=True):
        case.close(x, y)


@cache
def in_one_graph(deep: bool) -> dict[str, Any]:
    """The values of all functions that are tested together, in one graph."""
    names = [name for name in NAMES if "compiled" in kinds("PyTorch", name) and is_deep("PyTorch", name) == deep]
    functions = [made(name) for name in names]
    given = [tensors(case(name).arrays) for name in names]

    @torch.compile(fullgraph=True, backend="eager")
    def every(given: list[Any]) -> list[Any]:
        return [f(*x) for f, x in zip(functions, given, strict=True)]

    return dict(zip(names, every(given), strict=True))


def compiled(case: Case) -> None:
    case.close(case.flat(leaves(in_one_graph(is_deep("PyTorch", case.name))[case.name])), case.expected)


def single(case: Case) -> None:
    found = leaves(made(case.name)(*tensors([x.astype("float32") if x.dtype == float else x for x in case.arrays])))
    assert all(x.dtype in (torch.float32, torch.bool) for x in found)
    case.close_in_single(case.flat(found))


CHECKS = {
    "value": value,
    "batch": batch,
    "first derivative": first_derivative,
    "second derivative": second_derivative,
    "compiled": compiled,
    "float32": single,
}


@pytest.mark.parametrize("name", cells_of("PyTorch"))
def test_cells(name: str) -> None:
    for kind in kinds("PyTorch", name):
        CHECKS[kind](case(name))
