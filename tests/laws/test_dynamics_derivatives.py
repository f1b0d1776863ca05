"""The recursions for derivatives of forward and inverse dynamics, against complex steps of the dynamics themselves.

Springs on joints with quaternions measure an angle by `atan2`, which takes no complex numbers: there fourth-order
differences are the witness.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler import specialization
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.kernels import compiled_late
from tests.laws.reference import close, directional, reference
from tests.laws.test_drives import driven_trees, geared_trees, moving, well_posed
from tests.laws.test_sharing import Case, cases
from tests.robots import GROUPS, group_of_joints
from tests.strategies import State, law, moving_trees, wrenches

Array = NDArray[Any]
Function = Callable[..., Any]

OF = {kt.aba: kt.dynamics.aba_derivatives, kt.rnea: kt.dynamics.rnea_derivatives}
EACH = pytest.mark.parametrize("function", OF, ids=lambda f: f.__name__)
STEP = 2e-3
"""Of differences: their error is its fourth power times a fifth derivative."""


def directions(robot: kt.Model, seed: int = 0) -> Array:
    """One of a configuration, one of a velocity, one of the third argument; of size one."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (3, robot.nv))


def arguments(function: Function, s: State) -> tuple[Array, Array, Array]:
    return s.q, s.v, s.tau if function is kt.aba else s.qdd


def displaced(robot: kt.Model, q: Array, d: Array) -> Array:
    """How q's numbers change along a displacement."""
    return reference(kt.kinematics.coordinate_rates, robot, q, d)


def stepped(function: Function, robot: kt.Model, s: State, d: Array, **options: Any) -> Array:
    """By complex steps along each of three directions; a row an argument."""
    x = arguments(function, s)

    def call(*changed: Array) -> Array:
        return reference(function, robot, *changed, **options)

    rates = (displaced(robot, s.q, d[0]), d[1], d[2])
    still = [(y, np.zeros(len(y))) for y in x]
    return np.array([directional(call, *still[:k], (x[k], rates[k]), *still[k + 1 :]) for k in range(3)])


def rounding(function: Function, robot: kt.Model, s: State, **options: Any) -> float:
    """The size of what is added up; in forward dynamics it comes through H⁻¹."""
    if function is kt.rnea:
        return float(np.abs(reference(kt.dynamics.rnea_derivatives, robot, s.q, s.v, s.qdd, **options)).max())
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau, **options)
    D = np.abs(reference(kt.dynamics.rnea_derivatives, robot, s.q, s.v, qdd, **options)).sum(axis=(0, 2))
    return float((np.abs(np.linalg.inv(reference(kt.crba, robot, s.q))) @ D).max())


def agrees(function: Function, robot: kt.Model, s: State, tolerance: float = 1e-10, **options: Any) -> None:
    """All three matrices, times a direction each, are what complex steps give."""
    d = directions(robot)
    matrices = reference(OF[function], robot, *arguments(function, s), **options)
    expected = stepped(function, robot, s, d, **options)
    close(np.einsum("kij,kj->ki", matrices, d), expected, rounding(function, robot, s, **options), tolerance)


# -- any robot


@EACH
@law(40)
@given(case=moving_trees(max_joints=5))
def test_derivatives_are_those_of_the_dynamics(function: Function, case: tuple[kt.Model, State]) -> None:
    robot, s = case
    assume(well_posed(robot, s))
    agrees(function, robot, s)


@EACH
@law(15)
@given(data=st.data())
def test_forces_from_outside_keep_to_the_axes_of_their_frames(function: Function, data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=4))
    assume(well_posed(robot, s))
    names = data.draw(st.lists(st.sampled_from(list(robot.frames)), min_size=1, max_size=3, unique=True))
    agrees(function, robot, s, f_ext={name: data.draw(wrenches()) for name in names})


@EACH
@law(15)
@given(case=cases())
def test_followers_and_couplings_share_derivatives_as_they_share_coordinates(
    function: Function, case: tuple[Case, State]
) -> None:
    shared, s = case
    assume(well_posed(shared.robot, s))
    agrees(function, shared.robot, s)


