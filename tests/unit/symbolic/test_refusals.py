"""What an array of symbols cannot do is an error that says where and what to do instead."""

from __future__ import annotations

import copy
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Graph, MixedTracesError
from kinetree.symbolic import SymbolicArray, explained, symbolic, user_line
from tests.unit.symbolic.running import assert_same, symbols

HERE = re.escape(__file__)


def three() -> SymbolicArray:
    return symbols(Graph(), np.ones(3))


def whole() -> SymbolicArray:
    return symbols(Graph(), np.ones(3, int))


def in_place(q: Any) -> None:
    q[0] = 1.0


def in_place_slice(q: Any) -> None:
    q[:2] += 1.0


def removed(q: Any) -> None:
    del q[0]


def into_plain(q: Any) -> None:
    np.zeros(3)[:] = q


def added_into_plain(q: Any) -> None:
    x = np.zeros(3)
    x += q


VALUES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "if": (lambda q: 1 if q[0] > 0 else 2, r"`if`.*np\.where"),
    "while": (lambda q: [None for _ in iter(lambda: bool(q[0] > 0), False)], r"np\.where"),
    "chain": (lambda q: 0 < q[0] < 1, r"np\.logical_and"),
    "not": (lambda q: not q[0] > 0, r"np\.logical_not"),
    "max": (lambda q: max(q[0], q[1]), r"np\.maximum"),
    "in": (lambda q: 1.0 in q, r"np\.where"),
    "any": (lambda q: 1 if (q > 0).any() else 2, r"np\.where"),
    "array": (lambda q: 1 if q > 0 else 2, r"ambiguous.*np\.any"),
    "float": (lambda q: float(q[0]), r"float\(x\).*np\.sin"),
    "math": (lambda q: math.sin(q[0]), r"math\.sin\(x\).*np\.sin"),
    "int": (lambda q: int(q[0]), r"int\(x\).*np\.floor"),
    "complex": (lambda q: complex(q[0]), r"float"),
    "float of an array": (lambda q: float(q), r"not one number"),
    "text": (lambda q: f"{q[0]:.3f}", r"no digits"),
    "set": (in_place, r"np\.stack.*np\.where"),
    "set a slice": (in_place_slice, r"np\.stack"),
    "delete": (removed, r"np\.stack"),
    "into plain": (into_plain, r"np\.stack"),
    "added into plain": (added_into_plain, r"x = x \+ y"),
    "out": (lambda q: np.sin(q, out=np.zeros(3)), r"leave out= away"),
    "out of a sum": (lambda q: np.sum(q, out=np.zeros(())), r"out="),
    "where": (lambda q: np.sin(q, where=[True, False, True]), r"np\.where"),
    "where of a sum": (lambda q: np.sum(q, where=[True, False, True]), r"np\.where"),
    "asarray": (lambda q: np.asarray(q), r"leave np\.asarray"),
    "array of arrays": (lambda q: np.array([q, q]), r"np\.stack"),
    "float array": (lambda q: np.array(q, dtype=float), r"leave np\.asarray"),
    "vectorize": (lambda q: np.vectorize(lambda x: x)(q), r"plain array"),
    "random": (lambda q: np.random.default_rng(0).normal(q), r"plain array"),
    "conditions": (lambda q: np.array([q[0] > 0, True]), r"np\.where"),
    "mask": (lambda q: q[q > 0], r"np\.where"),
    "compared objects": (lambda q: np.array([q[0], 1.0]) > 0, r"np\.array\(\[a, b\]\).*np\.stack"),
    "maximum of objects": (lambda q: np.maximum(np.array([q[0], 1.0]), 0.0), r"np\.stack"),
    "complex operand": (lambda q: q + 1j, r"real numbers alone"),
    "text operand": (lambda q: q * np.array(["a"]), r"real numbers alone"),
    "masked operand": (lambda q: np.add(q, np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1])), r"filled"),
    "object operand": (lambda q: np.add(q, None), r"NoneType"),
    "astype complex": (lambda q: q.astype(complex), r"real numbers alone"),
    "sum as complex": (lambda q: np.sum(q, dtype=complex), r"real numbers alone"),
    "minus of booleans": (lambda q: (q > 0) - (q < 0), r"np\.subtract.*boolean"),
    "bits": (lambda q: np.bitwise_and(q.astype(int), 3), r"booleans"),
    "singular": (lambda q: np.linalg.inv(0.0 * q * np.ones((3, 3))), r"singular"),
    "interp": (lambda q: np.interp(1.0, q, [1.0, 2.0, 3.0]), r"constants"),
    "sort in place": (lambda q: q.sort(), r"no sort"),
    "where of one": (lambda q: np.where(q > 0), r"np\.where\(condition, a, b\)"),
    "an option": (lambda q: np.sort(q, order="x") if np.std(q, out=q) else 0, r"out="),
    "negative power": (lambda q: q.astype(int) ** -1, r"negative"),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_needs_values(name: str) -> None:
    function, advice = VALUES[name]
    with pytest.raises(kt.errors.ProgramError, match=rf"(?s)^{HERE}:\d+: .*{advice}") as caught:
        function(three())
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda q: [1, 2, 3][q[0]], r"np\.where.*kt\.programs\.scan"),
        (lambda q: np.arange(3)[q[0]], r"np\.where.*kt\.programs\.scan"),
        (lambda q: np.arange(3)[q], r"np\.where.*kt\.programs\.scan"),
        (lambda q: q[q[0]], r"np\.where.*kt\.programs\.scan"),
        (lambda q: q[q], r"np\.where.*kt\.programs\.scan"),
        (lambda q: q[: q[0]], r"np\.where.*kt\.programs\.scan"),
        (lambda q: np.take(np.arange(3.0), q), r"np\.where.*kt\.programs\.scan"),
        (lambda q: range(q[0]), r"np\.where"),
        (lambda q: int(q[0]), r"np\.floor"),
        (lambda q: q[np.argmax(q)], r"np\.where.*kt\.programs\.scan"),
    ],
)
def test_an_index_from_arguments(function: Callable[[Any], Any], advice: str) -> None:
    with pytest.raises(kt.errors.ProgramError, match=rf"^{HERE}:\d+: .*{advice}"):
        function(whole())


