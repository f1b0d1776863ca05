"""Environments: what one step does, beside the same done by hand; episodes, random numbers, delays, faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.learning import Choice, Environment, Integers, Normal, Push, Uniform

CART = kt.zoo.load("cart_pole")
DT, SKIP = 0.01, 3


def observe(q: Any, v: Any) -> Any:
    return {"place": q, "speed": v}


def reward(q: Any, action: Any, before: Any) -> Any:
    return {"upright": np.cos(q[1]), "effort": -0.1 * action @ action, "progress": q[0] - before.q[0]}


def reset(key: Any) -> dict[str, Any]:
    return {"q": kt.random.uniform(key, 2, -0.1, 0.1), "v": kt.random.normal(kt.random.fold(key, 1), 2, 0.0, 0.2)}


def control(action: Any) -> dict[str, Any]:
    return {"tau": np.concatenate([action, np.zeros(1)])}


def cart(**options: Any) -> Environment:
    usual: dict[str, Any] = {
        "observe": observe, "reward": reward, "reset": reset, "control": control, "action": ([-9.0], [9.0]), "dt": DT,
        "frame_skip": SKIP, "contact": False, "terminate": lambda q: abs(q[1]) > 0.5, "max_steps": 20,
    }  # fmt: skip
    return kt.environment(CART, **{**usual, **options})


def actions(worlds: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-9.0, 9.0, (40, worlds, 1))


def test_a_step_is_what_one_would_write() -> None:
    env = cart(memory={"count": (), "last": np.array([7.0])}, update=lambda count, action: {
        "count": count + 1.0, "last": action})  # fmt: skip
    worlds = env.reset(seed=3, worlds=5)
    x = env.parts_of_state(worlds.state)
    u = actions(5)[0]
    after = env.step(worlds.state, u)
    tau = np.zeros((5, SKIP, 2))
    tau[:, :, 0] = u
    states = kt.rollout(CART, x["q"], x["v"], tau, DT, passive=True)
    y = env.parts_of_state(after.state)
    assert np.array_equal(np.hstack([y["q"], y["v"]]), states[:, -1])
    assert np.array_equal(after.observation, states[:, -1])
    terms = {"upright": np.cos(y["q"][:, 1]), "effort": -0.1 * u[:, 0] ** 2, "progress": y["q"][:, 0] - x["q"][:, 0]}
    assert {*after.recorded} == {*terms}
    for name, term in terms.items():
        assert np.allclose(after.recorded[name], term, rtol=0, atol=1e-15)
    assert np.allclose(after.reward, sum(terms.values()), rtol=0, atol=1e-14)
    assert (x["last"] == 7.0).all()
    assert np.array_equal(y["last"], u)
    assert (y["count"] == 1.0).all()
    assert not after.terminated.any()
    assert not after.truncated.any()


def test_random_numbers_are_those_of_numpy() -> None:
    """A draw is Philox's at (seed, world) and (purpose, step, episode)."""
    env = cart()
    number = env._kernel.purposes["reset"]
    worlds = env.reset(seed=11, worlds=[0, 5])
    for row, world in enumerate((0, 5)):
        source = np.random.Generator(np.random.Philox(key=[11, world], counter=[0, number, 0, 0]))
        assert np.array_equal(env.parts_of_state(worlds.state)["q"][row], source.uniform(-0.1, 0.1, 2))


