"""Motion under constraints: the equations that define it, for every kind of joint, contact and loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import Sym3, Vec3
from tests.laws.reference import close, coordinate_rates, directional, reference
from tests.robots import every_joint
from tests.strategies import State, axes, law, moving_trees, states, trees

Array = NDArray[Any]
Constraints = list[kt.constraints.Contact | kt.constraints.Loop]

METHODS = ("kkt", "operational_space")
_DIRECTIONS = st.sampled_from(["point", "fixed"]) | axes()


@st.composite
def constraints_of(draw: st.DrawFn, robot: kt.Model, most: int = 3) -> Constraints:
    """Contacts and loops of all sorts between any frames, redundant or impossible ones among them."""
    names = list(robot.frames)
    found: Constraints = []
    for _ in range(draw(st.integers(1, most))):
        frame, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        if frame == other or draw(st.booleans()):
            found.append(
                kt.constraints.Contact(frame, draw(_DIRECTIONS), axes=draw(st.sampled_from(["world", "local"])))
            )
        elif draw(st.integers(0, 3)) == 0:
            found.append(kt.constraints.Loop(frame, other, "distance", length=draw(st.sampled_from([0.5, 2.0]))))
        else:
            found.append(kt.constraints.Loop(frame, other, draw(_DIRECTIONS)))
    return found


def pivots(A: Array) -> list[float]:
    """What is left of each diagonal entry when the rows before it are eliminated, as a part of it."""
    rest, parts = A.copy(), []
    for k, size in enumerate(np.diag(A)):
        parts.append(float(rest[k, k] / size) if size > 0.0 else 0.0)
        if parts[-1] > 1e-10:
            rest = rest - np.outer(rest[:, k], rest[k]) / rest[k, k]
    return parts


class Held:
    """A robot under constraints: everything about it by NumPy's dense algebra."""

    def __init__(self, robot: kt.Model, s: State, constraints: Constraints) -> None:
        self.J = reference(kt.constraints.constraint_jacobian, robot, s.q, constraints=constraints)
        self.bias = reference(kt.constraints.constraint_bias, robot, s.q, s.v, constraints=constraints)
        self.M, self.C = reference(kt.crba, robot, s.q), reference(kt.bias_forces, robot, s.q, s.v)
        self.A = self.J @ np.linalg.solve(self.M, self.J.T)
        self.free = np.linalg.solve(self.M, s.tau - self.C)
        values = np.linalg.eigvalsh(self.A)
        self.largest = float(values[-1])
        self.rank = int((values > 1e-5 * self.largest).sum()) if self.largest > 1e-9 else 0
        unclear = (values > 1e-13 * self.largest) & (values <= 1e-5 * self.largest)
        well_posed = not unclear.any() and bool(np.linalg.cond(self.M) < 1e6)
        self.is_clear = well_posed and all(not 1e-14 < part < 1e-7 for part in pivots(self.A))
        # Rows that are nearly dependent have forces without bound, and not all call the same ones so.

    @property
    def forces(self) -> Array:
        """The shortest that come nearest to what the rows ask for."""
        inverse = np.linalg.pinv(self.A, rcond=1e-9, hermitian=True) if self.rank else np.zeros_like(self.A)
        forces: Array = inverse @ (-self.bias - self.J @ self.free)
        return forces

    @property
    def scale(self) -> float:
        """The size of what cancels in accelerations."""
        return float(max(np.abs(self.free).max(), np.abs(self.bias).max(), np.abs(self.J.T @ self.forces).max()))


def clearly(robot: kt.Model, s: State, constraints: Constraints) -> Held:
    """Of the examples, those with answers that can be compared."""
    held = Held(robot, s, constraints)
    assume(held.is_clear)
    return held


# -- kinematics


