"""Arrays of Dask and labelled arrays in calls of kinetree's functions: lazy, block by block, with names kept."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.interop import dask as adapter
from kinetree.interop.subject import Subject

da = pytest.importorskip("dask.array", reason="dask is not installed")
xarray = pytest.importorskip("xarray", reason="xarray is not installed")

ROBOT = kt.zoo.load("double_pendulum")
Q, V, TAU = np.random.default_rng(0).normal(size=(3, 60, 2))
LAZY = [da.from_array(x, chunks=(20, 1)) for x in (Q, V, TAU)]


@kt.program(q=ROBOT, gain=(), on=bool)
def law(q, gain, on):
    return {"tau": np.where(on, -gain * q, q), "pose": kt.frame_placement(ROBOT, q, "tip"), "on": on}


def labelled() -> list[Any]:
    coordinates = {"time": 0.1 * np.arange(30), "joint": ["upper", "lower"]}
    return [xarray.DataArray(x.reshape(2, 30, 2), coordinates, ("run", "time", "joint")) for x in (Q, V, TAU)]


def test_results_are_lazy_in_the_blocks_of_the_arguments() -> None:
    found = kt.aba(ROBOT, *LAZY)
    assert (found.chunks, found.dtype, found.shape) == (((20, 20, 20), (2,)), np.float64, (60, 2))
    np.testing.assert_array_equal(found, kt.aba(ROBOT, Q, V, TAU))
    M = kt.crba(ROBOT, LAZY[0])
    assert M.chunks == ((20, 20, 20), (2,), (2,))
    np.testing.assert_array_equal(M, kt.crba(ROBOT, Q))
    assert kt.aba(ROBOT, *LAZY).name == found.name != kt.aba(ROBOT.with_gravity([0.0, 0.0, 1.0]), *LAZY).name


def test_leading_axes_broadcast() -> None:
    found = kt.aba(ROBOT, LAZY[0].reshape(3, 20, 2), V[:20], LAZY[2][0])
    np.testing.assert_array_equal(found, kt.aba(ROBOT, Q.reshape(3, 20, 2), V[:20], TAU[0]))
    single = kt.aba(ROBOT, *(x.astype("float32") for x in LAZY))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, kt.aba(ROBOT, *(x.astype("float32") for x in (Q, V, TAU))))


def test_forces_parameters_and_derivatives() -> None:
    wrench, mass = np.arange(6.0), np.linspace(0.5, 1.0, 60)
    lazily = {"f_ext": {"tip": wrench}, "parameters": {"body.lower_rod.mass": da.from_array(mass, chunks=20)}}
    at_once = {"f_ext": {"tip": wrench}, "parameters": {"body.lower_rod.mass": mass}}
    np.testing.assert_array_equal(kt.aba(ROBOT, *LAZY, **lazily), kt.aba(ROBOT, Q, V, TAU, **at_once))
    J = kt.jacobian(ROBOT, kt.aba, tuple(LAZY), wrt="q")
    np.testing.assert_array_equal(J, kt.jacobian(ROBOT, kt.aba, (Q, V, TAU), wrt="q"))
    value, gradients = kt.vjp(ROBOT, kt.aba, tuple(LAZY), np.ones(2))
    expected, at = kt.vjp(ROBOT, kt.aba, (Q, V, TAU), np.ones(2))
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(gradients["v"], at["v"])


def test_programs_have_their_own_results() -> None:
    on = np.arange(60) % 2 == 0
    found = law(LAZY[0], 2.0, da.from_array(on, chunks=20))
    expected = law(Q, 2.0, on)
    assert {name: x.dtype.kind for name, x in found.items()} == {"tau": "f", "pose": "f", "on": "b"}
    for name, x in found.items():
        np.testing.assert_array_equal(x, expected[name])


def test_a_task_takes_a_request_along_and_pays_for_it_once() -> None:
    compiled = kt.compile(ROBOT, kt.aba).__self__
    blocks = adapter._Blocks(compiled, [1, 1, 1], Subject(ROBOT, kt.aba).node("float64").fingerprint)
    data = pickle.dumps(blocks)
    assert len(data) < 20_000
    there, again = pickle.loads(data), pickle.loads(data)
    assert there._compiled is again._compiled
    np.testing.assert_array_equal(there([Q], [V], [TAU]), kt.aba(ROBOT, Q, V, TAU))


def test_labels_go_together_by_names() -> None:
    q, v, tau = labelled()
    found = kt.aba(ROBOT, q, v, tau)
    assert (found.dims, found.name, [*found.joint.values]) == (("run", "time", "joint"), "aba", ["upper", "lower"])
    np.testing.assert_array_equal(found.values.reshape(60, 2), kt.aba(ROBOT, Q, V, TAU))
    turned = kt.aba(ROBOT, q, v.transpose("time", "run", "joint"), tau.isel(run=0))
    np.testing.assert_array_equal(turned.isel(run=0), found.isel(run=0))
    pose = kt.frame_placement(ROBOT, q, "tip")
    assert pose.dims == ("run", "time", "frame_placement_0", "frame_placement_1")
    lazy = kt.aba(ROBOT, q.chunk(time=10), v, np.zeros(2))
    assert lazy.chunks is not None
    np.testing.assert_array_equal(lazy.isel(run=1), kt.aba(ROBOT, Q[30:], V[30:], np.zeros(2)))


def test_derivatives_of_labelled_arrays() -> None:
    q, v, tau = labelled()
    dq, bar = 0.5 * q, xarray.ones_like(tau).isel(run=0)
    value, slope = kt.jvp(ROBOT, kt.aba, (q, v, tau), {"q": dq.transpose("time", "run", "joint")})
    xarray.testing.assert_allclose(value, kt.aba(ROBOT, q, v, tau))
    assert (value.name, slope.name) == ("aba", "aba")
    assert slope.transpose(*q.dims).dims == ("run", "time", "joint")
    expected = kt.jvp(ROBOT, kt.aba, (Q, V, TAU), {"q": 0.5 * Q})[1]
    np.testing.assert_array_equal(slope.transpose(*q.dims).data.reshape(60, 2), expected)
    value, gradients = kt.vjp(ROBOT, kt.aba, (q, v, tau), bar, wrt=["q", "v"])
    assert value.dims == gradients["v"].dims == q.dims
    assert [x.name for x in gradients.values()] == ["q", "v"]
    changed = q - 0.1 * gradients["q"]  # which fits only if names and labels are those of q
    np.testing.assert_array_equal(
        changed.data.reshape(60, 2), Q - 0.1 * kt.vjp(ROBOT, kt.aba, (Q, V, TAU), [1, 1])[1]["q"]
    )
    curvature = kt.hvp(ROBOT, kt.aba, (q.chunk(time=10), v, tau), bar, {"tau": dq}, wrt="q")["q"]
    assert (curvature.dims, curvature.chunks is not None) == (q.dims, True)
    expected = kt.hvp(ROBOT, kt.aba, (Q, V, TAU), [1.0, 1.0], {"tau": 0.5 * Q}, wrt="q")["q"]
    np.testing.assert_array_equal(curvature.data.reshape(60, 2), expected)


def test_labelled_derivatives_of_programs() -> None:
    q = labelled()[0]
    weights = {"tau": xarray.ones_like(q), "pose": np.ones((4, 4))}
    value, gradients = kt.vjp(law, (q, 2.0, True), weights)
    assert [*value] == ["tau", "pose", "on"]
    assert gradients["q"].dims == q.dims
    expected = kt.vjp(law, (Q, 2.0, True), {"tau": np.ones(2), "pose": np.ones((4, 4))})[1]
    np.testing.assert_array_equal(gradients["q"].data.reshape(60, 2), expected["q"])
    np.testing.assert_array_equal(gradients["gain"].data.ravel(), expected["gain"])
    with pytest.raises(
        kt.errors.ShapeError, match=r"law: weights: an array of shape \(60, 2\) has leading axes without names"
    ):
        kt.vjp(law, (q, 2.0, True), {"tau": np.ones((60, 2)), "pose": xarray.ones_like(value["pose"])})
    late = xarray.ones_like(value["pose"]).assign_coords(time=np.arange(30.0))
    with pytest.raises(kt.errors.ShapeError, match="law: weights: their labels differ"):
        kt.vjp(law, (q, 2.0, True), {"tau": xarray.ones_like(q), "pose": late})
    with pytest.raises(ValueError, match=r"join.*exact"):
        kt.jvp(law, (q, 2.0, True), {"q": q.isel(time=slice(0, 30, 2))})


def test_matrices_have_no_labels_of_arguments() -> None:
    @kt.program(A=(2, 2), x=2)
    def product(A, x):
        return A @ x

    A = xarray.DataArray(np.ones((2, 2)), {"row": ["a", "b"]}, ("row", "column"))
    J = kt.jacobian(product, (A, labelled()[0].isel(run=0)), wrt="x")
    assert "row" not in J.coords


def test_what_does_not_fit() -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"aba: q has shape \(60, 1\), but 'double_pendulum' needs \(…, 2\)"):
        kt.aba(ROBOT, LAZY[0][:, :1], V, TAU)
    with pytest.raises(
        kt.errors.ShapeError, match=r"aba: the leading axes do not broadcast together: q \(60, 2\), v \(59, 2\)"
    ):
        kt.aba(ROBOT, LAZY[0], LAZY[1][:59], TAU)
    with pytest.raises(
        kt.errors.DTypeError, match=r"aba: v must be an array of real numbers .*, not of dtype complex128"
    ):
        kt.aba(ROBOT, LAZY[0], LAZY[1] + 0j, TAU)
    some = LAZY[0][LAZY[0][:, 0] > 0]  # of a length that is not known yet
    assert len(kt.aba(ROBOT, some, V[0], TAU[0]).compute()) == (Q[:, 0] > 0).sum()
    q, v, tau = labelled()
    for given in (q.to_dataset(name="q"), [q[0], q[1]]):
        with pytest.raises(kt.errors.DTypeError, match=r"aba: q must be an xarray\.DataArray, not a (Dataset|list)"):
            kt.aba(ROBOT, given, v, tau)
    with pytest.raises(kt.errors.ShapeError, match=r"aba: v has shape \(60, 2\), and its leading axes have no names"):
        kt.aba(ROBOT, q, V, tau)
    with pytest.raises(ValueError, match="joint"):
        kt.aba(ROBOT, q, v.isel(joint=[1, 0]), tau)
    with pytest.raises(kt.errors.ShapeError, match=r"q has shape \(2, 30, 1\), but 'double_pendulum' needs \(…, 2\)"):
        kt.aba(ROBOT, q.isel(joint=[0]), v, tau)
