"""Derivatives of all public functions: along a direction, of a weighted sum, whole matrices, second derivatives.

The witness is a complex step through the algorithm on plain numbers, or, where a function compares or measures angles,
a fourth-order difference of the compiled function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import host
from kinetree.compiler import batch_pieces, derived_source
from kinetree.compiler.differentiation import derived, specialized
from kinetree.expr import Program, interpret
from tests.backends.test_bit_identity import narrow, x86
from tests.functions import OF_RECORDS, OF_SHAPES, PUBLIC
from tests.kernels import compiled_late
from tests.laws.reference import close, directional, reference
from tests.strategies import State, law, moving_trees

Array = NDArray[Any]
Function = Callable[..., Any]

FUNCTIONS: dict[str, Function] = {
    name: function
    for name, function in PUBLIC.items()
    if hasattr(function, "definition") and not function.definition.is_step
    if name not in OF_SHAPES | OF_RECORDS
}
NOT_ANALYTIC = {
    "constrained_dynamics", "constraint_forces", "impact", "operational_space_inertia",  # compare pivots
    "difference", "difference_jacobian", "passive_forces", "pose_error",  # measure angles by atan2
}  # fmt: skip
STEP = 1e-3


@cache
def glider() -> kt.Model:
    """A hull that floats, and a tail on a hinge with all that a joint may have."""
    builder = kt.ModelBuilder("glider")
    builder.add_body("hull", kt.solids.box(0.5, 0.4, 0.3, mass=3.0, placement=kt.lie.placement([0.05, 0.0, 0.02])))
    builder.add_body("tail", kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement([0.1, 0.05, 0.2])))
    builder.add_joint(
        "hinge", kt.Revolute([0, 1, 0]), "hull", "tail", kt.lie.placement([0.2, 0.1, 0.0], rpy=[0.3, 0.0, 0.0]),
        damping=[0.2], friction=[0.1], friction_speed=[0.5], stiffness=[1.5], armature=[0.02],
    )  # fmt: skip
    builder.add_frame("tip", "tail", kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.4, 0.5, 0.6]))
    return builder.build(floating_base=True)


@cache
def pendulum() -> kt.Model:
    return kt.zoo.load("double_pendulum")


def options_of(function: Function) -> dict[str, Any]:
    """What the signature says, and something for what it leaves open."""
    definition = function.definition
    given: dict[str, Any] = {"frame": "tip", "expressed_in": "local_world_aligned", "kind": "classical"}
    given |= {"relative_to": "hull", "constraints": [kt.constraints.Contact("tip")], "wrt": definition.inputs[-1][0]}
    given |= {"prescribed": ["hinge"]}
    signature = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in signature.items() if p.default is not inspect.Parameter.empty}
    options = {**defaults, **given}
    return {name: options[name] for name in definition.options if name in options}


def state_of(robot: kt.Model, function: Function, seed: int = 1) -> tuple[list[Array], dict[str, Array]]:
    """Arguments, and a direction of each."""
    rng = np.random.default_rng(seed)
    arguments, tangents = [], {}
    definition = function.definition
    options = {name: definition.options[name](robot, value) for name, value in options_of(function).items()}
    for name, size in definition.inputs:
        n = robot.nv if size == "nq" else definition.input_shape(size, robot, options)
        arguments.append(robot.random(rng) if size == "nq" else rng.normal(size=n))
        tangents[name] = rng.normal(size=n)
    return arguments, tangents


def moved(
    robot: kt.Model, function: Function, arguments: Sequence[Array], tangents: Mapping[str, Array], h: float
) -> list[Array]:
    """The arguments, h further along a direction."""
    sizes = dict(function.definition.inputs)
    names = [*sizes, "dt"][: len(arguments)]
    return [
        robot.integrate(x, h * tangents[name])
        if sizes.get(name) == "nq" and name in tangents
        else x + h * tangents.get(name, 0.0)
        for name, x in zip(names, arguments, strict=True)
    ]


def slope(call: Callable[[float], Any], step: float = STEP) -> Array:
    """Of a function of one number at zero, to the fourth order."""
    near, far = (np.asarray(call(k * step)) - np.asarray(call(-k * step)) for k in (1.0, 2.0))
    return np.asarray((8.0 * near - far) / (12.0 * step))


def stepped(
    robot: kt.Model, function: Function, arguments: Sequence[Array], tangents: Mapping[str, Array], **options: Any
) -> Array:
    """The derivative along a direction by a complex step."""
    pairs = [
        (x, reference(kt.kinematics.coordinate_rates, robot, x, tangents[name]) if size == "nq" else tangents[name])
        for x, (name, size) in zip(arguments, function.definition.inputs, strict=True)
    ]
    return directional(lambda *x: reference(function, robot, *x, **options), *pairs)


# -- every public function


@pytest.mark.parametrize("name", [*FUNCTIONS])
def test_both_modes_of_every_function_are_its_derivative(name: str) -> None:
    """Forward mode is the derivative along a direction, reverse mode its transpose; both give the value, too."""
    function, robot = FUNCTIONS[name], glider()
    options = options_of(function)
    arguments, tangents = state_of(robot, function)
    asked = partial(function, **options)  # `wrt` is an option of `vjp` as well
    value, along = kt.jvp(robot, asked, arguments, tangents)
    close(value, reference(function, robot, *arguments, **options), tolerance=1e-12)
    if name in NOT_ANALYTIC:
        kernel = compiled_late(robot, function, **options)
        expected = slope(lambda h: kernel(*moved(robot, function, arguments, tangents, h)))
        close(along, expected, tolerance=1e-8)
    else:
        close(along, stepped(robot, function, arguments, tangents, **options))
    weights = np.random.default_rng(2).normal(size=value.shape)
    again, gradients = kt.vjp(robot, asked, arguments, weights)
    close(again, value, tolerance=1e-13)
    assert list(gradients) == list(tangents)
    paired = sum(float(np.vdot(gradients[key], tangents[key])) for key in tangents)
    close(paired, (weights * along).sum(), float(np.abs(weights * along).sum()), tolerance=1e-12)


@pytest.mark.parametrize("mode", ["jvp", "vjp"])
@pytest.mark.parametrize(
    "function",
    [kt.aba, kt.rnea, kt.kinetic_energy, kt.kinematics.frame_velocity],
    ids=lambda function: function.__name__,
)
@law(6)
@given(case=moving_trees(max_joints=3))
def test_derivatives_hold_for_joints_of_every_kind(function: Function, mode: str, case: tuple[kt.Model, State]) -> None:
    """The programs as they are meant, uncompiled."""
    robot, s = case
    given = {"frame": "tool", "expressed_in": "world"}
    options = {name: given.get(name) for name in function.definition.options}
    names = tuple(name for name, _ in function.definition.inputs)
    arguments = [getattr(s, name) for name in names]
    rng = np.random.default_rng(0)
    tangents = {name: rng.uniform(-1.0, 1.0, robot.nv) for name in names}
    expected = stepped(robot, function, arguments, tangents, **options)

    resolved = {name: check(robot, options[name]) for name, check in function.definition.options.items()}
    definition = derived(function.definition, mode, names)
    program = specialized(definition, robot, resolved, (), (), None).program()
    size = 0.0
    if function is kt.aba:
        qdd = reference(kt.aba, robot, *arguments)
        force = np.abs(reference(kt.dynamics.rnea_derivatives, robot, s.q, s.v, qdd)).sum(axis=(0, 2))
        size = float((np.abs(np.linalg.inv(reference(kt.crba, robot, s.q))) @ force).max())
    if mode == "jvp":
        (flat,) = interpret(program, *arguments, *tangents.values())
        close(flat[len(flat) // 2 :], expected.ravel(), size, tolerance=1e-10)
        return
    weights = rng.uniform(-1.0, 1.0, expected.shape)
    (flat,) = interpret(program, *arguments, weights.ravel())
    gradient = np.array(flat[expected.size :])
    terms = gradient * np.concatenate(list(tangents.values()))
    close(terms.sum(), (weights * expected).sum(), max(size, float(np.abs(terms).sum())), tolerance=1e-10)


# -- whole matrices


MATRICES: dict[str, tuple[Function, dict[str, Any]]] = {
    "aba": (kt.aba, {}),
    "rnea with friction and springs": (kt.rnea, {"passive": True}),
    "frame_placement": (kt.frame_placement, {"frame": "tip"}),
    "kinetic_energy": (kt.kinetic_energy, {}),
    "momentum": (kt.dynamics.momentum, {}),
}


@pytest.mark.parametrize("case", MATRICES.values(), ids=MATRICES)
def test_the_columns_of_a_matrix_are_derivatives_along_unit_directions(
    case: tuple[Function, dict[str, Any]],
) -> None:
    """By every argument; of `aba` and `rnea` the matrix is the recursion's, the column the program's."""
    (function, options), robot = case, glider()
    arguments, tangents = state_of(robot, function)
    for name, direction in tangents.items():
        matrix = kt.jacobian(robot, function, arguments, wrt=name, **options)
        value, columns = kt.jvp(robot, function, arguments, {name: np.eye(len(direction))}, **options)
        assert matrix.shape == (*value.shape[1:], len(direction))
        close(np.moveaxis(matrix, -1, 0), columns, tolerance=1e-12)


def test_a_long_matrix_is_a_loop_over_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as written out column by column, and as a complex step has it."""
    robot, definition = glider(), derived(kt.crba.definition, "jacobian", ("q",))
    rng = np.random.default_rng(3)
    q, d = robot.random(rng), rng.normal(size=robot.nv)
    programs = []
    for limit in (0, 10**6):
        monkeypatch.setattr(derived_source, "_STRAIGHT", limit)
        programs.append(specialized(definition, robot, {}, (), (), None).program())
    assert [program.is_straight for program in programs] == [False, True]
    expected = stepped(robot, kt.crba, [q], {"q": d})
    for program in programs:
        (flat,) = interpret(program, q)
        close(np.reshape(flat, (robot.nv,) * 3) @ d, expected)