@law(30)
@given(data=st.data())
def test_the_jacobian_gives_the_rate_of_errors(data: st.DataObject) -> None:
    """Of loops along lines, and of contacts in the world's axes."""
    robot, s = data.draw(moving_trees(max_joints=5))
    names = list(robot.frames)
    a, b = data.draw(st.permutations(names))[:2]
    at = kt.lie.placement([0.3, -0.2, 0.5])
    direction = data.draw(axes())
    held: Constraints = [
        kt.constraints.Loop(a, b), kt.constraints.Loop(a, b, direction), kt.constraints.Loop(a, b, "distance",
            length=0.7),
        kt.constraints.Contact(a, at=at), kt.constraints.Contact(b, direction, at=[0.1, 0.2, 0.3]),
    ]  # fmt: skip
    rate = directional(
        lambda q: reference(kt.constraints.constraint_errors, robot, q, constraints=held),
        (s.q, coordinate_rates(robot, s.q, s.v)),
    )
    J = reference(kt.constraints.constraint_jacobian, robot, s.q, constraints=held)
    close(J @ s.v, rate, float(np.abs(J).max() * np.abs(s.v).max()))


@law(30)
@given(data=st.data())
def test_the_bias_is_the_rate_of_the_jacobian(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    held = data.draw(constraints_of(robot))
    rate = directional(
        lambda q: reference(kt.constraints.constraint_jacobian, robot, q, constraints=held) @ s.v,
        (s.q, coordinate_rates(robot, s.q, s.v)),
    )
    bias = reference(kt.constraints.constraint_bias, robot, s.q, s.v, constraints=held)
    close(bias, rate, float(np.abs(s.v).max() ** 2), tolerance=1e-10)


@law(20)
@given(data=st.data())
def test_contacts_have_the_rows_of_frame_jacobians(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees())
    frame = data.draw(st.sampled_from(list(robot.frames)))
    for where, expressed_in in (("world", "local_world_aligned"), ("local", "local")):
        expected = reference(kt.frame_jacobian, robot, s.q, frame=frame, expressed_in=expressed_in)
        J = reference(
            kt.constraints.constraint_jacobian,
            robot,
            s.q,
            constraints=[kt.constraints.Contact(frame, "fixed", axes=where)],
        )
        close(J, expected)


@law(20)
@given(data=st.data())
def test_errors_of_orientation_follow_the_jacobian_where_they_are_small(data: st.DataObject) -> None:
    """A frame a little beside where it is held, for contacts in both axes and for loops."""
    robot, s = data.draw(moving_trees(max_joints=5))
    a, b = data.draw(st.permutations(list(robot.frames)))[:2]
    h = 1e-5
    moved = robot.integrate(s.q, h * s.v)
    at = reference(kt.frame_placement, robot, s.q, frame=a)
    for where in ("world", "local"):
        held = [kt.constraints.Contact(a, "fixed", at=at, axes=where)]
        J = reference(kt.constraints.constraint_jacobian, robot, s.q, constraints=held)
        errors = reference(kt.constraints.constraint_errors, robot, moved, constraints=held)
        close(errors / h, J @ s.v, float(np.abs(s.v).max() ** 2 + 1.0), tolerance=1e-3)
        close(reference(kt.constraints.constraint_errors, robot, s.q, constraints=held), np.zeros(6), 1e3)
    turned = reference(kt.constraints.constraint_errors, robot, s.q, constraints=[kt.constraints.Loop(a, b, "fixed")])[
        3:
    ]
    T_a, T_b = (reference(kt.frame_placement, robot, s.q, frame=name)[:3, :3] for name in (a, b))
    angle = np.linalg.norm(turned)
    axis = turned / angle if angle > 1e-9 else turned
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    assert angle <= np.pi + 1e-9
    close(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K, T_a.T @ T_b, tolerance=1e-7)


# -- dynamics


@pytest.mark.parametrize("method", METHODS)
@law(40)
@given(data=st.data())
def test_motion_obeys_newton_and_meets_the_constraints_as_well_as_can_be(method: str, data: st.DataObject) -> None:
    """Whatever the rows: M q̈ + C = τ + Jᵀ λ, with the shortest λ of all that leave the least of J q̈ + J̇ v."""
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot))
    held = clearly(robot, s, constraints)
    result = reference(
        kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, constraints=constraints, method=method
    )
    qdd, forces = result[: robot.nv], result[robot.nv :]
    assert np.isfinite(result).all()
    close(held.M @ qdd + held.C - held.J.T @ forces, s.tau, held.scale * np.abs(held.M).max(), tolerance=1e-9)
    close(qdd, held.free + np.linalg.solve(held.M, held.J.T @ held.forces), held.scale, tolerance=1e-7)
    close(forces, held.forces, held.scale / max(held.largest, 1e-9) * 1e3, tolerance=1e-7)
    if held.rank == len(held.bias):
        close(
            held.J @ qdd + held.bias, np.zeros(held.rank), held.scale * max(1.0, np.abs(held.J).max()), tolerance=1e-9
        )


