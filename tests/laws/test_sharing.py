"""Joints that share coordinates: the whole of dynamics is that of the robot with all joints, projected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.algorithms.cluster_aba import cluster_aba
from kinetree.joints import JointKind
from kinetree.tree.recorded import OneSystemTree
from tests.kernels import compiled_late
from tests.strategies import Blueprint, State, blueprints, law, numbers, states

from .reference import close, reference, tried_on_both

Array = NDArray[Any]


class Case:
    """A robot some of whose joints follow others, the robot in which all are free, and the map between them."""

    def __init__(self, plan: Blueprint, mimics: dict[str, kt.model.Mimic], couplings: Sequence[dict[str, Any]]) -> None:
        self.free = _build(plan, {}, ())
        self.robot = _build(plan, mimics, couplings)
        shared = self.robot.tree.coordinates
        self.G = np.eye(self.free.nv)
        self.G_q, self.b = np.eye(self.free.nq), np.zeros(self.free.nq)
        if shared is not None:
            self.G = _dense(shared.v_rows, self.robot.nv)
            self.G_q, self.b = _dense(shared.q_rows, self.robot.nq), np.array(shared.q_offset)


def _build(plan: Blueprint, mimics: dict[str, kt.model.Mimic], couplings: Sequence[dict[str, Any]]) -> kt.Model:
    builder = kt.ModelBuilder("random tree", gravity=plan.gravity)
    for name, inertia in plan.bodies.items():
        builder.add_body(name, inertia)
    for joint in plan.joints:
        builder.add_joint(
            joint.name, joint.kind, joint.parent, joint.child, joint.placement,
            armature=joint.armature, mimic=mimics.get(joint.name),
        )  # fmt: skip
    for name, (body, placement) in plan.frames.items():
        builder.add_frame(name, body, placement)
    for coupling in couplings:
        builder.add_coupling(**coupling)
    return builder.build(floating_base=plan.floating_base)


def _dense(rows: Sequence[Sequence[tuple[int, float]]], n: int) -> Array:
    G = np.zeros((len(rows), n))
    for r, row in enumerate(rows):
        for k, weight in row:
            G[r, k] += weight
    return G


def _is_plain(kind: JointKind) -> bool:
    return kind.nq == kind.nv == 1


@st.composite
def cases(draw: st.DrawFn) -> tuple[Case, State]:
    """Trees with chains of followers and with couplings, at a random state."""
    plan = draw(blueprints(max_joints=5))
    plain = draw(st.permutations([joint.name for joint in plan.joints if _is_plain(joint.kind)]))
    couplings: list[dict[str, Any]] = []
    coupled: list[str] = []
    if len(plain) >= 2 and draw(st.booleans()):
        coupled, plain = plain[:2], plain[2:]
        matrix = draw(st.sampled_from([[[1, 1], [1, -1]], [[1.5], [-0.5]], [[1, 0.5], [0, 2]]]))
        couplings = [
            {
                "name": "pair", "joints": coupled, "matrix": matrix, "offset": [draw(numbers(1.0)), 0.25],
                "coordinates": ["a", "b"][: len(matrix[0])],
            }
        ]  # fmt: skip
    mimics = {}
    leaders = list(coupled)
    for name in plain:
        if leaders and draw(st.booleans()):
            mimics[name] = kt.model.Mimic(draw(st.sampled_from(leaders)), draw(numbers(2.0)), draw(numbers(1.0)))
        leaders.append(name)
    case = Case(plan, mimics, couplings)
    return case, draw(states(case.robot))


@tried_on_both(case=cases(), floats=15)
def test_inverse_dynamics_is_projected(call: Any, case: tuple[Case, State]) -> None:
    c, s = case
    tau = reference(kt.rnea, c.free, c.G_q @ s.q + c.b, c.G @ s.v, c.G @ s.qdd)
    close(call(kt.rnea, c.robot, s.q, s.v, s.qdd), c.G.T @ tau, scale=np.abs(tau).max(initial=0.0))


@tried_on_both(case=cases(), floats=15)
def test_the_mass_matrix_is_projected(call: Any, case: tuple[Case, State]) -> None:
    c, s = case
    H = reference(kt.crba, c.free, c.G_q @ s.q + c.b)
    close(call(kt.crba, c.robot, s.q), c.G.T @ H @ c.G, scale=np.abs(H).max(initial=0.0))


@tried_on_both(case=cases(), floats=15)
def test_forward_dynamics_undoes_inverse_dynamics(call: Any, case: tuple[Case, State]) -> None:
    c, s = case
    tau = call(kt.rnea, c.robot, s.q, s.v, s.qdd)
    H = reference(kt.crba, c.robot, s.q)
    condition = np.linalg.cond(H) if H.size else 1.0
    close(
        call(kt.aba, c.robot, s.q, s.v, tau),
        s.qdd,
        scale=condition * max(1.0, np.abs(tau).max(initial=0.0)) * 1e-2,
        tolerance=1e-12,
    )


@law(25)
@given(case=cases())
def test_cluster_by_cluster_is_as_good_as_all_at_once(case: tuple[Case, State]) -> None:
    c, s = case
    whole = replace(c.robot, tree=OneSystemTree.of(c.robot.tree))
    assert whole.tree.clusters == ()
    H = reference(kt.crba, c.robot, s.q)
    condition = np.linalg.cond(H) if H.size else 1.0
    expected = reference(kt.aba, whole, s.q, s.v, s.tau)
    scale = condition * max(1.0, np.abs(expected).max(initial=0.0)) * 1e-2
    close(reference(kt.aba, c.robot, s.q, s.v, s.tau), expected, scale=scale, tolerance=1e-12)


@law(25)
@given(case=cases())
def test_clusters_share_no_coordinate_and_no_joint(case: tuple[Case, State]) -> None:
    c, _ = case
    tree = c.robot.tree
    if tree.coordinates is None:
        assert tree.clusters == ()
        return
    starts = np.cumsum([0, *(kind.nv for kind in tree.joint)])
    movers: list[set[int]] = [set() for _ in range(tree.coordinates.nv)]
    for i in range(1, tree.size):
        for row in tree.coordinates.v_rows[starts[i] : starts[i + 1]]:
            for column, _ in row:
                movers[column].add(i)
    inside = [set(cluster.bodies) for cluster in tree.clusters]
    assert sum(map(len, inside)) == len(set().union(*inside))
    for joints in movers:
        assert len(joints) <= 1 or sum(bool(joints & bodies) for bodies in inside) == 1
    for cluster, bodies in zip(tree.clusters, inside, strict=True):
        assert all(tree.parent[i] in bodies or tree.parent[i] == cluster.base for i in bodies)
        assert cluster.base not in bodies


@tried_on_both(case=cases(), floats=10, kernels=5)
def test_jacobians_velocities_and_energies_are_those_of_the_moving_joints(call: Any, case: tuple[Case, State]) -> None:
    c, s = case
    q, v = c.G_q @ s.q + c.b, c.G @ s.v
    options = {"frame": "tool", "expressed_in": "world"}
    J = reference(kt.frame_jacobian, c.free, q, **options)
    close(call(kt.frame_jacobian, c.robot, s.q, **options), J @ c.G)
    close(
        call(kt.kinematics.frame_velocity, c.robot, s.q, s.v, **options),
        reference(kt.kinematics.frame_velocity, c.free, q, v, **options),
    )
    close(call(kt.kinetic_energy, c.robot, s.q, s.v), reference(kt.kinetic_energy, c.free, q, v))
    close(call(kt.potential_energy, c.robot, s.q), reference(kt.potential_energy, c.free, q), scale=100.0)


@tried_on_both(case=cases(), floats=15)
def test_steps_of_the_configuration_keep_the_joints_together(call: Any, case: tuple[Case, State]) -> None:
    c, s = case
    moved = call(kt.integrate, c.robot, s.q, s.v)
    close(c.G_q @ moved + c.b, reference(kt.integrate, c.free, c.G_q @ s.q + c.b, c.G @ s.v), scale=1000.0)
    close(c.robot.integrate(s.q, s.v), moved, scale=1000.0)
    close(call(kt.difference, c.robot, s.q, moved), c.robot.difference(s.q, moved), scale=1000.0)


@law(15)
@given(case=cases())
def test_a_pair_held_together_by_a_constraint_moves_as_a_follower_does(case: tuple[Case, State]) -> None:
    """The equations of all joints with the reactions that keep q = G z + b: A q̈ = 0 for all A with A G = 0."""
    c, s = case
    q, v = c.G_q @ s.q + c.b, c.G @ s.v
    H, C = reference(kt.crba, c.free, q), reference(kt.bias_forces, c.free, q, v)
    lifted = np.linalg.pinv(c.G).T @ s.tau
    u, sizes, _ = np.linalg.svd(c.G) if c.G.size else (np.eye(len(c.G)), np.zeros(0), None)
    A = u[:, len(sizes) :].T
    n = len(A)
    system = np.block([[H, A.T], [A, np.zeros((n, n))]])
    condition = np.linalg.cond(system) if system.size else 1.0
    held = np.linalg.solve(system, np.concatenate([lifted - C, np.zeros(n)]))[: len(H)] if system.size else np.zeros(0)
    qdd = kt.aba(c.robot, s.q, s.v, s.tau)
    close(c.G @ qdd, held, scale=condition * max(1.0, np.abs(held).max(initial=0.0)), tolerance=1e-11)


def test_names_places_and_samples_are_of_the_coordinates_that_are_left() -> None:
    robot = hand()
    assert robot.q_names == ["palm", "finger", "wrist.pitch", "wrist.roll"]
    assert (robot.nq, robot.nv) == (4, 4)
    assert robot.joints["tip"].q_slice == slice(1, 1)
    assert robot.joints["finger"].q_slice == slice(1, 2)
    assert robot.couplings["wrist"].q_slice == slice(2, 4)
    q = robot.random(0)
    assert q.shape == (4,)
    assert robot.neutral().tolist() == [0.0] * 4
    assert "follows middle" in repr(robot)
    assert "wrist (pitch, roll) moves left, right" in repr(robot)


def test_followers_of_followers_follow_the_first() -> None:
    robot = hand()
    q = np.array([0.1, 0.4, 0.0, 0.0])
    (palm, finger, middle, tip, left, right) = robot.tree.split(q.tolist(), "nq")[1:]
    assert (palm, finger) == ([0.1], [0.4])
    assert middle == [pytest.approx(2.0 * 0.4 + 0.5)]
    assert tip == [pytest.approx(-0.5 * (2.0 * 0.4 + 0.5) + 0.1)]
    assert (left, right) == ([0.25], [0.0])


def hand() -> kt.Model:
    """A chain of followers and a differential."""
    from kinetree.spatial import Inertia, Sym3, Vec3

    builder = kt.ModelBuilder("hand")
    ball = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.0), Sym3.scalar(0.01))
    builder.add_body("base")
    z = kt.Revolute([0, 0, 1])
    parent = "base"
    for name, mimic in (
        ("palm", None),
        ("finger", None),
        ("middle", kt.model.Mimic("finger", 2.0, 0.5)),
        ("tip", kt.model.Mimic("middle", -0.5, 0.1)),
        ("left", None),
        ("right", None),
    ):
        builder.add_body(f"{name} body", ball)
        builder.add_joint(name, z, parent, f"{name} body", mimic=mimic)
        parent = f"{name} body"
    builder.add_coupling(
        "wrist", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"], offset=[0.25, 0.0]
    )
    return builder.build()


def test_a_cluster_feels_rotors_that_spin_about_other_axes_than_their_joints() -> None:
    """H q̈ + C = τ, on a body that moves, and with a cluster on a cluster."""
    builder = kt.ModelBuilder("geared hand")
    builder.add_body("base")
    parent = "base"
    for k, (name, kind, axis, mimic) in enumerate(
        (
            ("palm", kt.Revolute([0, 1, 0]), None, None),
            ("left", kt.Revolute([0, 0, 1]), (1.0, 0.0, 0.0), None),
            ("right", kt.Revolute([1, 0, 0]), (0.0, 0.6, 0.8), None),
            ("finger", kt.Prismatic([0, 1, 0]), (0.8, 0.0, 0.6), None),
            ("tip", kt.joints.Helical([0, 0, 1], 0.1), (0.0, 1.0, 0.0), kt.model.Mimic("finger", -1.5, 0.2)),
        )
    ):
        builder.add_body(f"{name} body", kt.solids.box(0.2, 0.3, 0.1 + 0.1 * k, mass=1.0 + 0.3 * k))
        builder.add_joint(
            name, kind, parent, f"{name} body", kt.lie.placement([0.2, -0.1, 0.1], rpy=[0.3, 0.2 * k, -0.4]),
            rotor=None if axis is None else kt.model.Rotor(0.01 + 0.002 * k, 7.0 - 3.0 * k, axis), mimic=mimic,
            armature=[0.05 * k],
        )  # fmt: skip
        parent = f"{name} body"
    builder.add_coupling("wrist", ["left", "right"], [[1, 1], [1, -0.5]], coordinates=["pitch", "roll"])
    robot = builder.build()
    tree = robot.tree
    assert [cluster.size for cluster in tree.clusters] == [2, 1]
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
        pieces = (tree.split(x.tolist(), size) for x, size in ((q, "nq"), (v, "nv"), (tau, "forces")))
        qdd = np.array(tree.joined(cluster_aba(tree, *pieces), "nv"))
        H, C = reference(kt.crba, robot, q), reference(kt.bias_forces, robot, q, v)
        close(H @ qdd + C, tau, scale=float(np.abs(H).max() * np.abs(qdd).max()))


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.crba, kt.frame_jacobian, kt.integrate, kt.difference])
def test_loops_over_bodies_give_the_same(function: Any) -> None:
    robot = hand()
    rng = np.random.default_rng(0)
    options = {"frame": "right body", "expressed_in": "world"} if function is kt.frame_jacobian else {}
    arrays = [
        np.stack([robot.random(rng) for _ in range(5)]) if size == "nq" else rng.normal(size=(5, robot.nv))
        for _, size in function.definition.inputs
    ]
    rolled = compiled_late(robot, function, unroll=False, **options)(*arrays)
    close(rolled, function(robot, *arrays, **options), tolerance=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_rollouts_are_steps_of_the_coordinates_that_are_left(integrator: Any) -> None:
    robot = hand()
    rng = np.random.default_rng(1)
    q, v, tau = robot.random(rng), rng.normal(size=4), rng.normal(size=(6, 4))
    straight, rolled = (
        compiled_late(robot, kt.rollout, steps=6, integrator=integrator, unroll=unroll)(q, v, tau, 0.01)
        for unroll in (True, False)
    )
    close(rolled, straight, tolerance=1e-12)
    if integrator == "semi_implicit_euler":
        for k in range(6):
            v = v + 0.01 * kt.aba(robot, q, v, tau[k])
            q = robot.integrate(q, 0.01 * v)
            close(straight[k], np.concatenate([q, v]), tolerance=1e-12)


def test_a_massless_follower_is_no_reason_to_refuse_forward_dynamics() -> None:
    from kinetree.spatial import Inertia, Sym3, Vec3

    builder = kt.ModelBuilder("gripper")
    builder.add_body("base")
    builder.add_body("one", Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.0), Sym3.scalar(0.01)))
    builder.add_body("other")
    z = kt.Revolute([0, 0, 1])
    builder.add_joint("a", z, "base", "one")
    builder.add_joint("b", z, "base", "other", mimic=kt.model.Mimic("a", -1.0, 0.0))
    robot = builder.build()
    assert robot.singular_joints == ()
    np.testing.assert_allclose(kt.aba(robot, [0.3], [0.1], kt.rnea(robot, [0.3], [0.1], [2.0])), [2.0], atol=1e-13)