# -- by forces and by parameters


def test_by_an_external_force_it_is_the_frames_jacobian() -> None:
    robot, rng = glider(), np.random.default_rng(4)
    q, (v, x) = robot.random(rng), rng.normal(size=(2, robot.nv))
    f_ext = {"hull": rng.normal(size=6), "tip": rng.normal(size=6)}
    J = kt.frame_jacobian(robot, q, "tip", expressed_in="local")
    by_force = kt.jacobian(robot, kt.rnea, (q, v, x), wrt="f_ext.tip", f_ext=f_ext)
    close(by_force, -J.T)
    close(kt.jacobian(robot, kt.aba, (q, v, x), wrt="f_ext.tip", f_ext=f_ext), kt.mass_matrix_inverse(robot, q) @ J.T)
    weights = rng.normal(size=robot.nv)
    _, gradients = kt.vjp(robot, kt.rnea, (q, v, x), weights, f_ext=f_ext)
    assert list(gradients) == ["q", "v", "qdd", "f_ext.hull", "f_ext.tip"]
    close(gradients["f_ext.tip"], -J @ weights)


PARAMETERS = {
    "gravity": np.array([0.5, -1.0, -9.0]),
    "body.tail.mass": np.array(1.2),
    "body.tail.com": np.array([0.12, 0.04, 0.15]),
    "body.tail.inertia": np.array([0.02, 0.03, 0.025, 0.001, -0.002, 0.003]),
    "joint.hinge.placement": np.array([0.2, 0.1, 0.05, 0.1, -0.2, 0.3, 0.9]),
    "joint.hinge.armature": np.array([0.05]),
}


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.potential_energy], ids=lambda function: function.__name__)
def test_every_kind_of_parameter_has_derivatives(function: Function) -> None:
    """Against differences; all of them, forces and arguments at once in reverse mode."""
    robot, rng = glider(), np.random.default_rng(5)
    arguments, tangents = state_of(robot, function)
    along = {name: 0.02 * rng.normal(size=x.shape) for name, x in PARAMETERS.items()}
    kernel = compiled_late(robot, function, parameters=list(PARAMETERS))

    def call(h: float, names: Sequence[str]) -> Array:
        values = {name: x + h * along[name] if name in names else x for name, x in PARAMETERS.items()}
        result: Array = kernel(*arguments, *values.values())
        return result

    value, one = kt.jvp(robot, function, arguments, along, parameters=PARAMETERS)
    close(value, call(0.0, []), tolerance=1e-12)
    close(one, slope(lambda h: call(h, list(PARAMETERS))), float(np.abs(value).max()), tolerance=1e-8)
    weights = rng.normal(size=value.shape)
    _, gradients = kt.vjp(robot, function, arguments, weights, parameters=PARAMETERS)
    assert list(gradients) == [*tangents, *PARAMETERS]
    for name, x in PARAMETERS.items():
        assert gradients[name].shape == x.shape
        expected = (weights * slope(lambda h, name=name: call(h, [name]))).sum()
        close((gradients[name] * along[name]).sum(), expected, float(np.abs(value).max()), tolerance=1e-8)