@EACH
@law(15)
@given(case=geared_trees().flatmap(moving))
def test_geared_rotors_have_derivatives_as_bodies_on_gears_have(
    function: Function, case: tuple[kt.Model, kt.Model, State]
) -> None:
    geared, with_bodies, s = case
    agrees(function, geared, s)
    own, other = (reference(OF[function], robot, *arguments(function, s)) for robot in (geared, with_bodies))
    size = max(rounding(function, robot, s) for robot in (geared, with_bodies))
    close(own, other, size, tolerance=1e-10)


@EACH
@law(15)
@given(case=driven_trees(max_joints=4), which=st.sampled_from([["damping"], ["friction"], ["damping", "friction"]]))
def test_friction_has_derivatives(function: Function, case: tuple[kt.Model, State], which: list[str]) -> None:
    agrees(function, *case, passive=which)


def is_far_from_half_a_turn(robot: kt.Model, q: Array) -> bool:
    """There a spring's force jumps."""
    for joint in robot.joints.values():
        if joint.kind.quaternions and joint.kind.nv:
            moved = joint.kind.difference(joint.rest, q[joint.q_slice].tolist())
            if max(map(abs, moved)) > 1.5:
                return False
    return True


@EACH
@law(10)
@given(case=driven_trees(max_joints=3))
def test_springs_have_derivatives_on_every_kind_of_joint(function: Function, case: tuple[kt.Model, State]) -> None:
    robot, s = case
    assume(robot.nv > 0 and is_far_from_half_a_turn(robot, s.q))
    passive = ["spring"]
    matrices = reference(OF[function], robot, *arguments(function, s), passive=passive)

    def moved(h: float) -> Array:
        _, *others = arguments(function, s)
        return reference(function, robot, robot.integrate(s.q, h * STEP * d), *others, passive=passive)

    d = directions(robot)[0]
    # Large angles are known to fewer digits, and differences divide what is lost by the step.
    size = max(rounding(function, robot, s, passive=passive), float(np.abs(moved(0.0)).max()))
    slope = (8.0 * (moved(1.0) - moved(-1.0)) - moved(2.0) + moved(-2.0)) / (12.0 * STEP)
    close(matrices[0] @ d, slope, size, tolerance=1e-7)


# -- robots with joints of every kind, a follower, a coupling and geared rotors


@pytest.mark.parametrize(
    ("function", "group"),
    [
        *(pytest.param(kt.aba, group, id=f"aba-{group}") for group in GROUPS),
        *(pytest.param(kt.rnea, group, id=f"rnea-{group}") for group in GROUPS),
    ],
)
def test_every_column_for_every_kind_of_joint(function: Function, group: str) -> None:
    robot, rng = group_of_joints(group), np.random.default_rng(3)
    q = max((robot.random(rng) for _ in range(30)), key=lambda q: float(robot.conditioning(q).min(initial=1.0)))
    assert robot.conditioning(q).min(initial=1.0) > 0.09
    s = State(q, *rng.normal(size=(3, robot.nv)))
    f_ext = {"tool": np.array([3.0, -2.0, 1.0, 0.5, 0.4, -0.3])}
    options: dict[str, Any] = {"f_ext": f_ext, "passive": ["damping", "friction"]}
    matrices = reference(OF[function], robot, *arguments(function, s), **options)
    size = rounding(function, robot, s, **options)
    for k, unit in enumerate(np.eye(robot.nv)):
        expected = stepped(function, robot, s, np.array([unit] * 3), **options)
        close(matrices[:, :, k], expected, size, tolerance=1e-11)


# -- between them


@law(20)
@given(case=moving_trees(max_joints=5))
def test_forces_and_accelerations_move_against_each_other(case: tuple[kt.Model, State]) -> None:
    """H q̈ + C = τ: by q and by v, H times what `aba` has is what `rnea` has, with the other sign; by τ it is H⁻¹."""
    robot, s = case
    assume(well_posed(robot, s))
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau)
    of_aba = reference(kt.dynamics.aba_derivatives, robot, s.q, s.v, s.tau)
    of_rnea = reference(kt.dynamics.rnea_derivatives, robot, s.q, s.v, qdd)
    H = reference(kt.crba, robot, s.q)
    size = float((np.abs(H) @ np.abs(of_aba)).max())
    close(H @ of_aba[:2], -of_rnea[:2], size, tolerance=1e-10)
    close(H @ of_aba[2], np.eye(robot.nv), size, tolerance=1e-10)
    np.testing.assert_array_equal(of_aba[2], of_aba[2].T)
    close(of_rnea[2], H, tolerance=1e-12)


