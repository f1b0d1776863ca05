"""States in other libraries' layouts: against frame velocities and accelerations, and against their own inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind, JointMotion, Placed
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.strategies import law, transforms

Array = NDArray[np.float64]

LIBRARIES = ["pinocchio", "mujoco", "drake", "rbdl", "dart", "dart-6.16"]
FLYING_BALL = kt.joints.Composite([kt.joints.Translation(), kt.joints.Spherical()])
FLYING_WHEEL = kt.joints.Composite([kt.joints.Translation(), kt.joints.Continuous([1, 0, 0])])
KINDS: list[JointKind] = [
    kt.Revolute([0, 0, 1]),
    kt.Prismatic([1, 2, 3]),
    kt.joints.Continuous([0, 1, 0]),
    kt.Free(),
    kt.joints.FloatingBase(),
    kt.joints.FreeRPY(),
    kt.joints.FreeRPY(signs=[1, -1, 1, -1, 1, -1]),
    kt.joints.Spherical(),
    kt.joints.ExponentialMap(),
    kt.joints.ExponentialMap(signs=[1, -1, -1]),
    kt.joints.Euler("ZYX"),
    kt.joints.Euler("XYX"),
    kt.joints.Planar(),
    kt.joints.Planar([1, 0, 0]),
    kt.joints.Cylindrical([0, 0, 1]),
    kt.joints.Universal([1, 0, 0], [0, 1, 0]),
    kt.joints.Helical([0, 0, 1], 0.1),
    kt.joints.Screw(angular=[0, 0, 1], linear=[1, 0, 0.5]),
    kt.joints.Ellipsoid([0.1, 0.2, 0.3]),
    kt.joints.Translation(),
    kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]]),
    kt.joints.Reversed(kt.joints.Planar()),
    Placed(kt.joints.FloatingBase(), kt.lie.placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))),
    FLYING_BALL,
    FLYING_WHEEL,
    kt.joints.Composite(
        [
            kt.Prismatic([1, 0, 0]),
            kt.Fixed(),
            kt.joints.Composite([kt.joints.ExponentialMap(), kt.Prismatic([0, 0, 1])]),
        ]
    ),
]
FREE = [kind for kind in KINDS if isinstance(kind, kt.Free | kt.joints.FloatingBase | kt.joints.FreeRPY)]
BALLS = [kind for kind in KINDS if isinstance(kind, kt.joints.Spherical | kt.joints.ExponentialMap)]


def chain(*kinds: JointKind | tuple[str, JointKind], placements: Sequence[kt.Transform] = ()) -> kt.Model:
    """Bodies one after the other."""
    builder = kt.ModelBuilder("chain")
    builder.add_body("body0")
    for k, kind in enumerate(kinds, 1):
        name, kind = kind if isinstance(kind, tuple) else (f"joint{k}", kind)
        builder.add_body(f"body{k}", Inertia.from_com(1.0 + k, Vec3(0.1, 0.2, 0.1 * k), Sym3.scalar(0.1)))
        placement = placements[k - 1] if placements else None
        builder.add_joint(name, kind, f"body{k - 1}", f"body{k}", placement)
    return builder.build()


def states(robot: kt.Model, count: int, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q = np.array([robot.random(rng) for _ in range(count)])
    v, qdd, tau = rng.normal(size=(3, count, robot.nv))
    return q, v, qdd, tau


def aligned(robot: kt.Model, q: Array, v: Array, qdd: Array) -> tuple[Array, Array]:
    """Twist and classical acceleration of body1, [linear; angular] in the world's axes."""
    how: Any = {"frame": "body1", "expressed_in": "local_world_aligned"}
    return kt.kinematics.frame_velocity(robot, q, v, **how), kt.kinematics.frame_acceleration(
        robot, q, v, qdd, kind="classical", **how
    )


def rotations(robot: kt.Model, q: Array) -> Array:
    return kt.frame_placement(robot, q, "body1")[..., :3, :3]


