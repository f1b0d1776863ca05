"""Whether a program gives what its function gives on plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from tests.kernels import interpreted

__all__ = ["assert_runs_as_it_is", "assert_same"]


def assert_runs_as_it_is(function: Callable[..., Any], *arrays: Any, rtol: float = 1e-12, **named: Any) -> None:
    """Assert that a program made of a function gives what the function gives, for these arguments."""
    arguments = {x: np.shape(y) for x, y in named.items()} or {
        x: np.shape(y) for x, y in zip(function.__code__.co_varnames, arrays, strict=False)
    }
    with interpreted():
        assert_same(kt.program(function, **arguments)(*arrays, **named), function(*arrays, **named), rtol)


def assert_same(found: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Assert that two results are alike, and their numbers equal up to rounding."""
    assert _form(found) == _form(expected)
    for x, y in zip(_flat(found), _flat(expected), strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * max(1.0, np.abs(y).max(initial=0.0)))


def _flat(results: Any) -> Iterator[NDArray[Any]]:
    if isinstance(results, tuple | list):
        for x in results:
            yield from _flat(x)
    else:
        yield np.asarray(results)


def _form(results: Any) -> Any:
    return (type(results), *map(_form, results)) if isinstance(results, tuple | list) else np.shape(results)