def test_by_the_armature_of_a_joint_it_is_that_joints_acceleration() -> None:
    robot, rng = glider(), np.random.default_rng(6)
    q, (v, qdd) = robot.random(rng), rng.normal(size=(2, robot.nv))
    parameters = {"joint.hinge.armature": [0.05]}
    matrix = kt.jacobian(robot, kt.rnea, (q, v, qdd), wrt="joint.hinge.armature", parameters=parameters)
    np.testing.assert_array_equal(matrix[:, 0], qdd * (np.arange(robot.nv) == robot.nv - 1))


def test_by_gravity_it_is_the_weight_of_a_unit_acceleration() -> None:
    """τ is linear in gravity, and the potential energy is -m g · c."""
    robot, rng = glider(), np.random.default_rng(7)
    q, (v, qdd) = robot.random(rng), rng.normal(size=(2, robot.nv))
    given, nothing = {"gravity": np.array([1.0, 2.0, -9.0])}, {"gravity": np.zeros(3)}
    by_gravity = kt.jacobian(robot, kt.rnea, (q, v, qdd), wrt="gravity", parameters=given)
    weight = kt.rnea(robot, q, v, qdd, parameters=given) - kt.rnea(robot, q, v, qdd, parameters=nothing)
    close(by_gravity @ given["gravity"], weight)
    center = kt.jacobian(robot, kt.potential_energy, (q,), wrt="gravity", parameters=given)
    close(center, -robot.mass * kt.center_of_mass(robot, q))


