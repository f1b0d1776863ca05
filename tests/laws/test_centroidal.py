"""Momentum, what changes it, its matrix about the centre of mass, and power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Vec3
from tests.laws.reference import BOTH, body_momentum, close, coordinate_rates, directional, reference
from tests.laws.test_parameters import with_numbers
from tests.laws.test_rolled import interpreted, program_of
from tests.robots import every_joint
from tests.strategies import State, law, moving_trees, numbers, vectors, wrenches

Array = NDArray[Any]
Call = Callable[..., Any]


ORIGIN = np.zeros(3)


def com_of(model: kt.Model, q: Array) -> Array:
    return reference(kt.center_of_mass, model, q)


def shifted(wrench: Array, d: Array) -> Array:
    """[f; n] about a point from which d leads to the one that it was about."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(d, wrench[:3])])


def along(model: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
    """q and its derivative."""
    return q, coordinate_rates(model, q, v)


def size_of(model: kt.Model, s: State) -> float:
    """What momenta and their derivatives are sums of."""
    A = np.abs(reference(kt.dynamics.centroidal_momentum_matrix, model, s.q))
    fast = float(np.abs(s.v).max(initial=0.0))
    return float(A.max(initial=0.0)) * max(1.0, fast, float(np.abs(s.qdd).max(initial=0.0)), fast**2) * model.nv


def with_rotors(floating: bool = True) -> kt.Model:
    """A body with two arms, whose three joints are geared motors."""
    builder = kt.ModelBuilder("geared")
    builder.add_body("base", kt.solids.box(0.5, 0.4, 0.3, mass=3.0, placement=kt.lie.placement([0.1, 0.0, 0.05])))
    for k, (parent, axis) in enumerate([("base", (0, 0, 1)), ("arm0", (0, 1, 0)), ("base", (1, 0, 0))]):
        builder.add_body(f"arm{k}", kt.solids.box(0.1, 0.1, 0.6, mass=1.0, placement=kt.lie.placement([0.0, 0.1, 0.3])))
        builder.add_joint(
            f"joint{k}", kt.Revolute(axis), parent, f"arm{k}", kt.lie.placement([0.2, 0.1 * k, 0.1], rpy=[0.3, 0.2, k]),
            armature=[0.3], rotor=kt.model.Rotor(0.002, 60.0, (0.0, 0.6, 0.8) if k == 1 else None),
        )  # fmt: skip
    return builder.build(floating_base=floating)


def geared_on_the_world(kind: JointKind) -> kt.Model:
    """An arm on a massless root, to which the rotor of its first joint belongs."""
    builder = kt.ModelBuilder("geared arm")
    parent = "world"
    builder.add_body(parent)
    for k in range(2):
        builder.add_body(f"arm{k}", kt.solids.box(0.2, 0.3, 0.1, mass=1.0 + k))
        builder.add_joint(
            f"joint{k}", kt.Revolute([0, 1, 0]) if k else kind, parent, f"arm{k}",
            kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.1, 0.2, 0.3]), rotor=kt.model.Rotor(0.02, 5.0, (0.0, 0.6, 0.8)),
        )  # fmt: skip
        parent = f"arm{k}"
    return builder.build()


# A revolute joint hands mass to the root; of the others some leave all of it where it is.
ON_THE_WORLD = [
    kt.Revolute([1, 0, 0]),
    kt.joints.Screw(angular=[0, 1, 0], linear=[0.2, 0.1, -0.3]),
    kt.joints.Composite([kt.Revolute([0, 0.6, 0.8]), (kt.Fixed(), kt.lie.placement([0.3, 0.1, 0.2]))]),
]


def state_of(model: kt.Model, seed: int = 5) -> State:
    rng = np.random.default_rng(seed)
    return State(model.random(rng), *rng.normal(size=(3, model.nv)))


GEARED = pytest.mark.parametrize("floating", [True, False], ids=["floating", "fixed"])


# -- momentum


