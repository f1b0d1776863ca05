"""Friction, springs, geared rotors and limits: the same physics in every algorithm, backend and derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree import algorithms
from kinetree.expr import forward_derivative, interpret, reverse_derivative
from kinetree.model import Rotor
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.kernels import compiled_late
from tests.laws.reference import BOTH, close, directional, reference
from tests.strategies import Blueprint, State, axes, blueprints, law, numbers, positive, states, vectors

Array = NDArray[Any]
Call = Callable[..., Any]

NAMES = ("damping", "friction", "spring")


# -- robots with drives


@dataclass(frozen=True)
class Motor:
    """A rotor as a body: what a `Rotor` stands for."""

    inertia: float
    across: float
    """About the axes across its own."""
    mass: float
    center: Vec3
    """In the joint's fixed frame."""
    ratio: float
    axis: tuple[float, float, float] | None


def built(blueprint: Blueprint, options: Sequence[dict[str, Any]]) -> kt.Model:
    """The robot of a blueprint, with options for its joints."""
    builder = kt.ModelBuilder("driven tree", gravity=blueprint.gravity)
    for name, inertia in blueprint.bodies.items():
        builder.add_body(name, inertia)
    for joint, extra in zip(blueprint.joints, options, strict=True):
        builder.add_joint(
            joint.name, joint.kind, joint.parent, joint.child, joint.placement, armature=joint.armature, **extra
        )
    for name, (body, placement) in blueprint.frames.items():
        builder.add_frame(name, body, placement)
    try:
        return builder.build(floating_base=blueprint.floating_base)
    except kt.errors.ModelError as error:
        assume("dependent" not in str(error))  # parts of a composite that move alike
        raise


def well_posed(robot: kt.Model, s: State) -> bool:
    """Whether accelerations can be compared: no joint is near a singularity."""
    return robot.nv == 0 or float(np.linalg.cond(reference(kt.crba, robot, s.q))) < 1e5


@st.composite
def driven_trees(draw: st.DrawFn, *, max_joints: int = 5) -> tuple[kt.Model, State]:
    """Random trees with friction and springs on joints of any kind; and a state."""
    blueprint = draw(blueprints(max_joints=max_joints))
    options = []
    for plan in blueprint.joints:
        kind, extra = plan.kind, {}
        for name, most in (("damping", 2.0), ("friction", 2.0), ("stiffness", 5.0)):
            if draw(st.booleans()):
                extra[name] = [draw(positive(0.0, most)) for _ in range(kind.nv)]
        if draw(st.booleans()):
            extra["friction_speed"] = [draw(positive(0.05, 1.0)) for _ in range(kind.nv)]
        if draw(st.booleans()):
            extra["rest"] = kind.integrate(kind.neutral(), [draw(numbers(0.5)) for _ in range(kind.nv)])
        velocity, effort = ((draw(positive(0.5, 5.0)),) * kind.nv for _ in range(2))
        extra["limits"] = replace(kt.model.Limits.none(kind), velocity=velocity, effort=effort)
        options.append(extra)
    robot = built(blueprint, options)
    return robot, draw(states(robot).filter(lambda s: well_posed(robot, s)))


