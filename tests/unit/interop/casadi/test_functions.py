"""What functions of CasADi look like, what they are good for there, and what cannot become one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

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
    made = kt.interop.to_casadi(ROBOT, kt.aba, f_ext=["tip"], parameters=["body.lower_rod.mass"])
    assert made.name_in() == ["q", "v", "tau", "f_ext_tip", "body_lower_rod_mass"]
    assert [made.size_in(k) for k in range(5)] == [(2, 1), (2, 1), (2, 1), (6, 1), (1, 1)]
    wrench, mass = [0.0, 0.3, 0.0, 1.0, 0.0, 2.0], 0.7
    expected = kt.aba(ROBOT, Q, V, TAU, f_ext={"tip": wrench}, parameters={"body.lower_rod.mass": mass})
    np.testing.assert_allclose(dense(made(Q, V, TAU, wrench, mass)).ravel(), expected, rtol=1e-12)
    called = made(q=Q, v=V, tau=TAU, f_ext_tip=wrench, body_lower_rod_mass=mass)
    np.testing.assert_allclose(dense(called["aba"]).ravel(), expected, rtol=1e-12)
    assert kt.interop.to_casadi(ROBOT, kt.crba, name="inertia").name() == "inertia"


def test_matrices_are_matrices() -> None:
    pose = kt.interop.to_casadi(ROBOT, kt.frame_placement, frame="tip")
    np.testing.assert_allclose(dense(pose(Q)), kt.frame_placement(ROBOT, Q, frame="tip"), atol=1e-15)
    steps = kt.interop.to_casadi(ROBOT, kt.rollout, steps=3)
    torques = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(dense(steps(Q, V, torques, 0.01)), kt.rollout(ROBOT, Q, V, torques, dt=0.01), rtol=1e-12)


def test_programs_have_their_own_results() -> None:
    @kt.program(q=ROBOT, gains=(2, 2), grasp=bool)
    def law(q, gains, grasp):
        return {"tau": gains @ q, "force": np.where(grasp, 5.0, q[0]), "both": {"q": 2.0 * q}}

    made = kt.interop.to_casadi(law)
    assert made.name_out() == ["tau", "force", "both_q"]
    gains = np.array([[1.0, 2.0], [3.0, 4.0]])
    tau, force, both = made(Q, gains, 0)
    np.testing.assert_allclose(dense(tau).ravel(), gains @ Q)
    assert float(force) == Q[0]
    assert float(made(Q, gains, 1)[1]) == 5.0
    np.testing.assert_allclose(dense(both).ravel(), 2.0 * Q)


def test_loops_are_unrolled() -> None:
    robot = chain(9)
    made = kt.interop.to_casadi(robot, kt.aba, unroll=False)
    q, v, tau = np.random.default_rng(0).normal(size=(3, robot.nv))
    np.testing.assert_allclose(dense(made(q, v, tau)).ravel(), kt.aba(robot, q, v, tau), rtol=1e-9)

    @kt.program(x=())
    def root(x):
        return kt.programs.fori(30, lambda _, y: 0.5 * (y + x / y), 1.0)

    assert float(kt.interop.to_casadi(root)(2.0)) == pytest.approx(2.0**0.5, rel=1e-15)


def test_numbers_of_constraints_are_constants() -> None:
    constraint = kt.constraints.Contact("tip", [0.0, 0.0, 1.0], at=[0.0, 0.0, 0.1])
    made = kt.interop.to_casadi(ROBOT, kt.constraints.constrained_dynamics, constraints=[constraint])
    assert made.name_in() == ["q", "v", "tau", "acceleration"]
    compiled = kt.compile(ROBOT, kt.constraints.constrained_dynamics, constraints=[constraint])
    np.testing.assert_allclose(dense(made(Q, V, TAU, [0.5])).ravel(), compiled(Q, V, TAU, [0.5]), rtol=1e-9)


def test_symbols_in_kinetrees_own_functions() -> None:
    q = casadi.SX.sym("q", 2)
    speed = casadi.Function("M", [q], [kt.crba(ROBOT, q)])
    np.testing.assert_allclose(dense(speed(Q)), kt.crba(ROBOT, Q), rtol=1e-12)
    x = casadi.MX.sym("x", 4)
    rate = casadi.Function("rate", [x], [kt.aba(ROBOT, x[:2], x[2:], np.zeros(2))])
    np.testing.assert_allclose(dense(rate([*Q, *V])).ravel(), kt.aba(ROBOT, Q, V, np.zeros(2)), rtol=1e-12)
    with pytest.raises(
        kt.errors.ShapeError, match=r"crba: q has shape \(3, 1\), but 'double_pendulum' needs one sample, 2 by"
    ):
        kt.crba(ROBOT, casadi.SX.sym("q", 3))
    listed = casadi.Function("M", [q], [kt.crba(ROBOT, [q[0], Q[1]])])
    np.testing.assert_allclose(dense(listed(Q)), kt.crba(ROBOT, Q), rtol=1e-12)
    with pytest.raises(kt.errors.DTypeError, match=r"aba: v must be an array of real numbers .*, not of dtype object"):
        kt.aba(ROBOT, q, np.array([q[0], 0.0], dtype=object), V)
    with pytest.raises(kt.errors.DTypeError, match=r"aba: one call has symbols of casadi\.MX and of casadi\.SX"):
        kt.aba(ROBOT, q, x[:2], np.zeros(2))


def test_a_problem_is_solved() -> None:
    """The configuration in which gravity needs the least torques, with the tip 0.9 to the side."""
    opti = casadi.Opti()
    q = opti.variable(2)
    gravity, pose = (
        kt.interop.to_casadi(ROBOT, kt.gravity_forces),
        kt.interop.to_casadi(ROBOT, kt.frame_placement, frame="tip"),
    )
    opti.minimize(casadi.sumsqr(gravity(q)))
    opti.subject_to(pose(q)[0, 3] == 0.4)
    opti.set_initial(q, [0.5, 0.5])
    opti.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    found = opti.solve().value(q)
    assert kt.frame_placement(ROBOT, found, frame="tip")[0, 3] == pytest.approx(0.4, abs=1e-8)
    slope = 2.0 * kt.jacobian(ROBOT, kt.gravity_forces, (found,), wrt="q").T @ kt.gravity_forces(ROBOT, found)
    along = kt.jacobian(ROBOT, kt.frame_placement, (found,), wrt="q", frame="tip")[0, 3]
    assert abs(slope[0] * along[1] - slope[1] * along[0]) < 1e-6  # both point the same way


@pytest.mark.skipif(not any(map(shutil.which, ["cc", "gcc", "clang"])), reason="there is no C compiler")
class TestExternal:
    """Machine code of kinetree's C in CasADi."""

    def test_values_and_jacobians(self) -> None:
        symbolic = kt.interop.to_casadi(ROBOT, kt.aba, f_ext=["tip"])
        made = kt.interop.to_casadi(ROBOT, kt.aba, f_ext=["tip"], form="external")
        assert repr(made) == repr(symbolic).replace("SX", "MX")
        given = Q, V, TAU, np.arange(6.0)
        np.testing.assert_allclose(dense(made(*given)), dense(symbolic(*given)), rtol=1e-13)
        for ours, theirs in zip(made.jacobian()(*given, 0), symbolic.jacobian()(*given, 0), strict=True):
            np.testing.assert_allclose(dense(ours), dense(theirs), rtol=1e-12, atol=1e-12)

    def test_hessians(self) -> None:
        q = casadi.MX.sym("q", 2)
        found = []
        for form, more in (("SX", {}), ("external", {"derivatives": 2})):
            pose = kt.interop.to_casadi(ROBOT, kt.frame_placement, frame="tip", form=form, **more)
            height = pose(q)[2, 3] * pose(q)[0, 3]
            found.append(dense(casadi.Function("H", [q], [casadi.hessian(height, q)[0]])(Q)))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-11, atol=1e-12)

    def test_programs_constants_and_functions_that_end_iterations(self) -> None:
        @kt.program(q=ROBOT, gains=(2, 2))
        def law(q, gains):
            return {"tau": gains @ q, "pose": kt.frame_placement(ROBOT, q, "tip"), "two": 2.0 * gains}

        tau, pose, two = kt.interop.to_casadi(law, form="external")(Q, np.array([[1.0, 2.0], [3.0, 4.0]]))
        np.testing.assert_allclose(dense(tau).ravel(), np.array([[1.0, 2.0], [3.0, 4.0]]) @ Q)
        np.testing.assert_allclose(dense(pose), kt.frame_placement(ROBOT, Q, "tip"), atol=1e-14)
        np.testing.assert_array_equal(dense(two), [[2.0, 4.0], [6.0, 8.0]])
        contact = kt.constraints.Contact("tip", [0.0, 0.0, 1.0])
        held = [
            kt.interop.to_casadi(ROBOT, kt.constraints.constrained_dynamics, constraints=[contact], form=x)
            for x in ("SX", "external")
        ]
        given = Q, V, TAU, np.zeros(1)
        np.testing.assert_allclose(dense(held[0](*given)), dense(held[1](*given)), rtol=1e-10)
        steps = kt.interop.to_casadi(ROBOT, kt.rollout, steps=2, integrator="midpoint", form="external")
        torques = np.zeros((2, 2))
        expected = kt.rollout(ROBOT, Q, V, torques, dt=0.01, integrator="midpoint")
        np.testing.assert_allclose(dense(steps(Q, V, torques, 0.01)), expected, rtol=1e-10)

    def test_without_a_compiler(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("CC", "no-such-compiler")
        with pytest.raises(
            kt.errors.MissingPackageError, match=r"no C compiler 'no-such-compiler' \(CC\); install one"
        ):
            kt.interop.to_casadi(ROBOT, kt.aba, form="external")
        broken = tmp_path / "broken"
        broken.write_text("#!/bin/sh\necho it is broken >&2\nexit 1\n")
        broken.chmod(0o755)
        monkeypatch.setenv("CC", str(broken))
        with pytest.raises(
            kt.errors.MissingPackageError, match="could not compile kt_aba: it is broken; name another one"
        ):
            kt.interop.to_casadi(ROBOT, kt.aba, form="external")


def test_what_cannot_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kt.errors.OptionError, match='form must be "SX" or "external", not \'MX\''):
        kt.interop.to_casadi(ROBOT, kt.aba, form="MX")
    with pytest.raises(
        kt.errors.OptionError, match='derivatives= is for form="external"; CasADi differentiates SX by itself'
    ):
        kt.interop.to_casadi(ROBOT, kt.aba, derivatives=2)
    with pytest.raises(kt.errors.OptionError, match="derivatives must be 0, 1 or 2, not 3"):
        kt.interop.to_casadi(ROBOT, kt.aba, form="external", derivatives=3)
    with pytest.raises(kt.errors.OptionError, match="'2 x' cannot be the name of a function; 'n2_x' can"):
        kt.interop.to_casadi(ROBOT, kt.aba, name="2 x")
    with pytest.raises(
        kt.errors.OptionError, match=r"kt.interop.to_casadi takes a robot and one of kinetree's functions"
    ):
        kt.interop.to_casadi(kt.aba)
    with pytest.raises(
        kt.errors.OptionError, match='CasADi would differentiate them step by step; use form="external"'
    ):
        kt.interop.to_casadi(ROBOT, kt.rollout, steps=2, integrator="midpoint")
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(kt.errors.MissingPackageError, match=r"needs casadi: pip install 'kinetree\[casadi\]'"):
        kt.interop.to_casadi(ROBOT, kt.aba)
