"""Motions with contacts have the same bits in any batch, at any place, on any number of threads, and after a pause.

It is so in each setting and with each integrator; what LLVM makes of it for users is in backends/test_contact_bits.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import host
from tests.closed_form.scenes import Array, H, Thing, contact, world
from tests.closed_form.settings import ALL, SETTINGS, R

MOST, STEPS = 70, 30
CASES = [
    ("mujoco", "semi_implicit_euler"), ("compliant", "discrete"), ("rigid", "semi_implicit_euler"),
    ("accurate", "discrete"), ("mujoco", "rk4"), ("rigid", "implicitfast"),
]  # fmt: skip


@pytest.fixture(scope="module")
def robot() -> kt.Model:
    """A ball that slides and bounces, and one on a rail with a limit and dry friction that it may meet."""
    limits = kt.model.Limits((-0.3,), (0.2,), (np.inf,), (np.inf,))
    rail = Thing(
        "sphere", (R,), contact(), kt.Prismatic([1, 0, 0]), at=(0.25, 0.0, 0.1), limits=limits, friction=[0.3],
        damping=[0.5],
    )  # fmt: skip
    return world(Thing("sphere", (R,), contact(), kt.joints.Translation()), rail, ground=contact())


def starts(robot: kt.Model) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    q = rng.uniform([-0.1, -0.05, 0.095, -0.1], [0.1, 0.05, 0.13, 0.25], (MOST, 4))
    return q, 2.0 * rng.normal(size=(MOST, 4)), np.repeat(rng.normal(size=(MOST, 1, robot.nv)), STEPS, axis=1)


@pytest.mark.parametrize(("name", "integrator"), CASES)
def test_batches_threads_and_halves_are_the_same_bits(robot: kt.Model, name: str, integrator: Any) -> None:
    q, v, tau = starts(robot)
    settings: dict[str, Any] = {"integrator": integrator, "passive": True}
    settings["contact"] = kt.contact.soft_constraints(robot, **SETTINGS[name])
    whole = kt.rollout(robot, q, v, tau, H, threads=1, **settings)
    assert np.isfinite(whole).all()
    for some in (slice(3, 4), slice(0, 7), slice(5, 69), slice(None, None, -1)):
        np.testing.assert_array_equal(kt.rollout(robot, q[some], v[some], tau[some], H, **settings), whole[some])
    np.testing.assert_array_equal(kt.rollout(robot, q, v, tau, H, threads=2, **settings), whole)
    np.testing.assert_array_equal(kt.rollout(robot, q[8], v[8], tau[8], H, **settings), whole[8])
    middle = whole[:, 12]
    rest = kt.rollout(robot, middle[:, :4], middle[:, 4:], tau[:, 13:], H, **settings)
    np.testing.assert_array_equal(rest, whole[:, 13:])


@ALL
@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # balls begin inside each other
def test_a_motion_that_is_resumed_or_streamed_has_the_bits_of_one_without_a_pause(
    robot: kt.Model, name: str, tmp_path: Path
) -> None:
    q, v, _ = starts(robot)
    settings: dict[str, Any] = {
        "contact": kt.contact.soft_constraints(robot, **SETTINGS[name]),
        "dt": 1e-3,
        "passive": True,
    }
    whole = kt.simulate(robot, q=q[:3], v=v[:3], duration=0.03, **settings)
    half = kt.simulate(robot, q=q[:3], v=v[:3], duration=0.013, **settings)
    moment = kt.sim.Snapshot.load(half.snapshot().save(tmp_path / "moment"))
    rest = kt.simulate(robot, resume=moment, duration=0.017, **settings)
    streamed = kt.simulate(
        robot, q=q[:3], v=v[:3], duration=0.03, record=kt.sim.Recording(stream=tmp_path / "motion"), **settings
    )
    alone = kt.simulate(robot, q=q[1], v=v[1], duration=0.03, **settings)
    for field in ("q", "v", "dissipated"):
        held = getattr(whole, field)
        np.testing.assert_array_equal(getattr(half, field), held[:, :14], err_msg=field)
        np.testing.assert_array_equal(getattr(rest, field), held[:, 13:], err_msg=field)
        np.testing.assert_array_equal(getattr(alone, field), held[1], err_msg=field)
        np.testing.assert_array_equal(getattr(streamed.read(), field), held, err_msg=field)


@pytest.mark.parametrize("name", ["mujoco", "accurate"])
def test_the_number_of_lanes_changes_no_bit(robot: kt.Model, name: str) -> None:
    q, v, tau = starts(robot)
    own = kt.compile(robot, kt.contact_dynamics, contact=kt.contact.soft_constraints(robot, **SETTINGS[name]))
    wide = own(q, v, tau[:, 0])
    program = own.__self__.program  # type: ignore[attr-defined]
    given = {"q": q, "v": v, "tau": tau[:, 0]}
    narrow = batch_function(program, F64, replace(host(), vector_bits=128))
    arrays = [given.get(port.name, np.zeros(port.shape)) for port in program.inputs]
    np.testing.assert_array_equal(narrow(*arrays), wide)
