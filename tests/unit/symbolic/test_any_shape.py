"""Broadcasting, indexing, products, joins and Einstein's sums of arrays of any shape."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.errors import ShapeError
from kinetree.symbolic.reductions import sorted_by_a_network
from tests.strategies import law
from tests.unit.symbolic.running import assert_same, run

QUICK = law(120)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)


def numbers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).uniform(0.5, 2.0, size=shape))


@QUICK
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=3), st.booleans())
def test_operands_broadcast(shapes: Any, plain: bool) -> None:
    a, b, c = (numbers(shape, k) for k, shape in enumerate(shapes.input_shapes))
    if plain:  # one of them is a constant
        assert_same(lambda a, b: np.where(a > b, a * b - c, c / b), a, b)
    else:
        assert_same(lambda a, b, c: np.where(a > b, a * b - c, c / b), a, b, c)


@QUICK
@given(SHAPES, st.data())
def test_basic_indices(shape: tuple[int, ...], data: st.DataObject) -> None:
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    assert_same(lambda a: a[index] * 1.0, numbers(shape))


@QUICK
@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), st.data())
def test_indices_of_whole_numbers_and_masks(shape: tuple[int, ...], data: st.DataObject) -> None:
    a = numbers(shape)
    index = data.draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3)))
    assert_same(lambda a: a[index], a)
    mask = data.draw(hnp.arrays(bool, shape))
    assert_same(lambda a: a[mask], a)
    assert_same(lambda a: a[mask.any(axis=tuple(range(1, a.ndim)))], a)


@QUICK
@given(SHAPES, st.data())
def test_reductions_over_any_axes(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = data.draw(st.none() | hnp.valid_tuple_axes(len(shape)))
    keepdims = data.draw(st.booleans())
    a = numbers(shape)
    assert_same(lambda a: np.sum(a, axis=axes, keepdims=keepdims), a)
    assert_same(lambda a: np.prod(a, axis=axes, keepdims=keepdims), a)
    assert_same(lambda a: np.all(a > 1.0, axis=axes, keepdims=keepdims), a)
    assert_same(lambda a: np.any(a > 1.0, axis=axes, keepdims=keepdims), a)
    if a.size:
        assert_same(lambda a: np.max(a, axis=axes, keepdims=keepdims), a)
        assert_same(lambda a: np.var(a, axis=axes, keepdims=keepdims), a)


@QUICK
@given(
    hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, min_side=0, max_side=3),
    st.booleans(),
)
def test_products_of_stacks(shapes: Any, plain: bool) -> None:
    a, b = (numbers(shape, k) for k, shape in enumerate(shapes.input_shapes))
    if plain:
        assert_same(lambda b: a @ b, b)
    else:
        assert_same(lambda a, b: a @ b, a, b)


@QUICK
@given(st.integers(1, 3), SHAPES.filter(len), st.data())
def test_joins(count: int, shape: tuple[int, ...], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    a, b = numbers(shape), numbers(shape, 1)
    assert_same(lambda a, b: np.concatenate([a, b] * count, axis=axis), a, b)
    assert_same(lambda a: np.stack([a, b] * count, axis=axis), a)
    assert_same(lambda a: np.flip(np.roll(np.repeat(a, count, axis=axis), 1, axis=axis), axis=axis), a)


@st.composite
def sums(draw: st.DrawFn) -> tuple[str, list[np.ndarray]]:
    """Subscripts, and operands that fit."""
    sizes = {k: draw(st.integers(1, 3)) for k in "abcd"}
    parts = draw(st.lists(st.text("abcd", max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(parts)))
    text = ",".join(parts)
    if draw(st.booleans()):
        text += "->" + "".join(draw(st.lists(st.sampled_from(used), unique=True) if used else st.just([])))
    return text, [numbers(tuple(sizes[k] for k in part), n) for n, part in enumerate(parts)]


@law(300)
@given(sums())
def test_sums_of_einstein(given: tuple[str, list[np.ndarray]]) -> None:
    text, operands = given
    assert_same(lambda *arrays: np.einsum(text, *arrays), *operands)


@QUICK
@given(SHAPES, SHAPES)
def test_what_does_not_broadcast_is_an_error_with_both_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        for operation in (np.add, np.hypot, np.less):
            with pytest.raises(ShapeError) as caught:
                run(operation, numbers(a), numbers(b))
            assert str(a) in str(caught.value)
            assert str(b) in str(caught.value)
            assert "test_any_shape.py" in str(caught.value) or "running.py" in str(caught.value)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("seed", range(4))
def test_systems_with_rows_in_any_order(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-6, 6, size=(n, 1))
    a[rng.random((n, n)) < 0.3] = 0.0
    a[np.arange(n), rng.permutation(n)] += 1.0  # not singular, and its diagonal may be zero
    b = rng.normal(size=n)
    if abs(np.linalg.slogdet(a / np.abs(a).max(axis=1, keepdims=True))[1]) > 20:
        pytest.skip("nearly singular")
    assert_same(np.linalg.solve, a, b, rtol=1e-10)
    assert_same(lambda a: a @ np.linalg.inv(a), np.eye(n) + 0.0 * a)
    assert_same(np.linalg.det, a, rtol=1e-10)
    pattern = a != 0.0
    assert_same(lambda a: np.linalg.solve(np.where(pattern, a, 0.0), b), a, rtol=1e-10)


@pytest.mark.parametrize("n", range(12))
def test_every_order_of_numbers_is_sorted(n: int) -> None:
    """The 0–1 principle (Knuth): a network that sorts zeros and ones sorts everything."""
    rows = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 if n < 9 else np.random.default_rng(n).random((50, n)) > 0.5
    table = rows.astype(float)

    for row in table.tolist():
        assert sorted_by_a_network(row) == sorted(row)
