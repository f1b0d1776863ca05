"""Parameters of the robot as arguments: shapes, broadcasting, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

MASS, PLACEMENT = "body.hand.mass", "joint.elbow_pitch.placement"


@pytest.fixture(scope="module")
def robot() -> kt.Model:
    return kt.zoo.load("arm7")


def state(robot: kt.Model, count: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(2)
    return np.stack([robot.random(rng) for _ in range(count)]), *rng.normal(size=(2, count, robot.nv))


def test_the_robots_own_values_change_nothing(robot: kt.Model) -> None:
    own = {name: robot.parameter(name) for name in ("gravity", MASS, PLACEMENT, "joint.elbow_pitch.armature")}
    q, v, tau = state(robot, 4)
    np.testing.assert_allclose(kt.aba(robot, q, v, tau, parameters=own), kt.aba(robot, q, v, tau), rtol=0, atol=1e-10)


def test_a_number_a_sample_and_one_for_all_are_the_same(robot: kt.Model) -> None:
    q, v, tau = state(robot, 4)
    every = kt.aba(robot, q, v, tau, parameters={MASS: [1, 2, 3, 4]})
    for k in range(4):
        assert (kt.aba(robot, q, v, tau, parameters={MASS: k + 1.0})[k] == every[k]).all()
        assert (kt.aba(robot, q[k], v[k], tau[k], parameters={MASS: np.float64(k + 1)}) == every[k]).all()


def test_parameters_make_the_batch_if_nothing_else_does(robot: kt.Model) -> None:
    q, v, tau = (x[0] for x in state(robot, 1))
    gravity, mass = np.ones((5, 1, 3)), np.ones(4)
    assert kt.aba(robot, q, v, tau, parameters={"gravity": gravity, MASS: mass}).shape == (5, 4, 7)


def test_a_compiled_function_takes_them_last_in_the_order_given(robot: kt.Model) -> None:
    q, v, tau = state(robot, 3)
    push, mass, g = np.full((3, 6), 2.0), np.full(3, 4.0), np.full((3, 3), 1.0)
    f = kt.compile(robot, kt.aba, f_ext=["tool"], parameters=[MASS, "gravity"])
    out = np.empty((3, 7))
    assert f(q, v, tau, push, mass, g, out=out) is out
    assert (out == kt.aba(robot, q, v, tau, {"tool": push}, parameters={MASS: mass, "gravity": g})).all()
    np.testing.assert_allclose(
        out, kt.aba(robot, q, v, tau, {"tool": push}, parameters={"gravity": g, MASS: mass}), rtol=1e-10
    )
    assert "body.hand.mass[]" in repr(f.__self__)


def test_float32_in_gives_float32_out(robot: kt.Model) -> None:
    single = [x.astype(np.float32) for x in state(robot, 3)]
    assert kt.aba(robot, *single, parameters={MASS: np.ones(3, np.float32)}).dtype == np.float32
    assert kt.aba(robot, *single, parameters={MASS: np.ones(3)}).dtype == np.float64


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"gravity": [0.0, 0.0]}, kt.errors.ShapeError, r"gravity has shape \(2,\), but 'arm7' needs \(…, 3\)"),
        ({"gravity": 9.81}, kt.errors.ShapeError, r"gravity has shape \(\), but 'arm7' needs \(…, 3\)"),
        ({MASS: np.ones(5)}, kt.errors.ShapeError, r"do not broadcast together: .* body.hand.mass \(5,\)"),
        ({MASS: "heavy"}, kt.errors.DTypeError, r"body.hand.mass must be an array of real numbers of shape \(…\)"),
        ({MASS: None}, kt.errors.DTypeError, "body.hand.mass must be an array of real numbers"),
        (["gravity"], kt.errors.DTypeError, "parameters must be a dict from names"),
        ({"hand.mass": 1.0}, kt.errors.NameNotFoundError, "did you mean 'body.hand.mass'"),
        (
            {PLACEMENT: np.zeros((4, 7))},
            kt.errors.ConfigurationError,
            r"elbow_pitch.placement\[0\]: the quaternion of joint",
        ),
    ],
)
def test_a_wrong_parameter_is_refused_in_words(robot: kt.Model, parameters: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        kt.aba(robot, *state(robot, 4), parameters=parameters)


def test_a_zero_quaternion_is_found_behind_the_step_of_time_and_the_forces() -> None:
    """A rollout has dt before them: the parameter is not looked for among the arguments that come earlier."""
    robot = kt.zoo.load("double_pendulum")
    name = f"joint.{list(robot.joints)[-1]}.placement"
    frame = list(robot.bodies)[-1]

    def states(placement: list[float]) -> Any:
        return kt.rollout(
            robot, np.zeros(2), np.zeros(2), np.zeros((3, 2)), 1e-3,
            f_ext={frame: np.zeros(6)}, parameters={name: placement},
        )  # fmt: skip

    assert np.isfinite(states([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])).all()
    with pytest.raises(kt.errors.ConfigurationError, match=rf"{name}: the quaternion of joint"):
        states([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0])


def test_a_wrong_out_is_seen_with_a_batch_of_numbers_too(robot: kt.Model) -> None:
    q, v, tau = state(robot, 4)
    with pytest.raises(kt.errors.ShapeError, match=r"out has shape \(4, 7\), but the result has \(2, 4, 7\)"):
        kt.aba(robot, q, v, tau, parameters={MASS: np.ones((2, 4))}, out=np.empty((4, 7)))


def test_names_for_compile_are_a_list(robot: kt.Model) -> None:
    with pytest.raises(kt.errors.OptionError, match=r"must be a list of names, such as \['gravity'\]"):
        kt.compile(robot, kt.aba, parameters="gravity")


def test_steps_on_the_manifold_depend_on_no_parameter(robot: kt.Model) -> None:
    with pytest.raises(kt.errors.OptionError, match="integrate does not depend on any of the robot's parameters"):
        kt.compile(robot, kt.integrate, parameters=["gravity"])


def test_more_parameters_than_a_ufunc_takes_are_refused(robot: kt.Model) -> None:
    names = [name for name in robot.parameter_names if name.startswith("body.")]
    names += [name for name in robot.parameter_names if name.startswith("joint.")]
    with pytest.raises(kt.errors.OptionError, match="arrays; a compiled function takes at most 63"):
        kt.compile(kt.zoo.load("humanoid"), kt.crba, parameters=kt.zoo.load("humanoid").parameter_names)


def test_there_may_be_more_in_a_program() -> None:
    robot = kt.zoo.load("humanoid")
    names = [name for name in robot.parameter_names if name.endswith((".mass", ".inertia", ".armature"))]
    own = {name: robot.parameter(name) for name in names}
    assert len(own) > 64

    @kt.program(q=robot, scale=())
    def forces(q: Any, scale: Any) -> Any:
        return kt.gravity_forces(robot, q, parameters={name: scale * x for name, x in own.items()})

    q = robot.random(0)
    np.testing.assert_allclose(forces(q, 2.0), 2.0 * kt.gravity_forces(robot, q), atol=1e-9)


def test_the_most_parameters_that_fit_do(robot: kt.Model) -> None:
    names = robot.parameter_names[: 64 - 2]
    values = [robot.parameter(name) for name in names]
    q = robot.random(0)
    np.testing.assert_allclose(kt.gravity_forces(robot, q, parameters=dict(zip(names, values, strict=True))),
                               kt.gravity_forces(robot, q), atol=1e-11)  # fmt: skip


def test_a_massless_hand_may_have_its_inertia_as_an_input() -> None:
    builder = kt.ModelBuilder("handle")
    builder.add_body("base")
    builder.add_body("hand")
    builder.add_joint("hinge", kt.Revolute([0, 0, 1]), "base", "hand")
    robot = builder.build()
    with pytest.raises(kt.errors.SingularModelError, match="'hinge'"):
        kt.aba(robot, [0.0], [0.0], [1.0], parameters={"body.hand.mass": 1.0})
    inertia = np.array([[1.0, 1.0, 2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    with np.errstate(all="ignore"):
        qdd = kt.aba(robot, [0.0], [0.0], [1.0], parameters={"body.hand.inertia": inertia})
    assert qdd[0] == 0.5
    assert not np.isfinite(qdd[1]).any()


def test_a_robot_that_cannot_move_has_parameters_all_the_same() -> None:
    builder = kt.ModelBuilder("block")
    builder.add_body("block")
    robot = builder.build()
    com = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])
    given = {"body.block.mass": 2.0, "body.block.com": com}
    assert kt.center_of_mass(robot, [], parameters=given).tolist() == com.tolist()
    up = {**given, "gravity": [0.0, 0.0, -1.0]}
    assert kt.potential_energy(robot, np.empty((3, 1, 0)), parameters=up).tolist() == [[6.0, 8.0]] * 3
    assert kt.aba(robot, [], [], [], parameters=up).shape == (2, 0)


def test_a_name_of_a_parameter_is_found_on_the_robot(robot: kt.Model) -> None:
    assert robot.parameter_names[0] == "gravity"
    assert robot.parameter(MASS).shape == ()
    with pytest.raises(kt.errors.NameNotFoundError, match="a body has mass, com, inertia"):
        robot.parameter("body.hand.weight")
