"""JAX's cells of the table in docs/frameworks.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.unit.interop.table.cases import SAMPLES, Case, case
from tests.unit.interop.table.cells import cells_of, kinds

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@cache
def made(name: str) -> Any:
    from kinetree.interop.jax import adapted

    return adapted(case(name).subject)


@cache
def in_one_computation(name: str) -> Any:
    """Values, tangents, gradients of weighted sums and the changes of these, in one compiled computation."""
    this, f = case(name), made(name)

    def numbers(*smooth: Any) -> Any:
        given = dict(zip(this.smooth, smooth, strict=True))
        leaves = jax.tree.leaves(f(*(given.get(k, x) for k, x in enumerate(this.arrays))))
        return jnp.concatenate([x.astype(float).reshape(SAMPLES, -1) for x in leaves], 1)

    def slopes(*smooth: Any) -> Any:
        value, backward = jax.vjp(numbers, *smooth)
        return value, backward(jnp.asarray(this.weights.reshape(SAMPLES, -1)))

    has_second = "second derivative" in kinds("JAX", name)

    @jax.jit
    def everything(*smooth: Any) -> Any:
        along = [*map(jnp.asarray, this.directions)]
        _, tangents = jax.jvp(numbers, smooth, tuple(along))
        if not has_second:
            return *slopes(*smooth), tangents, []
        (value, gradients), (_, curvatures) = jax.jvp(slopes, smooth, tuple(along))
        return value, gradients, tangents, curvatures

    return everything(*(this.arrays[k] for k in this.smooth))


def value(case: Case) -> None:
    found = jax.tree.leaves(made(case.name)(*case.sample(1)))
    assert all(isinstance(x, jax.Array) for x in found)
    case.close(np.concatenate([np.ravel(x) for x in found]), case.expected[1])


def batch(case: Case) -> None:
    mapped = [0 if x.ndim > len(port.shape) else None for x, port in zip(case.arrays, case.subject.ports, strict=True)]
    found = jax.vmap(made(case.name), in_axes=mapped)(*case.arrays)
    case.close(case.flat(jax.tree.leaves(found)), case.expected)


def compiled(case: Case) -> None:
    case.close(in_one_computation(case.name)[0], case.expected)


def first_derivative(case: Case) -> None:
    _, gradients, tangents, _ = in_one_computation(case.name)
    case.close(tangents, case.tangents.reshape(SAMPLES, -1))
    _equal(case, gradients, case.cotangents)


def second_derivative(case: Case) -> None:
    _equal(case, in_one_computation(case.name)[3], case.curvatures)


def _equal(case: Case, found: Sequence[Any], expected: Sequence[Any]) -> None:
    for x, y in zip(found, case.summed(expected), strict=True):
        case.close(x, y)


def single(case: Case) -> None:
    arrays = [x.astype("float32") if x.dtype == float else x for x in case.arrays]
    found = jax.tree.leaves(made(case.name)(*arrays))
    assert all(x.dtype in (np.float32, bool) for x in found)
    case.close_in_single(case.flat(found))


CHECKS = {
    "value": value,
    "batch": batch,
    "first derivative": first_derivative,
    "second derivative": second_derivative,
    "compiled": compiled,
    "float32": single,
}


@pytest.mark.parametrize("name", cells_of("JAX"))
def test_cells(name: str) -> None:
    for kind in kinds("JAX", name):
        CHECKS[kind](case(name))
