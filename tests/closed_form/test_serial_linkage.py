"""Serial linkages as the slides have them, in frames at the links' centres of mass, and bodies held at distances.

Source: Parent's slides on the dynamics of linked hierarchies, after Mirtich, *Impulse-based Dynamic Simulation of Rigid
Body Systems* (1996), chapter 4. Their spatial vectors are [angular; linear] for motions and [force; torque] for forces,
all about centres of mass; names below are theirs, with I_A and Z_A for Î^A and Ẑ^A. It shares no line with kinetree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import Inertia, Mat3, Sym3, Vec3
from tests.laws.reference import reference

Array = NDArray[Any]


def skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def turn(axis: Array, angle: float) -> Array:
    """The rotation matrix by Rodrigues' formula."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def random_rotation(rng: np.random.Generator) -> Array:
    axis = rng.normal(size=3)
    return turn(axis / np.linalg.norm(axis), rng.uniform(-3.0, 3.0))


def spatial_transpose(x: Array) -> Array:
    """x' = [bᵀ aᵀ] for x = [a; b]."""
    return np.concatenate([x[3:], x[:3]])


# -- a linkage, given joint by joint


@dataclass
class Link:
    """What the slides call link i, and its inboard joint."""

    revolute: bool
    mass: float
    moments: Array
    """Principal, along the axes of F_i."""
    axis: Array
    """u_i, in F_i."""
    arm: Array
    """d_i at q = 0: from a point of the joint's axis to the origin of F_i, in F_i."""
    at: Array
    """That point, from the origin of F_{i-1}, in F_{i-1}."""
    rest: Array
    """The rotation from F_{i-1} to F_i at q = 0."""
    force: Array = field(default_factory=lambda: np.zeros(6))
    """[f; τ] from outside, at the centre of mass and in F_i."""


def random_linkage(rng: np.random.Generator, count: int) -> list[Link]:
    links = []
    for _ in range(count):
        axis = rng.normal(size=3)
        a, b, c = rng.uniform(0.01, 0.2, size=3)
        links.append(
            Link(
                revolute=bool(rng.random() < 0.6),
                mass=float(rng.uniform(0.5, 3.0)),
                moments=np.array([b + c, a + c, a + b]),
                axis=axis / np.linalg.norm(axis),
                arm=rng.uniform(-0.5, 0.5, size=3),
                at=rng.uniform(-0.5, 0.5, size=3),
                rest=random_rotation(rng),
                force=rng.normal(size=6),
            )
        )
    return links


def robot_of(links: list[Link], gravity: Array) -> kt.Model:
    """The same linkage: each body's frame at its joint, with the axes of F_i at q = 0."""
    builder = kt.ModelBuilder("linkage", gravity=tuple(gravity))
    builder.add_body("link 0")
    for i, link in enumerate(links, 1):
        moments = Sym3(*link.moments, 0.0, 0.0, 0.0)
        builder.add_body(f"link {i}", Inertia.from_com(link.mass, Vec3(*link.arm), moments))
        kind = kt.Revolute(link.axis) if link.revolute else kt.Prismatic(link.axis)
        before = links[i - 2].arm if i > 1 else np.zeros(3)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = link.rest.T, before + link.at
        builder.add_joint(f"joint {i}", kind, f"link {i - 1}", f"link {i}", placement_of(T))
        builder.add_frame(f"F {i}", f"link {i}", kt.lie.placement(link.arm))
    return builder.build()


def placement_of(T: Array) -> kt.Transform:
    rows = [Vec3(*row) for row in T[:3, :3].T]
    return kt.Transform(Mat3(*rows), Vec3(*T[:3, 3]))


# -- the slides' procedures


