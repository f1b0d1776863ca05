"""The motion from a frame to a target: it leads there in all axes, and its derivatives are those of a logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import close, reference
from tests.laws.test_rolled import interpreted, program_of
from tests.strategies import law, moving_trees

Array = NDArray[np.float64]
ARM = kt.zoo.load("arm6")
EXPRESSED_IN = ("local", "world", "local_world_aligned")


def inverse(T: Array) -> Array:
    result = np.zeros_like(T)
    R = np.swapaxes(T[..., :3, :3], -1, -2)
    result[..., :3, :3], result[..., :3, 3] = R, -(R @ T[..., :3, 3:])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def away(T: Array, angle: float, rng: np.random.Generator) -> Array:
    """A pose that is a turn by this angle, and a shift, away from T."""
    xi = rng.normal(size=6)
    xi[3:] *= angle / np.linalg.norm(xi[3:])
    return T @ kt.lie.pose_exp(xi)


@law(15)
@given(case=moving_trees(), data=st.data())
def test_it_leads_to_the_target(case: Any, data: st.DataObject) -> None:
    robot, s = case
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    frame = data.draw(st.sampled_from(list(robot.frames)))
    T = reference(kt.frame_placement, robot, s.q, frame=frame)
    target = away(T, data.draw(st.floats(0.0, 3.1)), rng)
    error = {
        axes: reference(kt.kinematics.pose_error, robot, s.q, target, frame=frame, expressed_in=axes)
        for axes in EXPRESSED_IN
    }
    scale = 1.0 + np.abs(target).max() + np.abs(T).max()
    close(T @ kt.lie.pose_exp(error["local"]), target, scale=scale, tolerance=1e-12)
    close(kt.lie.pose_exp(error["world"]) @ T, target, scale=scale**2, tolerance=1e-12)
    R = T[:3, :3]
    close(error["local_world_aligned"], np.concatenate([R @ error["local"][:3], R @ error["local"][3:]]), scale=scale)
    for axes in EXPRESSED_IN:  # and in loops over bodies
        program = program_of(kt.kinematics.pose_error, robot, frame=frame, expressed_in=axes)
        close(interpreted(program, [s.q, target.ravel()]), error[axes], scale=scale**2, tolerance=1e-11)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.7, 3.0, np.pi - 1e-3, np.pi - 1e-6])
@pytest.mark.parametrize("expressed_in", EXPRESSED_IN)
def test_derivatives_are_those_of_the_logarithm(expressed_in: Any, angle: float) -> None:
    """Also where the frame is at its target, and close to half a turn from it."""
    rng = np.random.default_rng(5)
    q = rng.normal(size=6)
    T = kt.frame_placement(ARM, q, "tool")
    target = T if angle == 0.0 else away(T, angle, rng)
    A = inverse(T) @ target
    options: dict[str, Any] = {"frame": "tool", "expressed_in": "local"}
    J = kt.frame_jacobian(ARM, q, "tool", expressed_in="local")
    by_q = kt.jacobian(ARM, kt.kinematics.pose_error, (q, target), wrt="q", **options)
    # log(exp(-J dq) A): the left Jacobian is the right one of the inverse
    np.testing.assert_allclose(by_q, -kt.lie.pose_log_jacobian(inverse(A)) @ J, rtol=0.0, atol=1e-11)
    delta = rng.normal(size=6)
    turn = np.zeros((4, 4))
    turn[:3, :3] = np.cross(delta[3:], np.eye(3)).T
    turn[:3, 3] = delta[:3]
    value, along = kt.jvp(ARM, kt.kinematics.pose_error, (q, target), {"target": target @ turn}, **options)
    np.testing.assert_allclose(along, kt.lie.pose_log_jacobian(A) @ delta, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(value, kt.lie.pose_log(A), rtol=0.0, atol=1e-9 if angle > 3.0 else 1e-12)
    by_target = kt.jacobian(ARM, kt.kinematics.pose_error, (q, target), wrt="target", **options)
    assert by_target.shape == (6, 4, 4)
    np.testing.assert_allclose(np.einsum("kij,ij->k", by_target, target @ turn), along, rtol=0.0, atol=1e-12)
    _, gradient = kt.vjp(
        ARM, kt.kinematics.pose_error, (q, target), np.ones(6), **options | {"expressed_in": expressed_in}
    )
    columns = kt.jacobian(
        ARM, kt.kinematics.pose_error, (q, target), wrt="q", **options | {"expressed_in": expressed_in}
    )
    np.testing.assert_allclose(gradient["q"], columns.sum(axis=0), rtol=0.0, atol=1e-10)


def test_at_the_target_it_is_zero_and_its_derivative_the_jacobian() -> None:
    for expressed_in in EXPRESSED_IN:
        q = ARM.random(3)
        target = kt.frame_placement(ARM, q, "tool")
        assert np.abs(kt.kinematics.pose_error(ARM, q, target, "tool", expressed_in=expressed_in)).max() < 1e-15
        slope = kt.jacobian(
            ARM, kt.kinematics.pose_error, (q, target), wrt="q", frame="tool", expressed_in=expressed_in
        )
        J = kt.frame_jacobian(ARM, q, "tool", expressed_in=expressed_in)
        np.testing.assert_allclose(slope, -J, rtol=0.0, atol=1e-14)


def test_arrays_are_as_everywhere() -> None:
    rng = np.random.default_rng(0)
    q, goals = rng.normal(size=(20000, 6)), kt.frame_placement(ARM, rng.normal(size=(20000, 6)), "tool")
    call: Any = kt.kinematics.pose_error
    options: dict[str, Any] = {"frame": "tool", "expressed_in": "world"}
    out = np.empty((20000, 6))
    assert call(ARM, q, goals, out=out, threads=2, **options) is out
    assert np.array_equal(out[7], call(ARM, q[7], goals[7], **options))
    assert np.array_equal(call(ARM, q[:5, None], goals[:3], **options)[4, 2], call(ARM, q[4], goals[2], **options))
    single = call(ARM, q[:9].astype("f4"), goals[:9].astype("f4"), **options)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, out[:9], atol=1e-4)
    f = kt.compile(ARM, kt.kinematics.pose_error, **options)
    assert np.array_equal(f(q[7], goals[7]), out[7])
    placed = call(ARM, q[:2], goals[:2], parameters={"joint.base_yaw.placement": [0, 0, 0, 0, 0, 0, 1]}, **options)
    assert placed.shape == (2, 6)
    with pytest.raises(
        kt.errors.ShapeError, match=r"pose_error: target has shape \(3,\), but 'arm6' needs \(…, 4, 4\)"
    ):
        call(ARM, q[7], goals[7][:3, 3], **options)
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'toll': did you mean 'tool'"):
        call(ARM, q[7], goals[7], "toll", expressed_in="world")
    with pytest.raises(kt.errors.OptionError, match="expressed_in must be 'local', 'world' or 'local_world_aligned'"):
        call(ARM, q[7], goals[7], "tool", expressed_in="body")
