"""What hybrid dynamics and its kin refuse, and what they say then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.differentiation import derived, specialized
from kinetree.compiler.forms.rolled import RolledModel, RolledSource
from kinetree.expr import Recorder, interpret
from kinetree.spatial import Sym3, Vec3
from kinetree.tree.rolled import Knowledge
from tests.robots import every_joint

from .test_unroll import ROBOT as BIPED
from .test_unroll import chain

ARM = kt.zoo.load("arm6")
REST = np.zeros(6)
JOINTS = list(ARM.joints)


def hybrid(prescribed: Any, robot: kt.Model = ARM) -> Any:
    rest = np.zeros(robot.nv)
    return kt.dynamics.hybrid_dynamics(robot, robot.neutral(), rest, rest, rest, prescribed)


def test_a_name_that_is_no_joint_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        kt.errors.NameNotFoundError, match=r"has no joint 'sholder_pitch': did you mean 'shoulder_pitch'"
    ):
        hybrid(["sholder_pitch"])
    with pytest.raises(kt.errors.NameNotFoundError, match=r"prescribed: 'arm6' has no joint 3: available: 'base_yaw'"):
        hybrid([3])


@pytest.mark.parametrize("value", ["elbow_pitch", 3, {"elbow_pitch": 1.0}], ids=["one name", "a number", "a dict"])
def test_prescribed_is_a_list(value: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="prescribed must be a list of joint names"):
        hybrid(value)


def test_a_single_name_gets_advice_on_lists() -> None:
    with pytest.raises(kt.errors.OptionError, match=r"such as \['elbow_pitch'\], not 'elbow_pitch'"):
        hybrid("elbow_pitch")


def test_a_joint_without_coordinates_of_its_own_is_refused_with_whose_they_are() -> None:
    robot = every_joint()
    with pytest.raises(
        kt.errors.OptionError, match="joint 'follower' follows 'revolute' and has no coordinates of its own"
    ):
        hybrid(["follower"], robot)
    with pytest.raises(kt.errors.OptionError, match="joint 'left' are those of coupling 'wrist'; name 'wrist'"):
        hybrid(["left"], robot)


def test_any_collection_in_any_order_is_the_same_function() -> None:
    first, second = JOINTS[1], JOINTS[4]
    expected = hybrid([first, second])
    for names in ((second, first), {first, second}, frozenset([first, second]), [first, second, first]):
        np.testing.assert_array_equal(np.stack(hybrid(names)), np.stack(expected))


def test_batches_broadcast_and_float32_stays_float32() -> None:
    rng = np.random.default_rng(0)
    q = np.array([ARM.random(rng) for _ in range(3)])[:, None]
    v, tau = rng.normal(size=(2, 4, 6))
    found = kt.dynamics.hybrid_dynamics(ARM, q, v, tau, REST, JOINTS[:3])
    assert found.qdd.shape == found.tau.shape == (3, 4, 6)
    single = [x.astype(np.float32) for x in (q, v, tau, REST)]
    found = kt.dynamics.hybrid_dynamics(ARM, *single, JOINTS[:3])
    assert found.qdd.dtype == found.tau.dtype == np.float32
    assert kt.dynamics.base_wrench(ARM, *single[:3]).dtype == np.float32
    assert kt.dynamics.base_wrench(ARM, q, v, tau).dtype == np.float64


def test_the_bases_acceleration_is_zero_unless_it_is_given() -> None:
    q, (v, tau) = ARM.random(1), np.random.default_rng(1).normal(size=(2, 6))
    still = kt.dynamics.base_wrench(ARM, q, v, tau)
    np.testing.assert_array_equal(still, kt.dynamics.base_wrench(ARM, q, v, tau, [0.0] * 6))
    assert np.abs(still - kt.dynamics.base_wrench(ARM, q, v, tau, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])).max() > 1.0
    with pytest.raises(kt.errors.ShapeError, match=r"base_acceleration has shape \(3,\), but 'arm6' needs \(…, 6\)"):
        kt.dynamics.base_wrench(ARM, q, v, tau, [0.0, 0.0, 1.0])


def test_a_fixed_base_has_no_floating_inverse_dynamics() -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"the base of 'arm6' does not float.*use kt.rnea, or load the robot with"
    ):
        kt.dynamics.floating_inverse_dynamics(ARM, ARM.neutral(), REST, REST)


def test_an_unknown_word_for_coordinates_is_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match="expressed_in must be 'local', 'world' or 'local_world_aligned'"):
        kt.dynamics.base_wrench(ARM, ARM.neutral(), REST, REST, expressed_in="base")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="expressed_in must be 'local', 'world' or 'local_world_aligned'"):
        kt.dynamics.base_wrench(ARM, ARM.neutral(), REST, REST, expressed_in=np.ones(3))  # type: ignore[arg-type]


def coaxial(last: float) -> kt.Model:
    """Two joints about one axis, nothing between them, and a body of some mass behind both."""
    builder = kt.ModelBuilder("coaxial")
    builder.add_body("base")
    builder.add_body("between")
    builder.add_body("wheel", kt.solids.cylinder(0.2, 0.1, mass=last))
    builder.add_joint("inner", kt.Revolute([0, 0, 1]), "base", "between")
    builder.add_joint("outer", kt.Revolute([0, 0, 1]), "between", "wheel")
    return builder.build()


def test_singular_joints_may_be_prescribed() -> None:
    """Together they are singular, each by itself is not: whichever is prescribed, the other has a wheel to turn."""
    robot = coaxial(2.0)
    assert robot.singular_joints == ("inner",)
    rest = np.zeros(2)
    with pytest.raises(
        kt.errors.SingularModelError, match="hybrid_dynamics: the acceleration of joint 'inner' of 'coaxial'"
    ):
        kt.dynamics.hybrid_dynamics(robot, rest, rest, [0.3, 0.1], rest)
    inertia = robot.bodies["wheel"].inertia.I.zz
    for name, given, expected in (
        ("outer", [0.0, 2.0], 0.3 / inertia - 2.0),
        ("inner", [2.0, 0.0], 0.1 / inertia - 2.0),
    ):
        found = kt.dynamics.hybrid_dynamics(robot, rest, rest, [0.3, 0.1], given, [name])
        np.testing.assert_allclose(found.qdd.sum(), expected + 2.0, rtol=1e-13)
        np.testing.assert_allclose(kt.rnea(robot, rest, rest, found.qdd), found.tau, atol=1e-13)
    found = kt.dynamics.hybrid_dynamics(robot, rest, rest, rest, [1.0, 2.0], ["inner", "outer"])
    np.testing.assert_allclose(found.tau, 3.0 * inertia, rtol=1e-14)


def test_singular_joints_behind_a_base_are_refused_and_those_before_it_do_not_matter() -> None:
    robot = coaxial(2.0)
    rest = np.zeros(2)
    with pytest.raises(kt.errors.SingularModelError, match="base_wrench: the acceleration of joint 'inner'"):
        kt.dynamics.base_wrench(robot, rest, rest, rest)
    with pytest.raises(kt.errors.SingularModelError, match="euler_lagrange: joint 'inner' of 'coaxial'"):
        kt.dynamics.euler_lagrange(robot, rest, rest, rest)
    assert kt.dynamics.euler_lagrange_matrices(robot, rest, rest).M.shape == (2, 2)


def test_a_joint_that_moves_nothing_is_refused_whatever_masses_are_given_with_the_call() -> None:
    builder = kt.ModelBuilder("needle")
    for name in ("base", "arm", "needle"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0) if name == "arm" else None)
    builder.add_joint("shoulder", kt.Revolute([0, 1, 0]), "base", "arm")
    builder.add_joint("roll", kt.Revolute([0, 0, 1]), "arm", "needle")
    robot, rest = builder.build(), np.zeros(2)
    with pytest.raises(kt.errors.SingularModelError, match="base_wrench: the acceleration of joint 'roll' of 'needle'"):
        kt.dynamics.base_wrench(robot, rest, rest, rest, parameters={"body.needle.mass": 1.0})  # on its axis
    given = {"body.needle.mass": 1.0, "body.needle.com": [0.1, 0.0, 0.0]}
    assert np.isfinite(kt.dynamics.base_wrench(robot, rest, rest, rest, parameters=given)).all()


def test_a_floating_base_with_nothing_to_carry_is_singular() -> None:
    builder = kt.ModelBuilder("point")
    builder.add_body("base", kt.model.Inertia.from_com(1.0, Vec3.zero(), Sym3.zero()))
    robot = builder.build(floating_base=True)
    with pytest.raises(
        kt.errors.SingularModelError, match="floating_inverse_dynamics: the acceleration of joint 'root_joint'"
    ):
        kt.dynamics.floating_inverse_dynamics(robot, robot.neutral(), REST, REST)
    # What must push it is known all the same.
    np.testing.assert_allclose(
        kt.dynamics.base_wrench(robot, robot.neutral(), REST, REST)[:3], [0.0, 0.0, 9.81], atol=1e-14
    )


def test_masses_that_are_given_with_the_call_may_cure_a_singular_robot() -> None:
    robot = coaxial(2.0)
    rest, ring = np.zeros(2), np.array([0.1, 0.1, 0.2, 0.0, 0.0, 0.0])
    parameters = {"body.between.mass": 1.0, "body.between.inertia": ring}
    found = kt.dynamics.hybrid_dynamics(robot, rest, rest, [0.3, 0.1], rest, parameters=parameters)
    np.testing.assert_allclose(found.qdd, kt.aba(robot, rest, rest, [0.3, 0.1], parameters=parameters), rtol=1e-12)
    found = kt.dynamics.hybrid_dynamics(
        robot, rest, rest, [0.3, 0.1], [1.0, 0.0], ["inner"], parameters={"gravity": [0.0] * 3}
    )
    np.testing.assert_allclose(kt.rnea(robot, rest, rest, found.qdd), found.tau, atol=1e-13)


def test_masses_that_are_given_with_the_call_leave_a_prescribed_joint_prescribed() -> None:
    robot = coaxial(2.0)
    rest, parameters = np.zeros(2), {"body.wheel.mass": 3.0}
    found = kt.dynamics.hybrid_dynamics(robot, rest, rest, [0.3, 0.1], [0.0, 2.0], ["outer"], parameters=parameters)
    np.testing.assert_allclose(kt.rnea(robot, rest, rest, found.qdd, parameters=parameters), found.tau, atol=1e-13)
    builder = kt.ModelBuilder("idle")
    builder.add_body("base")
    for name, parent in (("one", "base"), ("two", "base")):
        builder.add_body(name)
        builder.add_joint(f"to {name}", kt.Revolute([0, 0, 1]), parent, name)
    idle, parameters = builder.build(), {"body.base.mass": 1.0}
    with pytest.raises(
        kt.errors.SingularModelError, match="hybrid_dynamics: the acceleration of joint 'to two' of 'idle'"
    ):
        kt.dynamics.hybrid_dynamics(idle, rest, rest, rest, rest, ["to one"], parameters=parameters)


def in_loops(function: Any, options: dict[str, Any], arrays: list[np.ndarray], mode: str = "") -> list[np.ndarray]:
    """The function's value, or its derivative by everything, written out and in loops."""
    robot, names = BIPED, tuple(name for name, _ in function.definition.inputs)
    resolved = {name: check(robot, options.get(name)) for name, check in function.definition.options.items()}
    definition = derived(function.definition, mode, names) if mode else function.definition
    programs = [specialized(definition, robot, resolved, (), (), unroll).program() for unroll in (True, False)]
    assert programs[0].is_straight
    assert not programs[1].is_straight
    return [np.array(interpret(program, *(x.tolist() for x in arrays))[0]) for program in programs]