def test_results_have_the_same_bits_in_any_batch_and_after_a_restart() -> None:
    env = cart(randomize={"body.pole.mass": Uniform(0.5, 1.5, relative=True)}, noise={"speed": 0.1},
               delay={"place": Integers(0, 3), "action": 4})  # fmt: skip
    whole, halves = env.reset(seed=1, worlds=24), [env.reset(seed=1, worlds=range(k, k + 12)) for k in (0, 12)]
    alone = env.reset(seed=1, worlds=[17])
    for k, u in enumerate(actions(24)):
        if k == 15:  # as from a file
            whole = env.worlds(whole.numbers.copy())
        whole = env.step(whole.state, u, threads=1 + k % 2)
        halves = [env.step(half.state, part) for half, part in zip(halves, np.split(u, 2), strict=True)]
        alone = env.step(alone.state, u[17:18])
    assert env.parts_of_state(whole.state)["episode"].max() > 1.0
    assert np.array_equal(whole.numbers, np.concatenate([half.numbers for half in halves]))
    assert np.array_equal(whole.numbers[17:18], alone.numbers)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_episodes_end_and_begin(autoreset: str) -> None:
    env = cart(autoreset=autoreset, terminate=lambda q: q[0] > 0.4, max_steps=12)
    other = cart(autoreset="disabled", terminate=lambda q: q[0] > 0.4, max_steps=12)
    worlds, single = env.reset(seed=0, worlds=6), other.reset(seed=0, worlds=6)
    episode, over = np.zeros(6), np.zeros(6, bool)
    seen = 0
    for u in np.abs(actions(6)):
        if autoreset == "next_step" and over.any():
            single = other.restart(single, over)
            episode += over
        worlds = env.step(worlds.state, u)
        single = other.step(single.state, u, out=single, mask=~over) if autoreset == "next_step" else other.step(
            single.state, u)  # fmt: skip
        expected = single.terminated | single.truncated
        assert np.array_equal(worlds.terminated, single.terminated & ~(over & (autoreset == "next_step")))
        assert np.array_equal(worlds.final_observation, single.final_observation)
        if autoreset == "next_step":
            assert (worlds.reward[over] == 0.0).all()
            over = expected & ~over
        if autoreset == "same_step" and expected.any():
            assert np.array_equal(worlds.episode_return[expected], single.episode_return[expected])
            single = other.restart(single, expected)
            episode += expected
        assert np.array_equal(worlds.observation, single.observation)
        assert np.array_equal(env.parts_of_state(worlds.state)["episode"], episode)
        seen += int(expected.sum())
        if autoreset == "disabled" and expected.all():
            break
    assert seen >= 6


def test_delays_are_those_of_a_queue() -> None:
    env = cart(delay={"place": 2, "action": 4}, terminate=None)
    worlds = env.reset(seed=0, worlds=3)
    plain = cart(terminate=None)
    fresh = plain.reset(seed=0, worlds=3)
    assert np.array_equal(worlds.observation, fresh.observation)
    us, q, v = actions(3)[:6], *(plain.parts_of_state(fresh.state)[name] for name in "qv")
    places = [q, q, q]
    queue = np.concatenate([np.zeros((3, 4)), np.repeat(us[..., 0].T, SKIP, axis=1)], axis=1)
    for k, u in enumerate(us):
        worlds = env.step(worlds.state, u)
        tau = np.zeros((3, SKIP, 2))
        tau[:, :, 0] = queue[:, SKIP * k : SKIP * (k + 1)]
        state = kt.rollout(CART, q, v, tau, DT, passive=True)[:, -1]
        q, v = state[:, :2], state[:, 2:]
        places = [q, *places]
        assert np.array_equal(worlds.observation, np.hstack([places[2], v]))


def test_parameters_are_drawn_and_felt() -> None:
    env = cart(
        randomize={
            "body.pole.mass": Uniform(0.5, 1.5, relative=True), "gravity": Choice([[0, 0, -9.81], [0, 0, -1.62]]),
            "joint.*.armature": Normal(0.1, 0.01), "body.cart.mass": lambda own, heavier: own * heavier,
        },
        settings={"heavier": 2.0},
    )  # fmt: skip
    worlds = env.reset(seed=0, worlds=64)
    x = env.parts_of_state(worlds.state)
    names = ("body.pole.mass", "body.cart.mass", "gravity", "joint.slider.armature", "joint.hinge.armature")
    names = tuple(name for name in x if name.startswith("drawn "))
    mass = x["drawn body.pole.mass"] / CART.parameter("body.pole.mass")
    assert 0.5 <= mass.min() < 0.6 < 1.4 < mass.max() <= 1.5
    assert {*np.unique(x["drawn gravity"][:, 2])} == {-9.81, -1.62}
    assert np.array_equal(x["drawn body.cart.mass"], np.full(64, 2.0 * CART.parameter("body.cart.mass")))
    u = actions(64)[0]
    after = env.parts_of_state(env.step(worlds.state, u).state)
    tau = np.zeros((64, SKIP, 2))
    tau[:, :, 0] = u
    given = {name.removeprefix("drawn "): x[name] for name in names}
    states = kt.rollout(CART, x["q"], x["v"], tau, DT, passive=True, parameters=given)
    assert np.allclose(np.hstack([after["q"], after["v"]]), states[:, -1], rtol=1e-13, atol=1e-14)
    heavy = env.reset(seed=0, worlds=2, settings={"heavier": 3.0})
    assert np.allclose(env.parts_of_state(heavy.state)["drawn body.cart.mass"], 3.0 * CART.parameter("body.cart.mass"))