@law(20)
@given(case=moving_trees(max_joints=5))
def test_the_slope_by_rates_along_the_motion_is_twice_the_coriolis_force(case: tuple[kt.Model, State]) -> None:
    """C(q, v) v is of second order in v (Euler's theorem)."""
    robot, s = case
    by_v = reference(kt.dynamics.rnea_derivatives, robot, s.q, s.v, s.qdd)[1]
    coriolis = reference(kt.dynamics.coriolis_forces, robot, s.q, s.v)
    close(by_v @ s.v, 2.0 * coriolis, float((np.abs(by_v) @ np.abs(s.v)).max(initial=0.0)))


@law(15)
@given(case=moving_trees(gravity=(0.0, 0.0, 0.0), max_joints=5))
def test_a_robot_at_rest_without_gravity_feels_no_change_of_place_or_speed(case: tuple[kt.Model, State]) -> None:
    """No force holds it, wherever it is, and rates act by their squares."""
    robot, s = case
    zero = np.zeros(robot.nv)
    by_q, by_v, _ = reference(kt.dynamics.rnea_derivatives, robot, s.q, zero, zero)
    assert not by_q.any()
    assert not by_v.any()


def test_a_pendulum_in_closed_form() -> None:
    """I q̈ = τ - m g l sin q - d v."""
    mass, length, damping = 2.0, 0.7, 0.3
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("base")
    builder.add_body("bob", Inertia.from_com(mass, Vec3(0.0, 0.0, -length), Sym3.scalar(0.0)))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", damping=[damping])
    robot, inertia = builder.build(), mass * length**2
    q, v, tau = (np.array([x]) for x in (0.4, 1.5, 0.8))
    d = kt.dynamics.aba_derivatives(robot, q, v, tau, passive=True)
    np.testing.assert_allclose(d.by_q, [-mass * 9.81 * length * np.cos(q) / inertia], rtol=1e-13)
    np.testing.assert_allclose(d.by_v, [[-damping / inertia]], rtol=1e-13)
    np.testing.assert_allclose(d.by_tau, [[1.0 / inertia]], rtol=1e-13)