def test_by_a_mass_it_is_a_combination_of_the_regressors_columns() -> None:
    """The centre of mass and the matrix about it stay, so m c and the matrix about the origin grow with the mass."""
    robot, rng = glider(), np.random.default_rng(8)
    q, (v, qdd) = robot.random(rng), rng.normal(size=(2, robot.nv))
    mass, c = 1.2, np.array([0.12, 0.04, 0.15])
    parameters = {"body.tail.mass": mass, "body.tail.com": c}
    by_mass = kt.jacobian(robot, kt.rnea, (q, v, qdd), wrt="body.tail.mass", parameters=parameters)
    S = c @ c * np.eye(3) - np.outer(c, c)
    change = [1.0, *c, S[0, 0], S[0, 1], S[1, 1], S[0, 2], S[1, 2], S[2, 2]]
    close(by_mass, kt.dynamics.joint_torque_regressor(robot, q, v, qdd, bodies=["tail"]) @ change)


# -- second derivatives


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.potential_energy], ids=lambda function: function.__name__)
def test_the_gradients_change_is_that_of_reverse_mode(function: Function) -> None:
    """Along a direction of all arguments, the manifold's tangent moving with the configuration."""
    robot = glider()
    arguments, tangents = state_of(robot, function)
    shape = np.shape(kt.jvp(robot, function, arguments, tangents)[0])
    weights = np.random.default_rng(9).normal(size=shape)
    changes = kt.hvp(robot, function, arguments, weights, tangents)
    for name, change in changes.items():

        def gradient(h: float, name: str = name) -> Array:
            place = moved(robot, function, arguments, tangents, h)
            return kt.vjp(robot, function, place, weights)[1][name]

        close(change, slope(gradient), tolerance=1e-8)


def test_the_gradients_change_by_some_arguments_along_others() -> None:
    """Of the kinetic energy by v along q, it is how the momentum H v changes; by parameters likewise."""
    robot, rng = glider(), np.random.default_rng(10)
    q, (v, d) = robot.random(rng), rng.normal(size=(2, robot.nv))
    change = kt.hvp(robot, kt.kinetic_energy, (q, v), 1.0, {"q": d}, wrt=["v"])
    assert list(change) == ["v"]
    close(change["v"], kt.jvp(robot, kt.crba, (q,), {"q": d})[1] @ v)
    parameters = {"body.tail.mass": 1.2}
    one = kt.hvp(robot, kt.kinetic_energy, (q, v), 1.0, {"body.tail.mass": 1.0}, wrt="v", parameters=parameters)
    other = kt.hvp(robot, kt.kinetic_energy, (q, v), 1.0, {"v": d}, wrt="body.tail.mass", parameters=parameters)
    close(one["v"] @ d, other["body.tail.mass"])