@law(30)
@given(data=st.data())
def test_both_methods_are_one(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot))
    held = clearly(robot, s, constraints)
    a, b = (
        reference(kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, constraints=constraints, method=method)
        for method in METHODS
    )
    close(a[: robot.nv], b[: robot.nv], held.scale, tolerance=1e-8)
    alone = reference(kt.constraints.constraint_forces, robot, s.q, s.v, s.tau, constraints=constraints)
    close(alone, a[robot.nv :], tolerance=0.0)
    one, other = (
        reference(kt.constraints.operational_space_inertia, robot, s.q, constraints=constraints, method=method)
        for method in METHODS
    )
    close(one, other, tolerance=1e-7)


@law(25)
@given(data=st.data())
def test_a_motion_that_is_allowed_takes_no_force(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot, 2))
    held = clearly(robot, s, constraints)
    inverse = np.linalg.pinv(held.J, rcond=1e-9)
    wanted = s.qdd - inverse @ (held.J @ s.qdd + held.bias)
    assume(np.abs(held.J @ wanted + held.bias).max() < 1e-9)  # there is such a motion
    tau = reference(kt.rnea, robot, s.q, s.v, wanted)
    result = reference(kt.constraints.constrained_dynamics, robot, s.q, s.v, tau, constraints=constraints)
    scale = held.scale + float(np.abs(tau).max() + np.abs(wanted).max())
    close(result[: robot.nv], wanted, scale, tolerance=1e-8)
    close(held.J.T @ result[robot.nv :], np.zeros(robot.nv), scale, tolerance=1e-8)


@law(25)
@given(data=st.data())
def test_gauss_of_all_allowed_motions_the_nearest_to_the_free_one(data: st.DataObject) -> None:
    """Whatever else the constraints allow departs further from the free motion, in the measure of M."""
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot, 2))
    held = clearly(robot, s, constraints)
    qdd = reference(kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, constraints=constraints)[: robot.nv]
    other = s.qdd - np.linalg.pinv(held.J, rcond=1e-9) @ (held.J @ s.qdd)  # J other = 0
    work = other @ held.M @ (qdd - held.free)
    size = np.abs(held.M).max() * np.abs(other).max() * (held.scale + np.abs(qdd).max())
    close(work, 0.0, float(size), tolerance=1e-8)


@law(25)
@given(data=st.data())
def test_saying_it_twice_changes_nothing_but_halves_the_forces(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    once = data.draw(constraints_of(robot, 2))
    held = clearly(robot, s, once)
    for method in METHODS:
        a, b = (
            reference(kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, constraints=c, method=method)
            for c in (once, [*once, *once])
        )
        close(b[: robot.nv], a[: robot.nv], held.scale, tolerance=1e-7)
        forces = 0.5 * np.concatenate([a[robot.nv :]] * 2)
        close(b[robot.nv :], forces, held.scale / max(held.largest, 1e-9) * 1e3, tolerance=1e-7)


@law(20)
@given(data=st.data())
def test_gains_ask_for_their_acceleration(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    frame = data.draw(st.sampled_from([name for name, f in robot.frames.items() if f.slot]))
    contact = kt.constraints.Contact(frame, at=[0.1, 0.2, 0.3], position_gain=7.0, velocity_gain=3.0)
    held = clearly(robot, s, [contact])
    assume(held.rank == 3)
    qdd = reference(kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, constraints=[contact])[: robot.nv]
    error = reference(kt.constraints.constraint_errors, robot, s.q, constraints=[contact])
    asked = -3.0 * held.J @ s.v - 7.0 * error
    close(held.J @ qdd + held.bias, asked, held.scale + float(np.abs(asked).max()), tolerance=1e-7)
    place = reference(kt.frame_placement, robot, s.q, frame=frame)[:3, 3]
    close(error, place - [0.1, 0.2, 0.3])


@law(20)
@given(data=st.data())
def test_damping_lets_rows_yield(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot))
    for method in METHODS:
        result = reference(
            kt.constraints.constrained_dynamics,
            robot,
            s.q,
            s.v,
            s.tau,
            constraints=constraints,
            method=method,
            damping=0.5,
        )
        qdd, forces = result[: robot.nv], result[robot.nv :]
        J = reference(kt.constraints.constraint_jacobian, robot, s.q, constraints=constraints)
        bias = reference(kt.constraints.constraint_bias, robot, s.q, s.v, constraints=constraints)
        size = float(np.abs(qdd).max() * max(1.0, np.abs(J).max()) + np.abs(bias).max())
        close(J @ qdd + bias + 0.5 * forces, np.zeros(len(bias)), 1e2 * size, tolerance=1e-9)


@law(15)
@given(data=st.data())
def test_external_and_passive_forces_take_part(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot, 2))
    held = clearly(robot, s, constraints)
    wrench = np.array([3.0, -2.0, 1.0, 0.5, 0.2, -0.4])
    pushed = s.tau + reference(kt.frame_jacobian, robot, s.q, frame="tool", expressed_in="local").T @ wrench
    for method in METHODS:
        a = reference(
            kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, f_ext={"tool": wrench},
                constraints=constraints,
            method=method,
        )  # fmt: skip
        b = reference(
            kt.constraints.constrained_dynamics, robot, s.q, s.v, pushed, constraints=constraints, method=method
        )
        close(a[: robot.nv], b[: robot.nv], 10.0 * held.scale, tolerance=1e-7)


