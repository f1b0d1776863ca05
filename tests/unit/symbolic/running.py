"""Functions written in NumPy, traced on symbolic arrays and run on numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Graph, Port, Program, interpret, lower
from kinetree.symbolic import SymbolicArray, symbolic

__all__ = ["assert_same", "run", "symbols", "traced"]


def symbols(graph: Graph, like: NDArray[Any]) -> SymbolicArray:
    """New inputs of a graph, in the shape and dtype of an array."""
    elements = np.empty(like.size, object)
    elements[:] = [graph.input() for _ in range(like.size)]
    return SymbolicArray(elements.reshape(like.shape), like.dtype)


def traced(function: Callable[..., Any], *arrays: NDArray[Any]) -> tuple[SymbolicArray, Program]:
    """What a function makes of symbols, and the program that computes it."""
    graph = Graph()
    result = symbolic(function(*(symbols(graph, a) for a in arrays)))
    inputs = tuple(Port(f"x{k}", a.shape) for k, a in enumerate(arrays))
    return result, lower(graph, inputs, (Port("y", result.shape),), result.flat_elements(), "f")


def run(function: Callable[..., Any], *arrays: NDArray[Any]) -> NDArray[Any]:
    """The result of a traced function."""
    result, program = traced(function, *arrays)
    (numbers,) = interpret(program, *(a.ravel().astype(float).tolist() for a in arrays))
    return np.array(numbers).reshape(result.shape).astype(result.dtype)


def assert_same(function: Callable[..., Any], *arrays: NDArray[Any], rtol: float = 1e-12) -> None:
    """Assert that a function of symbols gives NumPy's numbers, shape and dtype."""
    expected = np.asarray(function(*arrays))
    found = run(function, *arrays)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-13)
