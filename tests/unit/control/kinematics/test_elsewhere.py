"""Inverse kinematics inside other programs: in the loop of a simulation, in C, in JAX and in PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Position, inverse_kinematics_program, keep_apart
from tests.c_code import STRICT, called, library, needs

POST = kt.lie.placement((1.3, 0.25, -1.2))
ROBOT = kt.zoo.load("double_pendulum").with_obstacle("cylinder", (0.1, 0.3), POST, name="post")
IK = inverse_kinematics_program(ROBOT, [Position("tip", axes="xz"), keep_apart([("lower_rod", "post")], 0.1)])
NUMBERS = ROBOT.lower, ROBOT.upper, np.ones(3), 1e-9, 2.0, 30.0, np.zeros(2)
"""Limits, weights, and how the search goes on."""
Q = np.array([0.4, 0.9])
CENTER = kt.frame_placement(ROBOT, Q, "tip")[:3, 3]


def place(t: Any) -> Any:
    """Where the tip is to be: on a circle."""
    return CENTER + 0.1 * np.stack([np.sin(2.0 * t), 0.0 * t, 1.0 - np.cos(2.0 * t)])


@kt.program(q=ROBOT, v=2, t=(), wanted=2)
def circling(q: Any, v: Any, t: Any, wanted: Any) -> dict[str, Any]:
    """Computed torque to the configuration of the moment, which is searched for from that of the moment before."""
    found = IK(wanted, place(t), *NUMBERS)
    tau = kt.rnea(ROBOT, q, v, 900.0 * (found.q - q) - 60.0 * v)
    return {"tau": tau, "wanted": found.q, "reached": found.reached}


def test_in_a_rollout() -> None:
    """Each sample searches for itself, so motions of a batch are those of single ones."""
    start = np.stack([Q, Q + 0.3])
    states, recorded = kt.rollout(ROBOT, start, np.zeros(2), circling, 0.002, steps=400, state={"wanted": start})
    assert recorded["reached"].all()
    goals = np.stack([place(t) for t in 0.002 * np.arange(400)])
    tips = kt.frame_placement(ROBOT, recorded["wanted"], "tip")[..., :3, 3]
    np.testing.assert_allclose(tips, np.broadcast_to(goals, tips.shape), atol=1e-8)
    alone, _ = kt.rollout(ROBOT, start[1], np.zeros(2), circling, 0.002, steps=400, state={"wanted": start[1]})
    assert (alone == states[1]).all()


def test_in_a_simulation() -> None:
    motion = kt.simulate(
        ROBOT, q=Q, tau=circling, duration=1.0, dt=0.002, control_dt=0.002, state={"wanted": Q}, passive=False
    )
    assert motion.recorded["reached"].all()
    tip = kt.frame_placement(ROBOT, motion.q[-1], "tip")[:3, 3]
    assert np.linalg.norm(tip - place(1.0)) == pytest.approx(0.2 * 60.0 / 900.0, rel=0.05)  # the lag of the damper


@needs("gcc")
def test_in_c(tmp_path: Path) -> None:
    made = kt.interop.to_c(IK, name="ik")
    files = [path for path in made.save(tmp_path) if path.suffix == ".c"]
    loaded = library(tmp_path, "gcc", files[:1], *STRICT, "-O1")
    for target in (place(np.array(0.4)), 5.0 * CENTER):
        given = [Q + 0.5, target, np.full(2, -3.0), np.full(2, 3.0), *NUMBERS[2:]]
        (found,) = called(loaded.ik, given, [port.size for port in made.outputs], made.workspace)
        np.testing.assert_allclose(found, np.concatenate([np.ravel(x) for x in IK(*given)]), rtol=0, atol=1e-9)


def test_in_jax() -> None:
    jax = pytest.importorskip("jax")
    given = Q + 0.1, NUMBERS
    ik = kt.interop.to_jax(IK)

    def height(target: Any) -> Any:
        return ik(given[0], target, *given[1]).q.sum()

    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(height))(jax.numpy.asarray(CENTER))
    expected = kt.jacobian(IK, (given[0], CENTER, *given[1]), wrt="target").q.sum(axis=0)
    np.testing.assert_allclose(slope, expected, atol=1e-12)


def test_in_torch() -> None:
    torch = pytest.importorskip("torch")
    targets = torch.tensor(CENTER + np.array([[0.0, 0.0, 0.0], [0.05, 0.0, 0.02]]), requires_grad=True)
    numbers = [torch.tensor(x, dtype=torch.float64) for x in (Q + 0.1, *NUMBERS)]
    found = kt.interop.to_torch(IK)(numbers[0], targets, *numbers[1:])
    found.q.sum().backward()
    expected = kt.jacobian(IK, (Q + 0.1, targets.detach().numpy(), *NUMBERS), wrt="target").q.sum(axis=1)
    np.testing.assert_allclose(targets.grad.numpy(), expected, atol=1e-12)