def test_displacements_of_a_rotation_do_not_commute() -> None:
    """Second derivatives along e_j, then e_k, differ by the derivative along the commutator e_k × e_j of body axes."""
    robot, rng = arm(), np.random.default_rng(17)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    _, gradients = kt.vjp(robot, kt.rnea, (q, v, v), v)
    hessian = kt.hvp(robot, kt.rnea, (q, v, v), v, {"q": np.eye(robot.nv)}, wrt="q")["q"]
    e = np.eye(3)
    for k, j in ((0, 1), (1, 2), (2, 0)):
        commutator = np.cross(e[k], e[j])
        close(hessian[k, j] - hessian[j, k], commutator @ gradients["q"][:3], float(np.abs(hessian).max()))
    close(hessian[3], hessian[:, 3], float(np.abs(hessian).max()))  # a hinge commutes with all


@cache
def arm() -> kt.Model:
    """A ball and a hinge with springs and friction."""
    builder, parent = kt.ModelBuilder("arm"), "base"
    builder.add_body("base")
    for k, kind in enumerate((kt.joints.Spherical(), kt.Revolute([1, 2, 0]))):
        shape = kt.solids.box(0.3, 0.2, 0.1, mass=1.0 + k, placement=kt.lie.placement([0.1, 0.05, 0.02]))
        builder.add_body(f"link{k}", shape)
        builder.add_joint(
            f"joint{k}", kind, parent, f"link{k}", kt.lie.placement([0.2, 0.1, 0.0], rpy=[0.3 * k, 0.2, 0.0]),
            damping=[0.2] * kind.nv, stiffness=[1.5] * kind.nv,
        )  # fmt: skip
        parent = f"link{k}"
    return builder.build()


@pytest.mark.parametrize(
    "function", [kt.dynamics.aba_derivatives, kt.dynamics.rnea_derivatives], ids=lambda function: function.__name__
)
def test_full_second_derivatives_of_the_dynamics(function: Function) -> None:
    """All three matrices by q, by v and by the third argument; symmetric in rates."""
    robot, rng = arm(), np.random.default_rng(11)
    n = robot.nv
    q, (v, x, d) = robot.random(rng), rng.normal(size=(3, n))
    third = function.definition.inputs[2][0]
    tensors = {name: kt.jacobian(robot, function, (q, v, x), wrt=name) for name in ("q", "v", third)}
    for k, (name, tensor) in enumerate(tensors.items()):
        assert tensor.shape == (3, n, n, n)
        pairs = [(y, np.zeros(len(y))) for y in (q, v, x)]
        pairs[k] = (pairs[k][0], reference(kt.kinematics.coordinate_rates, robot, q, d) if name == "q" else d)
        close(tensor @ d, directional(lambda *y: reference(function, robot, *y), *pairs), tolerance=1e-10)
    size = float(np.abs(tensors["v"]).max())
    close(tensors["v"][1], tensors["v"][1].swapaxes(1, 2), size)
    close(tensors["v"][0], tensors["q"][1].swapaxes(1, 2), size)  # by q and v, in either order
    close(tensors[third][1], tensors["v"][2].swapaxes(1, 2), size)


# -- what the derivatives are of


def test_the_gradient_of_the_potential_energy_is_the_force_of_gravity() -> None:
    """With springs, it is less what they do."""
    robot, rng = glider(), np.random.default_rng(12)
    q = robot.random(rng)
    close(kt.jacobian(robot, kt.potential_energy, (q,), wrt="q"), kt.gravity_forces(robot, q))
    springs = kt.dynamics.passive_forces(robot, q, np.zeros(robot.nv), passive=["spring"])
    _, gradients = kt.vjp(robot, kt.potential_energy, (q,), 1.0, passive=True)
    close(gradients["q"], kt.gravity_forces(robot, q) - springs)


