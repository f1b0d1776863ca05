"""Blocks of steps that go beyond the next look at how stiff a robot is: the motion is as if they did not."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.functions.step_division import Parts, Stiffness
from kinetree.sim.record import Record
from kinetree.sim.stepper import Stepper

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

FIELDS = ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated", "substeps")
EVERYWHERE = 10**6


def look_ahead(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    """Let blocks always go beyond so many looks."""
    monkeypatch.setattr(importlib.import_module("kinetree.sim.blocks"), "SECONDS_PER_BLOCK", 1e9)

    def predict(self: Stiffness, *_: Any) -> None:
        self.ahead = looks

    monkeypatch.setattr(Stiffness, "_predict", predict)


class Count:
    """How many blocks and steps were computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.blocks = self.steps = 0
        advance = Stepper.advance

        def counted(motion: Stepper, record: Record, step: int, count: int, parts: Parts) -> None:
            self.blocks += 1
            self.steps += count
            advance(motion, record, step, count, parts)

        monkeypatch.setattr(Stepper, "advance", counted)


def sliding_arm(damping: float = 100.0) -> kt.Model:
    """A mass that slides inward along a damped hinge's rail, and out again."""
    builder = kt.ModelBuilder("arm", gravity=(0.0, 0.0, 0.0))
    builder.add_body("stand")
    builder.add_body("rail", kt.solids.box(0.2, 0.2, 0.2, mass=10.0))
    builder.add_joint("hinge", kt.Revolute([0, 0, 1]), "stand", "rail", damping=[damping])
    builder.add_body("load", kt.solids.box(0.02, 0.02, 0.02, mass=1.0))
    builder.add_joint("slider", kt.Prismatic([1, 0, 0]), "rail", "load")
    return builder.build()


def spring_arm() -> kt.Model:
    builder = kt.ModelBuilder("springs")
    for name in ("ground", "upper", "lower"):
        builder.add_body(name, kt.solids.box(0.4, 0.1, 0.1, mass=1.0))
    axis, drive = kt.Revolute([0, 1, 0]), {"damping": [20.0], "stiffness": [4000.0]}
    builder.add_joint("shoulder", axis, "ground", "upper", kt.lie.placement((0.3, 0.0, 0.0)), **drive)
    builder.add_joint("elbow", axis, "upper", "lower", kt.lie.placement((0.5, 0.0, 0.0)), **drive)
    return builder.build()


