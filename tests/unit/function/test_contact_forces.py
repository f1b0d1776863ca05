"""Forces at the points of contacts: together they are what the equations of motion lack."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import G, Thing, contact, world

BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())


def pressed(*leading: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = np.tile(BOX.neutral(), (*leading, 1))
    q[..., 2] = 0.0495
    q[..., 3:5] += 0.002 * rng.normal(size=(*leading, 2))
    q[..., 3:] /= np.linalg.norm(q[..., 3:], axis=-1, keepdims=True)
    return q, 0.05 * rng.normal(size=(*leading, BOX.nv))


def test_forces_and_moments_of_all_points_are_those_of_newton_and_euler() -> None:
    q, v = pressed(5)
    motion = kt.contact_dynamics(BOX, q, v, np.zeros(6))
    found = kt.contact.contact_forces(BOX, q, v, motion.qdd)
    (pair,) = kt.contact.contact_pairs(BOX)
    assert (pair.first, found.forces.shape) == ("floor", (5, pair.slots.stop, 3))
    (wrench,) = np.moveaxis(found.wrenches([pair]), -2, 0)
    a = kt.kinematics.frame_acceleration(
        BOX, q, v, motion.qdd, "thing0", expressed_in="local_world_aligned", kind="classical"
    )
    assert (wrench[:, 2] > 0.1 * G).all()
    np.testing.assert_allclose(wrench[:, :3], a[:, :3] + [0.0, 0.0, G], rtol=1e-8, atol=1e-9)
    moment = wrench[:, 3:] - np.cross(q[:, :3], wrench[:, :3])
    np.testing.assert_allclose(moment, 0.01 * a[:, 3:], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.normals[:, :4], np.broadcast_to([0.0, 0.0, 1.0], (5, 4, 3)), atol=1e-12)
    touches = found.distances < 0.0
    assert not found.forces[~touches].any()
    alone = kt.contact.contact_forces(BOX, q[2], v[2], motion.qdd[2])
    np.testing.assert_array_equal(alone.forces, found.forces[2])


def test_the_recorded_ones_are_those(tmp_path) -> None:  # type: ignore[no-untyped-def]
    q, v = pressed()
    motion = kt.simulate(
        BOX, q=q, v=v, duration=0.02, contact=True, record=kt.sim.Recording(["contacts", "accelerations"], every=5)
    )
    expected = kt.contact.contact_forces(BOX, motion.q, motion.v, motion.qdd)
    wrenches = expected.wrenches(kt.contact.contact_pairs(BOX))
    np.testing.assert_allclose(motion.recorded["contact.force"], expected.forces, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(motion.recorded["contact.wrench"], wrenches, rtol=1e-11, atol=1e-11)
    assert motion.recorded["contact.distance"].shape == (5, len(expected.distances[0]))
    assert motion.units["contact.force"] == "N"
    back = kt.Trajectory.load(motion.save(tmp_path / "run"))
    np.testing.assert_array_equal(back.recorded["contact.point"], motion.recorded["contact.point"])


def test_a_robot_that_touches_nothing_has_no_points() -> None:
    robot = world(Thing("sphere", (0.1,), contact(), kt.Prismatic([1, 0, 0])))
    found = kt.contact.contact_forces(robot, np.zeros((3, 1)), np.zeros(1), np.zeros(1))
    assert (found.forces.shape, found.wrenches(()).shape) == ((3, 0, 3), (3, 0, 6))
    with pytest.raises(kt.errors.OptionError, match="there are no contacts to record without contact=True"):
        kt.simulate(robot, record=["contacts"])