@st.composite
def geared_trees(draw: st.DrawFn) -> tuple[kt.Model, kt.Model]:
    """A tree with geared rotors, and the same with each rotor as a body on a joint that mimics the geared one."""
    blueprint = draw(blueprints(max_joints=4))
    bodies, options, followers = dict(blueprint.bodies), [], []
    for plan in blueprint.joints:
        if plan.kind.nv != 1 or draw(st.integers(0, 3)) == 0:
            options.append({})
            continue
        across = draw(positive(0.01, 0.5))
        units = axes().map(lambda a: tuple(x / float(np.linalg.norm(a)) for x in a))
        own_axis = st.none() if plan.kind.rotor_axis is not None else st.nothing()
        motor = Motor(
            inertia=2.0 * across * draw(positive(0.01, 1.0)),
            across=across,
            mass=draw(positive(0.1, 2.0)),
            center=draw(vectors(0.5)),
            ratio=draw(numbers(20.0)),
            axis=draw(own_axis | units),
        )
        options.append({"rotor": Rotor(motor.inertia, motor.ratio, motor.axis)})
        axis = plan.kind.rotor_axis if motor.axis is None else Vec3(*motor.axis)
        x, y, z = axis.components()
        extra = motor.inertia - motor.across
        own = Sym3.scalar(motor.across) + Sym3(*(extra * e for e in (x * x, y * y, z * z, x * y, x * z, y * z)))
        body = Inertia.from_com(motor.mass, Vec3.zero(), own)
        placement = Transform(Transform.identity().E, motor.center) @ plan.placement
        bodies[plan.parent] = bodies[plan.parent] + placement.back(body)
        followers.append((plan, kt.Revolute(axis.components()), placement, body, motor.ratio))
    geared = built(replace(blueprint, bodies=bodies), options)

    builder = kt.ModelBuilder("with rotors", gravity=blueprint.gravity)
    for name, inertia in blueprint.bodies.items():
        builder.add_body(name, inertia)
    for plan in blueprint.joints:
        builder.add_joint(plan.name, plan.kind, plan.parent, plan.child, plan.placement, armature=plan.armature)
    for plan, kind, placement, body, ratio in followers:
        builder.add_body(f"rotor of {plan.name}", body)
        mimic = kt.model.Mimic(plan.name, ratio)
        builder.add_joint(f"gear of {plan.name}", kind, plan.parent, f"rotor of {plan.name}", placement, mimic=mimic)
    return geared, builder.build(floating_base=blueprint.floating_base)


def moving(trees: tuple[kt.Model, kt.Model]) -> st.SearchStrategy[tuple[kt.Model, kt.Model, State]]:
    state = states(trees[0]).filter(lambda s: well_posed(trees[0], s))
    return st.tuples(st.just(trees[0]), st.just(trees[1]), state)


WHICH = st.lists(st.sampled_from(NAMES), unique=True)


# -- passive forces


@law(20)
@given(driven_trees(), WHICH)
def test_inverse_dynamics_undoes_forward_dynamics_with_passive_forces(
    case: tuple[kt.Model, State], passive: list[str]
) -> None:
    model, s = case
    qdd = reference(kt.aba, model, s.q, s.v, s.tau, passive=passive)
    forces = np.abs(reference(kt.crba, model, s.q)) @ np.abs(qdd)
    tau = reference(kt.rnea, model, s.q, s.v, qdd, passive=passive)
    close(tau, s.tau, scale=float(forces.max(initial=0.0)), tolerance=1e-10)


@law(20)
@given(driven_trees(), WHICH)
def test_passive_forces_are_added_to_the_joint_forces(case: tuple[kt.Model, State], passive: list[str]) -> None:
    model, s = case
    forces = reference(kt.dynamics.passive_forces, model, s.q, s.v, passive=passive)
    close(
        reference(kt.aba, model, s.q, s.v, s.tau, passive=passive), reference(kt.aba, model, s.q, s.v, s.tau + forces),
        tolerance=1e-8,
    )  # fmt: skip
    for function, rest in ((kt.rnea, (s.qdd,)), (kt.bias_forces, ())):
        without = reference(function, model, s.q, s.v, *rest)
        size = float(np.abs(forces).max(initial=0.0))
        close(reference(function, model, s.q, s.v, *rest, passive=passive), without - forces, scale=size)