# -- impacts and inertia


@law(30)
@given(data=st.data(), e=st.sampled_from([0.0, 0.3, 1.0]))
def test_impacts_turn_velocities_round_and_make_no_energy(data: st.DataObject, e: float) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(constraints_of(robot))
    held = clearly(robot, s, constraints)
    results = [
        reference(kt.constraints.impact, robot, s.q, s.v, constraints=constraints, restitution=e, method=method)
        for method in METHODS
    ]
    after, impulses = results[0][: robot.nv], results[0][robot.nv :]
    size = float(np.abs(s.v).max() * np.abs(held.M).max() + 1.0)
    close(held.M @ (after - s.v), held.J.T @ impulses, size, tolerance=1e-8)
    before_rows, after_rows = held.J @ s.v, held.J @ after
    close(after_rows, -e * before_rows, float(np.abs(s.v).max() * (np.abs(held.J).max() + 1.0)), tolerance=1e-7)
    energy, energy_after = (0.5 * v @ held.M @ v for v in (s.v, after))
    assert energy_after <= energy + 1e-7 * size * (1.0 + np.abs(s.v).max())
    if e == 1.0:
        close(energy_after, energy, size * (1.0 + float(np.abs(s.v).max())), tolerance=1e-7)
    close(results[1][: robot.nv], after, size, tolerance=1e-7)


