"""CasADi calls what is written for it, with exact derivatives to second order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.c_code import STRICT, built, needs, ran

casadi = pytest.importorskip("casadi")
pytestmark = needs("gcc")
ROBOT = kt.zoo.load("double_pendulum")


def external(made: kt.interop.CSource, folder: Path) -> Any:
    paths = [path for path in made.save(folder) if path.suffix == ".c"]
    assert ran(built(folder, "gcc", paths, *STRICT, "-O0")) == 0
    library = built(folder, "gcc", paths[:1], *STRICT, "-O0", "-shared", "-fPIC", name=f"{made.name}.so")
    return casadi.external(made.name, str(library))


def columns(x: np.ndarray) -> np.ndarray:
    """The numbers of a matrix in CasADi's order."""
    return np.asarray(x).ravel(order="F")


def test_values_gradients_and_hessians(tmp_path: Path) -> None:
    f = external(kt.interop.to_c(ROBOT, kt.aba, interface="casadi", derivatives=2), tmp_path)
    assert (f.name_in(), f.name_out()) == (["q", "v", "tau"], ["aba"])
    given = [*np.random.default_rng(1).normal(size=(3, 2))]
    np.testing.assert_allclose(columns(f(*given)), kt.aba(ROBOT, *given), rtol=1e-12)
    for name, matrix in zip(("q", "v", "tau"), f.jacobian()(*given, 0), strict=True):
        np.testing.assert_allclose(matrix, kt.jacobian(ROBOT, kt.aba, given, wrt=name), atol=1e-13)
    weights, x = np.array([0.3, -0.7]), [casadi.MX.sym(name, 2) for name in "qvt"]
    whole = casadi.vertcat(*x)
    hessian = casadi.Function("h", x, [casadi.hessian(casadi.dot(weights, f(*x)), whole)[0]])
    along = [*np.random.default_rng(2).normal(size=(3, 2))]
    directions = dict(zip(("q", "v", "tau"), along, strict=True))
    expected = kt.hvp(ROBOT, kt.aba, given, weights, directions, wrt=["q", "v", "tau"])
    found = np.array(hessian(*given)) @ np.concatenate(along)
    np.testing.assert_allclose(found, np.concatenate([expected[name] for name in directions]), rtol=1e-12)


def test_matrices_are_stored_column_by_column(tmp_path: Path) -> None:
    @kt.program(A=(2, 3), q=ROBOT)
    def both(A, q):
        return A.T @ kt.crba(ROBOT, q)

    f = external(kt.interop.to_c(both, interface="casadi"), tmp_path)
    A, q = np.arange(6.0).reshape(2, 3), np.array([0.3, 0.4])
    np.testing.assert_allclose(f(A, q), both(A, q), rtol=1e-12)
    by_A, by_q = f.jacobian()(A, q, 0)
    assert by_A.nnz() < by_A.numel()
    numbers = kt.jacobian(both, (A, q), wrt="A").transpose(1, 0, 3, 2).reshape(6, 6)
    np.testing.assert_allclose(by_A, numbers, rtol=1e-12)
    np.testing.assert_allclose(by_q, kt.jacobian(both, (A, q), wrt="q").transpose(1, 0, 2).reshape(6, 2), atol=1e-14)


def test_a_program_in_loops_and_arguments_that_are_left_out(tmp_path: Path) -> None:
    made = kt.interop.to_c(ROBOT, kt.rnea, interface="casadi", unroll=False, name="looped")
    assert made.workspace > 0
    f = external(made, tmp_path)
    q = np.array([0.5, -0.2])
    np.testing.assert_allclose(columns(f(q, 0, 0)), kt.gravity_forces(ROBOT, q), rtol=1e-13)
    np.testing.assert_allclose(f.jacobian()(q, 0, 0, 0)[2], kt.crba(ROBOT, q), rtol=1e-13)


def test_what_is_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match="is in double precision"):
        kt.interop.to_c(ROBOT, kt.aba, interface="casadi", dtype="float32")
    with pytest.raises(kt.errors.OptionError, match="derivatives must be 0, 1 or 2, not True"):
        kt.interop.to_c(ROBOT, kt.aba, interface="casadi", derivatives=True)
    with pytest.raises(kt.errors.OptionError, match='derivatives= is for interface="casadi"'):
        kt.interop.to_c(ROBOT, kt.aba, derivatives=1)
    with pytest.raises(kt.errors.OptionError, match="interface must be"):
        kt.interop.to_c(ROBOT, kt.aba, interface="mex")
