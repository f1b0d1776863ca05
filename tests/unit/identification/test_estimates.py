"""Filters, least squares on base parameters, and inertias that bodies can have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.identification import (
    Regression,
    base_estimate,
    consistent_estimate,
    divergence,
    filtered,
    identify,
    identify_payload,
    log_of,
    suspicions,
)
from kinetree.identification.estimation.divergence import Bodies, Numbers
from kinetree.identification.estimation.reduction import reduce_rows
from kinetree.identification.report.identification import unexcited_note
from tests.strategies import law

from .motions import PENDULUM, changed, exact_log, waves

TRUTH = changed(PENDULUM, 1)
BASE = kt.identification.base_parameters(PENDULUM)
BETA = BASE.of(kt.identification.inertial_parameters(TRUTH))
LOG = exact_log(PENDULUM, TRUTH)


def equations_of(*logs: kt.identification.Log, base: kt.BaseParameters = BASE, offsets: bool = False) -> Regression:
    equations = Regression(base, offsets=offsets)
    for log in logs:
        equations.add(log)
    return equations


@pytest.mark.parametrize("method", ["butterworth", "savitzky_golay"])
def test_a_filter_takes_noise_out_and_does_not_shift(method: str) -> None:
    time = 0.001 * np.arange(8000)
    q, v, qdd = waves(PENDULUM, time)
    rng = np.random.default_rng(0)
    log = log_of(PENDULUM, time, q + 1e-4 * rng.normal(size=q.shape), np.sin(3.0 * q) + 0.1 * rng.normal(size=q.shape))
    found = filtered(log, 12.0, method=method)
    rows = np.searchsorted(time, found.time - 1e-9)
    every = {"butterworth": 46, "savitzky_golay": 41}[method]
    assert len(found) == len(range(250, 8000 - 250, every))
    assert np.allclose(found.q, q[rows], atol=2e-3)
    assert found.v is not None
    assert found.qdd is not None
    assert abs(found.v - v[rows]).max() < 0.01
    assert abs(found.qdd - qdd[rows]).max() < 0.5  # one part in a hundred
    assert (found.tau - np.sin(3.0 * q[rows])).std() < 0.035
    assert f"one row of {every} kept" in found.remarks[-1]
    assert len(filtered(log, 12.0, method=method, decimate=False)) == 8000 - 500


def test_a_filter_refuses_what_it_cannot_do() -> None:
    for options, sentence in (
        ({"cutoff": 60.0}, "below 50 Hz"),
        ({"cutoff": True}, "below 50 Hz"),
        ({"cutoff": 5.0, "method": "mean"}, "butterworth"),
        ({"cutoff": 5.0, "order": 0}, "order must be"),
    ):
        with pytest.raises(kt.errors.OptionError, match=sentence):
            filtered(LOG, **options)
    with pytest.raises(kt.errors.LogError, match="too short"):
        filtered(LOG.rows(0.0, 0.5), 5.0)
    ball = kt.ModelBuilder("ball")
    ball.add_body("base", kt.solids.sphere(0.1, mass=1.0))
    ball.add_body("arm", kt.solids.sphere(0.1, mass=1.0))
    ball.add_joint("joint", kt.joints.Spherical(), "base", "arm")
    robot = ball.build()
    still = log_of(robot, np.arange(9.0), np.tile(robot.neutral(), (9, 1)), np.zeros((9, 3)))
    with pytest.raises(kt.errors.LogError, match="which no filter takes"):
        filtered(still, 0.1)


def test_exact_logs_give_the_exact_parameters_in_pieces_of_any_size() -> None:
    whole = base_estimate(equations_of(LOG))
    parts = base_estimate(equations_of(LOG.rows(0.0, 3.0), LOG.rows(3.005, 9.0), LOG.rows(9.005, 20.0)))
    assert np.allclose(whole.values, BETA, rtol=1e-9)
    assert np.allclose(parts.values, whole.values, rtol=1e-9)
    assert whole.unexcited == ()
    W = BASE.regressor(LOG.q, LOG.v, LOG.qdd).reshape(-1, len(BASE))
    assert np.isclose(whole.condition, np.linalg.cond(W), rtol=1e-9)


@pytest.mark.parametrize("rows", [1, 5, 192, 500])
def test_rows_are_reduced_to_a_triangle(rows: int) -> None:
    rng = np.random.default_rng(0)
    R, B = np.triu(rng.normal(size=(6, 6))), rng.normal(size=(rows, 6))
    R[2], B[:, 4] = 0.0, 0.0  # a direction that has not been seen, and one that these rows do not show
    wanted = R.T @ R + B.T @ B
    reduce_rows(R, B.copy(), np.empty(6))
    assert np.array_equal(R, np.triu(R))
    assert np.allclose(R.T @ R, wanted, rtol=0, atol=1e-12 * rows)
    by_python = np.triu(rng.normal(size=(6, 6)))
    by_code = by_python.copy()
    reduce_rows.__wrapped__(by_python, B.copy(), np.empty(6))  # type: ignore[attr-defined]
    reduce_rows(by_code, B.copy(), np.empty(6))
    assert np.array_equal(by_code, by_python)


def test_covariances_are_those_of_many_experiments() -> None:
    """The standardised errors of 200 estimates have unit variance, and the noise of each joint is found."""
    rng = np.random.default_rng(2)
    sigma = np.array([0.5, 0.02])
    errors, noises = [], []
    for _ in range(200):
        noisy = log_of(
            PENDULUM, LOG.time, LOG.q, LOG.tau + sigma * rng.normal(size=LOG.tau.shape), v=LOG.v, qdd=LOG.qdd
        )
        found = base_estimate(equations_of(noisy.rows(0.0, 1.0)))
        errors.append((found.values - BETA) / found.deviations)
        noises.append(found.torque_noise)
    assert np.allclose(np.mean(noises, axis=0), sigma, rtol=0.05)
    assert np.allclose(np.var(errors, axis=0), 1.0, atol=0.35)
    assert abs(np.mean(errors)) < 0.15


def test_each_joint_has_its_own_weight() -> None:
    rng = np.random.default_rng(3)
    noisy = LOG.tau + [2.0, 0.001] * rng.normal(size=LOG.tau.shape)
    equations = equations_of(log_of(PENDULUM, LOG.time, LOG.q, noisy, v=LOG.v, qdd=LOG.qdd))
    weighted, alike = base_estimate(equations), base_estimate(equations, torque_noise=1.0)
    of_second = slice(3, None)  # the parameters that the second joint feels
    errors = [np.linalg.norm((found.values - BETA)[of_second]) for found in (weighted, alike)]
    assert errors[0] < 0.05 * errors[1]
    with pytest.raises(kt.errors.OptionError, match="positive numbers"):
        base_estimate(equations, torque_noise=[1.0, 0.0])
    with pytest.raises(kt.errors.ShapeError, match=r"one number or \(2,\), one per degree of freedom"):
        base_estimate(equations, torque_noise=[1.0, 1.0, 1.0])


def test_unexcited_parameters_are_reported_and_not_guessed() -> None:
    q = LOG.q
    v = qdd = np.zeros_like(q)  # at rest in many poses, gravity alone is felt
    found = base_estimate(equations_of(log_of(PENDULUM, LOG.time, q, kt.rnea(TRUTH, q, v, qdd), v=v, qdd=qdd)))
    assert found.unexcited
    is_unexcited = np.isin(found.names, found.unexcited)
    assert np.isnan(found.values[is_unexcited]).all()
    assert np.isinf(found.deviations[is_unexcited]).all()
    assert np.isfinite(found.values[~is_unexcited]).all()
    assert "not excited" in repr(found)
    assert not found.identifiable()[is_unexcited].any()
    assert (found.f_statistics[is_unexcited] == 0.0).all()
    assert "I_yy(lower_rod)" in " ".join(found.unexcited)
    note = unexcited_note(found)
    assert note.startswith(f"the log does not excite {len(found.unexcited)} of {len(found.names)} parameters: I_")
    assert len(note) < 200
    robot = consistent_estimate(found).robot  # possible all the same
    assert np.allclose(kt.gravity_forces(robot, q), kt.gravity_forces(TRUTH, q), atol=1e-6)


def test_friction_and_offsets() -> None:
    drives = kt.identification.base_parameters(PENDULUM, drives=True)
    pi = kt.identification.inertial_parameters(TRUTH, drives=True)
    pi[-6:] = [0.01, 0.2, 0.3, 0.02, 0.1, 0.05]
    rough = kt.identification.with_inertial_parameters(PENDULUM, pi, drives=True)
    q, v, qdd = waves(PENDULUM, LOG.time)
    tau = kt.rnea(rough, q, v, qdd, passive=["damping", "friction"]) + np.array([0.4, -0.2])
    log = log_of(PENDULUM, LOG.time, q, tau, v=v, qdd=qdd)
    found = base_estimate(equations_of(log, base=drives, offsets=True))
    assert np.allclose(found.values, [*drives.of(pi), 0.4, -0.2], atol=1e-7)
    assert found.names[-2:] == tuple(f"offset({name})" for name in PENDULUM.v_names)
    robot = consistent_estimate(found).robot
    assert np.allclose(
        kt.identification.inertial_parameters(robot, drives=True)[[-5, -4, -2, -1]], [0.2, 0.3, 0.1, 0.05], atol=1e-4
    )


def test_logs_that_cannot_be_used_are_reported() -> None:
    with pytest.raises(kt.errors.LogError, match="has no velocities"):
        equations_of(log_of(PENDULUM, LOG.time, LOG.q, LOG.tau))
    cart = kt.zoo.load("cart_pole")
    of_another = exact_log(cart, cart)
    with pytest.raises(kt.errors.LogError, match="belongs to 'cart_pole'"):
        equations_of(of_another)
    with pytest.raises(kt.errors.LogError, match="too few"):
        base_estimate(equations_of(LOG.rows(0.0, 0.015)))
    with pytest.raises(kt.errors.LogError, match="all torques are zero"):
        base_estimate(equations_of(log_of(PENDULUM, LOG.time, LOG.q, 0.0 * LOG.tau, v=LOG.v, qdd=LOG.qdd)))
    with pytest.raises(kt.errors.OptionError, match=r"result of kt\.identification\.base_parameters"):
        Regression(PENDULUM)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="offsets must be True or False"):
        Regression(BASE, offsets=1)  # type: ignore[arg-type]


@law(50)
@given(seed=st.integers(0, 10_000), noise=st.sampled_from([1e-3, 0.3, 30.0]), rows=st.sampled_from([8, 100]))
def test_every_body_is_possible_whatever_the_log_says(seed: int, noise: float, rows: int) -> None:
    """Short logs with far too much noise, by which least squares gives impossible bodies."""
    rng = np.random.default_rng(seed)
    part = LOG.at_rows(np.sort(rng.choice(len(LOG), rows, replace=False)))
    tau = part.tau + noise * rng.normal(size=part.tau.shape)
    found = consistent_estimate(
        base_estimate(equations_of(log_of(PENDULUM, part.time, part.q, tau, v=part.v, qdd=part.qdd)))
    )
    for ten in kt.identification.inertial_parameters(found.robot).reshape(-1, 10):
        if ten[0] > 0.0:
            assert np.linalg.eigvalsh(kt.identification.log_cholesky.pseudo_inertia(ten))[0] > 0.0


def test_the_minimum_is_that_of_a_search_over_log_cholesky_parameters() -> None:
    """Another parameterisation and another method come no lower."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    noisy = log_of(PENDULUM, LOG.time, LOG.q, LOG.tau + rng.normal(size=LOG.tau.shape), v=LOG.v, qdd=LOG.qdd)
    estimate = base_estimate(equations_of(noisy))
    found = consistent_estimate(estimate)
    prior = kt.identification.inertial_parameters(PENDULUM)
    places = [k for k in range(len(PENDULUM.bodies)) if BASE.matrix[:, 10 * k : 10 * k + 10].any() and prior[10 * k]]

    def cost(pi: np.ndarray) -> float:
        error = estimate.factor @ BASE.of(pi) - estimate.target
        bodies = pi.reshape(-1, 10)[places]
        return 0.5 * float(error @ error) + float(divergence(bodies, prior.reshape(-1, 10)[places]).sum())

    def by_theta(theta: np.ndarray) -> float:
        pi = prior.copy().reshape(-1, 10)
        pi[places] = kt.identification.log_cholesky.to_parameters(theta.reshape(-1, 10))
        return cost(pi.ravel())

    start = kt.identification.log_cholesky.from_parameters(found.parameters.reshape(-1, 10)[places]).ravel()
    best = cost(found.parameters)
    assert minimize(by_theta, start + 0.01 * rng.normal(size=start.size), options={"maxiter": 200}).fun > best - 1e-6
    assert best < cost(prior)


