"""What functions of CasADi look like, what they are good for there, and what cannot become one."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kinetree as kt
from tests.unit.function.test_unroll import chain

casadi = pytest.importorskip("casadi", reason="casadi is not installed")

ROBOT = kt.zoo.load("double_pendulum")
Q, V, TAU = np.array([[0.3, -0.8], [1.0, 0.5], [0.2, 0.1]])


def dense(x: object) -> np.ndarray:
    return np.array(casadi.DM(x))


def test_arguments_and_results_have_names_and_shapes() -> None:
    made = kt.to_casadi(kt.aba, ROBOT, f_ext=["tip"], parameters=["body.lower_rod.mass"])
    assert made.name_in() == ["q", "v", "tau", "f_ext_tip", "body_lower_rod_mass"]
    assert [made.size_in(k) for k in range(5)] == [(2, 1), (2, 1), (2, 1), (6, 1), (1, 1)]
    wrench, mass = [0.0, 0.3, 0.0, 1.0, 0.0, 2.0], 0.7
    expected = kt.aba(ROBOT, Q, V, TAU, f_ext={"tip": wrench}, parameters={"body.lower_rod.mass": mass})
    np.testing.assert_allclose(dense(made(Q, V, TAU, wrench, mass)).ravel(), expected, rtol=1e-12)
    called = made(q=Q, v=V, tau=TAU, f_ext_tip=wrench, body_lower_rod_mass=mass)
    np.testing.assert_allclose(dense(called["aba"]).ravel(), expected, rtol=1e-12)
    assert kt.to_casadi(kt.crba, ROBOT, name="inertia").name() == "inertia"


def test_matrices_are_matrices() -> None:
    pose = kt.to_casadi(kt.frame_placement, ROBOT, frame="tip")
    np.testing.assert_allclose(dense(pose(Q)), kt.frame_placement(ROBOT, Q, frame="tip"), atol=1e-15)
    steps = kt.to_casadi(kt.rollout, ROBOT, steps=3)
    torques = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(dense(steps(Q, V, torques, 0.01)), kt.rollout(ROBOT, Q, V, torques, dt=0.01), rtol=1e-12)


def test_programs_have_their_own_results() -> None:
    @kt.program(q=ROBOT, gains=(2, 2), grasp=bool)
    def law(q, gains, grasp):
        return {"tau": gains @ q, "force": np.where(grasp, 5.0, q[0]), "both": {"q": 2.0 * q}}

    made = kt.to_casadi(law)
    assert made.name_out() == ["tau", "force", "both_q"]
    gains = np.array([[1.0, 2.0], [3.0, 4.0]])
    tau, force, both = made(Q, gains, 0)
    np.testing.assert_allclose(dense(tau).ravel(), gains @ Q)
    assert float(force) == Q[0]
    assert float(made(Q, gains, 1)[1]) == 5.0
    np.testing.assert_allclose(dense(both).ravel(), 2.0 * Q)


def test_loops_are_unrolled() -> None:
    robot = chain(9)
    made = kt.to_casadi(kt.aba, robot, unroll=False)
    q, v, tau = np.random.default_rng(0).normal(size=(3, robot.nv))
    np.testing.assert_allclose(dense(made(q, v, tau)).ravel(), kt.aba(robot, q, v, tau), rtol=1e-9)

    @kt.program(x=())
    def root(x):  # Newton's iteration, which ends when it has converged
        def step(_, y):
            following = 0.5 * (y + x / y)
            return following

        return kt.fori(0, 30, step, 1.0)

    assert float(kt.to_casadi(root)(2.0)) == pytest.approx(2.0**0.5, rel=1e-15)


def test_numbers_of_constraints_are_constants() -> None:
    constraint = kt.Contact("tip", [0.0, 0.0, 1.0], at=[0.0, 0.0, 0.1])
    made = kt.to_casadi(kt.constrained_dynamics, ROBOT, constraints=[constraint])
    assert made.name_in() == ["q", "v", "tau"]
    found = dense(made(Q, V, TAU)).ravel()
    moved = kt.Contact("tip", [0.0, 0.0, 1.0], at=[0.3, 0.0, 0.1])
    for one, equal in ((constraint, True), (moved, False)):
        compiled = kt.compile(ROBOT, kt.constrained_dynamics, constraints=[one])
        assert np.allclose(found, compiled(Q, V, TAU).ravel(), rtol=1e-9) is equal


def test_symbols_in_kinetrees_own_functions() -> None:
    q = casadi.SX.sym("q", 2)
    speed = casadi.Function("M", [q], [kt.crba(ROBOT, q)])
    np.testing.assert_allclose(dense(speed(Q)), kt.crba(ROBOT, Q), rtol=1e-12)
    x = casadi.MX.sym("x", 4)
    rate = casadi.Function("rate", [x], [kt.aba(ROBOT, x[:2], x[2:], np.zeros(2))])
    np.testing.assert_allclose(dense(rate([*Q, *V])).ravel(), kt.aba(ROBOT, Q, V, np.zeros(2)), rtol=1e-12)
    with pytest.raises(
        kt.ShapeError, match=r"crba: q has shape \(3, 1\), but 'double_pendulum' needs one sample, 2 by"
    ):
        kt.crba(ROBOT, casadi.SX.sym("q", 3))


def test_a_problem_is_solved() -> None:
    """The configuration in which gravity needs the least torques, with the tip 0.9 to the side."""
    opti = casadi.Opti()
    q = opti.variable(2)
    gravity, pose = kt.to_casadi(kt.gravity_forces, ROBOT), kt.to_casadi(kt.frame_placement, ROBOT, frame="tip")
    opti.minimize(casadi.sumsqr(gravity(q)))
    opti.subject_to(pose(q)[0, 3] == 0.4)
    opti.set_initial(q, [0.5, 0.5])
    opti.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    found = opti.solve().value(q)
    assert kt.frame_placement(ROBOT, found, frame="tip")[0, 3] == pytest.approx(0.4, abs=1e-8)
    slope = 2.0 * kt.jacobian(ROBOT, kt.gravity_forces, (found,), wrt="q").T @ kt.gravity_forces(ROBOT, found)
    along = kt.jacobian(ROBOT, kt.frame_placement, (found,), wrt="q", frame="tip")[0, 3]
    assert abs(slope[0] * along[1] - slope[1] * along[0]) < 1e-6  # both point the same way


def test_what_cannot_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kt.OptionError, match='form must be "SX" or "external", not \'MX\''):
        kt.to_casadi(kt.aba, ROBOT, form="MX")
    with pytest.raises(kt.OptionError, match="'2 x' cannot be the name of a function; 'n2_x' can"):
        kt.to_casadi(kt.aba, ROBOT, name="2 x")
    with pytest.raises(kt.OptionError, match=r"kt.to_casadi takes one of kinetree's functions and a robot"):
        kt.to_casadi(kt.aba)
    grounded = kt.zoo.load("cart_pole").with_ground()
    with pytest.raises(kt.OptionError, match='CasADi would differentiate them step by step; use form="external"'):
        kt.to_casadi(kt.contact_dynamics, grounded)
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(kt.MissingPackageError, match=r"needs casadi: pip install 'kinetree\[casadi\]'"):
        kt.to_casadi(kt.aba, ROBOT)