class Linkage:
    """The state of a linkage, and what the slides compute from it."""

    def __init__(self, links: list[Link], q: Array, qd: Array, gravity: Array) -> None:
        self.links, self.qd = links, qd
        self.R, self.r, self.d, self.g = [], [], [], []
        down = gravity
        for link, q_i in zip(links, q, strict=True):
            # R from F_{i-1} to F_i; r from the one origin to the other, in F_i; d is fixed in the link that turns.
            R = turn(link.axis, q_i).T @ link.rest if link.revolute else link.rest
            d = link.arm if link.revolute else link.arm + q_i * link.axis
            self.R.append(R)
            self.d.append(d)
            self.r.append(R @ link.at + d)
            down = R @ down
            self.g.append(down)

    def compute_serial_link_velocities(self) -> None:
        w, v = np.zeros(3), np.zeros(3)
        self.w, self.v = [w], [v]
        for i, link in enumerate(self.links):
            w = self.R[i] @ self.w[i]
            v = self.R[i] @ self.v[i] + np.cross(w, self.r[i])
            if link.revolute:
                w = w + self.qd[i] * link.axis
                v = v + self.qd[i] * np.cross(link.axis, self.d[i])
            else:
                v = v + self.qd[i] * link.axis
            self.w.append(w)
            self.v.append(v)

    def init_serial_links(self) -> None:
        self.Z_A, self.I_A, self.c, self.s, self.X = [], [], [], [], []
        for i, link in enumerate(self.links):
            w, w_before = self.w[i + 1], self.R[i] @ self.w[i]
            inertia = np.diag(link.moments)
            weight_and_spin = np.concatenate([-link.mass * self.g[i], np.cross(w, inertia @ w)])
            self.Z_A.append(weight_and_spin - link.force)
            zero = np.zeros((3, 3))
            self.I_A.append(np.block([[zero, link.mass * np.eye(3)], [inertia, zero]]))
            rate = self.qd[i] * link.axis  # υ
            around = np.cross(w_before, np.cross(w_before, self.r[i]))
            if link.revolute:
                turned = np.cross(rate, self.d[i])
                self.c.append(
                    np.concatenate(
                        [np.cross(w_before, rate), around + 2.0 * np.cross(w_before, turned) + np.cross(rate, turned)]
                    )
                )
                self.s.append(np.concatenate([link.axis, np.cross(link.axis, self.d[i])]))
            else:
                self.c.append(np.concatenate([np.zeros(3), around + 2.0 * np.cross(w_before, rate)]))
                self.s.append(np.concatenate([np.zeros(3), link.axis]))
            self.X.append(spatial_transform(self.R[i], self.r[i]))

    def serial_forward_dynamics(self, Q: Array) -> Array:
        self.compute_serial_link_velocities()
        self.init_serial_links()
        n = len(self.links)
        I_A, Z_A, c, s = list(self.I_A), list(self.Z_A), self.c, self.s
        for i in range(n - 1, 0, -1):
            back = spatial_transform(self.R[i].T, -self.R[i].T @ self.r[i])
            s_t = spatial_transpose(s[i])
            size = s_t @ I_A[i] @ s[i]
            I_A[i - 1] = I_A[i - 1] + back @ (I_A[i] - np.outer(I_A[i] @ s[i], s_t @ I_A[i]) / size) @ self.X[i]
            left = Q[i] - s_t @ (Z_A[i] + I_A[i] @ c[i])
            Z_A[i - 1] = Z_A[i - 1] + back @ (Z_A[i] + I_A[i] @ c[i] + I_A[i] @ s[i] * left / size)
        a = np.zeros(6)
        self.a, qdd = [], np.zeros(n)
        for i in range(n):
            s_t = spatial_transpose(s[i])
            moved = self.X[i] @ a
            left = Q[i] - s_t @ I_A[i] @ moved - s_t @ (Z_A[i] + I_A[i] @ c[i])
            qdd[i] = left / (s_t @ I_A[i] @ s[i])
            a = moved + c[i] + qdd[i] * s[i]
            self.a.append(a)
        return qdd


def spatial_transform(R: Array, r: Array) -> Array:
    """ᴳX_F = [R 0; -r̃R R], r from F to G in the axes of G."""
    return np.block([[R, np.zeros((3, 3))], [-skew(r) @ R, R]])


CASES = [(seed, 1 + seed % 7) for seed in range(24)]


