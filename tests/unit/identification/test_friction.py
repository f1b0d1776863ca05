"""Forms of dry friction: their columns, the search for their speeds, and what a robot has of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.identification import FrictionCurve, Log, filtered, identify, identify_payload, log_of
from kinetree.identification.friction.curve import curve_of
from kinetree.identification.friction.forms import FORMS, SIGMOID, STRIBECK, Form

from .motions import PENDULUM, changed, waves

Array = NDArray[np.float64]


def rough() -> kt.Model:
    """The pendulum with other inertias, damping and Coulomb friction."""
    pi = kt.identification.inertial_parameters(changed(PENDULUM, 1), drives=True)
    pi[-6:] = [0.01, 0.2, 0.6, 0.02, 0.1, 0.3]
    return kt.identification.with_inertial_parameters(PENDULUM, pi, drives=True)


TRUTH = rough()
CURVE = curve_of(TRUTH, "stribeck", {"stribeck(shoulder)": 0.5, "stribeck_speed(shoulder)": 0.3})


def noisy_log(curve: FrictionCurve, noise: float, seed: int = 0, rows: int = 20_000) -> Log:
    """Angles and torques at 500 Hz, with noise in both."""
    rng = np.random.default_rng(seed)
    time = 0.002 * np.arange(rows)
    q, v, qdd = waves(PENDULUM, 0.6 * time)
    q, v, qdd = 0.8 * q, 0.48 * v, 0.288 * qdd
    tau = kt.rnea(TRUTH, q, v, qdd) + curve.torques(v) + noise * rng.normal(size=q.shape)
    return log_of(PENDULUM, time, q + 1e-6 * rng.normal(size=q.shape), tau)


@pytest.mark.parametrize("form", [SIGMOID, STRIBECK])
def test_slopes_are_derivatives(form: Form) -> None:
    v, own, s, h = np.linspace(-2.0, 2.0, 41), 0.05, 0.3, 1e-6
    function = form.falling if form.bump else form.rise
    assert np.allclose(form.slope(v, own, s), (function(v, own, s + h) - function(v, own, s - h)) / (2 * h), atol=1e-8)


def test_the_curve_is_that_of_the_robot_and_of_its_form() -> None:
    q, v = np.zeros((5, 2)), np.linspace(-1.0, 1.0, 10).reshape(5, 2)
    own = curve_of(TRUTH)
    rest = kt.rnea(TRUTH, q, v, 0 * v)
    assert np.allclose(rest + own.torques(v), kt.rnea(TRUTH, q, v, 0 * v, passive=["damping", "friction"]))
    more = CURVE.torques(v) - own.torques(v)
    assert np.allclose(more[:, 0], 0.5 * np.exp(-((v[:, 0] / 0.3) ** 2)) * np.tanh(v[:, 0] / 0.01))
    assert not more[:, 1].any()
    assert (own.is_in_robot, CURVE.is_in_robot) == (True, False)
    assert "stribeck" in repr(CURVE)

    @kt.program(v=2)
    def in_a_program(v):  # type: ignore[no-untyped-def]
        return CURVE.torques(v)

    assert np.allclose(in_a_program(v), CURVE.torques(v))


def test_friction_passes_the_filter_of_the_torques() -> None:
    """Dry friction jumps where a joint turns round, which a filter rounds, on both sides of the equation alike."""
    log = filtered(noisy_log(curve_of(TRUTH), 0.0), 5.0)
    assert log.v is not None
    assert log.qdd is not None
    rigid = kt.rnea(TRUTH, log.q, log.v, log.qdd)
    for torques, least, most in (
        (log.of_velocity(curve_of(TRUTH).torques), 0.0, 0.02),
        (curve_of(TRUTH).torques(log.v), 0.1, 0.5),
    ):
        assert least < abs(log.tau - rigid - torques).max() < most
    part = log.rows(5.0, 20.0)
    every = log.of_velocity(np.tanh)
    assert np.array_equal(part.of_velocity(np.tanh), every[np.isin(log.time, part.time)])
    with pytest.raises(kt.errors.LogError, match="has no velocities"):
        log_of(PENDULUM, log.time, log.q, log.tau).of_velocity(np.tanh)


def test_stribeck_friction_is_found_with_its_deviations() -> None:
    found = identify(noisy_log(CURVE, 0.1), cutoff=6.0, drives=True, friction="stribeck")
    names = list(found.estimate.names)
    assert names[-2:] == ["stribeck(shoulder)", "stribeck_speed(shoulder)"]
    for name, truth in (("friction", 0.6), ("stribeck", 0.5), ("stribeck_speed", 0.3)):
        k = names.index(f"{name}(shoulder)")
        assert abs(found.estimate.values[k] - truth) < 4.0 * found.estimate.deviations[k] < 0.4 * truth
        assert abs(found.consistent.values[k] - truth) < 0.1 * truth
    assert any("elbow is taken as Coulomb's" in sentence for sentence in found.warnings)
    curve = found.friction
    assert curve is not None
    v = np.linspace(-1.5, 1.5, 100)[:, None] * [1.0, 1.0]
    assert abs(curve.torques(v) - CURVE.torques(v)).max() < 0.05
    text = repr(found)
    assert "Stribeck's friction has no place in a robot" in text
    assert (found.validation.after < 1.1 * found.estimate.torque_noise).all()
    assert found.validation.robot_alone[0] > 1.5 * found.validation.after[0]
    assert len(found.plot().axes) == 4  # type: ignore[union-attr]


def test_the_speed_of_a_sigmoid_is_found_and_written_into_the_robot() -> None:
    speeds = np.array([0.2, 0.4])
    found = identify(
        noisy_log(replace(curve_of(TRUTH), friction_speed=speeds), 0.1), cutoff=6.0, drives=True, friction="sigmoid"
    )  # fmt: skip
    at = found.estimate.names.index("friction_speed(shoulder)")
    assert (abs(found.estimate.values[at:] - speeds) < 4.0 * found.estimate.deviations[at:]).all()
    written = [joint.friction_speed[0] for joint in found.robot.driven_joints]
    assert np.allclose(written, speeds, rtol=0.1)
    assert np.allclose(found.friction.friction_speed, written)  # type: ignore[union-attr]
    assert np.array_equal(found.validation.after, found.validation.robot_alone)
    assert "friction (sigmoid)" in repr(found)
    again = found.applied_to(PENDULUM)
    assert [joint.friction_speed for joint in again.driven_joints] == [(x,) for x in written]


def test_friction_of_another_form_is_reported_and_is_coulombs() -> None:
    log = noisy_log(curve_of(TRUTH), 0.1, rows=10_000)
    plain, other = (identify(log, cutoff=6.0, drives=True, friction=form) for form in ("coulomb", "stribeck"))
    assert len([x for x in other.warnings if "is taken as Coulomb's" in x]) == 2
    assert other.estimate.names == plain.estimate.names
    assert np.allclose(other.consistent.values, plain.consistent.values)


@pytest.mark.parametrize("drives", [False, True])
def test_both_filters_take_all_columns(drives: bool) -> None:
    log = filtered(noisy_log(curve_of(TRUTH), 0.1, rows=3000), 8.0, method="savitzky_golay")
    assert (identify(log, drives=drives).friction is not None) == drives


def test_a_joint_that_did_not_move_has_no_speed_to_be_found() -> None:
    log = noisy_log(CURVE, 0.1)
    q = log.q * [1.0, 0.0]
    v, qdd = np.gradient(q, log.time, axis=0), np.gradient(np.gradient(q, log.time, axis=0), log.time, axis=0)
    still = log_of(PENDULUM, log.time, q, kt.rnea(TRUTH, q, v, qdd) + CURVE.torques(v))
    found = identify(still, cutoff=6.0, drives=True, friction="stribeck")
    assert "friction(elbow)" in found.estimate.unexcited
    assert any("with the robot's own speed: it did not move" in sentence for sentence in found.warnings)
    assert found.friction is not None
    assert np.isfinite(found.friction.torques(v)).all()


def test_what_cannot_be_asked_for() -> None:
    log = noisy_log(curve_of(TRUTH), 0.1, rows=2000)
    with pytest.raises(kt.errors.OptionError, match=f"friction must be .*{list(FORMS)[-1]}"):
        identify(log, cutoff=6.0, drives=True, friction="dahl")
    with pytest.raises(kt.errors.OptionError, match="give drives=True"):
        identify(log, cutoff=6.0, friction="sigmoid")
    builder = kt.ModelBuilder("pair")
    for name in ("base", "one", "two"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.2, mass=1.0))
    builder.add_joint("a", kt.Revolute([1, 0, 0]), "base", "one", friction=[0.1])
    builder.add_joint("b", kt.Revolute([1, 0, 0]), "one", "two", mimic=kt.model.Mimic("a", 2.0))
    pair = builder.build()
    t = 0.01 * np.arange(200)
    own = log_of(pair, t, np.sin(3 * t)[:, None], np.cos(t)[:, None])
    with pytest.raises(kt.errors.OptionError, match="'pair' has joints that share them"):
        identify(own, cutoff=6.0, drives=True, friction="stribeck")


def test_a_payload_is_found_together_with_friction_that_a_robot_has_no_place_for() -> None:
    log = filtered(noisy_log(CURVE, 0.0), 6.0)
    assert log.v is not None
    assert log.qdd is not None
    box = kt.solids.box(0.1, 0.1, 0.2, mass=0.5)
    more = kt.rnea(TRUTH.attach_body("box", box, "tip"), log.q, log.v, log.qdd) - kt.rnea(TRUTH, log.q, log.v, log.qdd)
    carried = replace(log, robot=TRUTH, tau=log.tau + more)
    known, unknown = (
        identify_payload(carried, "tip", drives=True, friction=curve, name="box") for curve in (CURVE, None)
    )
    assert known.mass == pytest.approx(0.5, rel=0.02)
    assert abs(unknown.mass - 0.5) > 2.0 * abs(known.mass - 0.5)
    with pytest.raises(kt.errors.OptionError, match="with drives=True"):
        identify_payload(carried, "tip", friction=CURVE)