def test_the_divergence_is_its_own_gradient_and_hessian() -> None:
    prior = kt.identification.inertial_parameters(PENDULUM).reshape(-1, 10)[1:3]
    rng = np.random.default_rng(1)
    for part, n in ((Bodies(prior), 20), (Numbers(np.array([0.2, 3.0])), 2)):
        x = part.start + 0.05 * rng.normal(size=n)
        _, F, r = part.terms(x)
        ahead = [part.terms(x + 1e-6 * e) for e in np.eye(n)]
        back = [part.terms(x - 1e-6 * e) for e in np.eye(n)]
        slopes = [
            ((a[0] - b[0]) / 2e-6, (a[1].T @ a[2] - b[1].T @ b[2]) / 2e-6) for a, b in zip(ahead, back, strict=True)
        ]
        assert np.allclose(F.T @ r, [slope for slope, _ in slopes], atol=1e-6)
        assert np.allclose(F.T @ F, [bend for _, bend in slopes], atol=1e-5)
        assert part.terms(part.start)[0] == pytest.approx(0.0, abs=1e-12)
        assert part.terms(-part.start)[0] == np.inf
    assert divergence(-prior, prior).tolist() == [np.inf, np.inf]


def test_a_body_that_is_a_rod_keeps_its_numbers() -> None:
    builder = kt.ModelBuilder("rod")
    builder.add_body("base", kt.solids.sphere(0.1, mass=1.0))
    builder.add_body("arm", kt.solids.inertia(1.0, [0.0, 0.0, 0.5], np.diag([0.1, 0.1, 0.0])))
    builder.add_joint("joint", kt.Revolute([1, 0, 0]), "base", "arm")
    robot = builder.build()
    log = exact_log(robot, robot, rows=50)
    found = consistent_estimate(base_estimate(equations_of(log, base=kt.identification.base_parameters(robot))))
    assert found.held == ("arm",)
    assert np.array_equal(
        kt.identification.inertial_parameters(found.robot), kt.identification.inertial_parameters(robot)
    )


