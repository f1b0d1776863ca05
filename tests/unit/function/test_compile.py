"""`kt.compile`: its options are those of the function, and what it hands out is what the function itself uses."""

from __future__ import annotations

import copy
import inspect
import threading
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.functions import PUBLIC
from tests.robots import stork

ARM = kt.zoo.load("arm6")
RNG = np.random.default_rng(7)
Q, V, QDD = RNG.normal(size=(3, 9, 6))


@pytest.mark.parametrize("dtype", ["float64", "float32", np.float32, np.dtype("f8"), float])
def test_any_name_of_the_two_dtypes_is_taken(dtype: Any) -> None:
    f = kt.compile(ARM, kt.crba, dtype=dtype)
    assert f.__self__.dtype == np.dtype(dtype)
    assert f(Q).dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["banana", None, "float16", np.clongdouble, complex, object(), 3])
def test_any_other_dtype_is_refused_as_an_option(dtype: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="dtype must be float64 or float32, not "):
        kt.compile(ARM, kt.aba, dtype=dtype)


def test_an_option_that_is_not_given_is_as_in_the_function_itself() -> None:
    f = kt.compile(ARM, kt.kinematics.frame_acceleration, frame="tool", expressed_in="world")
    assert (f(Q, V, QDD) == kt.kinematics.frame_acceleration(ARM, Q, V, QDD, "tool", expressed_in="world")).all()
    assert f is kt.compile(ARM, kt.kinematics.frame_acceleration, kind="spatial", expressed_in="world", frame="tool")


def test_an_option_without_a_default_must_be_given() -> None:
    with pytest.raises(kt.errors.OptionError, match="frame must be a name, such as 'base', not None"):
        kt.compile(ARM, kt.frame_placement)
    with pytest.raises(kt.errors.OptionError, match=r"expressed_in must be 'local', .* not None"):
        kt.compile(ARM, kt.kinematics.body_velocities)


@pytest.mark.parametrize("value", [["local"], {"local": 1}, np.array(["local", "world"]), 1, None, "Local"])
def test_an_option_of_the_wrong_kind_is_answered_with_the_right_ones(value: Any) -> None:
    with pytest.raises(
        kt.errors.OptionError, match="expressed_in must be 'local', 'world' or 'local_world_aligned', not "
    ):
        kt.kinematics.frame_velocity(ARM, Q, V, "tool", expressed_in=value)


def test_arguments_that_the_function_fills_in_may_be_left_out() -> None:
    robot, feet = stork(), [kt.constraints.Contact("shank", at=[0.0, 0.0, -0.4])]
    q, v, tau, push = robot.neutral(), RNG.normal(size=robot.nv), RNG.normal(size=robot.nv), RNG.normal(size=6)
    f = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=feet)
    both = np.concatenate(kt.constraints.constrained_dynamics(robot, q, v, tau, constraints=feet))
    assert (f(q, v, tau) == both).all()
    assert (f(q, v, tau, np.zeros(3)) == both).all()
    assert (f([q, q], v, tau) == both).all()
    with pytest.raises(kt.errors.DTypeError, match=r"\(q, v, tau, acceleration; acceleration may be left out\)"):
        f(q, v)
    pushed = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=feet, f_ext=["trunk"])
    expected = kt.constraints.constrained_dynamics(robot, q, v, tau, f_ext={"trunk": push}, constraints=feet)
    assert (pushed(q, v, tau, push) == np.concatenate(expected)).all()
    assert (pushed(q, v, tau, np.zeros(3), push) == np.concatenate(expected)).all()


def test_forces_are_named_in_a_list() -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"f_ext must be a list of frame names, such as \['tool'\], not one name"
    ):
        kt.compile(ARM, kt.aba, f_ext="tool")
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'tol': did you mean 'tool'"):
        kt.compile(ARM, kt.aba, f_ext=["tol"])