def test_jacobians_are_jacobians() -> None:
    robot, rng = glider(), np.random.default_rng(13)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    close(kt.jacobian(robot, kt.center_of_mass, (q,), wrt="q"), kt.kinematics.center_of_mass_jacobian(robot, q))
    options: dict[str, Any] = {"frame": "tip", "expressed_in": "local"}
    by_v = kt.jacobian(robot, kt.kinematics.frame_velocity, (q, v), wrt="v", **options)
    close(by_v, kt.frame_jacobian(robot, q, **options))
    rate = kt.jvp(robot, kt.frame_jacobian, (q,), {"q": v}, **options)[1]
    close(rate, kt.kinematics.frame_jacobian_rate(robot, q, v, **options))
    close(kt.jacobian(robot, kt.rnea, (q, v, v), wrt="qdd"), kt.crba(robot, q))


def test_a_steps_derivatives_are_those_of_the_manifold() -> None:
    """`integrate` gives numbers: the rates of its result's coordinates along the displaced result."""
    robot, rng = glider(), np.random.default_rng(14)
    q, (v, d) = robot.random(rng), rng.normal(size=(2, robot.nv))
    for name in ("q", "v"):
        there, change = kt.jvp(robot, kt.integrate, (q, v), {name: d})
        displacement = kt.kinematics.integrate_jacobian(robot, q, v, wrt=name) @ d
        close(change, kt.kinematics.coordinate_rates(robot, there, displacement))


# -- motions


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_motions_have_derivatives_by_all_that_they_start_from(integrator: str) -> None:
    """By the state, each step's forces, the step, a force outside and gravity; both modes."""
    robot, rng, steps = arm(), np.random.default_rng(15), 2
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=(steps, robot.nv))
    f_ext, parameters = {"link1": rng.normal(size=6)}, {"gravity": np.array([0.0, 1.0, -9.0])}
    arguments = [q, v, tau, np.array(0.05)]
    tangents = {
        "q": rng.normal(size=robot.nv), "v": rng.normal(size=robot.nv), "tau": rng.normal(size=tau.shape),
        "dt": np.array(0.1), "f_ext.link1": rng.normal(size=6), "gravity": rng.normal(size=3),
    }  # fmt: skip
    options: dict[str, Any] = {"integrator": integrator, "passive": ["damping", "spring"], "divide": False}

    def call(h: float) -> Array:
        forces = {"link1": f_ext["link1"] + h * tangents["f_ext.link1"]}
        pull = {"gravity": parameters["gravity"] + h * tangents["gravity"]}
        place = moved(robot, kt.rollout, arguments, tangents, h)
        return kt.rollout(robot, *place, f_ext=forces, parameters=pull, **options)

    value, change = kt.jvp(robot, kt.rollout, arguments, tangents, f_ext=f_ext, parameters=parameters, **options)
    close(value, call(0.0), tolerance=1e-12)
    close(change, slope(call), tolerance=1e-8)
    weights = rng.normal(size=value.shape)
    again, gradients = kt.vjp(robot, kt.rollout, arguments, weights, f_ext=f_ext, parameters=parameters, **options)
    close(again, value, tolerance=1e-13)
    assert {name: x.shape for name, x in gradients.items()} == {name: x.shape for name, x in tangents.items()}
    paired = sum(float((gradients[name] * x).sum()) for name, x in tangents.items())
    close(paired, (weights * change).sum(), float(np.abs(weights * change).sum()))


# -- corners


def test_beyond_what_a_motor_gives_nothing_depends_on_what_is_asked() -> None:
    builder = kt.ModelBuilder("motor")
    builder.add_body("base")
    builder.add_body("wheel", kt.solids.cylinder(0.1, 0.05, mass=1.0))
    limits = kt.model.Limits((-np.inf,), (np.inf,), (4.0,), (10.0,))
    builder.add_joint("axle", kt.Revolute([0, 0, 1]), "base", "wheel", damping=[0.3], limits=limits)
    robot = builder.build()
    (inertia,) = kt.crba(robot, [0.0])[0]
    options = {"limits": True, "passive": ["damping"]}
    for v, tau, by_tau in ((0.0, 9.0, 1.0), (0.0, 11.0, 0.0), (0.0, -12.0, 0.0), (4.5, 3.0, 0.0), (4.5, -3.0, 1.0)):
        arguments = ([0.2], [v], [tau])
        np.testing.assert_allclose(kt.jacobian(robot, kt.aba, arguments, wrt="tau", **options), [[by_tau / inertia]])
        np.testing.assert_allclose(kt.jacobian(robot, kt.aba, arguments, wrt="v", **options), [[-0.3 / inertia]])
        _, gradients = kt.vjp(robot, kt.aba, arguments, [1.0], **options)
        np.testing.assert_allclose(gradients["tau"], [by_tau / inertia])


