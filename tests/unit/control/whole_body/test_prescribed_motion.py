"""A motion given in advance, with a root that nothing drives: beside the functions that know no friction cones."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt

ROBOT = kt.zoo.load("quadruped")
FEET = [name for name in ROBOT.frames if name.endswith("foot")]
STANDING = ROBOT.neutral()
STANDING[7:] = np.tile([0.05, 0.7, -1.4], 4)
SUPPORTS = {name: kt.control.Support(name, friction=5.0) for name in FEET}


def motion(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = ROBOT.integrate(STANDING, 0.05 * rng.normal(size=(count, ROBOT.nv)))
    return q, 0.3 * rng.normal(size=(count, ROBOT.nv)), rng.normal(size=(count, ROBOT.nv))


def test_in_the_air_the_torques_are_those_of_a_floating_base() -> None:
    q, v, qdd = motion(5)
    found = kt.control.prescribed_motion(ROBOT, q, v, qdd, torque_limit=1e3)
    expected = kt.dynamics.floating_inverse_dynamics(ROBOT, q, v, qdd)
    assert np.allclose(found.tau, expected.tau, atol=1e-9)
    assert np.allclose(found.qdd, expected.qdd, atol=1e-9)
    assert not found.tau[:, :6].any()


def test_on_its_feet_they_are_those_of_the_smallest_forces() -> None:
    q, _, wanted = motion(5)
    v, contacts = np.zeros((5, ROBOT.nv)), [kt.constraints.Contact(name) for name in FEET]
    J = kt.constraints.constraint_jacobian(ROBOT, q, contacts)
    qdd = 0.3 * np.array([w - np.linalg.pinv(A) @ A @ w for w, A in zip(wanted, J, strict=True)])
    found = kt.control.prescribed_motion(ROBOT, q, v, qdd, SUPPORTS, torque_limit=1e3)
    expected = kt.constraints.constrained_inverse_dynamics(ROBOT, q, v, qdd, contacts)
    assert abs(found.unmet).max() < 1e-8
    assert np.allclose(found.tau, expected.tau, atol=1e-6)
    forces = np.hstack([found.forces[name] for name in FEET])
    assert np.allclose(forces, expected.forces, atol=1e-6)


def test_a_root_that_no_force_can_pull_falls() -> None:
    q, v, qdd = STANDING[None], np.zeros((1, ROBOT.nv)), np.zeros((1, ROBOT.nv))
    qdd[0, 2] = -20.0  # faster than gravity: the feet would have to be pulled
    found = kt.control.prescribed_motion(ROBOT, q, v, qdd, SUPPORTS, active={FEET[0]: False})
    assert found.unmet[0, 2] > 1.0
    assert all((f[:, 2] > -1e-9).all() for f in found.forces.values())
    assert not found.forces[FEET[0]].any()


def test_what_is_refused() -> None:
    still = np.zeros((2, ROBOT.nv))
    with pytest.raises(kt.errors.ModelError, match="everything of 'arm6' is driven"):
        kt.control.prescribed_motion(kt.zoo.load("arm6"), np.zeros((1, 6)), np.zeros((1, 6)), np.zeros((1, 6)))
    with pytest.raises(kt.errors.ShapeError, match="1, 2 and 2 rows"):
        kt.control.prescribed_motion(ROBOT, STANDING[None], still, still)
    with pytest.raises(kt.errors.ShapeError, match=r"must have shape \(T, 19\)"):
        kt.control.prescribed_motion(ROBOT, STANDING, still, still)
    with pytest.raises(kt.errors.ConfigurationError, match=r"prescribed_motion: v\[0, 0\] is nan"):
        kt.control.prescribed_motion(ROBOT, np.tile(STANDING, (2, 1)), still * np.nan, still)
    with pytest.raises(kt.errors.OptionError, match="active names 'foot', which is not a contact"):
        kt.control.prescribed_motion(ROBOT, np.tile(STANDING, (2, 1)), still, still, SUPPORTS, active={"foot": True})
    with pytest.raises(
        kt.errors.ShapeError, match=r"active\['front_left_foot'\] must be True or False or have shape \(1,\)"
    ):
        kt.control.prescribed_motion(
            ROBOT, STANDING[None], still[:1], still[:1], SUPPORTS, active={FEET[0]: np.array([True, False])}
        )
    with pytest.raises(kt.errors.OptionError, match="contacts must be a dict"):
        kt.control.prescribed_motion(ROBOT, STANDING[None], still, still, [SUPPORTS[FEET[0]]])  # type: ignore[arg-type]