def described(kinds: Sequence[JointKind]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", kinds, ids=repr)


@described(FREE)
def test_the_free_joints_of_mujoco_drake_and_rbdl_have_the_twists_that_their_axes_say(kind: JointKind) -> None:
    """Velocities and accelerations, also of kinds whose own have other axes, or are rates of angles."""
    robot = chain(kind)
    q, v, qdd, _ = states(robot, 5)
    (twist, a), R = aligned(robot, q, v, qdd), rotations(robot, q)
    drake = kt.interop.Layout(robot, "drake")
    there = np.concatenate([twist[:, 3:], twist[:, :3]], axis=-1)
    assert np.allclose(drake.v_to(q, v), there, atol=1e-12)
    assert np.allclose(drake.qdd_to(q, v, qdd), np.concatenate([a[:, 3:], a[:, :3]], axis=-1), atol=1e-11)
    if isinstance(kind, kt.joints.FreeRPY):
        return
    for library in ("mujoco", "rbdl"):
        layout = kt.interop.Layout(robot, library)
        body = np.einsum("kji,kj->ki", R, twist[:, 3:])
        assert np.allclose(layout.v_to(q, v), np.concatenate([twist[:, :3], body], axis=-1), atol=1e-12)
        spun = np.einsum("kji,kj->ki", R, a[:, 3:])
        assert np.allclose(layout.qdd_to(q, v, qdd), np.concatenate([a[:, :3], spun], axis=-1), atol=1e-12)
    local = kt.kinematics.frame_velocity(robot, q, v, "body1", expressed_in="local")
    assert np.allclose(kt.interop.Layout(robot, "pinocchio").v_to(q, v), local, atol=1e-12)


@described(BALLS)
def test_ball_joints_have_the_body_s_angular_velocity_but_in_drake_the_parent_s_axes(kind: JointKind) -> None:
    robot = chain(kind)
    q, v, qdd, _ = states(robot, 5)
    (twist, a), R = aligned(robot, q, v, qdd), rotations(robot, q)
    for library in LIBRARIES:
        layout = kt.interop.Layout(robot, library)
        axes = np.broadcast_to(np.eye(3), R.shape) if library == "drake" else R
        assert np.allclose(layout.v_to(q, v), np.einsum("kji,kj->ki", axes, twist[:, 3:]), atol=1e-12)
        assert np.allclose(layout.qdd_to(q, v, qdd), np.einsum("kji,kj->ki", axes, a[:, 3:]), atol=1e-12)


@described(FREE)
def test_dart_s_free_joint_has_the_twist_that_its_version_says(kind: JointKind) -> None:
    """Up to 6.16 the body's spatial velocity and acceleration, then those of its origin in the parent's axes."""
    if isinstance(kind, kt.joints.FreeRPY):
        return
    robot = chain(kind)
    q, v, qdd, _ = states(robot, 5)
    how: Any = {"frame": "body1", "expressed_in": "local"}
    twist, a = (
        kt.kinematics.frame_velocity(robot, q, v, **how),
        kt.kinematics.frame_acceleration(robot, q, v, qdd, **how),
    )
    for library, (there, then) in {"dart": aligned(robot, q, v, qdd), "dart-6.16": (twist, a)}.items():
        layout = kt.interop.Layout(robot, library)
        assert layout.q_names == [f"joint1.{name}" for name in ("rx", "ry", "rz", "x", "y", "z")]
        moved = kt.frame_placement(chain(kt.joints.ExponentialMap()), layout.q_to(q)[:, :3], "body1")[:, :3, :3]
        assert np.allclose(moved, rotations(robot, q), atol=1e-14)
        assert np.array_equal(layout.q_to(q)[:, 3:], q[:, :3])
        assert np.allclose(layout.v_to(q, v), there[:, [3, 4, 5, 0, 1, 2]], atol=1e-12)
        assert np.allclose(layout.qdd_to(q, v, qdd), then[:, [3, 4, 5, 0, 1, 2]], atol=1e-12)


def test_dart_keeps_a_rotation_vector_of_any_length() -> None:
    dart = kt.interop.Layout(chain(kt.joints.ExponentialMap(signs=[1, -1, 1])), "dart")
    assert dart.q_to([3.0, 2.0, 1.0]).tolist() == [3.0, -2.0, 1.0]
    assert dart.q_from([3.0, -2.0, 1.0]).tolist() == [3.0, 2.0, 1.0]
    assert dart.q_names == ["joint1.rx", "joint1.ry", "joint1.rz"]


@described([kt.joints.Spherical(), kt.joints.ExponentialMap()])
def test_drake_s_ball_joint_takes_roll_pitch_and_yaw(kind: JointKind) -> None:
    """The same placement as a joint that has these angles."""
    robot, angles = chain(kind), chain(kt.joints.Euler("ZYX"))
    q, *_ = states(robot, 20)
    rpy = kt.interop.Layout(robot, "drake").q_to(q)
    assert kt.interop.Layout(robot, "drake").q_names == ["joint1.roll", "joint1.pitch", "joint1.yaw"]
    assert np.abs(rpy).max() <= np.pi
    assert np.abs(rpy[:, 1]).max() <= np.pi / 2
    assert np.allclose(rotations(angles, rpy[:, ::-1]), rotations(robot, q), atol=1e-14)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_where_roll_and_yaw_are_one_turn_the_orientation_is_still_right(pitch: float) -> None:
    robot, angles = chain(kt.joints.Spherical()), chain(kt.joints.Euler("ZYX"))
    drake = kt.interop.Layout(robot, "drake")
    q = drake.q_from([0.3, pitch, -1.1])
    again = drake.q_to(q)
    assert np.allclose(rotations(angles, again[::-1]), rotations(robot, q), atol=1e-14)
    assert np.allclose(rotations(angles, np.array([-1.1, pitch, 0.3])), rotations(robot, q), atol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
@described(KINDS)
def test_there_and_back_is_where_one_was(kind: JointKind, library: str) -> None:
    robot = chain(("turn", kt.Revolute([1, 0, 0])), kind, ("slide", kt.Prismatic([0, 0, 1])))
    layout = kt.interop.Layout(robot, library, joint_order=["slide", "turn", "joint2"])
    q, v, qdd, tau = states(robot, 8)
    there = layout.q_to(q)
    assert there.shape == (8, layout.nq)
    assert len(set(layout.q_names)) == layout.nq
    assert len(set(layout.v_names)) == layout.nv == robot.nv
    placed = kt.frame_placement(robot, q, "body3")
    assert np.allclose(kt.frame_placement(robot, layout.q_from(there), "body3"), placed, atol=1e-14)
    assert np.allclose(layout.v_from(there, layout.v_to(q, v)), v, atol=1e-12)
    assert np.allclose(layout.tau_from(there, layout.tau_to(q, tau)), tau, atol=1e-12)
    assert np.allclose(layout.qdd_from(there, layout.v_to(q, v), layout.qdd_to(q, v, qdd)), qdd, atol=1e-11)


@pytest.mark.parametrize("library", LIBRARIES)
@described(KINDS)
def test_forces_keep_their_power(kind: JointKind, library: str) -> None:
    robot = chain(kind)
    layout = kt.interop.Layout(robot, library)
    q, v, _, tau = states(robot, 8)
    power = np.sum(layout.tau_to(q, tau) * layout.v_to(q, v), axis=-1)
    assert np.allclose(power, np.sum(tau * v, axis=-1), atol=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
@described(KINDS)
def test_accelerations_are_the_derivatives_of_their_velocities(kind: JointKind, library: str) -> None:
    robot = chain(kind)
    layout = kt.interop.Layout(robot, library)
    q, v, qdd, _ = states(robot, 4)
    h = 1e-3
    nodes, weights = np.array([-3, -2, -1, 1, 2, 3]) * h, np.array([-1, 9, -45, 45, -9, 1]) / (60 * h)

    def velocity(t: float) -> Array:
        # A curve through q with the velocity v + t qdd to first order: what is left out moves q by t² only.
        return layout.v_to(robot.integrate(q, t * v), v + t * qdd)

    derivative = sum(w * velocity(t) for w, t in zip(weights, nodes, strict=True))
    assert np.allclose(layout.qdd_to(q, v, qdd), derivative, atol=1e-9)


def branched() -> kt.Model:
    """Two arms on a fixed torso, of which the file has the second's joints first, and a joint on the base."""
    builder = kt.ModelBuilder("branched")
    for name in ("base", "torso", "b1", "b2", "a1", "a2", "c"):
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
    revolute = kt.Revolute([0, 0, 1])
    builder.add_joint("b upper", revolute, "torso", "b1")
    builder.add_joint("waist", kt.Fixed(), "base", "torso")
    builder.add_joint("a lower", revolute, "a1", "a2")
    builder.add_joint("a upper", revolute, "torso", "a1")
    builder.add_joint("m", revolute, "base", "c")
    builder.add_joint("b lower", revolute, "b1", "b2")
    builder.add_coupling("elbows", ["a lower", "b lower"], [[1.0], [1.0]], coordinates=["bend"])
    return builder.build()


def test_joints_come_as_each_library_reads_them_from_a_file() -> None:
    """Depth first; the joints on one body, fixed ones included, by name or as in the file."""
    robot = branched()
    by_file, by_name = ("b upper", "elbows", "a upper", "m"), ("m", "a upper", "elbows", "b upper")
    for library in LIBRARIES:
        layout = kt.interop.Layout(robot, library)
        assert layout.joint_order == (by_file if library in ("mujoco", "drake") else by_name)
        q = robot.random(0)
        again = kt.interop.Layout(robot, library, joint_order=layout.joint_order)
        assert layout.q_to(q).tolist() == again.q_to(q).tolist()
        own = [owner.name for owner in robot.owners]
        assert kt.interop.Layout(robot, library, joint_order=own).q_to(q).tolist() == q.tolist()


def test_names_are_in_the_order_of_their_bytes() -> None:
    builder = kt.ModelBuilder("star")
    builder.add_body("base")
    for name in ("b10", "é", "B", "b9", "b", "_"):
        builder.add_body(f"body of {name}", kt.solids.sphere(0.1, mass=1.0))
        builder.add_joint(name, kt.Revolute([0, 0, 1]), "base", f"body of {name}")
    assert kt.interop.Layout(builder.build(), "pinocchio").joint_order == ("B", "_", "b", "b10", "b9", "é")


def test_rbdl_keeps_every_w_behind_all_other_coordinates() -> None:
    """The example of its page: TX, Spherical, TY, Spherical."""
    robot = chain(
        ("tx", kt.Prismatic([1, 0, 0])),
        ("1", kt.joints.Spherical()),
        ("ty", kt.Prismatic([0, 1, 0])),
        ("2", kt.joints.Spherical()),
    )
    rbdl = kt.interop.Layout(robot, "rbdl")
    assert rbdl.q_names == ["tx", "1.qx", "1.qy", "1.qz", "ty", "2.qx", "2.qy", "2.qz", "1.qw", "2.qw"]
    assert rbdl.v_names == ["tx", "1.wx", "1.wy", "1.wz", "ty", "2.wx", "2.wy", "2.wz"]
    q = np.array([7.0, 0.1, 0.2, 0.3, 0.4, 8.0, 0.5, 0.6, 0.7, 0.8])
    assert rbdl.q_to(q).tolist() == [7.0, 0.1, 0.2, 0.3, 8.0, 0.5, 0.6, 0.7, 0.4, 0.8]
    assert rbdl.q_from(rbdl.q_to(q)).tolist() == q.tolist()
    v = np.arange(8.0)
    assert rbdl.v_to(q, v).tolist() == rbdl.tau_to(q, v).tolist() == rbdl.qdd_to(q, v, v).tolist() == v.tolist()


def test_rbdl_s_order_of_w_is_that_of_the_joints() -> None:
    robot = chain(("a", kt.joints.Spherical()), ("b", kt.joints.Spherical()))
    rbdl = kt.interop.Layout(robot, "rbdl", joint_order=["b", "a"])
    assert rbdl.q_names == ["b.qx", "b.qy", "b.qz", "a.qx", "a.qy", "a.qz", "b.qw", "a.qw"]


def test_rbdl_keeps_the_w_of_a_composite_behind_the_others_too() -> None:
    robot = chain(("flying", FLYING_BALL), ("hinge", kt.Revolute([0, 0, 1])))
    layout = kt.interop.Layout(robot, "rbdl")
    assert layout.q_names == [
        *("flying.1.x", "flying.1.y", "flying.1.z", "flying.2.qx", "flying.2.qy", "flying.2.qz"),
        *("hinge", "flying.2.qw"),
    ]
    assert layout.q_to([1.0, 2.0, 3.0, 0.5, -0.5, 0.5, -0.5, 7.0]).tolist() == [1, 2, 3, 0.5, -0.5, 0.5, 7, -0.5]


def test_the_parts_of_a_composite_are_written_each_by_itself() -> None:
    base = chain(
        (
            "base",
            kt.joints.Composite([kt.Prismatic([1, 0, 0]), kt.joints.Continuous([0, 0, 1]), kt.Prismatic([0, 0, 1])]),
        )
    )
    assert kt.interop.Layout(base, "pinocchio").q_names == ["base.1", "base.2.cos", "base.2.sin", "base.3"]
    assert kt.interop.Layout(base, "mujoco").q_names == base.q_names
    ball = chain(("ball", kt.joints.Composite([kt.joints.Spherical(), kt.Prismatic([0, 0, 1])])))
    assert kt.interop.Layout(ball, "rbdl").q_names == ["ball.1.qx", "ball.1.qy", "ball.1.qz", "ball.2", "ball.1.qw"]
    assert kt.interop.Layout(ball, "rbdl").v_names == ball.v_names


def test_a_placed_joint_is_written_as_the_joint_itself() -> None:
    wheel = chain(("wheel", Placed(kt.joints.Continuous([0, 0, 1]), kt.lie.placement((0.1, 0.0, 0.0)))))
    assert kt.interop.Layout(wheel, "pinocchio").q_names == ["wheel.cos", "wheel.sin"]
    placed, plain = chain(Placed(kt.Free(), kt.lie.placement((0.1, 0.0, 0.0)))), chain(kt.Free())
    q, v, qdd, _ = states(plain, 3)
    for library in LIBRARIES:
        ours, theirs = (kt.interop.Layout(robot, library) for robot in (placed, plain))
        assert ours.qdd_to(q, v, qdd).tolist() == theirs.qdd_to(q, v, qdd).tolist()


def test_a_planar_joint_of_pinocchio_has_its_velocity_in_the_body_s_axes() -> None:
    robot = chain(("base", kt.joints.Planar()))
    layout = kt.interop.Layout(robot, "pinocchio")
    assert layout.q_names == ["base.x", "base.y", "base.cos", "base.sin"]
    q, v, qdd, _ = states(robot, 5)
    local = kt.kinematics.frame_velocity(robot, q, v, "body1", expressed_in="local")
    assert np.allclose(layout.v_to(q, v), local[:, [0, 1, 5]], atol=1e-13)
    spatial = kt.kinematics.frame_acceleration(robot, q, v, qdd, "body1", expressed_in="local")
    assert np.allclose(layout.qdd_to(q, v, qdd), spatial[:, [0, 1, 5]], atol=1e-13)


def test_a_continuous_joint_of_pinocchio_is_a_cosine_and_a_sine() -> None:
    robot = chain(("wheel", kt.joints.Continuous([0, 0, 1])))
    pinocchio = kt.interop.Layout(robot, "pinocchio")
    assert pinocchio.q_names == ["wheel.cos", "wheel.sin"]
    assert pinocchio.v_names == ["wheel"]
    assert np.allclose(pinocchio.q_to([0.3]), [np.cos(0.3), np.sin(0.3)])
    assert np.allclose(pinocchio.q_from(pinocchio.q_to([[0.3], [2 * np.pi + 0.3], [-3.0]])), [[0.3], [0.3], [-3.0]])
    assert np.allclose(pinocchio.q_from([2.0 * np.cos(0.3), 2.0 * np.sin(0.3)]), [0.3])


@given(placement=transforms(), turn=transforms(), seed=st.integers(0, 2**32 - 1))
@law(10)
def test_energy_is_the_same_by_their_forces_and_velocities(
    placement: kt.Transform, turn: kt.Transform, seed: int
) -> None:
    """Twice the kinetic energy is v' H' v', with the columns of H' as forces for the unit velocities there."""
    robot = chain(kt.Free(), kt.joints.Spherical(), kt.Revolute([1, 0, 0]), placements=[placement, turn, placement])
    (q,), (v,), *_ = states(robot, 1, seed)
    H = kt.crba(robot, q)
    for library in LIBRARIES:
        layout = kt.interop.Layout(robot, library, joint_order=["joint2", "joint1", "joint3"])
        ours = layout.v_from(layout.q_to(q), np.eye(robot.nv))
        theirs = layout.tau_to(q, ours @ H)
        there = layout.v_to(q, v)
        assert np.allclose(theirs, theirs.T, rtol=1e-12, atol=1e-12)
        assert np.isclose(there @ theirs @ there, v @ H @ v, rtol=1e-12)


def test_leading_axes_broadcast() -> None:
    robot = kt.zoo.load("quadruped")
    layout = kt.interop.Layout(robot, "mujoco")
    q, v, qdd, _ = states(robot, 3)
    v, qdd = v[:2, None], qdd[:, None, None, :][:1]
    whole = layout.qdd_to(q, v, qdd)
    assert whole.shape == (1, 2, 3, robot.nv)
    assert whole[0, 1, 2].tolist() == layout.qdd_to(q[2], v[1, 0], qdd[0, 0, 0]).tolist()
    assert layout.q_to(np.zeros((0, robot.nq))).shape == (0, layout.nq)


def test_single_precision_stays_single_if_all_is() -> None:
    robot = kt.zoo.load("quadruped")
    layout = kt.interop.Layout(robot, "drake")
    q, v, _, _ = (x[0].astype(np.float32) for x in states(robot, 1))
    assert layout.q_to(q).dtype == layout.v_to(q, v).dtype == np.float32
    assert layout.v_to(q, v.astype(np.float64)).dtype == np.float64
    assert layout.v_to(q.astype(np.float64), v).dtype == np.float64
    assert layout.q_to(robot.neutral().tolist()).dtype == np.float64
    exact = layout.v_to(q.astype(np.float64), v.astype(np.float64))
    assert np.allclose(layout.v_to(q, v), exact, atol=1e-6)


def test_what_is_not_a_number_stays_in_its_sample() -> None:
    robot = kt.zoo.load("quadruped")
    layout = kt.interop.Layout(robot, "mujoco")
    q, v, _, _ = states(robot, 2)
    q[0, 3] = np.nan
    there = layout.v_to(q, v)
    assert np.isnan(there[0, 0])
    assert there[1].tolist() == layout.v_to(q[1], v[1]).tolist()


def test_followers_and_couplings_have_the_numbers_that_they_have_here() -> None:
    builder = kt.ModelBuilder("hand")
    for name in ("palm", "one", "two", "left", "right"):
        builder.add_body(name, Inertia.from_com(1.0, Vec3(0.1, 0.0, 0.0), Sym3.scalar(0.1)))
    builder.add_joint("first", kt.Revolute([0, 0, 1]), "palm", "one")
    builder.add_joint("second", kt.Revolute([0, 0, 1]), "one", "two", mimic=kt.model.Mimic("first", 2.0))
    builder.add_joint("l", kt.Revolute([0, 0, 1]), "palm", "left")
    builder.add_joint("r", kt.Revolute([0, 0, 1]), "palm", "right")
    builder.add_coupling("wrist", ["l", "r"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    robot = builder.build()
    layout = kt.interop.Layout(robot, "pinocchio", joint_order=["wrist", "first"])
    assert layout.q_names == layout.v_names == ["wrist.pitch", "wrist.roll", "first"]
    assert layout.q_to([1.0, 2.0, 3.0]).tolist() == [2.0, 3.0, 1.0]
    with pytest.raises(
        kt.errors.ModelError, match="'second', which mimics 'first' and has no coordinates of its own; leave"
    ):
        kt.interop.Layout(robot, "pinocchio", joint_order=["wrist", "first", "second"])
    with pytest.raises(kt.errors.ModelError, match="'l', which is part of the coupling 'wrist'; name that instead"):
        kt.interop.Layout(robot, "pinocchio", joint_order=["l", "r", "first"])


class Mine(kt.Revolute):
    """A kind of a user: flat, as its base is."""


class Odd(kt.joints.Spherical):
    """A kind of a user whose v are not the rates of its q."""

    def calc(self, q: Sequence[Any], v: Sequence[Any]) -> JointMotion:
        return super().calc(q, v)


def test_a_user_s_kind_is_written_as_it_is_if_its_velocity_is_its_rate() -> None:
    robot = chain(("mine", Mine([0, 0, 1])))
    for library in LIBRARIES:
        assert kt.interop.Layout(robot, library).q_to([0.5]).tolist() == [0.5]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_user_s_kind_with_other_coordinates_is_refused_by_name(library: str) -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"joint 'odd' of 'chain' \(.*\) has no counterpart in .* that kinetree knows"
    ):
        kt.interop.Layout(chain(("odd", Odd())), library)
    for kind in (
        kt.joints.Composite([kt.Prismatic([1, 0, 0]), Odd()]),
        Placed(Odd(), kt.lie.placement((0.1, 0.0, 0.0))),
    ):
        with pytest.raises(kt.errors.ModelError, match="joint 'odd' of 'chain'"):
            kt.interop.Layout(chain(("odd", kind)), library)


def test_wrong_arguments_are_answered_with_what_was_expected() -> None:
    robot = chain(("ball", kt.joints.Spherical()), ("wheel", kt.joints.Continuous([0, 0, 1])))
    with pytest.raises(kt.errors.OptionError, match=r"library must be 'dart', .* 'pinocchio' or 'rbdl', not 'ode'"):
        kt.interop.Layout(robot, "ode")
    with pytest.raises(kt.errors.DTypeError, match="the first argument must be a robot"):
        kt.interop.Layout("robot", "rbdl")  # type: ignore[arg-type]
    with pytest.raises(
        kt.errors.NameNotFoundError, match="joint_order names 'wheal', but 'chain' has no such joint: did you"
    ):
        kt.interop.Layout(robot, "rbdl", joint_order=["ball", "wheal"])
    with pytest.raises(kt.errors.ModelError, match="joint_order names 'ball' twice"):
        kt.interop.Layout(robot, "rbdl", joint_order=["ball", "ball"])
    with pytest.raises(kt.errors.ModelError, match="joint_order leaves out 'wheel'"):
        kt.interop.Layout(robot, "rbdl", joint_order=["ball"])
    with pytest.raises(kt.errors.DTypeError, match="joint_order is a list of names, not 'ball'"):
        kt.interop.Layout(robot, "rbdl", joint_order="ball")
    layout = kt.interop.Layout(robot, "pinocchio")
    with pytest.raises(kt.errors.ShapeError, match=r"Layout.q_to: q has shape \(6,\), but 'chain' needs \(…, 5\)"):
        layout.q_to(np.zeros(6))
    with pytest.raises(
        kt.errors.ShapeError, match=r"q has shape \(5,\), but 'chain' in the layout of Pinocchio needs \(…, 6\)"
    ):
        layout.q_from(np.zeros(5))
    with pytest.raises(kt.errors.ShapeError, match="the leading axes do not broadcast together"):
        layout.v_to(np.ones((2, 5)), np.ones((3, 4)))
    with pytest.raises(kt.errors.DTypeError, match="v must be an array of real numbers"):
        layout.v_to(np.ones(5), ["a"] * 4)


def test_no_direction_is_refused() -> None:
    robot = chain(("ball", kt.joints.Spherical()), ("wheel", kt.joints.Continuous([0, 0, 1])))
    layout = kt.interop.Layout(robot, "pinocchio")
    with pytest.raises(
        kt.errors.ConfigurationError, match=r"q: the quaternion of joint 'ball' \(q\[…, 0:4\]\) is zero"
    ):
        layout.q_to([0, 0, 0, 0, 1])
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[1\]: cos, sin of joint 'wheel' are all zero"):
        layout.q_from([[0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 0, 0]])
    with pytest.raises(kt.errors.ConfigurationError, match="qw, qx, qy, qz of joint 'ball' are too large or too small"):
        kt.interop.Layout(robot, "mujoco").v_from([1e-200, 0, 0, 0, 1], np.ones(4))
    with pytest.raises(kt.errors.ConfigurationError, match="qw, qx, qy, qz of joint 'ball' are too large or too small"):
        kt.interop.Layout(robot, "mujoco").v_from([1e200, 0, 0, 0, 1], np.ones(4))


@pytest.mark.parametrize(
    ("kind", "library", "right", "wrong", "names"),
    [
        (kt.Free(), "drake", [1] + [0] * 6, [0] * 4 + [1, 2, 3], "qw, qx, qy, qz"),
        (kt.joints.ExponentialMap(), "mujoco", [0, 0, 0, 1], [0, 0, 0, 0], "qw, qx, qy, qz"),
        (kt.joints.Planar(), "pinocchio", [0, 0, 0, 1], [1, 2, 0, 0], "cos, sin"),
        (FLYING_WHEEL, "pinocchio", [0, 0, 0, 0, 1], [1, 2, 3, 0, 0], "2.cos, 2.sin"),
        (FLYING_BALL, "mujoco", [0] * 3 + [1] * 4, [1] * 3 + [0] * 4, "2.qw, 2.qx, 2.qy, 2.qz"),
    ],
    ids=["free", "rotation vector", "planar", "wheel of a composite", "ball of a composite"],
)
def test_directions_are_looked_for_where_that_library_has_them(
    kind: JointKind, library: str, right: list[float], wrong: list[float], names: str
) -> None:
    layout = kt.interop.Layout(chain(("joint", kind)), library)
    assert np.isfinite(layout.q_from(right)).all()
    with pytest.raises(kt.errors.ConfigurationError, match=f"q: {names} of joint 'joint' are all zero"):
        layout.q_from(wrong)


def test_it_says_what_it_is() -> None:
    robot = chain(("ball", kt.joints.Spherical()), ("wheel", kt.joints.Continuous([0, 0, 1])))
    assert repr(kt.interop.Layout(robot, "pinocchio")) == "Layout of 'chain' in Pinocchio: nq = 6, nv = 4"
    assert kt.interop.Layout(robot, "pinocchio").joint_order == ("ball", "wheel")