JOINTS_OF_BIPED = [owner.name for owner in BIPED.owners]
LOOPING = [
    pytest.param(kt.dynamics.hybrid_dynamics, {"prescribed": []}, id="nothing prescribed"),
    pytest.param(
        kt.dynamics.hybrid_dynamics, {"prescribed": JOINTS_OF_BIPED[2::2], "passive": True}, id="one joint of a leg"
    ),
    pytest.param(kt.dynamics.hybrid_dynamics, {"prescribed": JOINTS_OF_BIPED[:1]}, id="the base"),
    pytest.param(kt.dynamics.hybrid_dynamics, {"prescribed": JOINTS_OF_BIPED}, id="everything"),
    pytest.param(kt.dynamics.floating_inverse_dynamics, {"passive": True}, id="a floating base"),
    pytest.param(
        kt.dynamics.base_wrench, {"expressed_in": "local_world_aligned", "limits": True}, id="the wrench on it"
    ),
]


def state(function: Any) -> list[np.ndarray]:
    robot, rng = BIPED, np.random.default_rng(12)
    widths = [function.definition.width(size, robot, {}) for _, size in function.definition.inputs[1:]]
    return [robot.random(rng), *(rng.normal(size=n) for n in widths)]


@pytest.mark.parametrize(("function", "options"), LOOPING)
def test_loops_distinguish_prescribed_joints_from_others_of_their_kind(function: Any, options: Any) -> None:
    straight, rolled = in_loops(function, options, state(function))
    np.testing.assert_allclose(rolled, straight, rtol=0.0, atol=1e-13 * np.abs(straight).max())