@BOTH
@law(8)
@given(moving_trees())
def test_momentum_is_the_sum_over_bodies(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    close(call(kt.dynamics.momentum, model, s.q, s.v, ORIGIN), body_momentum(model, s.q, s.v), size_of(model, s))


@BOTH
@law(8)
@given(moving_trees(), vectors(5.0))
def test_momentum_about_a_point_is_less_what_that_point_moves_past(
    call: Call, case: tuple[kt.Model, State], point: Vec3
) -> None:
    model, s = case
    c = np.array(point.components())
    h = reference(kt.dynamics.momentum, model, s.q, s.v, ORIGIN)
    close(call(kt.dynamics.momentum, model, s.q, s.v, c), shifted(h, -c), 10.0 * size_of(model, s))


@BOTH
@law(8)
@given(moving_trees())
def test_centroidal_momentum_is_about_the_centre_of_mass(call: Call, case: tuple[kt.Model, State]) -> None:
    """Of all that `center_of_mass` counts, with a fixed base's mass."""
    model, s = case
    c = com_of(model, s.q)
    h = body_momentum(model, s.q, s.v)
    scale = (1.0 + float(np.abs(c).max())) * size_of(model, s)
    close(call(kt.dynamics.centroidal_momentum, model, s.q, s.v), shifted(h, -c), scale)


@law(50)
@given(moving_trees())
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre(case: tuple[kt.Model, State]) -> None:
    model, s = case
    velocity = directional(lambda q: com_of(model, q), along(model, s.q, s.v))
    close(reference(kt.dynamics.centroidal_momentum, model, s.q, s.v)[:3], model.mass * velocity, size_of(model, s))


# -- the matrix and its derivative


@BOTH
@law(8)
@given(moving_trees())
def test_the_matrix_times_v_is_the_momentum(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    A = call(kt.dynamics.centroidal_momentum_matrix, model, s.q)
    close(A @ s.v, reference(kt.dynamics.centroidal_momentum, model, s.q, s.v), size_of(model, s))


@law(50)
@given(moving_trees())
def test_the_rate_of_the_matrix_is_its_derivative(case: tuple[kt.Model, State]) -> None:
    model, s = case
    expected = directional(
        lambda q: reference(kt.dynamics.centroidal_momentum_matrix, model, q), along(model, s.q, s.v)
    )
    close(reference(kt.dynamics.centroidal_momentum_matrix_rate, model, s.q, s.v), expected, size_of(model, s))


@law(50)
@given(moving_trees())
def test_the_rate_of_the_momentum_is_its_derivative_and_that_of_the_product(case: tuple[kt.Model, State]) -> None:
    model, s = case
    rate = reference(kt.dynamics.centroidal_momentum_rate, model, s.q, s.v, s.qdd)
    derivative = directional(
        lambda q, v: reference(kt.dynamics.centroidal_momentum, model, q, v), along(model, s.q, s.v), (s.v, s.qdd)
    )
    close(rate, derivative, 10.0 * size_of(model, s))
    A = reference(kt.dynamics.centroidal_momentum_matrix, model, s.q)
    A_dot = reference(kt.dynamics.centroidal_momentum_matrix_rate, model, s.q, s.v)
    close(rate, A @ s.qdd + A_dot @ s.v, 10.0 * size_of(model, s))


@law()
@given(moving_trees(floating=True))
def test_of_a_floating_robot_the_matrix_is_in_the_first_rows_of_the_mass_matrix(case: tuple[kt.Model, State]) -> None:
    """The base's joint force is all that changes the momentum; its rows are in the base's axes and about its origin."""
    model, s = case
    check_rows_of_the_base(model, s)


def check_rows_of_the_base(model: kt.Model, s: State) -> None:
    T = reference(kt.frame_placement, model, s.q, frame=model.root)
    d = T[:3, 3] - com_of(model, s.q)
    H = reference(kt.crba, model, s.q)[:6]
    columns = [shifted(np.concatenate([T[:3, :3] @ x[:3], T[:3, :3] @ x[3:]]), d) for x in H.T]
    close(
        reference(kt.dynamics.centroidal_momentum_matrix, model, s.q),
        np.transpose(columns),
        float(np.abs(H).max()) * 10.0,
    )


@law()
@given(moving_trees(floating=True), numbers(3.0))
def test_of_a_floating_robot_the_matrix_does_not_know_where_it_is(case: tuple[kt.Model, State], shift: float) -> None:
    """Not even in its last bit, a million kilometres away; and a translation has no angular momentum at all."""
    model, s = case
    far = s.q.copy()
    far[:3] += 1e9 * shift
    for function, arguments in (
        (kt.dynamics.centroidal_momentum_matrix, ()),
        (kt.dynamics.centroidal_momentum_matrix_rate, (s.v,)),
        (kt.dynamics.centroidal_momentum, (s.v,)),
        (kt.dynamics.centroidal_momentum_rate, (s.v, s.qdd)),
        (kt.dynamics.centroidal_inertia, ()),
    ):
        here = reference(function, model, s.q, *arguments)
        assert np.array_equal(reference(function, model, far, *arguments), here)
    A = reference(kt.dynamics.centroidal_momentum_matrix, model, s.q)
    A_dot = reference(kt.dynamics.centroidal_momentum_matrix_rate, model, s.q, s.v)
    assert not A[3:, :3].any()
    assert not A_dot[3:, :3].any()


@BOTH
@law(8)
@given(moving_trees())
def test_the_centroidal_inertia_is_the_sum_over_bodies(call: Call, case: tuple[kt.Model, State]) -> None:
    """Each link of the file at its own place, a fixed base too."""
    model, s = case
    c = com_of(model, s.q)
    expected = np.zeros((6, 6))
    expected[:3, :3] = model.mass * np.eye(3)
    for name, body in model.bodies.items():
        if not body.inertia.mass:
            continue
        T = reference(kt.frame_placement, model, s.q, frame=name)
        R, h, m = T[:3, :3], np.array(body.inertia.h.components()), body.inertia.mass
        about_origin = np.array(body.inertia.I.full.components()).reshape(3, 3)
        central = about_origin - m * parallel(h / m)
        expected[3:, 3:] += R @ central @ R.T + m * parallel(T[:3, 3] + R @ h / m - c)
    far = 1.0 + float(np.abs(c).max()) ** 2
    close(call(kt.dynamics.centroidal_inertia, model, s.q), expected, far * float(np.abs(expected).max()))


def parallel(c: Array) -> Array:
    return c @ c * np.eye(3) - np.outer(c, c)


@law()
@given(moving_trees(floating=True))
def test_a_robot_with_locked_joints_moves_as_its_centroidal_inertia(case: tuple[kt.Model, State]) -> None:
    model, s = case
    v = s.v.copy()
    v[6:] = 0.0
    R = reference(kt.frame_placement, model, s.q, frame=model.root)[:3, :3]
    velocity = directional(lambda q: com_of(model, q), along(model, s.q, v))
    twist = np.concatenate([velocity, R @ v[3:6]])
    h = reference(kt.dynamics.centroidal_inertia, model, s.q) @ twist
    close(reference(kt.dynamics.centroidal_momentum, model, s.q, v), h, size_of(model, s) * 10.0)


# -- what changes momentum


def acceleration_size(model: kt.Model, s: State, load: float) -> float:
    """What the wrench of the motion is a sum of, and forward dynamics' rounding with it."""
    H = reference(kt.crba, model, s.q)
    bias = np.abs(reference(kt.bias_forces, model, s.q, s.v))
    qdd = np.abs(np.linalg.inv(H)) @ (np.abs(s.tau) + bias + load)
    A = np.abs(reference(kt.dynamics.centroidal_momentum_matrix, model, s.q))
    return float((A @ qdd).max()) + size_of(model, s)


@law(50)
@given(moving_trees(floating=True), wrenches())
def test_momentum_changes_by_weight_and_external_wrenches_alone(case: tuple[kt.Model, State], wrench: Array) -> None:
    """A wrench on the frame "tool", the wrench of the base's joint force, and the weight at the centre of mass."""
    model, s = case
    qdd = reference(kt.aba, model, s.q, s.v, s.tau, f_ext={"tool": wrench})
    c = com_of(model, s.q)
    expected = np.concatenate([model.mass * np.array(model.gravity), np.zeros(3)])
    for frame, w in (("tool", wrench), (model.root, s.tau[:6])):
        T = reference(kt.frame_placement, model, s.q, frame=frame)
        expected += shifted(np.concatenate([T[:3, :3] @ w[:3], T[:3, :3] @ w[3:]]), T[:3, 3] - c)
    rate = reference(kt.dynamics.centroidal_momentum_rate, model, s.q, s.v, qdd)
    close(rate, expected, acceleration_size(model, s, float(np.abs(wrench).sum()) * 10.0), tolerance=1e-10)


@law()
@given(moving_trees(floating=True))
def test_in_free_fall_the_centre_falls_with_gravity_and_nothing_turns(case: tuple[kt.Model, State]) -> None:
    """Whatever the joints do."""
    model, s = case
    tau = s.tau.copy()
    tau[:6] = 0.0
    qdd = reference(kt.aba, model, s.q, s.v, tau)
    rate = reference(kt.dynamics.centroidal_momentum_rate, model, s.q, s.v, qdd)
    scale = acceleration_size(model, s, 0.0)
    close(rate[:3] / model.mass, np.array(model.gravity), scale / model.mass, tolerance=1e-10)
    close(rate[3:], np.zeros(3), scale, tolerance=1e-10)


# -- power


@law(50)
@given(moving_trees(), wrenches())
def test_power_is_the_change_of_energy(case: tuple[kt.Model, State], wrench: Array) -> None:
    model, s = case
    f_ext = {"tool": wrench, model.root: -wrench}
    qdd = reference(kt.aba, model, s.q, s.v, s.tau, f_ext=f_ext)
    power = reference(kt.dynamics.mechanical_power, model, s.q, s.v, s.tau, f_ext=f_ext)
    close(power, energy_rate(model, s, qdd), energy_scale(model, s, qdd, wrench), tolerance=1e-10)


def energy_rate(model: kt.Model, s: State, qdd: Array) -> Array:
    """Of kinetic energy and that in gravity."""
    return directional(
        lambda q, v: reference(kt.kinetic_energy, model, q, v) + reference(kt.potential_energy, model, q),
        along(model, s.q, s.v),
        (s.v, qdd),
    )


def energy_scale(model: kt.Model, s: State, qdd: Array, wrench: Array) -> float:
    H = np.abs(reference(kt.crba, model, s.q))
    bias = np.abs(reference(kt.bias_forces, model, s.q, s.v))
    load = 10.0 * float(np.abs(wrench).sum())
    return float(np.abs(s.v) @ (H @ np.abs(qdd) + bias + np.abs(s.tau) + load))


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("passive", [False, ["damping"], ["friction", "spring"], True], ids=str)
def test_power_knows_friction_springs_and_limits(passive: Any, limits: bool) -> None:
    """With joints of every kind, a follower, a coupling and a geared rotor."""
    model = every_joint()
    s = state_of(model)
    wrench = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    options = {"passive": passive, "limits": limits}
    qdd = reference(kt.aba, model, s.q, s.v, s.tau, f_ext={"tool": wrench}, **options)
    power = reference(kt.dynamics.mechanical_power, model, s.q, s.v, s.tau, f_ext={"tool": wrench}, **options)
    close(power, energy_rate(model, s, qdd), energy_scale(model, s, qdd, wrench), tolerance=1e-10)
    close(kt.dynamics.mechanical_power(model, s.q, s.v, s.tau, {"tool": wrench}, **options), power, abs(float(power)))


@law(8)
@given(moving_trees(), st.booleans())
def test_without_external_wrenches_power_is_that_of_the_joints(case: tuple[kt.Model, State], batch: bool) -> None:
    model, s = case
    q, v, tau = (np.stack([x, x]) if batch else x for x in (s.q, s.v, s.tau))
    close(kt.dynamics.mechanical_power(model, q, v, tau), np.sum(v * tau, axis=-1), float(np.abs(s.v) @ np.abs(s.tau)))


# -- geared rotors, followers and couplings


@GEARED
def test_geared_rotors_have_momentum(floating: bool) -> None:
    """Their spin at the gear's ratio, about axes that the parent carries; armatures have none."""
    model = with_rotors(floating)
    s = state_of(model)
    spin = np.zeros(3)
    for k, axis in enumerate([(0.0, 0.0, 1.0), (0.0, 0.6, 0.8), (1.0, 0.0, 0.0)]):
        joint = model.joints[f"joint{k}"]
        parent = {0: "base", 1: "arm0", 2: "base"}[k]
        R = reference(kt.frame_placement, model, s.q, frame=parent)[:3, :3]
        fixed_side = kt.lie.placement([0.0, 0.0, 0.0], rpy=[0.3, 0.2, k]).E.T
        turned = np.array((fixed_side @ Vec3(*axis)).components())
        spin += R @ turned * (0.002 * 60.0) * s.v[joint.v_slice]
    expected = body_momentum(model, s.q, s.v) + np.concatenate([np.zeros(3), spin])
    close(reference(kt.dynamics.momentum, model, s.q, s.v, ORIGIN), expected)
    assert np.abs(spin).max() > 0.05


@pytest.mark.parametrize("make", [with_rotors, lambda: with_rotors(False), every_joint], ids=["free", "fixed", "every"])
def test_the_laws_hold_with_rotors_followers_and_couplings(make: Callable[[], kt.Model]) -> None:
    check_laws(make())


@pytest.mark.parametrize("kind", ON_THE_WORLD, ids=lambda kind: type(kind).__name__)
def test_a_rotor_on_a_massless_root_has_momentum_too(kind: JointKind) -> None:
    check_laws(geared_on_the_world(kind))


def check_laws(model: kt.Model) -> None:
    for seed in range(3):
        s = state_of(model, seed)
        scale = 10.0 * size_of(model, s)
        c = com_of(model, s.q)
        h = reference(kt.dynamics.centroidal_momentum, model, s.q, s.v)
        close(h, shifted(reference(kt.dynamics.momentum, model, s.q, s.v, ORIGIN), -c), scale)
        A = reference(kt.dynamics.centroidal_momentum_matrix, model, s.q)
        close(A @ s.v, h, scale)
        A_dot = reference(kt.dynamics.centroidal_momentum_matrix_rate, model, s.q, s.v)
        there = along(model, s.q, s.v)
        close(A_dot, directional(lambda q: reference(kt.dynamics.centroidal_momentum_matrix, model, q), there), scale)
        rate = reference(kt.dynamics.centroidal_momentum_rate, model, s.q, s.v, s.qdd)
        close(rate, A @ s.qdd + A_dot @ s.v, scale)
        expected = directional(
            lambda q, v: reference(kt.dynamics.centroidal_momentum, model, q, v), there, (s.v, s.qdd)
        )
        close(rate, expected, scale)


def test_nothing_from_inside_changes_the_momentum_of_a_robot_with_geared_motors() -> None:
    model = with_rotors()
    for seed in range(5):
        s = state_of(model, seed)
        check_rows_of_the_base(model, s)
        tau = np.concatenate([np.zeros(6), 100.0 * s.tau[6:]])
        qdd = reference(kt.aba, model, s.q, s.v, tau)
        rate = reference(kt.dynamics.centroidal_momentum_rate, model, s.q, s.v, qdd)
        weight = model.mass * np.array(model.gravity)
        close(rate, np.concatenate([weight, np.zeros(3)]), 1e3 * model.mass)


# -- many bodies, in loops

FUNCTIONS: list[tuple[Any, tuple[str, ...]]] = [
    (kt.dynamics.momentum, ("q", "v", "point")),
    (kt.dynamics.centroidal_momentum, ("q", "v")),
    (kt.dynamics.centroidal_momentum_rate, ("q", "v", "qdd")),
    (kt.dynamics.centroidal_momentum_matrix, ("q",)),
    (kt.dynamics.centroidal_momentum_matrix_rate, ("q", "v")),
    (kt.dynamics.centroidal_inertia, ("q",)),
    (kt.dynamics.mechanical_power, ("q", "v", "tau")),
]


@pytest.mark.parametrize(("function", "names"), FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS])
@pytest.mark.parametrize("make", [every_joint, with_rotors])
def test_loops_over_bodies_give_the_same(make: Callable[[], kt.Model], function: Any, names: tuple[str, ...]) -> None:
    model = make()
    s = state_of(model)
    arrays = [np.array([0.3, -0.2, 1.5]) if name == "point" else getattr(s, name) for name in names]
    f_ext = (
        {model.root: np.arange(6.0), "arm1": np.ones(6), "tool": -np.ones(6)}
        if function is kt.dynamics.mechanical_power
        else {}
    )
    f_ext = {name: wrench for name, wrench in f_ext.items() if name in model.frames}
    program = program_of(function, model, f_ext=list(f_ext))
    expected = reference(function, model, *arrays, **({"f_ext": f_ext} if f_ext else {}))
    close(interpreted(program, [*arrays, *f_ext.values()]), expected, 10.0 * size_of(model, s))


def test_parameters_are_taken_in_loops() -> None:
    """Also masses, on which the centre depends."""
    model = with_rotors()
    s = state_of(model)
    names = ["body.arm1.mass", "body.base.com"]
    values = [np.array(4.0), np.array([0.3, -0.2, 0.1])]
    changed = with_numbers(model, dict(zip(names, values, strict=True)))
    expected = reference(kt.dynamics.centroidal_momentum_matrix_rate, changed, s.q, s.v)
    for unroll in (True, False):
        program = program_of(kt.dynamics.centroidal_momentum_matrix_rate, model, parameters=names, unroll=unroll)
        close(interpreted(program, [s.q, s.v, *values]), expected, 10.0 * size_of(changed, s))
