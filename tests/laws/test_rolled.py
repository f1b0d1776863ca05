"""A kernel that loops over a robot's bodies computes what the textbook loop does on floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.specialization import Specialization
from kinetree.expr import Loop, Program, interpret
from kinetree.model.external_forces import ForceKey, acting
from kinetree.model.parameters import nominal, parameter_names
from kinetree.spatial import Inertia
from tests.kernels import compiled_late
from tests.laws.reference import close, reference
from tests.laws.test_parameters import ARGUMENTS as KINDS_OF
from tests.laws.test_parameters import magnitude, options_of, values_of, with_numbers
from tests.robots import load_robot
from tests.strategies import Blueprint, State, blueprints, law, states, trees, wrenches
from tests.unit.model.bodies import ball, chain, point, shift

Array = NDArray[Any]

ARGUMENTS = {
    **KINDS_OF,
    kt.integrate: ("q", "v"),
    kt.difference: ("q", "q"),
    kt.kinematics.relative_placement: ("q",),
    kt.kinematics.relative_velocity: ("q", "v"),
    kt.kinematics.relative_acceleration: ("q", "v", "qdd"),
    kt.kinematics.relative_jacobian: ("q",),
    kt.kinematics.kinematic_hessian: ("q",),
    kt.dynamics.momentum_regressor: ("q", "v"),
    kt.dynamics.joint_torque_regressor: ("q", "v", "qdd"),
    kt.dynamics.articulated_inertias: ("q",),
    kt.dynamics.articulated_joints: ("q", "v", "tau"),
    kt.kinematics.body_motions: ("q", "v", "qdd"),
    kt.kinematics.body_jacobians: ("q",),
}
EVERY_FUNCTION = pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
WITH_FORCES = pytest.mark.parametrize(
    "function", [kt.aba, kt.rnea, kt.bias_forces, kt.dynamics.articulated_joints], ids=lambda f: f.__name__
)
EXPRESSED_IN = st.sampled_from(["local", "world", "local_world_aligned"])
KINDS = st.sampled_from(["spatial", "classical"])


def program_of(
    function: Callable[..., Any],
    robot: kt.Model,
    *,
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool = False,
    **options: Any,
) -> Program:
    """With loops, but for `unroll`."""
    definition = function.definition  # type: ignore[attr-defined]
    resolved = {name: check(robot, options.get(name)) for name, check in definition.options.items()}
    forces = tuple(acting(robot.frames, key) for key in f_ext)
    specialization = Specialization(definition, robot, resolved, forces, tuple(parameters), unroll)
    specialization.check()
    return specialization.program()


def interpreted(program: Program, arrays: Sequence[Array]) -> Array:
    (numbers,) = interpret(program, *(np.ravel(x).tolist() for x in arrays))
    return np.array(numbers).reshape(program.outputs[0].shape)


def arguments_of(function: Callable[..., Any], s: State) -> list[Array]:
    if function is kt.difference:
        return [s.q, s.q + 0.25]
    return [getattr(s, name) for name in ARGUMENTS[function]]


def agrees(function: Callable[..., Any], robot: kt.Model, s: State, **options: Any) -> None:
    """Of one function at one state."""
    arrays = arguments_of(function, s)
    expected = reference(function, robot, *arrays, **options)
    close(interpreted(program_of(function, robot, **options), arrays), expected, magnitude(function, robot, s))


@st.composite
def options(draw: st.DrawFn, function: Callable[..., Any], robot: kt.Model) -> dict[str, str]:
    """Any frame, on the root or not, and any way to express what it does."""
    values = {"frame": draw(st.sampled_from(list(robot.frames))), "expressed_in": draw(EXPRESSED_IN)}
    values["relative_to"] = draw(st.sampled_from(list(robot.frames)))
    values["kind"] = draw(KINDS)
    return {name: values[name] for name in function.definition.options if name in values}  # type: ignore[attr-defined]


# -- any robot


@EVERY_FUNCTION
@law(6)
@given(data=st.data())
def test_every_function_with_loops_is_the_textbook_loop(function: Callable[..., Any], data: st.DataObject) -> None:
    robot = data.draw(trees())
    s = data.draw(states(robot))
    agrees(function, robot, s, **data.draw(options(function, robot)))


@WITH_FORCES
@law(6)
@given(data=st.data())
def test_forces_on_any_frames_act_on_their_bodies(function: Callable[..., Any], data: st.DataObject) -> None:
    """Also several on one body, and on the root, which feels nothing."""
    robot = data.draw(trees())
    s = data.draw(states(robot))
    names = data.draw(st.lists(st.sampled_from(list(robot.frames)), min_size=1, max_size=4, unique=True))
    f_ext = {name: data.draw(wrenches()) for name in names}
    arrays = arguments_of(function, s)
    expected = reference(function, robot, *arrays, f_ext=f_ext)
    rolled = interpreted(program_of(function, robot, f_ext=names), [*arrays, *f_ext.values()])
    felt = float(np.abs(reference(kt.aba, robot, s.q, s.v, s.tau, f_ext=f_ext)).max()) if function is kt.aba else 0.0
    close(rolled, expected, max(magnitude(function, robot, s), felt), tolerance=1e-10)


@pytest.mark.parametrize("function", KINDS_OF, ids=lambda f: f.__name__)
@law(4)
@given(data=st.data())
def test_parameters_are_as_good_as_constants(function: Callable[..., Any], data: st.DataObject) -> None:
    """Gravity, masses, centres, inertias, placements and armatures, and a force besides."""
    robot = data.draw(trees(max_joints=5))
    s = data.draw(states(robot))
    names = [name for name in parameter_names(robot) if not name.startswith("joint.root_joint.")]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    values = data.draw(values_of(robot, chosen))
    given_options: dict[str, Any] = data.draw(options(function, robot))
    f_ext = {"tool": data.draw(wrenches())} if function.definition.takes_forces else {}  # type: ignore[attr-defined]
    arrays = arguments_of(function, s)
    program = program_of(function, robot, f_ext=list(f_ext), parameters=chosen, **given_options)
    changed = with_numbers(robot, values)
    if f_ext:
        given_options["f_ext"] = f_ext
    expected = reference(function, changed, *arrays, **given_options)
    rolled = interpreted(program, [*arrays, *f_ext.values(), *values.values()])
    felt = float(np.abs(expected).max(initial=0.0))
    close(rolled, expected, max(magnitude(function, changed, s), felt), tolerance=1e-10)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@law(4)
@given(data=st.data())
def test_steps_in_a_loop_over_bodies_are_steps_written_out(integrator: str, data: st.DataObject) -> None:
    robot = data.draw(trees(max_joints=2))
    s = data.draw(states(robot))
    f_ext = ["tool", robot.root]
    rolled, straight = (
        program_of(
            kt.rollout, robot, f_ext=f_ext, parameters=["gravity"], unroll=unroll, integrator=integrator, steps=2
        )
        for unroll in (False, True)
    )
    gravity = np.array([1.0, 2.0, -9.0])
    arrays = [
        s.q,
        s.v,
        np.stack([s.tau, -s.tau]),
        np.array(1e-3),
        *data.draw(st.tuples(wrenches(), wrenches())),
        gravity,
    ]
    expected = interpreted(straight, arrays)
    close(interpreted(rolled, arrays), expected, 1e-2 * magnitude(kt.aba, robot, s), tolerance=1e-10)


def test_axes_that_turn_are_turned_in_each_loop() -> None:
    """Two loops, over a floating base and over free bodies on it, whose axes turn with them."""
    builder = kt.ModelBuilder("swarm")
    for name in ("base", "first", "second"):
        builder.add_body(name, kt.solids.box(0.3, 0.2, 0.1, mass=1.0))
    for name in ("first", "second"):
        builder.add_joint(f"{name} joint", kt.Free(), "base", name, armature=[0.05] * 6, damping=[0.1] * 6)
    robot = builder.build(floating_base=True)
    rng = np.random.default_rng(0)
    arrays = [robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=(2, robot.nv)), np.array(1e-3)]
    options = {"integrator": "semi_implicit_euler", "steps": 2, "passive": ["damping"]}
    rolled, straight = (program_of(kt.rollout, robot, unroll=unroll, **options) for unroll in (False, True))
    np.testing.assert_allclose(interpreted(rolled, arrays), interpreted(straight, arrays), rtol=1e-10, atol=1e-12)


@law(10)
@given(data=st.data())
def test_bodies_without_mass_that_carry_others_are_no_obstacle(data: st.DataObject) -> None:
    """All bodies of one kind of joint may be so: what is zero for each of them is not zero with what they carry."""
    blueprint = data.draw(blueprints(max_joints=5, floating=False))
    carried = {joint.parent for joint in blueprint.joints}
    light = blueprint.with_joints(lambda joint: replace(joint, armature=(0.0,) * joint.kind.nv))
    bodies = {name: Inertia.zero() if name in carried else inertia for name, inertia in light.bodies.items()}
    robot = replace(light, bodies=bodies).build()
    s = data.draw(states(robot))
    agrees(kt.rnea, robot, s)
    agrees(kt.crba, robot, s)
    if not robot.singular_joints and np.linalg.cond(reference(kt.crba, robot, s.q)) < 1e8:
        agrees(kt.aba, robot, s)


@law(10)
@given(data=st.data())
def test_the_order_of_the_file_permutes_the_answer_and_nothing_else(data: st.DataObject) -> None:
    blueprint: Blueprint = data.draw(blueprints(floating=False, fixed_bodies=False))
    robot = blueprint.build()
    shuffled = replace(blueprint, joints=tuple(data.draw(st.permutations(blueprint.joints)))).build()
    s = data.draw(states(robot))
    q, v, qdd = (np.zeros_like(x) for x in (s.q, s.v, s.qdd))
    for joint in robot.joints.values():
        there = shuffled.joints[joint.name]
        q[there.q_slice] = s.q[joint.q_slice]
        v[there.v_slice], qdd[there.v_slice] = s.v[joint.v_slice], s.qdd[joint.v_slice]
    tau = interpreted(program_of(kt.rnea, robot), [s.q, s.v, s.qdd])
    there_tau = interpreted(program_of(kt.rnea, shuffled), [q, v, qdd])
    for joint in robot.joints.values():
        close(there_tau[shuffled.joints[joint.name].v_slice], tau[joint.v_slice], float(np.abs(tau).max()))


# -- particular robots


def some_state(robot: kt.Model) -> State:
    rng = np.random.default_rng(7)
    v, qdd, tau = rng.normal(size=(3, robot.nv))
    return State(robot.random(rng), v, qdd, tau)


def two_floating_chains() -> kt.Model:
    """Two free bodies on the root, each with an arm; between them a hinge on the root."""
    builder = kt.ModelBuilder("two")
    builder.add_body("world")
    hinge, slider = kt.Revolute([1.0, 2.0, 2.0]), kt.Prismatic([0.0, 1.0, 0.0])
    for k in (1, 2):
        for part in ("base", "upper", "lower"):
            builder.add_body(f"{part}{k}", ball(1.0 + k, com=(0.1, 0.0, 0.02 * k)))
        builder.add_joint(f"float{k}", kt.Free(), "world", f"base{k}")
        builder.add_joint(f"shoulder{k}", hinge, f"base{k}", f"upper{k}", shift(0.1, 0.2))
        builder.add_joint(f"elbow{k}", slider, f"upper{k}", f"lower{k}", shift(0.3, 0.0, 0.1), armature=(0.1,))
        if k == 1:
            builder.add_body("door", ball(3.0))
            builder.add_joint("door_hinge", hinge, "world", "door", shift(1.0))
    return builder.build()


def children_first() -> kt.Model:
    """Slots against the way from the root."""
    builder = kt.ModelBuilder("tree")
    for name in ("c", "b", "a", "root"):
        builder.add_body(name, ball(com=(0.1, 0.2, 0.3)))
    builder.add_joint("jc", kt.Revolute([0, 1, 0]), "b", "c", shift(0.2))
    builder.add_joint("jb", kt.Free(), "a", "b", shift(0.0, 0.3))
    builder.add_joint("ja", kt.Prismatic([1, 0, 0]), "root", "a", shift(0.0, 0.0, 0.4))
    return builder.build()


def telescope() -> kt.Model:
    """A hinge without inertia, on it a point mass that slides: D is zero but for what the hinge carries."""
    return chain([(kt.Revolute([0, 0, 1]), Inertia.zero()), (kt.Prismatic([1, 0, 0]), point(2.0))])


PARTICULAR: dict[str, Callable[[], kt.Model]] = {
    "one hinge": lambda: chain([(kt.Revolute([0, 1, 0]), ball())]),
    "one free body": lambda: chain([(kt.Free(), ball(com=(0.1, 0.0, 0.0)))]),
    "equal links": lambda: chain([(kt.Revolute([0, 0, 1]), ball(com=(0.1, 0.0, 0.0)))] * 5, offset=shift(0.2)),
    "equal forms, other constants": lambda: chain(
        [(kind, ball(m, com=(0.1 * m, 0.0, 0.0))) for m in (1.0, 2.0) for kind in (kt.Revolute([0, 0, 1]), kt.Free())],
        offset=shift(0.2, 0.1),
        armature=0.5,
    ),
    "two floating chains": two_floating_chains,
    "children first": children_first,
    "telescope": telescope,
}


@pytest.mark.parametrize("name", PARTICULAR)
def test_every_function_agrees_for_particular_robots(name: str) -> None:
    robot = PARTICULAR[name]()
    s = some_state(robot)
    frames = [*robot.frames]
    for k, function in enumerate(ARGUMENTS):
        for frame in {frames[k % len(frames)], frames[(k + len(frames) // 2) % len(frames)]}:  # each by some functions
            values = {"frame": frame, "expressed_in": "world", "kind": "classical"}
            wanted = {option: values[option] for option in function.definition.options if option in values}  # type: ignore[attr-defined]
            agrees(function, robot, s, **wanted)
            if "frame" not in wanted:
                break


@pytest.mark.parametrize("with_mass", [True, False])
@EVERY_FUNCTION
def test_a_robot_that_cannot_move_has_its_functions_too(function: Callable[..., Any], with_mass: bool) -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", ball(com=(0.1, 0.2, 0.3)) if with_mass else Inertia.zero())
    builder.add_frame("tool", "rock", shift(1.0))
    robot, nothing = builder.build(), np.zeros(0)
    arrays = [nothing] * len(ARGUMENTS[function])
    needs_mass = (kt.center_of_mass, kt.kinematics.center_of_mass_jacobian, kt.dynamics.centroidal_momentum_rate)
    needs_mass += (kt.dynamics.centroidal_momentum_matrix_rate, kt.dynamics.centroidal_inertia)
    if function in needs_mass and not with_mass:
        with pytest.raises(kt.errors.ModelError, match="'rock' has no mass at all"):
            program_of(function, robot)
        return
    expected = reference(function, robot, *arrays, **options_of(function))
    kernel = compiled_late(robot, function, unroll=False, **options_of(function))
    np.testing.assert_allclose(kernel(*arrays), expected, rtol=0.0, atol=1e-14)


def test_a_frame_on_the_root_has_a_jacobian_of_zeros() -> None:
    robot = two_floating_chains()
    program = program_of(kt.frame_jacobian, robot, frame="world", expressed_in="local")
    assert not interpreted(program, [some_state(robot).q]).any()


def test_what_is_constant_for_all_bodies_is_not_stored() -> None:
    """A planar chain costs less than one in general position: its zeros are known."""
    link = (kt.Revolute([0, 0, 1]), ball(com=(0.1, 0.0, 0.0)))
    planar = program_of(kt.aba, chain([link] * 20, offset=shift(0.2)))
    skew = program_of(kt.aba, chain([link, (kt.Revolute([1, 2, 3]), link[1])] * 10, offset=shift(0.2, 0.1, 0.3)))
    assert any(isinstance(s, Loop) for s in planar.body.statements)
    assert planar.operation_counts().total() < 0.7 * skew.operation_counts().total()


def test_two_names_for_one_robot_give_the_same_program() -> None:
    """Tracing until nothing is new ends at the same place each time."""
    assert repr(program_of(kt.aba, two_floating_chains())) == repr(program_of(kt.aba, two_floating_chains()))


# -- compiled


REAL = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}


@cache
def real_robot(name: str) -> kt.Model:
    path, floating_base = REAL[name]
    return load_robot(path, floating_base=floating_base)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param(name, function, id=f"{function.__name__}-{name}")
        for name in REAL
        for function in (ARGUMENTS if name != "talos" else (kt.aba, kt.rnea, kt.crba, kt.frame_jacobian))
    ],
)
def test_real_robots_agree_compiled_and_interpreted(name: str, function: Callable[..., Any]) -> None:
    robot = real_robot(name)
    s = some_state(robot)
    values = {"frame": list(robot.frames)[-1], "expressed_in": "local_world_aligned", "kind": "classical"}
    wanted = {option: values[option] for option in function.definition.options if option in values}  # type: ignore[attr-defined]
    arrays = arguments_of(function, s)
    expected = reference(function, robot, *arrays, **wanted)
    kernel = compiled_late(robot, function, unroll=False, **wanted)
    scale = magnitude(function, robot, s)
    close(kernel(*arrays), expected, scale)
    close(interpreted(kernel.__self__.program, arrays), expected, scale)
    batch = kernel(*(np.stack([x] * 9) for x in arrays))
    np.testing.assert_array_equal(batch, np.stack([kernel(*arrays)] * 9))


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.crba, kt.frame_jacobian], ids=lambda f: f.__name__)
def test_float32_is_float64_to_its_own_rounding(function: Callable[..., Any]) -> None:
    robot = kt.zoo.load("quadruped")
    values = {"frame": list(robot.frames)[-1], "expressed_in": "world"}
    wanted = {option: values[option] for option in function.definition.options if option in values}  # type: ignore[attr-defined]
    arrays = [x.astype(np.float32) for x in arguments_of(function, some_state(robot))]
    single = compiled_late(robot, function, dtype="float32", unroll=False, **wanted)(*arrays)
    double = compiled_late(robot, function, unroll=False, **wanted)(*(x.astype(np.float64) for x in arrays))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=0.0, atol=2e-4 * max(1.0, np.abs(double).max()))


def test_parameters_and_forces_go_through_the_compiled_kernel() -> None:
    robot = kt.zoo.load("quadruped")
    body, joint = list(robot.bodies)[-1], list(robot.joints)[-1]
    names = ["gravity", f"body.{body}.mass", f"joint.{joint}.placement", f"joint.{joint}.armature"]
    kernel = compiled_late(robot, kt.aba, unroll=False, f_ext=[body, robot.root], parameters=names)
    straight = compiled_late(robot, kt.aba, unroll=True, f_ext=[body, robot.root], parameters=names)
    rng = np.random.default_rng(8)
    arrays = [np.stack([x] * 9) for x in arguments_of(kt.aba, some_state(robot))]
    arrays += [rng.normal(size=(9, 6)), rng.normal(size=(9, 6))]
    for x in (nominal(robot, name) for name in names):
        arrays.append(x * rng.uniform(0.9, 1.1, (9, *x.shape)))
    close(kernel(*arrays), straight(*arrays), tolerance=1e-10)
    np.testing.assert_array_equal(kernel(*(x[4] for x in arrays)), kernel(*arrays)[4])