def test_a_free_body_turning_in_closed_form() -> None:
    """I ω̇ = n - ω × I ω and, in the body's axes, v̇ = f / m + g - ω × v; g turns with a displacement."""
    box = kt.solids.box(0.5, 0.4, 0.3, mass=2.0)
    builder = kt.ModelBuilder("box")
    builder.add_body("box", box)
    robot = builder.build(floating_base=True)
    I = np.array(box.I.full.components()).reshape(3, 3)
    rng = np.random.default_rng(5)
    q, v, tau = robot.random(rng), rng.normal(size=6), rng.normal(size=6)
    d = kt.dynamics.aba_derivatives(robot, q, v, tau)
    R = kt.frame_placement(robot, q, "box")[:3, :3]

    def cross(x: Array) -> Array:
        return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])

    by_q, by_v = np.zeros((6, 6)), np.zeros((6, 6))
    by_q[:3, 3:] = cross(R.T @ np.array(robot.gravity))
    by_v[:3, :3], by_v[:3, 3:] = -cross(v[3:]), cross(v[:3])
    by_v[3:, 3:] = np.linalg.solve(I, cross(I @ v[3:]) - cross(v[3:]) @ I)
    np.testing.assert_allclose(d.by_q, by_q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(d.by_v, by_v, rtol=0.0, atol=1e-12)


# -- compiled


def medley() -> kt.Model:
    """Large enough for loops in its linear algebra; with joints whose subspace changes, and some that share."""
    kinds: dict[str, Any] = {
        "floating": kt.Free(),
        "ball": kt.joints.Spherical(),
        "gimbal": kt.joints.Euler("XYZ"),
        "cross": kt.joints.Universal([1, 0, 0], [0, 1, 0]),
        "hinge": kt.Revolute([0, 1, 0]),
        "left": kt.Revolute([0, 0, 1]),
        "right": kt.Revolute([0, 0, 1]),
        "follower": kt.Prismatic([0, 1, 0]),
    }
    builder, carrier = kt.ModelBuilder("medley"), ["base"]
    builder.add_body("base")
    for k, (name, kind) in enumerate(kinds.items()):
        builder.add_body(
            name, kt.solids.box(0.3, 0.2, 0.1, mass=1.0 + 0.1 * k, placement=kt.lie.placement([0.1, 0.05, 0]))
        )
        builder.add_joint(
            f"{name} joint", kind, carrier[(k + 1) // 2], name, kt.lie.placement([0.2, 0.1, 0.0], rpy=[0.0, 0.3 * k,
                0.0]),
            damping=[0.2] * kind.nv, friction=[0.1] * kind.nv, stiffness=[1.5] * kind.nv,
            mimic=kt.model.Mimic("hinge joint", -0.5) if name == "follower" else None,
        )  # fmt: skip
        carrier.append(name)
    builder.add_coupling("wrist", ["left joint", "right joint"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    return builder.build()


COMPILED: dict[str, Callable[[], kt.Model]] = {
    "double_pendulum": lambda: kt.zoo.load("double_pendulum"),
    "quadruped": lambda: kt.zoo.load("quadruped"),
    "medley": medley,
}


@pytest.mark.parametrize("name", list(COMPILED))
@EACH
def test_compiled_matrices_are_those_of_the_recursion_on_floats(function: Function, name: str) -> None:
    robot, rng = COMPILED[name](), np.random.default_rng(8)
    q = np.stack([robot.random(rng) for _ in range(3)])
    v, x = rng.normal(size=(2, 3, robot.nv))
    options: dict[str, Any] = {"passive": True, "f_ext": {list(robot.frames)[-1]: rng.normal(size=(3, 6))}}
    found = OF[function](robot, q, v, x, **options)
    for k in range(3):
        forces = {frame: wrench[k] for frame, wrench in options["f_ext"].items()}
        expected = reference(OF[function], robot, q[k], v[k], x[k], f_ext=forces, passive=True)
        close(np.array([matrix[k] for matrix in found]), expected, tolerance=1e-11)


@EACH
def test_robots_too_large_to_write_out_have_them_by_loops(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over bodies and over directions; here of a robot that is called large."""
    robot, rng = medley(), np.random.default_rng(10)
    monkeypatch.setattr(specialization, "_STRAIGHT_JOINTS", robot.nv - 1)
    q, (v, x) = robot.random(rng), rng.normal(size=(2, robot.nv))
    options: dict[str, Any] = {"passive": ["damping", "friction"], "f_ext": {"ball": rng.normal(size=6)}}
    kernel = compiled_late(robot, OF[function], passive=options["passive"], f_ext=["ball"])
    assert kernel.__self__.program.name == f"jacobian of {function.__name__}"
    found = kernel(q, v, x, options["f_ext"]["ball"])
    np.testing.assert_array_equal(OF[function](robot, q, v, x, **options), found)
    expected = reference(OF[function], robot, q, v, x, **options)
    close(found, expected, tolerance=1e-10)
    close(kt.jacobian(robot, function, (q, v, x), wrt="q", **options), expected[0], tolerance=1e-10)


def test_matrices_go_where_they_are_asked_to() -> None:
    robot, out = kt.zoo.load("double_pendulum"), np.empty((5, 3, 2, 2))
    rng = np.random.default_rng(9)
    q, v, x = rng.normal(size=(3, 5, 2))
    for function in OF.values():
        found = function(robot, q, v, x, out=out)
        assert all(np.shares_memory(matrix, out) for matrix in found)
        np.testing.assert_array_equal(np.stack(found, axis=1), out)
        np.testing.assert_array_equal(out, np.stack(function(robot, q, v, x), axis=1))
