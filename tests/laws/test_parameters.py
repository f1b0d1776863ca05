"""A robot with parameters as inputs is, for each value of them, the robot that has these numbers as constants."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import PRECISIONS
from kinetree.compiler.forms.parameters import parameter_ports, with_parameters
from kinetree.compiler.specialization import Specialization
from kinetree.expr import Program, Scalar, interpret, trace
from kinetree.model.parameters import nominal, parameter_names
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion
from tests.kernels import compiled_late
from tests.laws.reference import close, reference
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.robots import load_robot, robot_path
from tests.strategies import Blueprint, State, blueprints, inertias, law, numbers, positive, quaternions, states

Array = NDArray[Any]
Values = dict[str, Array]

ARGUMENTS: dict[Callable[..., Any], tuple[str, ...]] = {
    kt.aba: ("q", "v", "tau"),
    kt.rnea: ("q", "v", "qdd"),
    kt.crba: ("q",),
    kt.bias_forces: ("q", "v"),
    kt.gravity_forces: ("q",),
    kt.kinetic_energy: ("q", "v"),
    kt.potential_energy: ("q",),
    kt.center_of_mass: ("q",),
    kt.forward_kinematics: ("q",),
    kt.frame_placement: ("q",),
    kt.kinematics.frame_velocity: ("q", "v"),
    kt.kinematics.frame_acceleration: ("q", "v", "qdd"),
    kt.kinematics.body_velocities: ("q", "v"),
    kt.kinematics.body_accelerations: ("q", "v", "qdd"),
    kt.frame_jacobian: ("q",),
    kt.kinematics.frame_jacobian_rate: ("q", "v"),
    kt.kinematics.frame_bias_acceleration: ("q", "v"),
    kt.kinematics.center_of_mass_jacobian: ("q",),
    kt.dynamics.coriolis_forces: ("q", "v"),
    kt.dynamics.coriolis_matrix: ("q", "v"),
    kt.mass_matrix_inverse: ("q",),
    kt.dynamics.centroidal_momentum_rate: ("q", "v", "qdd"),
    kt.dynamics.centroidal_momentum_matrix_rate: ("q", "v"),
    kt.dynamics.centroidal_inertia: ("q",),
    kt.dynamics.mechanical_power: ("q", "v", "tau"),
    kt.dynamics.joint_wrenches: ("q", "v", "qdd"),
    kt.dynamics.articulated_bias_forces: ("q", "v", "tau"),
}
OPTIONS = {"frame": "tool", "expressed_in": "world", "kind": "classical"}
EVERY_FUNCTION = pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)


def options_of(function: Callable[..., Any]) -> dict[str, str]:
    return {name: OPTIONS[name] for name in function.definition.options if name in OPTIONS}  # type: ignore[attr-defined]


def program_of(function: Callable[..., Any], robot: kt.Model, names: Sequence[str], **options: str) -> Program:
    """A public function with the named parameters as inputs after its own."""
    definition = function.definition  # type: ignore[attr-defined]
    resolved = {name: check(robot, options.get(name)) for name, check in definition.options.items()}
    specialization = Specialization(definition, robot, resolved, (), tuple(names))

    def one_sample(*flat: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        return [specialization.one_sample(*flat)]

    return trace(one_sample, specialization.inputs, [specialization.output], definition.name)


def interpreted(program: Program, arrays: Sequence[Array]) -> Array:
    (numbers_out,) = interpret(program, *(np.ravel(x).tolist() for x in arrays))
    return np.array(numbers_out).reshape(program.outputs[0].shape)


def with_numbers(robot: kt.Model, values: Mapping[str, Array]) -> kt.Model:
    return with_parameters(robot, list(values), [np.ravel(x).tolist() for x in values.values()])


# -- random robots, and values for some of their parameters


@st.composite
def values_of(draw: st.DrawFn, robot: kt.Model, names: Sequence[str]) -> Values:
    """Possible values: an inertia is an ellipsoid's, a quaternion has any length."""
    values: Values = {}
    for port in parameter_ports(robot, names):
        quantity = port.name.rpartition(".")[2]
        if quantity in ("mass", "armature"):
            values[port.name] = np.array([draw(positive(0.1, 5.0)) for _ in range(port.size)]).reshape(port.shape)
        elif quantity == "inertia":
            values[port.name] = central(draw(inertias()))
        elif quantity == "placement":
            length = draw(positive(0.3, 3.0))
            position = [draw(numbers(2.0)) for _ in range(3)]
            values[port.name] = np.array([*position, *(length * x for x in draw(quaternions()))])
        else:
            values[port.name] = np.array([draw(numbers(2.0)) for _ in range(port.size)]).reshape(port.shape)
    return values