@law(25)
@given(data=st.data())
def test_the_operational_space_inertia_inverts_mobility(data: st.DataObject) -> None:
    robot = data.draw(trees(max_joints=5))
    s = data.draw(states(robot))
    constraints = data.draw(constraints_of(robot, 2))
    held = clearly(robot, s, constraints)
    inertia = reference(kt.constraints.operational_space_inertia, robot, s.q, constraints=constraints)
    close(inertia, inertia.T, tolerance=0.0)
    expected = np.linalg.pinv(held.A, rcond=1e-9, hermitian=True) if held.rank else np.zeros_like(held.A)
    close(inertia, expected, tolerance=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_rows_known_to_be_independent_need_no_tolerance(method: str) -> None:
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    feet = [kt.constraints.Contact(name) for name in robot.frames if name.endswith("foot")]
    careful, bold = (
        reference(
            kt.constraints.constrained_dynamics, robot, q, v, tau, constraints=feet, method=method, tolerance=tolerance
        )
        for tolerance in (1e-10, 0.0)
    )
    close(careful, bold, tolerance=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_every_joint_can_be_held(method: str) -> None:
    """Followers, couplings and geared rotors, which go by the mass matrix in both methods."""
    robot = every_joint()
    rng = np.random.default_rng(1)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    constraints = [
        kt.constraints.Contact("tool", "fixed"),
        kt.constraints.Loop("follower body", "right body"),
        kt.constraints.Contact("left body", [0, 0, 1]),
    ]
    held = Held(robot, State(q, v, v, tau), constraints)
    result = reference(kt.constraints.constrained_dynamics, robot, q, v, tau, constraints=constraints, method=method)
    close(held.J @ result[: robot.nv], -held.bias, held.scale, tolerance=1e-10)
    close(result[robot.nv :], held.forces, tolerance=1e-9)


# -- closed forms


def test_a_point_of_a_free_body_swings_like_a_pendulum() -> None:
    """Maximal coordinates and a contact, or one angle: θ̈ = -m g l sin θ / (I + m l²)."""
    mass, l, I = 2.0, 0.7, 0.3
    builder = kt.ModelBuilder("bob")
    builder.add_body("bob", kt.model.Inertia.from_com(mass, Vec3(0.0, 0.0, 0.0), Sym3(I, I, I, 0, 0, 0)))
    builder.add_frame("pivot", "bob", kt.lie.placement([0, 0, l]))
    bob = builder.build(floating_base=True)
    for theta, rate in ((0.4, 0.0), (1.3, 2.0), (-2.5, -1.0)):
        half = theta / 2
        q = np.array([-l * np.sin(theta), 0.0, -l * np.cos(theta), 0.0, np.sin(half), 0.0, np.cos(half)])
        v = np.array([-l * rate, 0.0, 0.0, 0.0, rate, 0.0])
        pivot = [kt.constraints.Contact("pivot", at=[0, 0, 0], position_gain=100.0, velocity_gain=20.0)]
        assert np.allclose(reference(kt.constraints.constraint_errors, bob, q, constraints=pivot), 0.0, atol=1e-15)
        for method in METHODS:
            result = reference(
                kt.constraints.constrained_dynamics, bob, q, v, np.zeros(6), constraints=pivot, method=method
            )
            expected = -mass * 9.81 * l * np.sin(theta) / (I + mass * l * l)
            close(result[4], expected)
            # What holds the pivot up: weight, centripetal force, and what is left to accelerate the centre of mass.
            along = np.array([-np.sin(theta), 0.0, -np.cos(theta)])
            across = np.array([-np.cos(theta), 0.0, np.sin(theta)])
            acceleration = l * (expected * across - rate**2 * along)
            close(result[6:], mass * (acceleration + np.array([0.0, 0.0, 9.81])))


def test_a_free_body_is_as_heavy_as_it_is() -> None:
    builder = kt.ModelBuilder("box")
    builder.add_body("box", kt.model.Inertia.from_com(3.0, Vec3(0, 0, 0), Sym3(0.1, 0.2, 0.25, 0, 0, 0)))
    box = builder.build(floating_base=True)
    for method in METHODS:
        inertia = reference(
            kt.constraints.operational_space_inertia, box, box.neutral(), constraints="box", method=method
        )
        close(inertia, np.diag([3.0, 3.0, 3.0, 0.1, 0.2, 0.25]))


def two_beads(length: float) -> tuple[kt.Model, Constraints]:
    """Bodies that float freely, and a rod between them."""
    builder = kt.ModelBuilder("beads", gravity=(0.0, 0.0, 0.0))
    builder.add_body("world")
    for name, mass in (("one", 1.0), ("two", 3.0)):
        builder.add_body(name, kt.solids.sphere(0.1, mass=mass))
        builder.add_joint(f"{name} joint", kt.joints.Translation(), "world", name)
    return builder.build(), [kt.constraints.Loop("one", "two", "distance", length=length)]


def test_two_beads_on_a_rod_turn_about_their_common_centre() -> None:
    """The rod pulls with the centripetal force of the reduced mass: μ ω² L."""
    beads, rod = two_beads(2.0)
    q = np.array([-1.5, 0.0, 0.0, 0.5, 0.0, 0.0])
    v = np.array([0.0, -1.5, 0.0, 0.0, 0.5, 0.0]) * 4.0  # ω = 4
    for method in METHODS:
        result = reference(
            kt.constraints.constrained_dynamics, beads, q, v, np.zeros(6), constraints=rod, method=method
        )
        close(result, [24.0, 0, 0, -8.0, 0, 0, -0.75 * 16.0 * 2.0])


@pytest.mark.parametrize("distance", [1.0, 2.0, 3.5])
def test_the_row_of_a_rod_is_the_distance_at_any_distance(distance: float) -> None:
    """Away from its length, too, the error is in metres, the force is the tension, and bias and row are its rates."""
    beads, (rod,) = two_beads(2.0)
    direction = np.array([0.6, 0.0, 0.8])
    q = np.concatenate([np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3]) + distance * direction])
    spin = np.array([0.0, 2.0, 0.0])
    v = np.concatenate([np.zeros(3), spin])
    close(reference(kt.constraints.constraint_errors, beads, q, constraints=[rod]), [distance - 2.0])
    close(reference(kt.constraints.constraint_jacobian, beads, q, constraints=[rod]), [[*-direction, *direction]])
    close(reference(kt.constraints.constraint_bias, beads, q, v, constraints=[rod]), [4.0 / distance])
    forces = reference(kt.constraints.constraint_forces, beads, q, v, np.zeros(6), constraints=[rod])
    close(forces, [-0.75 * 4.0 / distance])  # μ v² / r pulls