# -- programs with loops


def program_of(
    robot: kt.Model, function: Function, mode: str, *, parameters: Sequence[str] = (), unroll: bool | None = None
) -> Program:
    """By all arguments, along all of them; a matrix by the first."""
    definition = function.definition
    names = tuple(name for name, _ in definition.inputs)
    resolved = {name: check(robot, None) for name, check in definition.options.items()}
    by, along = names[:1] if mode == "jacobian" else (*names, *parameters), names if mode == "hvp" else ()
    of = derived(definition, mode, by, along)
    return specialized(of, robot, resolved, (), tuple(parameters), unroll).program()


@pytest.mark.parametrize("mode", ["jvp", "vjp", "hvp", "jacobian"])
@pytest.mark.parametrize("function", [kt.aba, kt.crba], ids=lambda function: function.__name__)
def test_a_loop_over_bodies_has_the_derivatives_of_what_is_written_out(function: Function, mode: str) -> None:
    """As large robots have it; by a parameter as well."""
    robot, rng = glider(), np.random.default_rng(18)
    q = robot.random(rng)
    rolled, straight = (
        program_of(robot, function, mode, parameters=["gravity", "body.tail.mass"], unroll=unroll)
        for unroll in (False, True)
    )
    assert not rolled.is_straight
    values = {"q": q, "gravity": np.array([0.0, 1.0, -9.0]), "body.tail.mass": np.array([1.5])}
    arrays = [values.get(port.name, rng.normal(size=port.size)) for port in straight.inputs]
    assert [port.name for port in rolled.inputs] == [port.name for port in straight.inputs]
    (expected,), (found,) = (interpret(program, *arrays) for program in (straight, rolled))
    close(found, expected, tolerance=1e-10)


def test_matrices_by_several_arguments_stand_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written out by rows, by columns, and in loops."""
    robot, names = glider(), ("q", "v")
    q, v = robot.random(np.random.default_rng(21)), np.random.default_rng(22).normal(size=robot.nv)
    for function in (kt.kinetic_energy, kt.bias_forces):
        expected = np.stack([kt.jacobian(robot, function, (q, v), wrt=name).ravel() for name in names])
        for limit in (0, 10**6):
            monkeypatch.setattr(derived_source, "_STRAIGHT", limit)
            resolved = {name: check(robot, None) for name, check in function.definition.options.items()}
            of = derived(function.definition, "jacobian", names)
            program = specialized(of, robot, resolved, (), (), None).program()
            assert program.is_straight == (limit > 0)
            (flat,) = interpret(program, q, v)
            close(np.reshape(flat, expected.shape), expected)


def test_linear_algebra_in_loops_has_derivatives() -> None:
    """Those of forward dynamics of a robot with many degrees of freedom, along a direction."""
    robot = kt.zoo.load("quadruped")
    arguments, tangents = state_of(robot, kt.dynamics.aba_derivatives)
    program = program_of(robot, kt.dynamics.aba_derivatives, "jvp")
    assert not program.is_straight
    (flat,) = interpret(program, *arguments, *tangents.values())
    _, change = np.reshape(flat, (2, 3, robot.nv, robot.nv))
    close(change, stepped(robot, kt.dynamics.aba_derivatives, arguments, tangents), tolerance=1e-10)


# -- batches


CALLS: dict[str, Callable[..., Sequence[Array]]] = {
    "jvp": lambda robot, q, v, x, **o: kt.jvp(robot, kt.aba, (q, v, x), {"q": v, "tau": x}, **o),
    "vjp": lambda robot, q, v, x, **o: [*kt.vjp(robot, kt.aba, (q, v, x), x, **o)[1].values()],
    "hvp": lambda robot, q, v, x, **o: [*kt.hvp(robot, kt.aba, (q, v, x), x, {"q": v}, **o).values()],
    "jacobian": lambda robot, q, v, x, **o: [
        kt.jacobian(robot, kt.dynamics.momentum, (q, v, x[..., :3]), wrt="q", **o)
    ],
    "aba_derivatives": lambda robot, q, v, x, **o: kt.dynamics.aba_derivatives(robot, q, v, x, **o),
    "rnea_derivatives": lambda robot, q, v, x, **o: kt.dynamics.rnea_derivatives(robot, q, v, x, **o),
}
EVERY_CALL = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def batch(robot: kt.Model, count: int) -> list[Array]:
    rng = np.random.default_rng(16)
    return [np.stack([robot.random(rng) for _ in range(count)]), *rng.normal(size=(2, count, robot.nv))]


@EVERY_CALL
def test_a_sample_has_the_same_bits_in_any_company(
    call: Callable[..., Sequence[Array]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, at any place of a batch, and on any number of threads."""
    monkeypatch.setattr(batch_pieces, "_PIECE", 1e-9)  # batches are cut as if a sample took long
    robot = glider()
    arrays = batch(robot, 67)
    whole = call(robot, *arrays)
    assert all(len(x) == 67 for x in whole)
    for count in (1, 2, 3):
        for part, all_of_it in zip(call(robot, *arrays, threads=count), whole, strict=True):
            np.testing.assert_array_equal(part, all_of_it)
    for start, stop in ((0, 1), (5, 6), (3, 20), (50, 67)):
        for part, all_of_it in zip(call(robot, *(x[start:stop] for x in arrays)), whole, strict=True):
            np.testing.assert_array_equal(part, all_of_it[start:stop])
    for alone, all_of_it in zip(call(robot, *(x[7] for x in arrays)), whole, strict=True):
        np.testing.assert_array_equal(alone, all_of_it[7])