@st.composite
def cases(draw: st.DrawFn, max_joints: int = 5) -> tuple[Blueprint, kt.Model, State, Values]:
    """A robot, a state of it, and values for one to four of its parameters."""
    blueprint = draw(blueprints(max_joints=max_joints))
    robot = blueprint.build()
    # A builder puts the root's joint where it is: there is no rebuilding a robot with another.
    names = [name for name in parameter_names(robot) if not name.startswith("joint.root_joint.")]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    return blueprint, robot, draw(states(robot)), draw(values_of(robot, chosen))


def parts(inertia: Inertia) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and the matrix about it."""
    m, h = float(inertia.mass), np.array(inertia.h.components(), dtype=float)
    c = h / m if m else h
    I = np.array(inertia.I.full.components(), dtype=float).reshape(3, 3)
    return m, c, I - m * (c @ c * np.eye(3) - np.outer(c, c))


def central(inertia: Inertia) -> Array:
    I = parts(inertia)[2]
    return np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def rebuilt(blueprint: Blueprint, values: Values) -> kt.Model:
    """The robot built anew from parts with other numbers."""
    bodies = dict(blueprint.bodies)
    for name, inertia in bodies.items():
        m, c, _ = parts(inertia)
        own = {quantity: values.get(f"body.{name}.{quantity}") for quantity in ("mass", "com", "inertia")}
        if any(value is not None for value in own.values()):
            m = m if own["mass"] is None else float(own["mass"])
            c = c if own["com"] is None else own["com"]
            I = central(inertia) if own["inertia"] is None else own["inertia"]
            bodies[name] = Inertia.from_com(m, Vec3(*c.tolist()), Sym3(*I.tolist()))
    joints = []
    for joint in blueprint.joints:
        placement, armature = (values.get(f"joint.{joint.name}.{what}") for what in ("placement", "armature"))
        placement = values.get(f"body.{joint.child}.placement", placement)  # of a fixed joint
        if placement is not None:
            x = placement.tolist()
            joint = replace(joint, placement=Transform(from_quaternion(*x[3:]).T, Vec3(*x[:3])))
        if armature is not None:
            joint = replace(joint, armature=tuple(armature.tolist()))
        joints.append(joint)
    gravity = values.get("gravity", np.array(blueprint.gravity))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)  # an inertia may be given to what has no mass
        return replace(blueprint, bodies=bodies, joints=tuple(joints), gravity=tuple(gravity.tolist())).build()


def magnitude(function: Callable[..., Any], robot: kt.Model, s: State) -> float:
    """The size of what is added up, to which rounding is relative."""
    if function not in (kt.aba, kt.mass_matrix_inverse):
        return 0.0
    H = reference(kt.crba, robot, s.q)
    if function is kt.mass_matrix_inverse:
        return float(np.linalg.cond(H) * np.abs(np.linalg.inv(H)).max() * 1e-2)
    force = np.abs(reference(kt.bias_forces, robot, s.q, s.v)) + np.abs(s.tau)
    return float((np.abs(np.linalg.inv(H)) @ (force + 1e-1 * np.abs(H).sum(axis=1))).max())


@EVERY_FUNCTION
@law(10)
@given(case=cases())
def test_inputs_are_as_good_as_constants(
    function: Callable[..., Any], case: tuple[Blueprint, kt.Model, State, Values]
) -> None:
    """Numbers put into the robot, and the program that takes them, against a robot built from such parts."""
    blueprint, robot, s, values = case
    expected_robot = rebuilt(blueprint, values)
    arrays = [getattr(s, name) for name in ARGUMENTS[function]]
    options = options_of(function)
    expected = reference(function, expected_robot, *arrays, **options)
    scale = magnitude(function, expected_robot, s)
    close(reference(function, with_numbers(robot, values), *arrays, **options), expected, scale, tolerance=1e-10)
    program = program_of(function, robot, list(values), **options)
    close(interpreted(program, [*arrays, *values.values()]), expected, scale, tolerance=1e-10)


@EVERY_FUNCTION
@law(5)
@given(case=cases())
def test_the_robots_own_values_give_its_own_answers(
    function: Callable[..., Any], case: tuple[Blueprint, kt.Model, State, Values]
) -> None:
    _, robot, s, values = case
    arrays = [getattr(s, name) for name in ARGUMENTS[function]]
    options = options_of(function)
    program = program_of(function, robot, list(values), **options)
    expected = reference(function, robot, *arrays, **options)
    actual = interpreted(program, [*arrays, *(nominal(robot, name) for name in values)])
    close(actual, expected, magnitude(function, robot, s), tolerance=1e-12)


@law(15)
@given(case=cases())
def test_the_total_mass_is_that_of_the_parts(case: tuple[Blueprint, kt.Model, State, Values]) -> None:
    blueprint, robot, _, values = case
    close(with_numbers(robot, values).mass, rebuilt(blueprint, values).mass)


# -- compiled


def batch_of(robot: kt.Model, count: int) -> tuple[list[Array], Values]:
    """States and parameters of arm7, a row a sample."""
    rng = np.random.default_rng(3)
    q = np.stack([robot.random(rng) for _ in range(count)])
    v, tau = rng.normal(size=(2, count, robot.nv))
    hand, elbow = list(robot.bodies)[-1], list(robot.joints)[3]
    spread = {
        "gravity": rng.normal(size=(count, 3)) * 9.81,
        f"body.{hand}.mass": rng.uniform(0.1, 5.0, count),
        f"body.{hand}.com": rng.normal(size=(count, 3)) * 0.1,
        f"joint.{elbow}.placement": nominal(robot, f"joint.{elbow}.placement") + 0.1 * rng.normal(size=(count, 7)),
        f"joint.{elbow}.armature": rng.uniform(0.0, 1.0, (count, 1)),
    }
    return [q, v, tau], spread


def test_a_batch_of_parameters_is_each_of_them_alone() -> None:
    robot = kt.zoo.load("arm7")
    arrays, spread = batch_of(robot, 21)
    kernel = batch_function(program_of(kt.aba, robot, list(spread)))
    batch = kernel(*arrays, *spread.values())
    for k in range(21):
        alone = kernel(*(x[k] for x in arrays), *(x[k] for x in spread.values()))
        assert (alone == batch[k]).all()
        own = with_numbers(robot, {name: x[k] for name, x in spread.items()})
        close(batch[k], reference(kt.aba, own, *(x[k] for x in arrays)), tolerance=1e-10)


def test_parameters_and_states_broadcast_against_each_other() -> None:
    robot = kt.zoo.load("arm7")
    arrays, spread = batch_of(robot, 6)
    kernel = batch_function(program_of(kt.rnea, robot, list(spread)))
    every = kernel(*(x[:, None] for x in arrays), *spread.values())
    assert every.shape == (6, 6, 7)
    one = kernel(*(x[2] for x in arrays), *(x[4] for x in spread.values()))
    assert (every[2, 4] == one).all()


def test_parameters_in_float32_are_float64_to_its_own_rounding() -> None:
    robot = kt.zoo.load("arm7")
    arrays, spread = batch_of(robot, 9)
    program = program_of(kt.rnea, robot, list(spread))
    single = [x.astype(np.float32) for x in (*arrays, *spread.values())]
    answer = batch_function(program, PRECISIONS["float32"])(*single)
    assert answer.dtype == np.float32
    close(answer, batch_function(program)(*(x.astype(np.float64) for x in single)), tolerance=1e-5)


# -- what physics says of them


def test_a_falling_robot_feels_no_gravity_whichever_way_it_points() -> None:
    robot = kt.zoo.load("quadruped")
    kernel = batch_function(program_of(kt.aba, robot, ["gravity"]))
    rng = np.random.default_rng(5)
    q, rest = robot.random(rng), np.zeros(robot.nv)
    for g in rng.normal(size=(4, 3)) * 9.81:
        R = kt.frame_placement(robot, q, robot.root)[:3, :3]
        close(kernel(q, rest, rest, g), [*(R.T @ g), *rest[3:]], tolerance=1e-10)


def test_turning_gravity_with_the_base_changes_nothing() -> None:
    """The first joint's placement turned by R, and gravity too: the arm cannot notice."""
    robot = kt.zoo.load("arm7")
    first = f"joint.{next(iter(robot.joints))}.placement"
    kernel = batch_function(program_of(kt.aba, robot, ["gravity", first]))
    rng = np.random.default_rng(6)
    arrays = [robot.random(rng), *rng.normal(size=(2, robot.nv))]
    placement = nominal(robot, first)
    half = 0.35
    turned = placement.copy()
    turned[3:] = pin.Quaternion(
        (pin.Quaternion(np.array([np.sin(half), 0.0, 0.0, np.cos(half)])) * pin.Quaternion(placement[3:])).coeffs()
    ).coeffs()
    g = np.array(robot.gravity)
    R = np.array(from_quaternion(np.sin(half), 0.0, 0.0, np.cos(half)).components()).reshape(3, 3)
    close(kernel(*arrays, R @ g, turned), kt.aba(robot, *arrays), tolerance=1e-11)