def test_pushes_come_as_often_as_they_should() -> None:
    robot = kt.zoo.load("quadruped").with_gravity((0, 0, 0))
    env = kt.environment(
        robot, observe=lambda q: q, reward=lambda v: v[0], control=lambda action: {"tau": np.zeros(robot.nv) + action},
        action=1, dt=0.02, contact=False, passive=False, push=Push(every=0.2, speed=0.5), max_steps=None,
        reset=lambda key: {"q": robot.integrate(robot.neutral(), 3.0 * kt.random.normal(key, robot.nv))},
    )  # fmt: skip
    worlds = env.reset(seed=0, worlds=2000)
    after = env.step(worlds.state, np.zeros((2000, 1)))
    q, v = (env.parts_of_state(after.state)[name] for name in "qv")
    turned = np.einsum("nij,nj->ni", kt.frame_placement(robot, q, robot.root)[:, :3, :3], v[:, :3])
    pushed = np.abs(turned).max(axis=1) > 0.0
    assert 0.08 < pushed.mean() < 0.12
    assert np.abs(turned[:, 2]).max() < 1e-12
    assert 0.45 < np.abs(turned[:, :2]).max() <= 0.5


def test_many_steps_with_a_policy_are_single_steps() -> None:
    env = cart(max_steps=15)
    weights = np.random.default_rng(0).normal(size=(8, 5))

    def policy(weights: Any, observation: Any) -> Any:
        return np.tanh(weights[:4] @ observation + weights[4:])

    worlds = env.reset(seed=0, worlds=8)
    found = env.unroll(worlds, policy, weights, 40, record=("reward", "action", "observation", "terminated"))
    total, counts = np.zeros(8), np.ones(8, bool)
    for k in range(40):
        u = np.array([policy(w, o) for w, o in zip(weights, worlds.observation, strict=True)])
        assert np.allclose(found.rows["observation"][:, k], worlds.observation, rtol=0, atol=1e-9)
        assert np.allclose(found.rows["action"][:, k], u, rtol=0, atol=1e-9)
        worlds = env.step(worlds.state, u)
        total += np.where(counts, worlds.reward, 0.0)
        counts &= ~(worlds.terminated | worlds.truncated)
        assert np.array_equal(found.rows["terminated"][:, k] != 0.0, worlds.terminated)
    assert np.allclose(found.episode_return, total, rtol=1e-10)
    assert np.allclose(found.state, worlds.state, rtol=0, atol=1e-9)
    given = env.unroll(env.reset(seed=0, worlds=8), None, found.rows["action"], 40)
    assert np.array_equal(given.state, found.state)