ARM = kt.zoo.load("arm7")
TWIST = np.array([0.5, 0.9, -0.4, 1.2, 0.3, -0.8, 0.2])
CASES: dict[str, tuple[kt.Model, dict[str, Any]]] = {
    "falling arm": (ARM, {"q": TWIST, "duration": 0.6}),
    "batch": (ARM, {"q": [TWIST, -0.5 * TWIST, 0.1 * TWIST], "duration": 0.2}),
    "sliding arm": (sliding_arm(), {"q": [0.0, 0.95], "v": [0.3, -2.0], "duration": 0.95, "dt": 0.01}),
    "springs, euler": (
        spring_arm(), {"v": [3.0, 5.0], "duration": 0.5, "dt": 0.01, "integrator": "semi_implicit_euler"}
    ),
    "pushed": (
        ARM, {"q": TWIST, "duration": 0.2, "f_ext": {"tool": np.repeat(np.eye(6)[:2] * 30.0, 100, axis=0)}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_motion_does_not_depend_on_how_far_ahead_it_is_computed(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, settings = CASES[case]
    motions = [kt.simulate(robot, **settings)]
    for looks in (0, 3, EVERYWHERE):
        with monkeypatch.context() as patch:
            look_ahead(patch, looks)
            motions.append(kt.simulate(robot, **settings))
    assert motions[0].substeps > 1
    for other in motions[1:]:
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(other, field), getattr(motions[0], field), err_msg=field)


def test_what_follows_a_look_that_was_wrong_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undivided steps through the stiff part would grow beyond all bounds: they are computed, and thrown away."""
    robot, settings = sliding_arm(500.0), {"q": [0.0, 9.5], "v": [0.3, -10.0], "duration": 1.4, "dt": 0.01}
    expected = kt.simulate(robot, **settings)
    with monkeypatch.context() as patch:
        patch.setattr(Stiffness, "follow", lambda _, q: q.shape[-2])
        with pytest.raises(kt.errors.SimulationError, match="no longer finite"):
            kt.simulate(robot, **settings)
    look_ahead(monkeypatch, EVERYWHERE)
    motion = kt.simulate(robot, **settings)
    assert motion.substeps == expected.substeps > 10
    np.testing.assert_array_equal(motion.v, expected.v)


def test_an_error_comes_at_its_own_time_however_far_ahead_steps_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = sliding_arm(3000.0)  # near the axis it is too stiff
    messages, last = [], []
    done: list[tuple[int, int]] = []
    for looks in (0, 2, EVERYWHERE):
        look_ahead(monkeypatch, looks)
        with pytest.raises(
            kt.errors.StiffFrictionError, match=r"'hinge' stops it within .* would need 1\d\d parts"
        ) as error:
            kt.simulate(
                robot,
                q=[0.0, 0.95],
                v=[0.3, -2.0],
                duration=0.95,
                dt=0.01,
                view=kt.sim.Viewing(page=False, progress=lambda *at: done.append(at)),
            )
        messages.append(str(error.value))
        last.append(max(done))
        done.clear()
    assert len(set(messages)) == 1
    assert max(last) == last[0]  # a block that ends in an error is not reported


def test_a_motion_of_a_batch_that_ceases_to_be_finite_ahead_of_a_look_ends_at_that_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looks at states that are not finite do not count, nor do those states if their block is computed again."""
    tau = np.zeros((2, 95, 2))
    tau[1, 33] = 1e308
    alone = kt.simulate(sliding_arm(), q=[0.0, 0.1], tau=tau[0], duration=0.95, dt=0.01)
    for looks in (0, 2, EVERYWHERE):
        look_ahead(monkeypatch, looks)
        motions = kt.simulate(sliding_arm(), q=[0.0, 0.1], tau=tau, duration=0.95, dt=0.01)
        assert [(sample, lost.time, lost.cause) for sample, lost in motions.diverged.items()] == [((1,), 0.34, "state")]
        np.testing.assert_array_equal(motions.q[0], alone.q)
        np.testing.assert_array_equal(motions.v[0], alone.v)


def test_an_interrupt_keeps_what_was_found_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows ahead of the last look are there, but may be wrong."""
    robot, settings = CASES["sliding arm"]
    expected = kt.simulate(robot, **settings)
    look_ahead(monkeypatch, EVERYWHERE)
    follow, calls = Stiffness.follow, 0

    def interrupted(self: Stiffness, q: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return follow(self, q)

    monkeypatch.setattr(Stiffness, "follow", interrupted)
    with pytest.raises(kt.sim.SimulationInterrupted) as stop:
        kt.simulate(robot, **settings)
    kept = stop.value.trajectory
    assert 2 <= len(kept.time) < 60
    np.testing.assert_array_equal(kept.q, expected.q[: len(kept.time)])


def test_a_steady_motion_takes_few_calls_and_a_wild_one_computes_little_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.import_module("kinetree.sim.blocks"), "SECONDS_PER_BLOCK", 1e9)
    steady = Count(monkeypatch)
    kt.simulate(ARM, duration=2.0)
    assert steady.steps == 2000
    assert steady.blocks < 20
    wild = Count(monkeypatch)
    kt.simulate(ARM, q=TWIST, duration=2.0)
    assert wild.steps < 1.15 * 2000
    assert wild.blocks < 120


def test_arguments_may_have_any_layout_in_memory() -> None:
    push = np.linspace(0.0, 3.0, 120).reshape(6, 20).T
    pose = np.asfortranarray(kt.frame_placement(ARM, TWIST, "tool"))
    place = np.arange(6.0).reshape(2, 3)[:, ::-1].T
    strided: dict[str, Any] = {
        "q": np.repeat(TWIST, 2)[::2],
        "tau": np.arange(140.0).reshape(7, 20).T,
        "f_ext": {"tool": push},
        "parameters": {"gravity": place[:, 1]},
        "constraints": [kt.constraints.Contact("tool", "fixed", at=pose)],
        "duration": 0.02,
    }
    plain = strided | {
        "tau": strided["tau"].copy(),
        "f_ext": {"tool": push.copy()},
        "parameters": {"gravity": place[:, 1].copy()},
        "constraints": [kt.constraints.Contact("tool", "fixed", at=pose.copy("C"))],
    }
    for field in FIELDS:
        np.testing.assert_array_equal(
            getattr(kt.simulate(ARM, **strided), field), getattr(kt.simulate(ARM, **plain), field)
        )