@pytest.mark.parametrize("place", [[0.0, 0.0, 0.0], [0.3, -0.1, 0.7]], ids=["at the origin", "elsewhere"])
@pytest.mark.parametrize("method", METHODS)
def test_a_rod_whose_ends_meet_holds_nothing(place: Sequence[float], method: str) -> None:
    """It has no direction there. Rows beside it are held as ever, and derivatives are finite."""
    beads, (rod,) = two_beads(2.0)
    both: Constraints = [rod, kt.constraints.Contact("one", [0, 0, 1])]
    q, v = np.array([*place, *place]), np.array([0.0, 1.0, 0.5, 1.0, -1.0, 0.2])
    assert reference(kt.constraints.constraint_errors, beads, q, constraints=[rod]).tolist() == [-2.0]
    assert (reference(kt.constraints.constraint_jacobian, beads, q, constraints=[rod]) == 0.0).all()
    assert reference(kt.constraints.constraint_bias, beads, q, v, constraints=[rod]).tolist() == [0.0]
    tau = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    result = reference(kt.constraints.constrained_dynamics, beads, q, v, tau, constraints=both, method=method)
    close(result, [1.0, 2.0, 0.0, 4.0 / 3.0, 5.0 / 3.0, 2.0, 0.0, -3.0])
    value, along = kt.jvp(
        beads, kt.constraints.constrained_dynamics, (q, v, tau), {"q": v}, constraints=both, method=method
    )
    close(value, result)
    assert np.isfinite(along).all()


# -- closed loops in motion


def fourbar() -> tuple[kt.Model, Constraints]:
    """Two cranks on the ground and a coupler on the first, whose end is held to the second: planar, in space."""
    builder = kt.ModelBuilder("fourbar")
    builder.add_body("ground")
    for name, parent, x, length in (("crank", "ground", 0.0, 0.3), ("rocker", "ground", 0.8, 0.6)):
        centre = kt.lie.placement([0, 0, length / 2])
        builder.add_body(name, kt.solids.box(0.04, 0.04, length, mass=length, placement=centre))
        builder.add_joint(f"{name} joint", kt.Revolute([0, 1, 0]), parent, name, kt.lie.placement([x, 0, 0]))
        builder.add_frame(f"{name} end", name, kt.lie.placement([0, 0, length]))
    centre = kt.lie.placement([0, 0, 0.45])
    builder.add_body("coupler", kt.solids.box(0.04, 0.04, 0.9, mass=0.9, placement=centre))
    builder.add_joint("coupler joint", kt.Revolute([0, 1, 0]), "crank", "coupler", kt.lie.placement([0, 0, 0.3]))
    builder.add_frame("coupler end", "coupler", kt.lie.placement([0, 0, 0.9]))
    return builder.build(), [kt.constraints.Loop("coupler end", "rocker end", position_gain=400.0, velocity_gain=40.0)]


def assembled(robot: kt.Model, loops: Constraints, q: Array) -> Array:
    """Newton's method on the errors."""
    for _ in range(20):
        J = reference(kt.constraints.constraint_jacobian, robot, q, constraints=loops)
        q = robot.integrate(
            q, -np.linalg.pinv(J) @ reference(kt.constraints.constraint_errors, robot, q, constraints=loops)
        )
    return q