@BOTH
@law(4)
@given(driven_trees(max_joints=3))
def test_passive_forces_are_the_sum_of_those_by_name(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    each = [call(kt.dynamics.passive_forces, model, s.q, s.v, passive=[name]) for name in NAMES]
    close(call(kt.dynamics.passive_forces, model, s.q, s.v, passive=True), np.sum(each, axis=0))
    close(call(kt.dynamics.passive_forces, model, s.q, s.v, passive=["spring", "damping"]), each[2] + each[0])
    assert not call(kt.dynamics.passive_forces, model, s.q, s.v, passive=False).any()


@law(20)
@given(driven_trees())
def test_friction_has_the_closed_form_and_its_slope(case: tuple[kt.Model, State]) -> None:
    model, s = case
    d, F, speed = (
        np.array([x for joint in model.joints.values() for x in getattr(joint, name)])
        for name in ("damping", "friction", "friction_speed")
    )
    brakes = ["damping", "friction"]
    forces = reference(kt.dynamics.passive_forces, model, s.q, s.v, passive=brakes)
    close(forces, -d * s.v - F * np.tanh(s.v / speed))
    assert float(forces @ s.v) <= 0.0

    def by_v(v: Array) -> Array:
        return reference(kt.dynamics.passive_forces, model, s.q, v, passive=brakes)

    close(directional(by_v, (s.v, s.qdd)), -(d + F / speed / np.cosh(s.v / speed) ** 2) * s.qdd, tolerance=1e-10)


@law(8)
@given(driven_trees())
def test_springs_pull_down_the_slope_of_their_energy(case: tuple[kt.Model, State]) -> None:
    model, s = case
    slope = along(kt.potential_energy, model, [s.q], [rates(model, s.q, s.v)], passive=["spring"])
    forces = reference(kt.dynamics.passive_forces, model, s.q, s.v, passive=["spring"])
    gravity = reference(kt.gravity_forces, model, s.q)
    scale = float(np.abs(s.v) @ (np.abs(forces) + np.abs(gravity))) + 10.0 * model.mass
    close(slope, s.v @ (gravity - forces), scale=scale, tolerance=1e-10)


@law(8)
@given(driven_trees(), WHICH)
def test_energy_changes_by_the_power_of_the_drives_and_of_friction(
    case: tuple[kt.Model, State], passive: list[str]
) -> None:
    model, s = case
    qdd = reference(kt.aba, model, s.q, s.v, s.tau, passive=passive)
    stored = [name for name in passive if name == "spring"]
    brake = reference(
        kt.dynamics.passive_forces, model, s.q, s.v, passive=[name for name in passive if name != "spring"]
    )

    dq = rates(model, s.q, s.v)
    power = along(kt.kinetic_energy, model, [s.q, s.v], [dq, qdd])
    power = power + along(kt.potential_energy, model, [s.q], [dq], passive=stored)
    H, bias = (np.abs(reference(f, model, *x)) for f, x in ((kt.crba, (s.q,)), (kt.bias_forces, (s.q, s.v))))
    scale = float(np.abs(s.v) @ (H @ np.abs(qdd) + bias + np.abs(s.tau) + np.abs(brake))) + 10.0
    close(power, s.v @ (s.tau + brake), scale=scale, tolerance=1e-10)


def along(function: Any, model: kt.Model, x: list[Array], dx: list[Array], **options: Any) -> Array:
    """The derivative of a function along dx, by that of its program: exact, also through functions of quaternions."""
    program = compiled_late(model, function, unroll=True, **options).__self__.program
    _, slope = interpret(forward_derivative(program), *(a.tolist() for a in (*x, *dx)))
    return np.reshape(slope, program.outputs[0].shape)


def rates(model: kt.Model, q: Array, v: Array) -> Array:
    """dq/dt."""
    tree = model.tree
    slots = zip(tree.joint, tree.split(q, "nq"), tree.split(v, "nv"), strict=True)
    pieces = [kind.rates(q_i, v_i) for kind, q_i, v_i in slots]
    return np.array(tree.joined(pieces[1:], "nq"), dtype=np.float64)


def ball_chain() -> kt.Model:
    """A ball joint with a spring, then a hinge with one, under gravity."""
    builder = kt.ModelBuilder("chain on springs")
    builder.add_body("stand")
    solid = Inertia.from_com(1.2, Vec3(0.1, -0.05, -0.3), Sym3(0.05, 0.08, 0.03, 0.0, 0.01, 0.0))
    builder.add_body("arm", solid)
    builder.add_body("hand", solid)
    rest = kt.joints.Spherical().integrate((0.0, 0.0, 0.0, 1.0), (0.2, -0.1, 0.3))
    builder.add_joint("ball", kt.joints.Spherical(), "stand", "arm", stiffness=[3.0, 5.0, 2.0], rest=rest)
    place = Transform(Transform.identity().E, Vec3(0.0, 0.0, -0.5))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "arm", "hand", place, stiffness=[4.0], rest=[0.3])
    return builder.build()