def test_the_gradient_of_a_return_is_that_of_differences() -> None:
    env = cart(terminate=lambda q: q[0] > 0.1)

    def policy(weights: Any, observation: Any) -> Any:
        return weights @ observation[None].T

    program = env.unroll_program(policy, 4, 12)
    worlds = env.reset(seed=0, worlds=16)
    weights = np.random.default_rng(0).normal(size=(16, 4)) + 2.0
    found, gradient = kt.vjp(
        program, (worlds.state, worlds.observation, weights), {"episode_return": np.ones(16)}, wrt="weights"
    )
    assert 1 < found["episode_length"].min() < found["episode_length"].max() == 12  # some end early
    way = np.random.default_rng(1).normal(size=4)
    ends = [program(worlds.state, worlds.observation, weights + h * way)["episode_return"] for h in (1e-6, -1e-6)]
    assert np.allclose(gradient["weights"] @ way, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "action", "message"),
    [
        ({}, [np.nan], r"world 1, step 0: action\[0\] is nan"),
        ({}, [9.5], r"world 1, step 0: action\[0\] is 9.5, outside of -9 to 9; clip it, or .* clip_actions=True"),
        (
            {"reward": lambda q, action: {"sound": q[0], "root": np.sqrt(1.0 - action[0])}}, [2.0],
            r"world 1, step 0: reward\['root'\] is not finite; the states before the step are as they were",
        ),
        (
            {"observe": lambda q, action: {"place": q, "bad": np.log(1.0 - action)}}, [2.0],
            r"observation\['bad'\] is not finite",
        ),
    ],
)  # fmt: skip
def test_unsound_values_are_reported(options: dict[str, Any], action: Any, message: str) -> None:
    env = cart(**options)
    worlds = env.reset(seed=0, worlds=3)
    before = worlds.numbers.copy()
    with pytest.raises(kt.errors.SimulationError, match=message):
        env.step(worlds.state, [[0.0], action, [0.0]])
    assert np.array_equal(worlds.numbers, before)
    if "outside" in message:
        assert cart(clip_actions=True).step(worlds.state, [action] * 3).recorded["effort"][0] == -8.1
    elif "nan" not in message:
        ended = cart(**options, on_fault="end").step(worlds.state, [[0.0], action, [0.0]])
        assert ended.terminated.tolist() == [False, True, False]
        assert ended.reward[1] == 0.0
        assert np.isfinite(ended.numbers).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"reward": lambda q: q}, kt.errors.ShapeError, r"reward has shape \(2,\), but one number is needed"),
        ({"reward": lambda speed: speed}, kt.errors.NameNotFoundError, "reward takes 'speed', which is nothing"),
        ({"terminate": lambda q: q}, kt.errors.ShapeError, "one truth value"),
        ({"reset": lambda: {"Q": 0.0}}, kt.errors.NameNotFoundError, "reset returned 'Q'.*did you mean 'q'"),
        ({"reset": lambda: {"q": np.zeros(3)}}, kt.errors.ShapeError, r"reset: q has shape \(3,\), but \(2,\)"),
        ({"randomize": {"body.pole.masss": 1.0}}, kt.errors.NameNotFoundError, "no parameter 'body.pole.masss'"),
        ({"randomize": {"body.*.weight": 1.0}}, kt.errors.NameNotFoundError, r"no parameter .* like 'body.\*.weight'"),
        ({"randomize": {"gravity": Uniform(1.0, 2.0)}}, kt.errors.ShapeError, "gravity has 3 numbers"),
        ({"noise": {"gyro": 0.1}}, kt.errors.NameNotFoundError, "no part 'gyro'.*'place'"),
        ({"autoreset": "later"}, kt.errors.OptionError, "autoreset must be 'same_step', 'next_step' or 'disabled'"),
        ({"memory": {"q": 3}}, kt.errors.OptionError, "'q' is the name of another thing"),
        ({"action": None}, kt.errors.OptionError, "how many numbers an action has"),
        ({"record": lambda q: {"effort": q}}, kt.errors.OptionError, "'effort' is a term of the reward"),
        ({"frame_skip": 0}, kt.errors.OptionError, "frame_skip must be a whole number from 1 on"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cart(**options).reset()


def test_wrong_calls_are_named() -> None:
    env = cart(settings={"goal": 1.0})
    worlds = env.reset(seed=0, worlds=3)
    with pytest.raises(kt.errors.ShapeError, match=r"action has shape \(3, 2\)"):
        env.step(worlds.state, np.zeros((3, 2)))
    with pytest.raises(kt.errors.NameNotFoundError, match="no setting 'gool': did you mean 'goal'"):
        env.step(worlds.state, np.zeros((3, 1)), settings={"gool": 1.0})
    with pytest.raises(kt.errors.OptionError, match="seed must be a whole number"):
        env.reset(seed=-1)
    with pytest.raises(kt.errors.ShapeError, match="is it of another task"):
        env.worlds(np.zeros((3, 7)))
    with pytest.raises(kt.errors.OptionError, match="mask= needs out="):
        env.step(worlds.state, np.zeros((3, 1)), mask=[True, False, False])
    with pytest.raises(kt.errors.ShapeError, match="mask says of each of 3 worlds"):
        env.restart(worlds, [True, False])


def test_masks_choose_worlds() -> None:
    env = cart()
    worlds = env.reset(seed=0, worlds=4)
    out = env.worlds(worlds.numbers.copy())
    u = actions(4)[0]
    env.step(worlds.state, u, out=out, mask=[True, False, False, True])
    whole = env.step(worlds.state, u)
    assert np.array_equal(out.numbers[[0, 3]], whole.numbers[[0, 3]])
    assert np.array_equal(out.numbers[1:3], worlds.numbers[1:3])
    env.restart(out, [3])
    assert env.parts_of_state(out.state)["episode"].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_single_precision_is_close() -> None:
    env = cart()
    single, double = (env.reset(seed=5, worlds=4, dtype=dtype) for dtype in ("float32", "float64"))
    assert single.numbers.dtype == np.float32
    u = actions(4)[0]
    single, double = env.step(single.state, u.astype(np.float32)), env.step(double.state, u)
    assert np.allclose(single.observation, double.observation, atol=1e-4)


def test_parameters_without_effect_are_reported() -> None:
    ball = kt.ModelBuilder("world")
    ball.add_body("world")
    robot = ball.build().with_free_body("sphere", 0.1, mass=1.0, name="ball").on_ground()
    with pytest.warns(kt.errors.ModelWarning, match=r"randomize: shape.ground.friction: its sliding friction"):
        kt.environment(
            robot, observe=lambda q: q, reward=lambda v: v[0], action=1, dt=0.01,
            control=lambda action: {"tau": 0.0 * action[0] + np.zeros(6)},
            randomize={"shape.ground.friction": Uniform([0.1, 0.005, 1e-4], [0.8, 0.005, 1e-4])},
        )  # fmt: skip