def simulated(robot: kt.Model, constraints: Constraints, q: Array, v: Array, dt: float, steps: int) -> Any:
    """Runge and Kutta's method, q of plain coordinates."""
    f = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=constraints)
    zero, n = np.zeros(robot.nv), robot.nv
    nothing = np.zeros(sum(constraint.size for constraint in constraints))

    def rates(x: Array) -> Array:
        return np.concatenate([x[n:], f(x[:n], x[n:], zero, nothing)[:n]])

    x = np.concatenate([q, v])
    path = [x]
    for _ in range(steps):
        a = rates(x)
        b = rates(x + 0.5 * dt * a)
        c = rates(x + 0.5 * dt * b)
        d = rates(x + dt * c)
        x = x + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        path.append(x)
    return np.array(path)


def energies(robot: kt.Model, path: Array) -> Array:
    q, v = path[:, : robot.nq], path[:, robot.nq :]
    return kt.kinetic_energy(robot, q, v) + kt.potential_energy(robot, q)


def test_a_fourbar_keeps_its_energy_and_stays_closed() -> None:
    """One row of the loop is out of the plane, which nothing can leave: it is redundant from the start."""
    robot, loops = fourbar()
    q = assembled(robot, loops, np.array([0.3, 0.2, 1.0]))
    assert np.abs(reference(kt.constraints.constraint_errors, robot, q, constraints=loops)).max() < 1e-14
    J = reference(kt.constraints.constraint_jacobian, robot, q, constraints=loops)
    assert np.linalg.matrix_rank(J, tol=1e-9) == 2
    v = np.linalg.svd(J)[2][-1] * 4.0
    path = simulated(robot, loops, q, v, 1e-3, 1000)
    energy = energies(robot, path)
    assert np.ptp(path[:, 0]) > 1.0  # it moves
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()
    assert np.abs(kt.constraints.constraint_errors(robot, path[:, :3], loops)).max() < 1e-9


def test_beads_on_a_rod_keep_energy_momentum_and_distance() -> None:
    beads, (rod,) = two_beads(2.0)
    assert isinstance(rod, kt.constraints.Loop)
    held: Constraints = [
        kt.constraints.Loop("one", "two", "distance", length=2.0, position_gain=100.0, velocity_gain=20.0)
    ]
    q, v = np.array([-1.5, 0.0, 0.0, 0.5, 0.0, 0.0]), np.array([0.0, -1.0, 0.5, 0.0, 0.7, 0.2])
    path = simulated(beads, held, q, v, 1e-3, 1000)
    energy = kt.kinetic_energy(beads, path[:, :6], path[:, 6:])
    assert np.ptp(energy) < 1e-9 * energy[0]
    momentum = path[:, 6:9] * 1.0 + path[:, 9:12] * 3.0
    assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert np.abs(kt.constraints.constraint_errors(beads, path[:, :6], held)).max() < 1e-9


def test_errors_die_out_as_their_gains_say() -> None:
    """With gains 4 β² and 4 β from rest at a distance: an error falls as (1 + 2 β t) exp(-2 β t)."""
    beads, _ = two_beads(2.0)
    held: Constraints = [kt.constraints.Contact("one", at=[0.0, 0.0, 0.0], position_gain=100.0, velocity_gain=20.0)]
    q = np.array([0.2, -0.1, 0.3, 5.0, 0.0, 0.0])
    path = simulated(beads, held, q, np.zeros(6), 1e-3, 500)
    t = np.arange(501) * 1e-3
    factor = (1.0 + 10.0 * t) * np.exp(-10.0 * t)
    close(path[:, :3], factor[:, None] * q[:3], tolerance=1e-8)


# -- bad places


def _stretched() -> tuple[kt.Model, Sequence[float]]:
    return kt.zoo.load("double_pendulum"), (0.3, 0.0)


@pytest.mark.parametrize("bend", [0.0, 1e-12, 1e-9, 1e-7])
@pytest.mark.parametrize("method", METHODS)
def test_a_stretched_arm_is_answered(bend: float, method: str) -> None:
    """Along itself the arm cannot move, to `tolerance`: that row is left out, and forces stay of ordinary size."""
    robot, (shoulder, _) = _stretched()
    q, zero, tau = np.array([shoulder, bend]), np.zeros(2), np.ones(2)
    exactly = reference(
        kt.constraints.constrained_dynamics,
        robot,
        [shoulder, 0.0],
        zero,
        tau,
        constraints=[kt.constraints.Contact("tip")],
    )
    result = reference(
        kt.constraints.constrained_dynamics,
        robot,
        q,
        zero,
        tau,
        constraints=[kt.constraints.Contact("tip")],
        method=method,
    )
    close(result, exactly, tolerance=1e-5)
    assert np.abs(result).max() < 20.0