@x86
@pytest.mark.skipif(not host().fma, reason="needs a processor with fused multiply-add")
@pytest.mark.parametrize("mode", ["jvp", "vjp", "hvp", "jacobian"])
def test_the_number_of_lanes_changes_no_bit(mode: str) -> None:
    program = program_of(pendulum(), kt.aba, mode)
    rng = np.random.default_rng(20)
    arrays = [rng.normal(size=(19, *port.shape)) for port in program.inputs]
    narrow_ones = (batch_function(program, F64, narrow(bits, "+avx2,+fma", True)) for bits in (128, 256))
    for kernel in narrow_ones:
        np.testing.assert_array_equal(kernel(*arrays), batch_function(program)(*arrays))


@EVERY_CALL
def test_single_precision_in_gives_single_precision_out(call: Callable[..., Sequence[Array]]) -> None:
    """To about a thousandth of the largest entry: H⁻¹ comes in twice or three times, and rounding with it."""
    robot = glider()
    arrays = [x.astype(np.float32) for x in batch(robot, 5)]
    for single, double in zip(call(robot, *arrays), call(robot, *(x.astype(float) for x in arrays)), strict=True):
        assert single.dtype == np.float32
        assert double.dtype == np.float64
        np.testing.assert_allclose(single, double, rtol=0.0, atol=1e-3 * max(1.0, float(np.abs(double).max())))


def test_directions_and_weights_broadcast_against_states() -> None:
    robot = pendulum()
    q, v, tau = batch(robot, 4)
    value, columns = kt.jvp(robot, kt.aba, (q[:, None], v[:, None], tau[:, None]), {"tau": np.eye(2)})
    assert value.shape == columns.shape == (4, 2, 2)
    np.testing.assert_array_equal(value[:, 0], kt.jvp(robot, kt.aba, (q, v, tau), {"tau": v})[0])
    close(columns.swapaxes(1, 2), kt.mass_matrix_inverse(robot, q))
    _, gradients = kt.vjp(robot, kt.aba, (q[:, None], v[:, None], tau[:, None]), np.eye(2), wrt="tau")
    assert gradients["tau"].shape == (4, 2, 2)
    close(gradients["tau"], kt.mass_matrix_inverse(robot, q))


@law(10)
@given(seed=st.integers(0, 10**6))
def test_the_hessian_of_the_kinetic_energy_by_rates_is_the_mass_matrix(seed: int) -> None:
    robot, rng = glider(), np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    rows = kt.hvp(robot, kt.kinetic_energy, (q, v), 1.0, {"v": np.eye(robot.nv)}, wrt="v")["v"]
    close(rows, kt.crba(robot, q))