def test_the_prior_matters_only_for_unexcited_parameters() -> None:
    estimate = base_estimate(equations_of(LOG), torque_noise=0.1)
    for deviation in (0.3, 1.0, 10.0):
        found = consistent_estimate(estimate, prior_deviation=deviation)
        known = estimate.identifiable(0.02)
        assert abs((found.values - BETA) / BETA)[known].max() < 0.02
    with pytest.raises(kt.errors.OptionError, match="prior_deviation must be a number between"):
        consistent_estimate(estimate, prior_deviation=0.0)
    with pytest.raises(kt.errors.OptionError, match="has other bodies"):
        consistent_estimate(estimate, robot=kt.zoo.load("arm6"))


def test_torques_that_no_bodies_need_are_reported() -> None:
    with pytest.raises(kt.errors.LogError, match=r"stopped early.*; the torques have the opposite sign"):
        identify(log_of(PENDULUM, LOG.time, LOG.q, -LOG.tau, v=LOG.v, qdd=LOG.qdd))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_deviation": np.inf}, "prior_deviation must be a number between"),
        ({"cutoff": np.float32(-1.0)}, "cutoff must be a frequency"),
        ({"tolerance": "small"}, "tolerance must be a number between 0 and 1"),
        ({"offsets": 1}, "offsets must be True or False"),
    ],
)
def test_numbers_that_make_no_sense(options: dict[str, float], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        identify(LOG, **options)  # type: ignore[arg-type]


def test_a_cutoff_may_be_a_number_of_numpy() -> None:
    assert np.array_equal(filtered(LOG, np.int64(8)).q, filtered(LOG, 8.0).q)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.LogError, match="identify takes logs"):
        identify(3)  # type: ignore[arg-type]


def test_arguments_of_another_kind_are_reported() -> None:
    wrong: Any = "x"
    for call, sentence in (
        (lambda: identify(LOG, validation=wrong), "identify: validation takes a log"),
        (lambda: filtered(wrong, 1.0), "filtered takes a log"),
        (lambda: suspicions(wrong), "suspicions takes a log"),
        (lambda: base_estimate(wrong), "base_estimate takes a Regression"),
        (lambda: consistent_estimate(wrong), "consistent_estimate takes the result of base_estimate"),
        (lambda: Regression(BASE).add(wrong), "add takes a log"),
        (lambda: identify_payload(wrong, "tip"), "identify_payload takes a log"),
    ):
        with pytest.raises(kt.errors.LogError, match=sentence):
            call()