def test_a_payload_in_the_pandas_hand_against_pinocchio() -> None:
    file, hand = "panda_description/urdf/panda.urdf", "panda_hand"
    robot, witness = load_robot(file), PinocchioOracle(robot_path(file), load_robot(file))
    names = [f"body.{hand}.{quantity}" for quantity in ("mass", "com", "inertia")]
    rng = np.random.default_rng(8)
    count = 5
    q = np.stack([robot.random(rng) for _ in range(count)])
    v, qdd, tau = rng.normal(size=(3, count, robot.nv))
    mass, com = rng.uniform(0.5, 5.0, count), rng.normal(size=(count, 3)) * 0.1
    inertia = rng.uniform(0.01, 0.02, (count, 6)) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]

    model = witness.model
    # There a fixed joint's frame holds the inertia of the body that was merged.
    frame = model.frames[model.getFrameId("panda_hand_joint", pin.FrameType.FIXED_JOINT)]
    assert frame.inertia.mass == robot.bodies[hand].inertia.mass
    carrier = model.inertias[frame.parentJoint].copy()
    kernels = {f: batch_function(program_of(f, robot, names)) for f in (kt.aba, kt.rnea, kt.crba)}
    answers = {
        kt.aba: kernels[kt.aba](q, v, tau, mass, com, inertia),
        kt.rnea: kernels[kt.rnea](q, v, qdd, mass, com, inertia),
        kt.crba: kernels[kt.crba](q, mass, com, inertia),
    }
    for k in range(count):
        xx, yy, zz, xy, xz, yz = inertia[k]
        payload = pin.Inertia(mass[k], com[k], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        without = carrier - frame.placement.act(frame.inertia)
        model.inertias[frame.parentJoint] = without + frame.placement.act(payload)
        close(answers[kt.aba][k], witness.aba(q[k], v[k], tau[k]), tolerance=1e-10)
        close(answers[kt.rnea][k], witness.rnea(q[k], v[k], qdd[k]), tolerance=1e-10)
        close(answers[kt.crba][k], witness.crba(q[k]), tolerance=1e-10)


# -- what they cost


def test_a_parameter_costs_little_and_what_is_not_named_stays_folded() -> None:
    robot = load_robot("panda_description/urdf/panda.urdf")

    def operations(*names: str) -> int:
        return program_of(kt.aba, robot, names).operation_counts().total()

    constants = operations()
    assert constants == compiled_late(robot, kt.aba).__self__.program.operation_counts().total()
    assert operations("gravity") - constants <= 22
    assert operations("body.panda_hand.mass") - constants <= 67
    assert operations("body.panda_hand.mass", "body.panda_hand.com") - constants <= 79
    assert operations("joint.panda_joint1.armature") - constants <= 1