@pytest.mark.parametrize(
    ("function", "name", "advice"),
    [
        (lambda q: np.linalg.svd(q[:, None] * q), "np.linalg.svd", "np.linalg.qr"),
        (lambda q: np.linalg.eigh(q[:, None] * q), "np.linalg.eigh", "np.linalg.cholesky"),
        (lambda q: np.linalg.pinv(q[:, None] * q), "np.linalg.pinv", "np.linalg.inv(A.T @ A)"),
        (lambda q: np.linalg.lstsq(q[:, None], q, rcond=None), "np.linalg.lstsq", "np.linalg.qr"),
        (lambda q: np.median(q), "np.median", "np.sort"),
        (lambda q: np.argsort(q), "np.argsort", "np.argmin"),
        (lambda q: np.nonzero(q), "np.nonzero", "np.where"),
        (lambda q: np.unique(q), "np.unique", "number of elements"),
        (lambda q: np.fft.fft(q), "np.fft.fft", "matrix of constants"),
        (lambda q: np.gradient(q), "np.gradient", "np.diff"),
        (lambda q: np.spacing(q), "np.spacing", "kinetree docs programs"),
        (lambda q: np.add.at(q, 0, 1.0), "np.add.at", "kinetree docs programs"),
        (lambda q: np.hypot.reduce(q), "np.hypot.reduce", "kinetree docs programs"),
        (lambda q: np.linalg.norm(q[:, None] * q, 2), "np.linalg.norm", "fro"),
    ],
)
def test_functions_without_a_rule(function: Callable[[Any], Any], name: str, advice: str) -> None:
    with pytest.raises(kt.errors.ProgramError, match=rf"^{HERE}:\d+: {re.escape(name)} .*{re.escape(advice)}"):
        function(three())


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda q: q + np.ones(4), "(3,) and (4,)"),
        (lambda q: np.ones(4) * q, "(4,) and (3,)"),
        (lambda q: q + q[:2], "(3,) and (2,)"),
        (lambda q: np.sin(q) / q[:2], "(3,) and (2,)"),
        (lambda q: np.ones((2, 4)) @ q, "(2, 4) and (3,)"),
        (lambda q: q @ q[:2], "(3,) and (2,)"),
        (lambda q: q[0] @ q, "() and (3,)"),
        (lambda q: np.where(q > 0, q[:2], 0.0), "(3,)"),
        (lambda q: np.concatenate([q, np.ones((2, 2))]), "(3,) and (2, 2)"),
        (lambda q: np.stack([q, q[:2]]), "(3,) and (2,)"),
        (lambda q: np.add(q, [q, q[:2]]), "(3,) and (2,)"),
        (lambda q: q.reshape(2, 2), "(3,)"),
        (lambda q: q[3], "index 3 into an array of shape (3,)"),
        (lambda q: q[0, 1], "index (0, 1) into an array of shape (3,)"),
        (lambda q: q.sum(axis=1), "(3,)"),
        (lambda q: np.linalg.solve(np.eye(4), q), "(4, 4) and (3,)"),
        (lambda q: np.linalg.inv(q), "(3,)"),
        (lambda q: np.cross(q, [1.0, 2.0, 3.0, 4.0]), "(3,) and (4,)"),
        (lambda q: np.einsum("ij,j", q, q), "(3,) and (3,)"),
        (lambda q: np.einsum("i,i", q, np.ones(4)), "(3,) and (4,)"),
        (lambda q: np.tensordot(q, np.ones(4), 1), "(3,) and (4,)"),
        (lambda q: np.broadcast_to(q, (2, 2)), "(3,)"),
        (lambda q: q.item(), "(3,)"),
        (lambda q: np.select([q > 0], [q[:2]]), "(3,)"),
    ],
)
def test_shapes_that_do_not_fit(function: Callable[[Any], Any], shapes: str) -> None:
    with pytest.raises(kt.errors.ShapeError, match=rf"^{HERE}:\d+: .*{re.escape(shapes)}"):
        function(three())


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a + b,
        lambda a, b: a / b,
        lambda a, b: a @ b,
        lambda a, b: np.sum(np.stack([a, b]), axis=0),
        lambda a, b: np.linalg.solve(np.outer(a, b), a),
        lambda a, b: np.where(a > 0, a, 0.0) * b,
    ],
)
def test_symbols_of_two_traces_are_not_a_misfit_of_shapes(function: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(MixedTracesError):
        function(three(), three())


def test_the_line_of_an_error_is_the_users() -> None:
    here = int(user_line().rpartition(":")[2])
    with pytest.raises(kt.errors.ShapeError, match=rf":{here + 2}: "):
        np.concatenate([three(), np.ones((2, 2))])


@pytest.mark.parametrize(
    "function",
    [
        lambda q: operator.setitem(np.zeros(3), 0, q[0]),
        lambda q: np.sin(np.array([q[0], 1.0])),
        lambda q: np.linalg.inv(np.array([[q[0], 0.0], [0.0, 1.0]])),
        lambda q: np.isfinite(np.array([q[0], 1.0])),
        lambda q: np.array([q[0], 1.0]).mean(),
        lambda q: np.array([q[0], 1.0], dtype=float),
        lambda q: np.interp(np.array([q[0], 1.0]), [0.0, 1.0], [2.0, 3.0]),
    ],
)
def test_what_numpy_says_of_numbers_and_objects_is_explained(function: Callable[[Any], Any]) -> None:
    """A program raises the better error, with the user's own lines in its traceback."""
    with pytest.raises((TypeError, ValueError)) as caught:
        function(three())
    assert not isinstance(caught.value, kt.KinetreeError)
    better = explained(caught.value)
    assert isinstance(better, kt.errors.ProgramError)
    assert re.match(rf"{HERE}:\d+: .*np\.stack", str(better))
    assert better.__traceback__ is caught.value.__traceback__
    program = kt.program(q=3)(function)
    with pytest.raises(kt.errors.ProgramError, match=rf"^{HERE}:\d+: .*np\.stack"):
        program(np.ones(3))


def test_an_error_in_a_function_that_was_passed_is_its_own() -> None:
    with pytest.raises(ValueError, match="mine") as caught:
        np.apply_along_axis(lambda _: _raise(), 0, three())
    assert not isinstance(caught.value, kt.KinetreeError)


def _raise() -> None:
    raise ValueError("mine")


def test_other_errors_are_left_alone() -> None:
    error = TypeError("something else")
    assert explained(error) is error


def test_an_array_never_changes() -> None:
    q = three()
    before = q
    q += 1.0
    assert q is not before
    assert copy.copy(q) is q
    assert copy.deepcopy([q])[0] is q
    with pytest.raises(AttributeError):
        q.shape = (3, 1)
    with pytest.raises(AttributeError):
        q.dtype = np.dtype(int)


def test_objects_made_by_numpy_can_be_changed_in_place() -> None:
    def rotated(v: Any) -> Any:
        c, s = np.cos(v[0]), np.sin(v[0])
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        R[2, 2] = v[1]
        R += 1.0
        R[0] *= 2.0
        x = R @ v
        x += v
        return x

    assert_same(rotated, np.array([0.3, 1.2, -0.7]))


def test_constants_have_values() -> None:
    q = three()
    zero = 0.0 * q
    assert float(zero[0]) == 0.0
    assert not zero[0]
    assert np.asarray(zero).tolist() == [0.0, 0.0, 0.0]
    assert [1, 2, 3][np.argmax(symbolic([1.0, 5.0, 2.0]))] == 2
    x = np.ones(3)
    x[:] = zero
    assert not x.any()


def test_representation_and_errors() -> None:
    q = three()
    assert repr(q) == str(q) == f"{q}" == "SymbolicArray(shape=(3,), dtype=float64)"
    assert len(q) == 3
    with pytest.raises(TypeError, match="unsized"):
        len(q[0])
    with pytest.raises(TypeError, match="0-d"):
        iter(q[0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(q)
    with pytest.raises(AttributeError, match="'SymbolicArray' object has no attribute 'foo'"):
        _ = q.foo
    assert (q == None) is False  # noqa: E711
    assert (q != "a") is True
    with pytest.raises(TypeError, match="unsupported operand"):
        q + "a"


def test_dtypes() -> None:
    with pytest.raises(TypeError, match="float64, float32, int64 or bool"):
        SymbolicArray(np.zeros(2, object), np.float16)
    assert symbolic([1, 2]).dtype == np.int64
    assert symbolic([True, False]).dtype == bool
    assert symbolic(np.float32(1.0)).dtype == np.float32
    assert symbolic([1, 2], float).dtype == float
    assert symbolic([[1.0, three()[0]], [2, 3]]).shape == (2, 2)
    assert symbolic([1.5, 2.5]).flat_elements() == [1.5, 2.5]