@pytest.mark.parametrize("mode", ["jvp", "vjp"])
@pytest.mark.parametrize(("function", "options"), [LOOPING[1], LOOPING[4], LOOPING[5]])
def test_their_derivatives_are_the_same_in_loops(function: Any, options: Any, mode: str) -> None:
    arrays, rng = state(function), np.random.default_rng(13)
    robot = BIPED
    if mode == "jvp":
        arrays += [rng.normal(size=robot.nv), *arrays[1:]]
    else:
        arrays.append(rng.normal(size=function.definition.shape(robot, {})).ravel())
    straight, rolled = in_loops(function, options, arrays, mode)
    np.testing.assert_allclose(rolled, straight, rtol=0.0, atol=1e-12 * np.abs(straight).max())


def test_a_fixed_base_is_known_in_loops_too() -> None:
    rng = np.random.default_rng(5)
    q, (v, tau, a) = ARM.random(rng), rng.normal(size=(3, 6))
    rolled = kt.compile(ARM, kt.dynamics.base_wrench, unroll=False, f_ext=[ARM.root])
    force = rng.normal(size=6)
    expected = kt.dynamics.base_wrench(ARM, q, v, tau, a, f_ext={ARM.root: force})
    np.testing.assert_allclose(rolled(q, v, tau, a, force), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_a_long_robot_loops_by_itself() -> None:
    robot = chain(160)
    rng = np.random.default_rng(6)
    q, v, qdd = rng.normal(size=(3, 160))
    names = list(robot.joints)
    compiled = kt.compile(robot, kt.dynamics.hybrid_dynamics, prescribed=names[::3])
    assert not compiled.__self__.program.is_straight  # type: ignore[attr-defined]
    tau = kt.rnea(robot, q, v, qdd)
    found = kt.dynamics.hybrid_dynamics(robot, q, v, tau, qdd, names[::3])
    np.testing.assert_allclose(found.qdd, qdd, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(found.tau, tau, rtol=0.0, atol=1e-7 * np.abs(tau).max())


def test_robots_whose_joints_share_coordinates_are_written_out() -> None:
    robot = every_joint()
    for function in (kt.dynamics.hybrid_dynamics, kt.dynamics.base_wrench):
        with pytest.raises(
            kt.errors.OptionError, match=r"cannot loop over the bodies of .*, whose joints share coordinates"
        ):
            kt.compile(robot, function, unroll=False)


def test_only_distinguished_bodies_can_be_asked_about_in_loops() -> None:
    def traced(wanted: set[int]) -> None:
        source = RolledSource(ARM, frozenset({2}))
        tree: Any = RolledModel(source, Recorder((), ()), Knowledge()).tree
        some = tree.some(wanted)
        for i, p in tree.outward:
            assert (i in some) in (True, False)
            assert p in some

    with pytest.raises(ValueError, match=r"\[3\] are not the slots whose bodies are distinguished"):
        traced({3})
    with pytest.raises(ValueError, match="some are among these and some are not"):
        traced({2})
