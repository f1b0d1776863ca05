"""Programs with loops, compared: compiled, interpreted, run on plain arrays, and differentiated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.expr import forward_derivative, interpret, reverse_derivative

__all__ = ["assert_differentiable", "assert_same", "leaves"]

Array = NDArray[Any]


def leaves(x: Any) -> Iterator[Array]:
    """The arrays of a result of any form, in order."""
    if is_dataclass(x) and not isinstance(x, type):
        x = [getattr(x, f.name) for f in fields(x)]
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, tuple | list):
        for part in x:
            yield from leaves(part)
    elif x is not None:
        yield np.asarray(x)


def assert_same(program: kt.programs.Program, *arguments: Any, exact: bool = True, rtol: float = 1e-12) -> None:
    """Assert that the plain run, the statements' meaning and the compiled code agree, these two to the bit.

    `exact`: False if it computes sines, which are rounded differently.
    """
    plain = list(leaves(program.function(*arguments)))
    compiled = list(leaves(program(*arguments)))
    for a, b in zip(compiled, plain, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
    flat = [np.ravel(x).astype(float) for x in arguments]
    (meant,) = interpret(program.traced().program, *flat)
    found = np.concatenate([x.ravel().astype(float) for x in compiled] or [np.empty(0)])
    if exact:
        np.testing.assert_array_equal(found, meant)
    else:
        np.testing.assert_allclose(found, meant, rtol=1e-13, atol=1e-13)


def assert_differentiable(program: kt.programs.Program, *arguments: Any, tolerance: float = 1e-6) -> None:
    """Assert that the forward derivative is that of differences, and that the reverse one is its transpose."""
    rng = np.random.default_rng(3)
    statements = program.traced().program
    x = [np.ravel(a).astype(float) for a in arguments]
    d = [rng.normal(size=a.size) for a in x]
    y, dy = interpret(forward_derivative(statements), *x, *d)
    step = 1e-6
    after = np.array(interpret(statements, *(a + step * b for a, b in zip(x, d, strict=True)))[0])
    before = np.array(interpret(statements, *(a - step * b for a, b in zip(x, d, strict=True)))[0])
    np.testing.assert_allclose(dy, (after - before) / (2.0 * step), rtol=tolerance, atol=tolerance)
    weights = rng.normal(size=len(y))
    again, *adjoints = interpret(reverse_derivative(statements), *x, weights.tolist())
    assert again == y
    products = [np.dot(a, b) for a, b in zip(adjoints, d, strict=True)]
    np.testing.assert_allclose(sum(products), np.dot(weights, dy), rtol=1e-9)