@pytest.mark.parametrize(("seed", "count"), CASES)
def test_forward_dynamics_of_the_slides_is_aba(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    links, gravity = random_linkage(rng, count), rng.normal(size=3) * 5.0
    q, qd, Q = rng.normal(size=(3, count))
    robot = robot_of(links, gravity)
    linkage = Linkage(links, q, qd, gravity)
    qdd = linkage.serial_forward_dynamics(Q)
    f_ext = {f"F {i}": link.force for i, link in enumerate(links, 1)}

    found = reference(kt.aba, robot, q, qd, Q, f_ext=f_ext)
    np.testing.assert_allclose(found, qdd, rtol=0.0, atol=1e-9 * max(1.0, float(np.abs(qdd).max())))
    for i in range(1, count + 1):
        place = {"frame": f"F {i}", "expressed_in": "local"}
        twist = reference(kt.kinematics.frame_velocity, robot, q, qd, **place)
        np.testing.assert_allclose(twist, [*linkage.v[i], *linkage.w[i]], atol=1e-11)
        # The slides' a_i is that of the centre of mass itself: the classical one.
        a = reference(kt.kinematics.frame_acceleration, robot, q, qd, qdd, kind="classical", **place)
        expected = linkage.a[i - 1][[3, 4, 5, 0, 1, 2]]
        np.testing.assert_allclose(a, expected, atol=1e-9 * max(1.0, float(np.abs(expected).max())))


# -- bodies at constant distances


def string_of_beads(masses: Array, lengths: Array) -> kt.Model:
    """Point masses, each at the end of a massless rod on the one before, in the plane y = 0; q = 0 hangs."""
    builder = kt.ModelBuilder("beads")
    builder.add_body("bead 0")
    for k, (mass, length) in enumerate(zip(masses, lengths, strict=True), 1):
        builder.add_body(f"bead {k}", Inertia.from_com(mass, Vec3(0.0, 0.0, -length), Sym3.zero()))
        before = [0.0, 0.0, 0.0 if k == 1 else -lengths[k - 2]]
        builder.add_joint(f"pin {k}", kt.Revolute([0, 1, 0]), f"bead {k - 1}", f"bead {k}", kt.lie.placement(before))
        builder.add_frame(f"tip {k}", f"bead {k}", kt.lie.placement([0.0, 0.0, -length]))
    return builder.build()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_points_held_at_distances_accelerate_as_the_beads_of_a_string(seed: int) -> None:
    """m ẍ = f + Σ λ ∂φ/∂x with φ = |x_k - x_{k-1}|² - l², differentiated twice: no joint coordinates at all."""
    rng = np.random.default_rng(seed)
    n = 4
    masses, lengths = rng.uniform(0.5, 2.0, size=(2, n))
    robot = string_of_beads(masses, lengths)
    q, qd = rng.normal(size=(2, n))
    pushes = rng.normal(size=(n, 3)) * [1.0, 0.0, 1.0]
    tips = [f"tip {k}" for k in range(1, n + 1)]
    x = np.array([reference(kt.frame_placement, robot, q, frame=tip)[:3, 3] for tip in tips])
    xd = np.array(
        [
            reference(kt.kinematics.frame_velocity, robot, q, qd, frame=tip, expressed_in="local_world_aligned")[:3]
            for tip in tips
        ]
    )

    forces = pushes + masses[:, None] * np.array([0.0, 0.0, -9.81])
    G, bias = np.zeros((n, 3 * n)), np.zeros(n)  # φ̈ / 2 = G ẍ + bias
    for k in range(n):
        span, rate = (x[k], xd[k]) if k == 0 else (x[k] - x[k - 1], xd[k] - xd[k - 1])
        G[k, 3 * k : 3 * k + 3] = span
        if k:
            G[k, 3 * k - 3 : 3 * k] = -span
        bias[k] = rate @ rate
    light = 1.0 / np.repeat(masses, 3)
    multipliers = np.linalg.solve(G * light @ G.T, -bias - G @ (light * forces.ravel()))
    xdd = (light * (forces.ravel() + G.T @ multipliers)).reshape(n, 3)

    f_ext = {}
    for tip, push in zip(tips, pushes, strict=True):
        R = reference(kt.frame_placement, robot, q, frame=tip)[:3, :3]
        f_ext[tip] = np.concatenate([R.T @ push, np.zeros(3)])
    qdd = reference(kt.aba, robot, q, qd, np.zeros(n), f_ext=f_ext)
    for k, tip in enumerate(tips):
        place = {"frame": tip, "expressed_in": "local_world_aligned", "kind": "classical"}
        a = reference(kt.kinematics.frame_acceleration, robot, q, qd, qdd, **place)[:3]
        np.testing.assert_allclose(a, xdd[k], rtol=0.0, atol=1e-9 * max(1.0, float(np.abs(xdd).max())))


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_moving_one_bead_and_repositioning_the_others_from_near_to_far_is_a_motion_of_the_string() -> None:
    """The one that is pulled goes where it is pulled to; each next one follows along the line to its neighbour."""
    rng = np.random.default_rng(1)
    lengths = rng.uniform(0.5, 2.0, size=5)
    robot = string_of_beads(np.ones(5), lengths)
    q = rng.normal(size=5)
    tips = [f"tip {k}" for k in range(1, 6)]
    points = [np.zeros(3), *(reference(kt.frame_placement, robot, q, frame=tip)[:3, 3] for tip in tips)]
    pulled = 5
    points[pulled] = points[pulled] + np.array([0.3, 0.0, 0.2])
    for k in range(pulled - 1, -1, -1):
        toward = points[k] - points[k + 1]
        points[k] = points[k + 1] + lengths[k] * toward / np.linalg.norm(toward)

    spans = np.diff(np.array(points), axis=0)
    np.testing.assert_allclose(np.linalg.norm(spans, axis=1), lengths, rtol=1e-14)
    angles = np.arctan2(-spans[:, 0], -spans[:, 2])  # of each rod against the vertical
    moved = np.diff(angles, prepend=0.0)
    for k, tip in enumerate(tips, 1):
        found = reference(kt.frame_placement, robot, moved, frame=tip)[:3, 3]
        np.testing.assert_allclose(found, points[k] - points[0], atol=1e-13)
    assert np.linalg.norm(points[0]) > 1e-3