def test_springs_conserve_energy_to_the_order_of_the_integrator() -> None:
    robot = ball_chain()
    q = robot.integrate(robot.neutral(), [0.5, -0.4, 0.2, 0.6])
    drifts = []
    for dt in (4e-3, 2e-3):
        steps = round(1.0 / dt)
        states = kt.rollout(robot, q, np.ones(4), np.zeros((steps, 4)), dt, integrator="rk4", passive=["spring"])
        end_q, end_v = states[-1, :5], states[-1, 5:]
        total = [
            kt.kinetic_energy(robot, *x) + kt.potential_energy(robot, x[0], passive=True)
            for x in ((q, np.ones(4)), (end_q, end_v))
        ]
        drifts.append(abs(float(total[1] - total[0])))
    assert drifts[0] < 1e-6
    assert drifts[0] / drifts[1] > 14.0
    assert np.ptp(kt.potential_energy(robot, states[:, :5], passive=True)) > 0.5


# -- limits


@law(20)
@given(driven_trees())
def test_motors_stay_within_their_limits(case: tuple[kt.Model, State]) -> None:
    model, s = case
    effort, velocity = (
        np.array([x for joint in model.joints.values() for x in getattr(joint.limits, name)])
        for name in ("effort", "velocity")
    )
    given_ = reference(kt.dynamics.limited_forces, model, s.tau, s.v)
    pushes_on = np.abs(s.v) >= velocity
    clipped = np.clip(s.tau, -effort, effort)
    np.testing.assert_array_equal(given_, np.where(pushes_on & (clipped * s.v > 0.0), 0.0, clipped))
    qdd = reference(kt.aba, model, s.q, s.v, s.tau, limits=True, passive=True)
    close(qdd, reference(kt.aba, model, s.q, s.v, given_, passive=True), tolerance=1e-9)


# -- backends


SWITCHED: list[tuple[Any, tuple[str, ...], dict[str, Any]]] = [
    (kt.aba, ("q", "v", "tau"), {"passive": True, "limits": True}),
    (kt.rnea, ("q", "v", "qdd"), {"passive": True}),
    (kt.bias_forces, ("q", "v"), {"passive": ["spring", "friction"]}),
    (kt.potential_energy, ("q",), {"passive": True}),
    (kt.dynamics.passive_forces, ("q", "v"), {"passive": True}),
    (kt.dynamics.limited_forces, ("tau", "v"), {}),
]
EVERY = pytest.mark.parametrize(("function", "names", "options"), SWITCHED, ids=[f.__name__ for f, _, _ in SWITCHED])


@EVERY
@law(3)
@given(driven_trees(max_joints=4))
def test_kernels_with_and_without_loops_are_the_algorithm(
    function: Any, names: tuple[str, ...], options: dict[str, Any], case: tuple[kt.Model, State]
) -> None:
    model, s = case
    arrays = [getattr(s, name) for name in names]
    expected = reference(function, model, *arrays, **options)
    for unroll in (True, False):
        program = compiled_late(model, function, unroll=unroll, **options).__self__.program
        (numbers_,) = interpret(program, *([float(x) for x in array] for array in arrays))
        close(np.reshape(numbers_, expected.shape), expected, tolerance=1e-8 if function is kt.aba else 1e-11)