@pytest.mark.parametrize("constraints", [
    pytest.param([kt.constraints.Contact("base")], id="a point of the root"),
    pytest.param([kt.constraints.Contact("base", "fixed"), kt.constraints.Loop("base", "upper_rod")],
        id="points on the axis"),
    pytest.param([kt.constraints.Contact("tip", [0, 1, 0])], id="across the plane"),
])  # fmt: skip
def test_what_cannot_move_takes_no_force(constraints: Constraints) -> None:
    robot = kt.zoo.load("double_pendulum")
    rng = np.random.default_rng(3)
    q, v, tau = robot.random(rng), rng.normal(size=2), rng.normal(size=2)
    for method in METHODS:
        result = reference(
            kt.constraints.constrained_dynamics, robot, q, v, tau, constraints=constraints, method=method
        )
        close(result[:2], reference(kt.aba, robot, q, v, tau), tolerance=1e-12)
        assert (result[2:] == 0.0).all()
        assert (
            reference(kt.constraints.operational_space_inertia, robot, q, constraints=constraints, method=method) == 0.0
        ).all()


def test_a_distance_that_no_joint_changes_takes_no_force() -> None:
    """A point that moves on a sphere, and the sphere's centre: what the row sees is what rounding leaves."""
    builder = kt.ModelBuilder("globe")
    for name in ("base", "ball"):
        builder.add_body(name, kt.solids.box(0.3, 0.2, 0.1, mass=1.0))
    builder.add_joint("sphere", kt.joints.Ellipsoid([0.2, 0.2, 0.2]), "base", "ball")
    globe = builder.build(floating_base=True)
    rng = np.random.default_rng(0)
    for a, b in (("ball", "base"), ("base", "ball")):
        rod: Constraints = [kt.constraints.Loop(a, b, "distance", length=0.2)]
        for _ in range(5):
            q, v, tau = globe.random(rng), rng.normal(size=9), rng.normal(size=9)
            for method in METHODS:
                result = reference(
                    kt.constraints.constrained_dynamics, globe, q, v, tau, constraints=rod, method=method
                )
                close(result, [*reference(kt.aba, globe, q, v, tau), 0.0], tolerance=1e-12)


def test_rows_that_contradict_each_other_are_met_halfway() -> None:
    """Two places for one frame: the frame is drawn to the middle."""
    robot = kt.zoo.load("double_pendulum")
    q = np.array([0.3, 0.9])
    apart = [kt.constraints.Contact("tip", at=[x, 0.0, -1.0], position_gain=10.0) for x in (0.2, 0.6)]
    middle = [kt.constraints.Contact("tip", at=[0.4, 0.0, -1.0], position_gain=10.0)]
    a, b = (
        reference(kt.constraints.constrained_dynamics, robot, q, [0.0, 0.0], [0.0, 0.0], constraints=c)[:2]
        for c in (apart, middle)
    )
    close(a, b, tolerance=1e-11)


def test_a_wanted_acceleration_is_what_the_rows_get_and_places_can_be_held_by_it() -> None:
    """A foothold that is given with each call: the gains' part is put into `acceleration` by hand."""
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(3)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    foot = next(name for name in robot.frames if name.endswith("foot"))
    at = np.array([0.3, -0.2, 0.1])
    held = kt.constraints.Contact(foot, at=at, position_gain=100.0, velocity_gain=20.0)
    expected = kt.constraints.constrained_dynamics(robot, q, v, tau, held)

    free = kt.constraints.Contact(foot)
    off = kt.frame_placement(robot, q, foot)[:3, 3] - at
    speed = kt.constraints.constraint_jacobian(robot, q, free) @ v
    found = kt.constraints.constrained_dynamics(robot, q, v, tau, free, acceleration=-100.0 * off - 20.0 * speed)
    close(found.qdd, expected.qdd, tolerance=1e-10)
    close(found.forces, expected.forces, tolerance=1e-10)