@pytest.mark.parametrize("thing", [None, "aba", len, kt.load, kt.compile, lambda q: q])
def test_what_is_no_function_of_motion_is_refused(thing: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="is not one of kinetree's functions"):
        kt.compile(ARM, thing)


def test_what_is_no_robot_is_refused() -> None:
    with pytest.raises(kt.errors.DTypeError, match=r"the first argument must be a robot .* not NoneType"):
        kt.compile(None, kt.aba)  # type: ignore[arg-type]


def test_an_alias_is_the_same_kernel() -> None:
    assert kt.compile(ARM, kt.forward_dynamics) is kt.compile(ARM, kt.aba)
    assert kt.compile(ARM, kt.inverse_dynamics) is kt.compile(ARM, kt.rnea)
    assert kt.compile(ARM, kt.mass_matrix) is kt.compile(ARM, kt.crba)


def test_it_says_what_it_is() -> None:
    assert repr(kt.compile(ARM, kt.aba).__self__) == "<aba(q[6], v[6], tau[6]) compiled for 'arm6', float64>"


def test_a_failed_compilation_leaves_nothing_behind() -> None:
    robot = kt.zoo.load("cart_pole")
    for _ in range(2):
        with pytest.raises(kt.errors.NameNotFoundError):
            kt.frame_placement(robot, [0.0, 0.0], "nowhere")
    assert kt.frame_placement(robot, [0.0, 0.0], robot.root).shape == (4, 4)


def test_arguments_of_other_dtypes_become_the_kernels() -> None:
    single = kt.compile(ARM, kt.crba, dtype="float32")
    assert (single(Q) == single(Q.astype(np.float32))).all()
    assert (kt.compile(ARM, kt.crba)(Q.astype(">f8")) == kt.crba(ARM, Q)).all()


OUTSIDE = {
    "aba": ["on_unactuated"],
    "constrained_inverse_dynamics": ["on_impossible"],
    "rollout": ["act", "arguments", "control_dt", "ctrl", "on_unactuated", "report", "rows", "state", "steps"],
}
"""Arguments that concern the results as they are returned, or what takes the place of an array, and no kernel."""
FOUND = {"actuated_rollout": {"actuators"}, "fluid_forces": {"medium"}}
"""Options that the functions find themselves, in the records of the robot."""


@pytest.mark.parametrize("name", [name for name, x in PUBLIC.items() if hasattr(x, "definition")])
def test_every_option_of_a_definition_is_an_argument_of_its_function(name: str) -> None:
    function = PUBLIC[name]
    definition = function.definition
    parameters = list(inspect.signature(function).parameters)
    named = (
        [n for n, _ in definition.inputs]
        + [n for n in definition.options if n not in FOUND.get(name, ())]
        + ["f_ext"] * definition.takes_forces
    )
    named += ["parameters"] * definition.takes_parameters
    if definition.is_step:  # its public function takes any number of steps, and their length
        named[named.index("steps")] = "dt"
    assert sorted(parameters) == sorted(["robot", *named, *OUTSIDE.get(function.__name__, []), "out", "threads"])


def test_many_threads_at_once_each_get_their_own_answer() -> None:
    robots = [kt.zoo.load("double_pendulum") for _ in range(3)]
    results: dict[tuple[int, int], bool] = {}

    def work(k: int) -> None:
        rng = np.random.default_rng(k)
        for turn in range(20):
            q, v, tau = rng.normal(size=(3, 257, 2))
            robot = robots[(k + turn) % 3]
            qdd = kt.aba(robot, q, v, tau)
            results[k, turn] = np.allclose(kt.rnea(robot, q, v, qdd), tau, rtol=1e-9, atol=1e-9)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 160
    assert all(results.values())


def test_a_deep_copy_of_a_robot_is_a_robot_of_its_own() -> None:
    twin = copy.deepcopy(ARM)
    assert (kt.aba(twin, Q, V, QDD) == kt.aba(ARM, Q, V, QDD)).all()
    assert kt.compile(twin, kt.aba) is not kt.compile(ARM, kt.aba)