def shared() -> kt.Model:
    """A gripper whose second finger mimics the first, and two joints of a coupling, all with drives."""
    builder = kt.ModelBuilder("shared")
    builder.add_body("palm")
    solid = Inertia.from_com(0.5, Vec3(0.1, 0.02, -0.1), Sym3(0.02, 0.03, 0.01, 0.0, 0.0, 0.0))
    for k in range(4):
        builder.add_body(f"body{k}", solid)
        builder.add_joint(
            f"joint{k}", kt.Revolute([0, 1, 0.1 * k]), "palm" if k == 0 else f"body{k - 1}", f"body{k}",
            Transform(Transform.identity().E, Vec3(0.1, 0.0, 0.0)), damping=[0.1 + k], friction=[0.2], stiffness=[k],
            rest=[0.1 * k], limits=kt.model.Limits((-3.0,), (3.0,), (2.0,), (1.0 + k,)),
            mimic=kt.model.Mimic("joint0", -1.5, 0.2) if k == 1 else None,
        )  # fmt: skip
    builder.add_coupling("wrist", ["joint2", "joint3"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    return builder.build()


@EVERY
def test_where_joints_share_coordinates_kernels_are_the_algorithm(
    function: Any, names: tuple[str, ...], options: dict[str, Any]
) -> None:
    robot, rng = shared(), np.random.default_rng(3)
    s = State(*(rng.normal(size=n) for n in (robot.nq, robot.nv, robot.nv, robot.nv)))
    arrays = [getattr(s, name) for name in names]
    expected = reference(function, robot, *arrays, **options)
    for unroll in (True, False):
        close(compiled_late(robot, function, unroll=unroll, **options)(*arrays), expected, tolerance=1e-10)


def test_where_joints_share_coordinates_passive_forces_are_those_of_all_joints() -> None:
    """Gᵀ f, with the joints' rates G v, and RNEA undoes ABA."""
    robot = shared()
    q, v, tau = np.array([0.4, -0.3, 0.2]), np.array([0.5, -0.7, 0.3]), np.array([0.3, -0.2, 0.1])
    G = np.array([[1.0, 0, 0], [-1.5, 0, 0], [0, 1, 1], [0, 1, -1]])
    x, rate = G @ q + [0.0, 0.2, 0.0, 0.0], G @ v
    k = np.arange(4.0)
    f = -(0.1 + k) * rate - 0.2 * np.tanh(rate / 0.01) - k * (x - 0.1 * k)
    close(kt.dynamics.passive_forces(robot, q, v), G.T @ f)
    springs = kt.potential_energy(robot, q, passive=["spring"]) - kt.potential_energy(robot, q)
    close(springs, 0.5 * k @ (x - 0.1 * k) ** 2)
    qdd = kt.aba(robot, q, v, tau, passive=True)
    close(kt.rnea(robot, q, v, qdd, passive=True), tau, tolerance=1e-10)


@EVERY
def test_float32_results_are_those_of_float64_but_for_rounding(
    function: Any, names: tuple[str, ...], options: dict[str, Any]
) -> None:
    robot, rng = kt.zoo.load("arm7"), np.random.default_rng(8)
    q, others = robot.random(rng), rng.normal(size=(3, robot.nv))
    arrays = [dict(zip(("q", "v", "qdd", "tau"), (q, *others), strict=True))[name] for name in names]
    single = [x.astype(np.float32) for x in arrays]
    result = function(robot, *single, **options)
    assert result.dtype == np.float32
    exact = function(robot, *(x.astype(np.float64) for x in single), **options)
    np.testing.assert_allclose(result, exact, rtol=0.0, atol=2e-5 * np.abs(exact).max())


def test_a_switch_that_is_off_is_no_other_kernel() -> None:
    robot = kt.zoo.load("double_pendulum")
    plain = kt.compile(robot, kt.aba)
    assert kt.compile(robot, kt.aba, passive=False, limits=False).__self__ is plain.__self__  # type: ignore[attr-defined]
    named = kt.compile(robot, kt.aba, passive=["spring", "damping", "friction"])
    assert named.__self__ is kt.compile(robot, kt.aba, passive=True).__self__  # type: ignore[attr-defined]
    assert named.__self__ is not plain.__self__  # type: ignore[attr-defined]


# -- derivatives


@EVERY
@pytest.mark.parametrize("unroll", [True, False])
def test_derivatives_of_programs_are_differences(
    function: Any, names: tuple[str, ...], options: dict[str, Any], unroll: bool
) -> None:
    robot = ball_chain()
    builder = kt.ModelBuilder("chain")
    for link in robot.parts.links:
        builder.add_body(link.name, link.inertia)
    for spec in robot.parts.joints:
        n = spec.kind.nv
        limits = replace(spec.limits, effort=(2.0,) * n, velocity=(3.0,) * n)
        builder.add_joint(
            spec.name, spec.kind, spec.parent, spec.child, spec.placement, limits=limits, damping=[0.4] * n,
            friction=[0.3] * n, friction_speed=[0.5] * n, stiffness=spec.stiffness, rest=spec.rest,
        )  # fmt: skip
    program = compiled_late(builder.build(), function, unroll=unroll, **options).__self__.program
    rng = np.random.default_rng(2)
    point = {
        "q": robot.integrate(robot.neutral(), 0.5 * rng.normal(size=4)), "v": np.array([0.5, -1.0, 4.0, 0.7]),
        "qdd": rng.normal(size=4), "tau": np.array([1.0, -5.0, 1.5, -0.5]),
    }  # fmt: skip
    x = [point[name] for name in names]
    dx = [rng.normal(size=array.shape) for array in x]

    def at(h: float) -> Array:
        return np.array(interpret(program, *((a + h * d).tolist() for a, d in zip(x, dx, strict=True)))[0])

    h = 1e-4
    differences = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    _, forward = interpret(forward_derivative(program), *(a.tolist() for a in (*x, *dx)))
    np.testing.assert_allclose(forward, differences, rtol=0.0, atol=1e-8 * (1.0 + np.abs(differences).max()))
    bar = rng.normal(size=len(forward))
    _, *bars = interpret(reverse_derivative(program), *(a.tolist() for a in x), bar.tolist())
    back = sum(float(np.dot(b, d)) for b, d in zip(bars, dx, strict=True))
    assert back == pytest.approx(float(bar @ np.array(forward)), rel=1e-10, abs=1e-10)


# -- geared rotors


@law(20)
@given(geared_trees().flatmap(moving))
def test_a_geared_rotor_is_a_body_that_spins_on_the_parent(case: tuple[kt.Model, kt.Model, State]) -> None:
    geared, explicit, s = case
    H = reference(kt.crba, geared, s.q)
    size = float(np.abs(H).max(initial=0.0))
    close(reference(kt.crba, explicit, s.q), H, tolerance=1e-11)
    close(reference(kt.kinetic_energy, explicit, s.q, s.v), reference(kt.kinetic_energy, geared, s.q, s.v), scale=size)
    close(reference(kt.kinetic_energy, geared, s.q, s.v), 0.5 * s.v @ H @ s.v, scale=size)
    tau = reference(kt.rnea, geared, s.q, s.v, s.qdd)
    scale = float((np.abs(H) @ np.abs(s.qdd)).max(initial=0.0)) + size * float(s.v @ s.v)
    close(reference(kt.rnea, explicit, s.q, s.v, s.qdd), tau, scale=scale)
    back = reference(kt.aba, geared, s.q, s.v, tau)
    inverse = np.abs(np.linalg.inv(H)) @ (np.abs(H) @ np.abs(s.qdd) + np.abs(tau) + scale)
    close(back, s.qdd, scale=float(inverse.max(initial=0.0)))
    close(reference(kt.aba, explicit, s.q, s.v, tau), s.qdd, scale=float(inverse.max(initial=0.0)))


@law(3)
@given(geared_trees().flatmap(moving))
def test_kernels_have_the_gyroscopic_terms_too(case: tuple[kt.Model, kt.Model, State]) -> None:
    geared, _, s = case
    for function, arrays in (
        (kt.rnea, (s.q, s.v, s.qdd)), (kt.crba, (s.q,)), (kt.kinetic_energy, (s.q, s.v)), (kt.aba, (s.q, s.v, s.tau)),
    ):  # fmt: skip
        expected = reference(function, geared, *arrays)
        scale = float(np.abs(reference(kt.crba, geared, s.q)).max(initial=0.0)) * (1.0 + float(s.v @ s.v))
        for unroll in (True, False):
            program = compiled_late(geared, function, unroll=unroll).__self__.program
            (numbers_,) = interpret(program, *([float(x) for x in array] for array in arrays))
            actual = np.reshape(numbers_, expected.shape)
            close(actual, expected, scale=scale, tolerance=1e-8 if function is kt.aba else 1e-11)


@law(8)
@given(geared_trees().flatmap(moving))
def test_rotors_store_the_work_that_drives_do(case: tuple[kt.Model, kt.Model, State]) -> None:
    geared, _, s = case
    qdd = reference(kt.aba, geared, s.q, s.v, s.tau)

    dq = rates(geared, s.q, s.v)
    power = along(kt.kinetic_energy, geared, [s.q, s.v], [dq, qdd]) + along(kt.potential_energy, geared, [s.q], [dq])
    H, bias = (np.abs(reference(f, geared, *x)) for f, x in ((kt.crba, (s.q,)), (kt.bias_forces, (s.q, s.v))))
    close(power, s.v @ s.tau, scale=float(np.abs(s.v) @ (H @ np.abs(qdd) + bias + np.abs(s.tau))), tolerance=1e-10)


@pytest.mark.parametrize("ratio", [50.0, -30.0])
def test_a_spinning_rotor_makes_a_free_body_precess(ratio: float) -> None:
    """A gyrostat with the momentum h along its axis of symmetry: ω across it turns at ((Iz - It) ωz + h) / It."""
    across, along, wheel, rotor = 0.7, 0.4, 0.05, 2e-4
    builder = kt.ModelBuilder("gyrostat", gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "hull", Inertia.from_com(2.0, Vec3.zero(), Sym3(across - 0.1, across - 0.1, along - wheel, 0, 0, 0))
    )
    builder.add_body("wheel", Inertia.from_com(0.5, Vec3.zero(), Sym3(0.1, 0.1, wheel, 0, 0, 0)))
    builder.add_joint("axle", kt.Revolute([0, 0, 1]), "hull", "wheel", rotor=Rotor(rotor, ratio))
    robot = builder.build(floating_base=True)
    w, spin, duration, steps = np.array([0.3, -0.2, 0.5]), 8.0, 2.0, 2000
    turning = ((along - across) * w[2] + (wheel + ratio * rotor) * spin) / across
    v = np.array([0, 0, 0, *w, spin])
    qdd = kt.aba(robot, robot.neutral(), v, np.zeros(7))
    np.testing.assert_allclose(qdd, [0, 0, 0, -turning * w[1], turning * w[0], 0, 0], atol=1e-13)
    end = kt.rollout(robot, robot.neutral(), v, np.zeros((steps, 7)), duration / steps, integrator="rk4")[
        -1, robot.nq :
    ]
    angle = turning * duration
    across_axis = [w[0] * np.cos(angle) - w[1] * np.sin(angle), w[0] * np.sin(angle) + w[1] * np.cos(angle)]
    np.testing.assert_allclose(end[3:], [*across_axis, w[2], spin], atol=1e-9)


# -- rollouts


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_rollouts_in_loops_are_those_in_straight_lines_with_all_switches(integrator: str) -> None:
    for robot in (kt.zoo.load("cart_pole"), shared(), ball_chain()):
        rng = np.random.default_rng(6)
        q, v = robot.integrate(robot.neutral(), rng.normal(size=robot.nv)), 0.2 * rng.normal(size=robot.nv)
        tau = rng.normal(size=(2, robot.nv))
        straight, rolled = (
            compiled_late(robot, kt.rollout, steps=2, integrator=integrator, passive=True, limits=True, unroll=unroll)
            for unroll in (True, False)
        )
        expected = straight(q, v, tau, 1e-4)
        np.testing.assert_allclose(rolled(q, v, tau, 1e-4), expected, rtol=0.0, atol=1e-9)
        np.testing.assert_array_equal(
            kt.rollout(robot, q, v, tau, 1e-4, integrator=integrator, passive=True, limits=True)[0],
            expected[0],  # type: ignore[arg-type]
        )


def test_semi_implicit_euler_brakes_without_overshooting_however_stiff_friction_is() -> None:
    builder = kt.ModelBuilder("wheel")
    builder.add_body("stand")
    builder.add_body("disc", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(1e-6)))
    builder.add_joint("axle", kt.Revolute([0, 0, 1]), "stand", "disc", damping=[3.0], friction=[10.0])
    v = kt.rollout(builder.build(), [0.0], [1.0], np.zeros((20, 1)), 1e-3, passive=True)[:, 1]
    assert (v >= 0.0).all()
    assert (np.diff(v) <= 0.0).all()
    assert v[-1] < 1e-12


@pytest.mark.parametrize("v", [0.0, 1e-300, 1e-7, 9.99e-7, 1.01e-6, 3e-5, 0.2, -4.0])
def test_the_coefficient_of_braking_is_smooth_through_rest(v: float) -> None:
    expected = 0.3 + (0.7 / 0.01 if abs(v) < 1e-250 else 0.7 * np.tanh(v / 0.01) / v)
    assert algorithms.brake_coefficient(v, 0.3, 0.7, 0.01) == pytest.approx(expected, rel=1e-14)
