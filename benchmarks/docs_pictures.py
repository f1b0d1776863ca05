"""Every picture and film of docs/pictures, except sheets of robot files (contact_sheets.py).

    python benchmarks/docs_pictures.py [NAME ...] [--runs FOLDER] [--large] [--list]

Each picture is a function here, named like its file. A still has at most 40 kB, a film of a few seconds at most 250 kB,
which is checked when it is written, so that a checkout stays small. `--large` writes the films at three times the size
as .mp4 into docs/pictures/large/, which is not part of the repository. Films of trained policies need their runs:

    kinetree train quadruped --out runs/quadruped    # and so on; RUNS below lists the settings
    python benchmarks/docs_pictures.py --runs runs trained_quadruped

Films of examples run the scripts in examples/ and show their motions.
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import runpy
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stdout
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.model import Geometry
from kinetree.records import record
from sketches import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    RED,
    Picture,
    Sketch,
    frames_of,
    panels,
    pose,
    save_film,
    save_still,
)

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
LARGE = FOLDER / "large"
MOST = {"still": 40_000, "film": 250_000}
"""Bytes of a picture in the repository."""


@record(frozen=True, slots=True)
class Made:
    """A picture, and the function that writes it at a number of times its size."""

    kind: str
    make: Callable[[Path, int], None]


PICTURES: dict[str, Made] = {}


def still(make: Callable[[Path, int], None]) -> Callable[[Path, int], None]:
    """Register a function that writes a still picture of its own name."""
    PICTURES[make.__name__] = Made("still", make)
    return make


def film(make: Callable[[Path, int], None]) -> Callable[[Path, int], None]:
    """Register a function that writes a film of its own name."""
    PICTURES[make.__name__] = Made("film", make)
    return make


def times(scale: int, size: tuple[int, int]) -> tuple[int, int]:
    return scale * size[0], scale * size[1]


# Joints

TILE = (126, 112)
SIDE = (-1.0, 0.75, -0.55)
"""The direction in which joints are seen."""
SECONDS, FPS = 3.6, 10


class Cam(kt.joints.JointKind):
    """The joint of docs/joints.md: an angle about z; the height is `rise` times its sine."""

    nq = nv = 1

    def __init__(self, rise: float) -> None:
        self.rise = rise

    def calc(self, q: Any, v: Any) -> Any:
        from kinetree.expr import cos, sin
        from kinetree.spatial import Mat3, Motion, Subspace, Transform, Vec3

        s, c, z = sin(q[0]), cos(q[0]), Vec3(0.0, 0.0, 1.0)
        S = Subspace((Motion(z, z * (self.rise * c)),))
        c_J = Motion(Vec3.zero(), z * (-self.rise * s * v[0] * v[0]))
        X_J = Transform(Mat3(Vec3(c, s, 0.0), Vec3(-s, c, 0.0), z), z * (self.rise * s))
        return kt.joints.JointMotion(X_J, S, S @ v, c_J)


Z, Y, X = [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]
J = kt.joints
KINDS: dict[str, tuple[Any, Sequence[float]]] = {
    "Revolute": (kt.Revolute(Z), [0.9]),
    "Continuous": (J.Continuous(Z), [2.0 * np.pi]),
    "Prismatic": (kt.Prismatic(Z), [0.14]),
    "Helical": (J.Helical(Z, 0.06), [2.2]),
    "Screw": (J.Screw(angular=[0.0, 0.0, 1.0], linear=[0.0, 0.22, 0.05]), [1.2]),
    "Cylindrical": (J.Cylindrical(Z), [0.9, 0.14]),
    "Universal": (J.Universal(X, Y), [0.6, 0.6]),
    "Planar": (J.Planar(Z), [0.14, 0.14, 0.9]),
    "Translation": (J.Translation(), [0.13, 0.13, 0.13]),
    "Spherical": (J.Spherical(), [0.7, 0.7, 0.9]),
    "Euler('ZYX')": (J.Euler("ZYX"), [0.9, 0.7, 0.7]),
    "ExponentialMap": (J.ExponentialMap(), [0.7, 0.7, 0.9]),
    "Free": (J.Free(), [0.12, 0.12, 0.1, 0.6, 0.6, 0.8]),
    "FloatingBase": (J.FloatingBase(), [0.12, 0.12, 0.1, 0.6, 0.6, 0.8]),
    "FreeRPY": (J.FreeRPY(), [0.12, 0.12, 0.1, 0.6, 0.6, 0.8]),
    "Ellipsoid": (J.Ellipsoid([0.15, 0.11, 0.14]), [0.6, 0.6, 0.9]),
    "MultiDof": (J.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]]), [0.15, 0.9]),
    "Composite": (J.Composite([kt.Revolute(Z), kt.Prismatic(X)]), [0.9, 0.14]),
    "Placed": (J.Placed(kt.Revolute(Z), kt.lie.placement((0.0, 0.16, 0.0))), [0.8]),
    "Reversed": (J.Reversed(J.Planar(Z)), [0.14, 0.14, 0.9]),
    "Fixed": (kt.Fixed(), []),
    "one of your own": (Cam(0.12), [2.0 * np.pi]),
}
"""Kinds of joint, and how far each degree of freedom moves, rad or m."""


@cache
def jointed(name: str) -> kt.Model:
    builder = kt.ModelBuilder("joint")
    builder.add_body("fixed side")
    builder.add_body("moving side", kt.solids.box(0.2, 0.2, 0.1, mass=1.0))
    builder.add_joint("joint", KINDS[name][0], "fixed side", "moving side")
    return builder.build()


def displacement(name: str, s: float) -> np.ndarray[Any, Any]:
    """The displacement (nv,) at a moment s from 0 to 1: one degree of freedom after the other moves there and back."""
    ways = np.array(KINDS[name][1], dtype=np.float64)
    d = np.zeros(len(ways))
    if not len(ways):
        return d
    k = min(int(s * len(ways)), len(ways) - 1)
    u = s * len(ways) - k
    d[k] = ways[k] * (u if ways[k] > 6.0 else np.sin(2.0 * np.pi * u))
    return d


def joint_tile(name: str, s: float, size: tuple[int, int]) -> Picture:
    robot = jointed(name)
    q = robot.integrate(robot.neutral(), displacement(name, s)) if robot.nv else robot.neutral()
    M = np.asarray(kt.frame_placement(robot, q, "moving side"))
    sketch = Sketch().shape("cylinder", (0.3, 0.03), pose((0.0, 0.0, -0.32)), (150, 156, 166))
    if name == "Ellipsoid":
        sketch.shape("ellipsoid", (0.15, 0.11, 0.14), None, GREY, opacity=0.35)
    sketch.frame(pose((0.0, 0.0, -0.3)), 0.3, thickness=0.009, words=())
    moving = M if name != "Ellipsoid" else M @ pose((0.0, 0.0, 0.04))
    sketch.shape("box", (0.22, 0.22, 0.08), moving, ORANGE, opacity=1.0)
    sketch.frame(moving, 0.27, thickness=0.012, words=())
    camera = Sketch().room([[-0.25, -0.25, -0.36], [0.25, 0.25, 0.36]]).camera(size, SIDE, 0.01)
    return sketch.draw(size, camera=camera, floor=False)


def joint_film(path: Path, scale: int, names: Sequence[str], columns: int) -> None:
    frames = []
    for s in np.arange(round(SECONDS * FPS)) / (SECONDS * FPS):
        tiles = [joint_tile(name, float(s), times(scale, TILE)) for name in names]
        frames.append(panels(tiles, columns, names, 11.0 * scale))
    save_film(path, frames, FPS, quality=60)


@film
def joints_one_freedom(path: Path, scale: int) -> None:
    joint_film(path, scale, ["Revolute", "Continuous", "Prismatic", "Helical", "Screw", "Cylindrical", "Universal",
                             "Planar"], 4)  # fmt: skip


@film
def joints_rotations(path: Path, scale: int) -> None:
    joint_film(path, scale, ["Translation", "Spherical", "Euler('ZYX')", "ExponentialMap", "Free", "FloatingBase",
                             "FreeRPY", "Ellipsoid"], 4)  # fmt: skip


@film
def joints_made_of_others(path: Path, scale: int) -> None:
    joint_film(path, scale, ["MultiDof", "Composite", "Placed", "Reversed", "Fixed", "one of your own"], 3)


# Frames, vectors and attitudes

BENT = np.array([0.3, 0.4, 0.9, 0.4, 0.7, 0.3])
"""An arm6 that reaches forward."""
LOOK = (-0.75, 1.0, -0.7)
"""The direction in which attitudes are seen."""
STANDING = np.tile([0.0, 0.75, -1.5], 4)


def dog(position: Sequence[float] = (0.0, 0.0, 0.0), rpy: Sequence[float] = (0.0, 0.0, 0.0)) -> tuple[kt.Model, Any]:
    """The quadruped of the zoo, standing, its trunk at a place."""
    robot = kt.zoo.load("quadruped")
    q = robot.neutral()
    q[7:] = STANDING
    M = pose(position, rpy)
    q[:3] = M[:3, 3]
    q[3:7] = kt.lie.convert(M[:3, :3], "matrix", "quaternion")
    return robot, q


@still
def conventions_frames(path: Path, scale: int) -> None:
    robot = kt.zoo.load("arm6")
    tool = np.asarray(kt.frame_placement(robot, BENT, "tool"))
    sketch = Sketch().robot(robot, BENT).frame(np.eye(4), 0.34)
    sketch.frame(tool, 0.24)
    aligned = np.eye(4)
    aligned[:3, 3] = tool[:3, 3]
    sketch.frame(aligned, 0.34, words=(), thickness=0.006)
    sketch.word('"world"', [0.0, 0.0, 0.0], beside=(-3.6, 0.6))
    sketch.word('"local": the tool\'s axes', tool[:3, 3] + 0.24 * tool[:3, 2], beside=(-1.0, 1.6))
    sketch.word('"local_world_aligned": thin', tool[:3, 3] + [0.0, 0.0, 0.34], beside=(0.0, -1.2))
    save_still(path, sketch.draw(times(scale, (620, 430)), direction=(-0.5, 1.0, -0.45), margin=0.1,
                                 letters=16 * scale))  # fmt: skip


@still
def conventions_rpy(path: Path, scale: int) -> None:
    size = times(scale, (220, 180))
    tiles = []
    for axis, rpy in enumerate(0.6 * np.eye(3)):
        robot, q = dog(rpy=rpy)
        _, level = dog()
        sketch = Sketch().robot(robot, q).robot(robot, level, opacity=0.22).frame(np.eye(4), 0.4, thickness=0.01)
        start = 0.33 * np.eye(3)[(axis + 1) % 3]
        sketch.turn((0.0, 0.0, 0.0), np.eye(3)[axis], start, 1.2, INK, thickness=0.01)
        sketch.room([[-0.25, -0.2, -0.25], [0.38, 0.38, 0.38]])
        tiles.append(sketch.draw(size, direction=(-1.0, 0.9, -0.6), floor=False, margin=0.0, letters=14 * scale))
    words = ["roll > 0, about x", "pitch > 0, about y", "yaw > 0, about z"]
    save_still(path, panels(tiles, 3, words, 13 * scale))


@still
def conventions_twist(path: Path, scale: int) -> None:
    size = times(scale, (264, 220))
    tiles = []
    for colors, words in (((BLUE, BLUE), ("v", "ω")), ((RED, RED), ("f", "n"))):
        body = pose((0.0, 0.0, 0.0), (0.2, -0.1, 0.5))
        sketch = Sketch().shape("box", (0.5, 0.3, 0.2), body @ pose((0.12, 0.0, 0.0)), ORANGE, opacity=0.55)
        sketch.frame(body, 0.28)
        straight = body[:3, :3] @ [0.45, 0.25, 0.15]
        about = body[:3, :3] @ np.array([-0.1, -0.25, 0.5])
        sketch.arrow([0, 0, 0], straight, colors[0], thickness=0.013, word=words[0])
        sketch.arrow([0, 0, 0], about, colors[1], thickness=0.008)
        unit = about / np.linalg.norm(about)
        across = np.cross(unit, [1.0, 0.0, 0.0])
        sketch.turn(0.75 * about, about, 0.11 * across / np.linalg.norm(across), 5.2, colors[1], thickness=0.011)
        sketch.word(words[1], 1.12 * about, colors[1])
        tiles.append(sketch.draw(size, direction=(-0.9, 0.8, -0.5), floor=False, margin=0.1, letters=16 * scale))
    words = ["twist [v; ω]: linear part first", "wrench [f; n]: force first"]
    save_still(path, panels(tiles, 2, words, 13 * scale))


@still
def attitudes_angles(path: Path, scale: int) -> None:
    size = times(scale, (190, 170))
    angles = [0.7, 0.5, 0.6]
    R = np.eye(3)
    tiles = []
    for axis, angle, word in zip((2, 1, 0), angles, ("q1", "q2", "q3"), strict=True):
        turn = np.eye(3)[axis] * angle
        after = R @ kt.lie.rotation_exp(turn)
        sketch = attitude(after, R)
        start = 0.36 * R[:, (axis + 1) % 3]
        sketch.turn([0, 0, 0], R[:, axis], start, angle, INK, thickness=0.01)
        sketch.word(word, kt.lie.rotation_exp(0.5 * angle * R[:, axis]) @ start * 1.3, INK)
        tiles.append(sketch.draw(size, direction=LOOK, floor=False, margin=0.0, letters=14 * scale))
        R = after
    axis_angle = kt.lie.rotation_log(R)
    angle = float(np.linalg.norm(axis_angle))
    axis = axis_angle / angle
    sketch = attitude(R, np.eye(3)).arrow([0, 0, 0], 0.52 * axis, PURPLE, thickness=0.013, word="a")
    across = np.cross(axis, [0.0, 0.0, 1.0])
    sketch.turn(0.36 * axis, axis, 0.13 * across / np.linalg.norm(across), angle, PURPLE, thickness=0.01, word="θ",
                beside=(-0.9, 0.9))  # fmt: skip
    tiles.append(sketch.draw(size, direction=LOOK, floor=False, margin=0.0, letters=14 * scale))
    words = ["ZYX: q1 about z,", "q2 about the new y,", "q3 about the new x", "x y z = a sin ½θ, w = cos ½θ"]
    save_still(path, panels(tiles, 4, words, 12 * scale))


def attitude(R: Any, before: Any) -> Sketch:
    """A block at an attitude with its axes, and the axes before it, thin."""
    after, start = np.eye(4), np.eye(4)
    after[:3, :3], start[:3, :3] = R, before
    sketch = Sketch().shape("box", (0.36, 0.22, 0.09), after, ORANGE)
    sketch.frame(start, 0.4, thickness=0.004, words=(), opacity=0.4).frame(after, 0.42, thickness=0.011)
    return sketch.room([[-0.15, -0.15, -0.2], [0.42, 0.42, 0.42]])


@still
def spatial_twist(path: Path, scale: int) -> None:
    """A screw motion: the velocities of points of a body about the axis and along it."""
    axis, point = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    sketch = Sketch().shape("cylinder", (0.012, 1.3), pose((0.0, 0.0, 0.0)), PURPLE)
    body = pose((0.45, 0.0, 0.0), (0.3, 0.2, 0.4))
    sketch.shape("box", (0.5, 0.35, 0.25), body, ORANGE, opacity=0.6)
    corners = (body @ np.array([[x, y, z, 1.0] for x in (-0.25, 0.25) for y in (-0.175, 0.175)
                                for z in (-0.125, 0.125)]).T).T[:, :3]  # fmt: skip
    for corner in corners:
        v = 0.55 * np.cross(axis, corner - point) + 0.12 * axis
        sketch.arrow(corner, corner + v, BLUE, thickness=0.009)
    sketch.turn([0, 0, 0.5], axis, [0.14, 0.0, 0.0], 4.8, PURPLE, thickness=0.014)
    sketch.arrow([0, 0, 0.6], [0, 0, 0.95], PURPLE, thickness=0.016)
    sketch.word("ω", [0.0, 0.0, 0.5], PURPLE, beside=(-3.2, 0.0))
    sketch.word("one axis, and a pitch: v = ω × r + h ω", [0.0, 0.0, -0.68], INK, beside=(4.0, 0.8))
    save_still(path, sketch.draw(times(scale, (440, 320)), direction=(-0.7, 1.0, -0.55), floor=False, margin=0.09,
                                 letters=14 * scale))  # fmt: skip


@still
def kinematics_frames(path: Path, scale: int) -> None:
    robot = kt.zoo.load("arm7")
    q = np.array([0.3, 0.5, 0.0, -1.2, 0.2, 0.7, 0.0])
    sketch = Sketch().robot(robot, q, opacity=0.35)
    names = list(robot.bodies)
    for name, M in zip(names, kt.forward_kinematics(robot, q), strict=True):
        sketch.frame(M, 0.13, words=())
        sketch.word(name, M[:3, 3], INK, beside=(4.2, 0.0))
    save_still(path, sketch.draw(times(scale, (400, 400)), direction=(-0.8, 1.0, -0.35), letters=12 * scale))


@still
def jacobian_columns(path: Path, scale: int) -> None:
    robot = kt.zoo.load("arm6")
    J = kt.frame_jacobian(robot, BENT, "tool", expressed_in="local_world_aligned")
    p = np.asarray(kt.frame_placement(robot, BENT, "tool"))[:3, 3]
    sketch = Sketch().robot(robot, BENT)
    colors = (RED, GREEN, BLUE, ORANGE, PURPLE, INK)
    for k, (column, name) in enumerate(zip(J.T, robot.v_names, strict=True)):
        if np.linalg.norm(column[:3]) > 0.15:
            sketch.arrow(p, p + 0.6 * column[:3], colors[k], thickness=0.009, word=name, beside=(0.0, -0.7))
    save_still(path, sketch.draw(times(scale, (480, 360)), direction=(-0.8, 1.0, -0.5), margin=0.13,
                                 letters=13 * scale))  # fmt: skip


@still
def joint_wrenches(path: Path, scale: int) -> None:
    robot = kt.zoo.load("arm7")
    q = np.array([0.3, 0.6, 0.0, 1.1, 0.2, 0.7, 0.0])
    still_v = np.zeros(robot.nv)
    wrenches = kt.dynamics.joint_wrenches(robot, q, still_v, still_v, expressed_in="local_world_aligned")
    sketch = Sketch().robot(robot, q, opacity=0.4)
    for joint, wrench in zip(robot.joints.values(), wrenches, strict=True):
        place = np.asarray(kt.frame_placement(robot, q, joint.child))[:3, 3]
        sketch.arrow(place, place + 0.002 * wrench[:3], RED, thickness=0.009)
        sketch.word(f"{wrench[2]:.0f} N", place + 0.002 * wrench[:3], RED, beside=(2.4, -0.4))
    save_still(path, sketch.draw(times(scale, (420, 360)), direction=(-0.6, 1.0, -0.35), letters=13 * scale))


@still
def center_of_mass(path: Path, scale: int) -> None:
    robot = kt.zoo.load("humanoid")
    sketch, size = Sketch(), times(scale, (480, 300))
    for k in range(3):
        q = robot.neutral()
        q[1] += 1.1 * (1 - k)
        q[7:] += 0.45 * k * np.sin(1.7 * np.arange(robot.nq - 7))
        q[7:] = np.clip(q[7:], robot.lower[7:], robot.upper[7:])
        sketch.robot(robot, q, opacity=0.3)
        place = np.asarray(kt.center_of_mass(robot, q))
        sketch.shape("sphere", (0.05,), pose(place), RED).arrow(place, place - [0.0, 0.0, 0.45], RED, thickness=0.014)
    save_still(path, sketch.draw(size, direction=(-1.0, 0.25, -0.25)))


@still
def shapes_of_a_file(path: Path, scale: int) -> None:
    robot = known("a1_description/urdf/a1.urdf", floating_base=True)
    q, size = robot.neutral(), times(scale, (240, 180))
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)
    tiles = [kt.render(robot, q, size=size, shapes=shapes) for shapes in ("visual", "collision")]
    save_still(path, panels(tiles, 2, ['shapes="visual"', 'shapes="collision"'], 12 * scale))


# Contacts and scenes


@still
def contact_forces(path: Path, scale: int) -> None:
    robot, q = dog()
    robot = robot.on_ground().without_self_contact()
    q = kt.contact.above_ground(robot, q)
    q[2] -= 1e-4

    @kt.program(q=robot, v=robot.nv)
    def stand(q: Any, v: Any) -> Any:
        return np.concatenate([np.zeros(6), 120.0 * (STANDING - q[7:]) - 3.0 * v[6:]])

    motion = kt.simulate(robot, q=q, duration=0.3, contact=True, record=["contacts"], tau=stand)
    sketch = Sketch().robot(robot, motion.q[-1])
    points, forces = (motion.recorded[f"contact.{name}"][-1] for name in ("point", "force"))
    size = 0.45 / (robot.mass * 9.81 / 4.0)
    for point, force in zip(points, forces, strict=True):
        if np.linalg.norm(force) > 1.0:
            sketch.arrow(point, point + size * force, RED, thickness=0.011, word=f"{np.linalg.norm(force):.0f} N")
    save_still(path, sketch.draw(times(scale, (460, 330)), margin=0.1, letters=14 * scale))


@still
def contact_cones(path: Path, scale: int) -> None:
    size = times(scale, (240, 190))
    height, mu = 0.4, 0.6
    tiles = []
    for around in (48, 4):
        sketch = Sketch().shape("box", (0.9, 0.9, 0.02), pose((0.0, 0.0, -0.011)), GREY)
        sketch.cone((0.0, 0.0, 0.0), height, mu * height, around, BLUE, opacity=0.4)
        sketch.arrow([0, 0, 0], [0, 0, 0.5], INK, thickness=0.007, word="n")
        sketch.arrow([0, 0, 0], [0.14, -0.1, 0.36], RED, thickness=0.011, word="f")
        tiles.append(sketch.draw(size, direction=(-1.0, 0.5, -0.45), floor=False, margin=0.06, letters=15 * scale))
    words = ["elliptic cone: |f_t| ≤ μ f_n", "pyramid inside it: MuJoCo's default"]
    save_still(path, panels(tiles, 2, words, 12 * scale))


SHAPES = {
    "box": ("0.09 0.07 0.05", "0.84 0.32 0.25 1"),
    "sphere": ("0.07", "0.25 0.52 0.76 1"),
    "capsule": ("0.045 0.07", "0.93 0.69 0.22 1"),
    "cylinder": ("0.065 0.06", "0.33 0.62 0.43 1"),
    "ellipsoid": ("0.1 0.07 0.05", "0.56 0.42 0.7 1"),
}
WALLS = (
    ("0.02 0.44", "0.42 0", 0.35), ("0.02 0.44", "-0.42 0", 1.0), ("0.4 0.02", "0 0.42", 1.0),
    ("0.4 0.02", "0 -0.42", 0.25),
)  # fmt: skip
"""Half lengths, m, place and opacity of each wall."""


def heap_scene(count: int = 30) -> str:
    """An MJCF file: four bodies per layer, each turned another way, above a box without a lid."""
    rng = np.random.default_rng(4)
    parts = [
        f'<geom type="box" size="{size} 0.2" pos="{place} 0.2" rgba="0.6 0.65 0.7 {alpha}"/>'
        for size, place, alpha in WALLS
    ]
    for k in range(count):
        shape = list(SHAPES)[k % len(SHAPES)]
        size, color = SHAPES[shape]
        x, y = 0.22 * np.array([k % 2 - 0.5, k // 2 % 2 - 0.5]) + 0.02 * rng.normal(size=2)
        roll, pitch, yaw = rng.uniform(-90.0, 90.0, 3)
        parts.append(
            f'<body pos="{x} {y} {0.5 + 0.24 * (k // 4)}" euler="{roll} {pitch} {yaw}"><freejoint/>'
            f'<geom type="{shape}" size="{size}" mass="1" rgba="{color}"/></body>'
        )
    parts.append('<geom type="plane" size="5 5 1"/>')
    option = '<option timestep="0.002" cone="elliptic"/>'
    return f"<mujoco>{option}<worldbody>{''.join(parts)}</worldbody></mujoco>"


@film
def heap(path: Path, scale: int) -> None:
    """Thirty bodies of five shapes, 585 pairs, in steps of 2 ms, at half of the speed."""
    robot = from_text(heap_scene())
    motion = kt.simulate(robot, duration=1.6, dt=0.002, contact=True, integrator="discrete")
    camera = kt.pictures.Camera(position=(1.25, -1.7, 1.55), target=(0.0, 0.0, 0.4), up=(0.0, 0.0, 1.0))
    motion.film(path, size=times(scale, (360, 270)), fps=15, speed=0.5, camera=camera)


def from_text(mjcf: str) -> kt.Model:
    """The robot of an MJCF text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.xml"
        file.write_text(mjcf, encoding="utf-8")
        return kt.load(file)


@still
def scenes_table(path: Path, scale: int) -> None:
    arm, pole = kt.zoo.load("arm6"), kt.zoo.load("cart_pole")
    scene = (
        arm.on_ground(friction=0.8)
        .with_obstacle("box", (0.4, 0.8, 0.4), kt.lie.placement((0.6, 0.0, 0.2)), name="table")
        .with_free_body("box", (0.1, 0.1, 0.1), kt.lie.placement((0.6, 0.1, 0.45)), mass=0.5, name="crate")
        .beside(pole, kt.lie.placement((0.0, 2.0, 1.0)))
    )
    q = scene.neutral()
    q[:6] = [-0.7, 0.25, 1.15, 0.0, 1.6, 0.0]
    camera = kt.pictures.Camera(position=(3.5, -1.4, 2.7), target=(0.2, 0.95, 0.7), up=(0.0, 0.0, 1.0))
    save_still(path, kt.render(scene, q, size=times(scale, (560, 340)), camera=camera))


@still
def scenes_terrain(path: Path, scale: int) -> None:
    x = np.linspace(-2.0, 2.0, 33)
    stairs = np.broadcast_to(0.1 * np.floor(x / 0.5), (9, 33))
    grounds = (
        lambda robot: robot.on_terrain(seed=3, steepness=0.3, size=(4.0, 4.0)),
        lambda robot: robot.on_terrain(stairs, size=(4.0, 2.0)),
    )
    camera = kt.pictures.Camera(position=(0.9, -3.3, 1.5), target=(0.0, 0.0, 0.05))
    tiles = []
    for ground in grounds:
        robot, q = dog()
        robot = ground(robot)
        q = kt.contact.above_ground(robot, q)
        tiles.append(kt.render(robot, q, size=times(scale, (320, 230)), camera=camera))
    save_still(path, panels(tiles, 2, ["hills: steepness=0.3", "heights of one's own: stairs"], 12 * scale))


@still
def collision_distance(path: Path, scale: int) -> None:
    size = times(scale, (190, 160))
    A, B = pose((-0.18, 0.0, 0.0), (0.4, 0.3, 0.2)), pose((0.17, 0.03, 0.03), (0.9, 0.5, 0.0))
    shapes = {"box": (0.26, 0.2, 0.16), "capsule": (0.07, 0.22), "cylinder": (0.09, 0.2),
              "ellipsoid": (0.16, 0.1, 0.08), "sphere": (0.11,)}  # fmt: skip
    tiles, words = [], []
    for first, second, way in (("box", "capsule", 0.0), ("ellipsoid", "cylinder", 0.0), ("sphere", "box", -0.17)):
        robot = pair((first, shapes[first]), (second, shapes[second]))
        there = B @ pose((0.0, 0.0, 0.0))
        there[0, 3] += way
        q = np.concatenate([at_rest(A), at_rest(there)])
        points = kt.contact.closest_points(robot, q, "first", "second")
        apart = float(kt.contact.distance(robot, q, "first", "second"))
        through = 0.75 if apart > 0.0 else 0.45
        sketch = Sketch().shape(first, shapes[first], A, ORANGE, opacity=through)
        sketch.shape(second, shapes[second], there, (92, 132, 180), opacity=through)
        sketch.line(points[0], points[1], RED, thickness=0.006)
        for point in points:
            sketch.shape("sphere", (0.014,), pose(point), RED)
        sketch.room([[-0.32, -0.1, -0.17], [0.3, 0.1, 0.17]])
        tiles.append(sketch.draw(size, direction=(-0.3, 1.0, -0.5), floor=False, margin=0.02))
        words.append(f"{first}, {second}: {1e3 * apart:.0f} mm")
    save_still(path, panels(tiles, 3, words, 11 * scale))


def pair(first: tuple[str, Sequence[float]], second: tuple[str, Sequence[float]]) -> kt.Model:
    """A robot of two free bodies with a shape each."""
    builder = kt.ModelBuilder("pair")
    builder.add_body("world")
    for name, (kind, size) in (("first", first), ("second", second)):
        geometry = [Geometry("collision", kind, tuple(size), kt.lie.placement(), name=name)]
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0), geometry=geometry)
        builder.add_joint(f"{name} joint", kt.joints.FloatingBase(), "world", name)
    return builder.build()


def at_rest(M: Any) -> Any:
    """The coordinates (7,) of a free body at a placement."""
    return np.concatenate([M[:3, 3], kt.lie.convert(M[:3, :3], "matrix", "quaternion")])


# Motions


def films(path: Path, motion: Any, scale: int, size: tuple[int, int], *, quality: int = 0, **options: Any) -> None:
    """The film of a motion; with `quality`, written again with this one if it is for a page."""
    motion.film(path, size=times(scale, size), **options)
    if quality and path.suffix == ".webp":
        save_film(path, frames_of(path), options.get("fps", 30), quality)


@cache
def example(name: str) -> dict[str, Any]:
    """The names of a script of examples/ after it has run."""
    os.environ["MPLBACKEND"] = "Agg"
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        warnings.catch_warnings(),
        redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


@cache
def known(path: str, **options: Any) -> kt.Model:
    """A robot of the wheel example-robot-data."""
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return kt.load(Path(str(robots)) / path, **options)


PANDA = "panda_description/urdf/panda.urdf"


@film
def inverse_kinematics_circle(path: Path, scale: int) -> None:
    """The hand of an arm goes round a circle, each configuration found from the one before."""
    robot, size = kt.zoo.load("arm7"), times(scale, (380, 300))
    q = np.array([0.0, 0.5, 0.0, 1.2, 0.0, 0.7, 0.0])
    center = np.asarray(kt.frame_placement(robot, q, "tool"))
    center[:3, 3] += [-0.05, 0.0, -0.05]
    angles = 2.0 * np.pi * np.arange(36) / 36
    circle = center[:3, 3] + 0.18 * np.stack([0.0 * angles, np.sin(angles), np.cos(angles)], axis=1)
    tasks = [kt.control.Pose("tool"), kt.control.Posture(priority=1)]
    frames, camera = [], None
    for lap in range(2):
        for place in circle:
            target = center.copy()
            target[:3, 3] = place
            q = kt.control.inverse_kinematics(robot, tasks, [target, q], q).q
            if not lap:
                continue
            sketch = Sketch().robot(robot, q).room(circle)
            for a, b in zip(circle, np.roll(circle, -1, axis=0), strict=True):
                sketch.line(a, b, GREEN, thickness=0.005)
            sketch.frame(target, 0.13, words=())
            camera = camera or sketch.camera(size, (-1.0, 0.8, -0.4), 0.1)
            frames.append(sketch.draw(size, camera=camera))
    save_film(path, frames, 12)


@film
def elastic_joint(path: Path, scale: int) -> None:
    """An arm with a soft shoulder beside the same arm with a stiff one, faint, after a step of the target."""
    arm, size = kt.zoo.load("arm6"), times(scale, (380, 300))
    elastic = arm.with_elastic_joint("shoulder_pitch", stiffness=700.0, damping=2.0, rotor_inertia=0.5)
    start, goal = np.array([0.0, 0.1, 0.7, 0.0, 0.3, 0.0]), np.array([0.0, 0.8, 0.4, 0.0, 0.3, 0.0])

    @kt.program(q=elastic, v=elastic.nv)
    def control(q: Any, v: Any) -> Any:
        tau = kt.rnea(arm, q[:6], v[:6], 500.0 * (goal - q[:6]) - 44.0 * v[:6])
        return np.concatenate([tau, np.zeros(1)])

    hanging = -kt.gravity_forces(elastic, np.append(start, 0.0))[6] / 700.0
    motion = kt.simulate(elastic, q=np.append(start, hanging), tau=control, duration=2.4)
    frames, camera = [], None
    for q in motion.q[::80]:
        sketch = Sketch().robot(elastic, q).robot(arm, q[:6], opacity=0.25)
        sketch.room([[-0.15, -0.2, 0.0], [0.95, 0.2, 0.95]])
        camera = camera or sketch.camera(size, (-0.35, 1.0, -0.25), 0.06)
        frames.append(sketch.draw(size, camera=camera))
    save_film(path, frames, 12.5)


@film
def simulation_contacts(path: Path, scale: int) -> None:
    """A crate falls and slides, with three settings of contacts."""
    builder = kt.ModelBuilder("crate")
    builder.add_body("world")
    shape = Geometry("collision", "box", (0.3, 0.2, 0.2), kt.lie.placement())
    builder.add_body("crate", kt.solids.box(0.3, 0.2, 0.2, mass=1.0), geometry=[shape])
    builder.add_joint("flies", kt.joints.FloatingBase(), "world", "crate")
    robot = builder.build().on_ground(friction=0.5)
    turn = kt.lie.convert([0.2, 0.5, 0.3], "ZYX", "quaternion")
    start, size = np.r_[-0.5, 0.0, 0.45, turn], times(scale, (440, 220))
    settings = {
        "mujoco": kt.contact.soft_constraints(robot, setting="mujoco"),
        "compliant": kt.contact.soft_constraints(robot, setting="compliant", stiffness=1e4, dissipation=0.01),
        "rigid, e = 0.5": kt.contact.soft_constraints(robot, setting="rigid", restitution=0.5, accurate=True),
    }
    motions = [
        kt.simulate(robot, q=start, v=np.r_[1.6, 0.0, 0.0, 0.0, 2.0, 0.0], duration=1.4, dt=0.002, contact=contact,
                    integrator="discrete") for contact in settings.values()
    ]  # fmt: skip
    colors, frames = (ORANGE, (92, 132, 180), (86, 150, 110)), []
    for row in range(0, len(motions[0].time), 20):
        sketch = Sketch().room([[-0.9, -0.8, 0.0], [0.9, 0.8, 0.4]])
        for lane, (motion, name) in enumerate(zip(motions, settings, strict=True)):
            M = np.asarray(kt.frame_placement(robot, motion.q[row], "crate"))
            M[1, 3] += 0.65 * (1 - lane)
            sketch.shape("box", (0.3, 0.2, 0.2), M, colors[lane])
            sketch.word(name, [-0.9, 0.65 * (1 - lane), 0.0], INK)
        frames.append(sketch.draw(size, direction=(0.12, 1.0, -0.75), floor=0.0, margin=0.0, letters=13 * scale))
    save_film(path, frames, 12.5)


@film
def simulation_spin(path: Path, scale: int) -> None:
    """A free body that spins about its middle axis turns over and over."""
    builder = kt.ModelBuilder("tee")
    builder.add_body("tee", kt.solids.box(0.3, 0.2, 0.1, mass=1.0))
    robot = builder.build(floating_base=True).with_gravity((0.0, 0.0, 0.0))
    motion = kt.simulate(robot, v=[0.0, 0.0, 0.0, 0.03, 7.0, 0.0], duration=7.0, dt=0.002)
    size, frames = times(scale, (300, 220)), []
    for row in range(0, 3000, 40):
        M = np.asarray(kt.frame_placement(robot, motion.q[row], "tee"))
        sketch = Sketch().shape("box", (0.3, 0.2, 0.1), M, ORANGE).frame(M, 0.26, words=(), thickness=0.009)
        sketch.room([[-0.2, -0.2, -0.2], [0.2, 0.2, 0.2]])
        momentum = kt.dynamics.momentum(robot, motion.q[row], motion.v[row])[3:]
        sketch.arrow([0, 0, 0], 0.3 * momentum / np.linalg.norm(momentum), PURPLE, thickness=0.008, word="L")
        frames.append(sketch.draw(size, camera=Sketch().room([[-0.19] * 3, [0.19] * 3]).camera(size, margin=0.0),
                                  floor=False, letters=15 * scale))  # fmt: skip
    save_film(path, frames, 12.5, quality=60)


@still
def recording_events(path: Path, scale: int) -> None:
    robot = kt.zoo.load("double_pendulum")
    level = kt.sim.Event(kt.program(lambda q: q[0], q=robot), terminal=False)
    motion = kt.simulate(robot, q=[1.6, 0.8], duration=2.2, until={"level": level})
    tips = np.asarray(kt.frame_placement(robot, motion.q, "tip"))[:, :3, 3]
    sketch = Sketch().robot(robot, motion.q[0])
    for k in np.linspace(0, len(tips) - 1, 6).astype(int)[1:]:
        sketch.robot(robot, motion.q[k], opacity=0.2)
    for a, b in zip(tips[:-20:20], tips[20::20], strict=False):
        sketch.line(a, b, BLUE, thickness=0.004)
    for event in motion.events:
        row = int(np.searchsorted(motion.time, event.time))
        row = min(row, len(tips) - 1)
        sketch.shape("sphere", (0.028,), pose(tips[row]), RED)
        sketch.word(f"{event.time:.2f} s", tips[row], RED, beside=(2.2, 0.6))
    save_still(path, sketch.draw(times(scale, (460, 340)), direction=(-0.25, 1.0, -0.15), floor=False,
                                 letters=14 * scale))  # fmt: skip


@still
def viewing_plot(path: Path, scale: int) -> None:
    robot = kt.zoo.load("double_pendulum")
    starts = [1.0, 0.5] + 0.1 * np.random.default_rng(0).normal(size=(50, 2))
    motions = kt.simulate(robot, q=starts, duration=3.0)
    save_still(path, plotted(motions, scale, what=["positions", "energies"]))


def plotted(motion: Any, scale: int, **options: Any) -> Any:
    """The picture of `motion.plot`, as pixels."""
    os.environ["MPLBACKEND"] = "Agg"
    figure = motion.plot(**options)
    figure.set_dpi(60.0 * scale)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]


@still
def pictures_samples(path: Path, scale: int) -> None:
    robot, size = kt.zoo.load("arm7"), times(scale, (300, 200))
    q = np.linspace(robot.neutral(), robot.neutral() + 0.5, 4)
    tiles = [kt.render(robot, q, size=size), kt.render(robot, q, size=size, samples="ghosts")]
    save_still(path, panels(tiles, 2, ['"side by side"', '"ghosts": the first is solid'], 12 * scale))


@still
def pictures_strip(path: Path, scale: int) -> None:
    robot = kt.zoo.load("ragdoll").on_slope(0.25)
    motion = kt.simulate(robot, q=kt.contact.above_ground(robot, clearance=0.5), duration=1.6, dt=2e-3, contact=True)
    save_still(path, motion.strip(size=times(scale, (680, 170)), moments=7))


@still
def building_crane(path: Path, scale: int) -> None:
    builder = kt.ModelBuilder("crane")
    builder.add_body("base", kt.solids.box(0.4, 0.4, 0.2, density=2700.0))
    boom = kt.solids.cylinder(0.05, 1.0, density=2700.0, placement=kt.lie.placement((0, 0, 0.5)))
    builder.add_body("boom", boom)
    builder.add_body("cable", kt.solids.sphere(0.1, mass=5.0, placement=kt.lie.placement((0, 0, -0.5))))
    turned = kt.lie.placement((0, 0, 0.1), rpy=(0, np.pi / 2, 0))
    builder.add_joint("slew", kt.Revolute([0, 0, 1]), "base", "boom", turned)
    builder.add_joint("swing", kt.joints.Universal([1, 0, 0], [0, 1, 0]), "boom", "cable", kt.lie.placement((0, 0, 1)))
    builder.add_frame("hook", "cable", kt.lie.placement((0, 0, -0.6)))
    crane = builder.build()
    q, names = np.array([0.3, 0.2, 0.3]), ("base", "boom", "cable", "hook")
    base, boom_at, cable, hook = (np.asarray(kt.frame_placement(crane, q, name)) for name in names)
    sketch = Sketch().shape("box", (0.4, 0.4, 0.2), base, DARK, opacity=0.6)
    sketch.shape("cylinder", (0.05, 1.0), boom_at @ pose((0.0, 0.0, 0.5)), ORANGE, opacity=0.6)
    ball = cable @ pose((0.0, 0.0, -0.5))
    sketch.shape("sphere", (0.1,), ball, (92, 132, 180), opacity=0.6).line(cable[:3, 3], ball[:3, 3], DARK)
    for name, M in zip(names, (base, boom_at, cable, hook), strict=True):
        sketch.frame(M, 0.22, words=()).word(name, M[:3, 3], INK, beside=(-2.6, 1.3))
    save_still(path, sketch.draw(times(scale, (460, 300)), direction=(-0.5, 1.0, -0.4), floor=False,
                                 letters=15 * scale))  # fmt: skip


@still
def changing_models(path: Path, scale: int) -> None:
    arm, size = kt.zoo.load("arm6"), times(scale, (150, 190))
    base, q = kt.zoo.load("quadruped"), np.array([0.5, 0.4, 0.9, 0.0, 0.6, 0.0])
    mirrored = arm.mirrored("y")
    dog_and_arm = base.attach(arm.scaled(0.6), "trunk", kt.lie.placement((0.1, 0.0, 0.06)), prefix="arm_")
    standing = dog_and_arm.neutral()
    standing[7:19] = STANDING
    standing[19:] = q
    small = arm.scaled(0.6)
    shown = [(arm, q), (mirrored, q), (small, q), (dog_and_arm, standing)]
    room = ([-0.3, -0.5, 0.0], [0.9, 0.5, 0.9])
    camera = Sketch().room(room).camera(size, margin=0.0)
    tiles = [kt.render(robot, x, size=size, camera=camera if robot is not dog_and_arm else None) for robot, x in shown]
    words = ["arm", "mirrored", "scaled(0.6)", "attached to a quadruped"]
    save_still(path, panels(tiles, 4, words, 10.5 * scale))


@film
def drives_pendulums(path: Path, scale: int) -> None:
    """Three pendulums: without friction, with viscous damping, with Coulomb friction."""
    size, robots = times(scale, (450, 140)), []
    for damping, friction in ((0.0, 0.0), (0.35, 0.0), (0.0, 0.45)):
        builder = kt.ModelBuilder("pendulum")
        builder.add_body("base")
        builder.add_body("bob", kt.solids.sphere(0.07, mass=1.0, placement=kt.lie.placement((0, 0, -0.5))))
        builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", damping=[damping], friction=[friction])
        robots.append(builder.build())
    motions = [kt.simulate(robot, q=[1.0], duration=5.7) for robot in robots]
    words = ("no friction", "damping", "Coulomb friction")
    frames = []
    for row in range(0, len(motions[0].time), 80):
        sketch = Sketch().room([[-0.6, 0.0, -0.65], [2.8, 0.0, 0.1]])
        for k, (motion, word) in enumerate(zip(motions, words, strict=True)):
            top = np.array([1.1 * k, 0.0, 0.0])
            bob = top + 0.5 * np.array([-np.sin(motion.q[row, 0]), 0.0, -np.cos(motion.q[row, 0])])
            sketch.line(top, bob, DARK, thickness=0.012).shape("sphere", (0.07,), pose(bob), ORANGE)
            sketch.shape("box", (0.3, 0.1, 0.03), pose(top), GREY).word(word, top, INK, beside=(0.0, -1.4))
        frames.append(sketch.draw(size, direction=(0.0, 1.0, 0.0), floor=False, margin=0.05, letters=13 * scale))
    save_film(path, frames, 12.5)


@film
def actuators_leg(path: Path, scale: int) -> None:
    """A leg whose hip follows a servo, and whose knee has a filtered motor."""
    leg = from_text("""<mujoco model="leg"><option timestep="0.002"/>
      <worldbody><body name="thigh" pos="0 0 1"><joint name="hip" axis="0 1 0" damping="0.5"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4" rgba="0.91 0.47 0.13 1"/>
        <body name="shin" pos="0 0 -0.4"><joint name="knee" axis="0 1 0" damping="0.4"/>
          <geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.4" rgba="0.29 0.31 0.36 1"/></body></body></worldbody>
      <actuator><position name="hip" joint="hip" kp="200" dampratio="1"/>
        <position name="knee" joint="knee" kp="120" dampratio="1" /></actuator></mujoco>""")
    t = np.arange(1600) * 0.002
    steps = np.stack([0.7 * np.sign(np.sin(2.0 * np.pi * t / 1.6)), 0.6 - 0.6 * np.sign(np.sin(2.0 * np.pi * t / 0.8))])
    motion = kt.simulate(leg, ctrl=steps.T, dt=0.002, duration=3.2)
    films(path, motion, scale, (280, 240), fps=12, quality=60)


@still
def loading_known(path: Path, scale: int) -> None:
    size = times(scale, (170, 150))
    robots = {
        "Panda": (PANDA, {}, [0.0, -0.6, 0.0, -2.2, 0.0, 1.7, 0.8]),
        "UR5": ("ur_description/urdf/ur5_robot.urdf", {}, [0.3, -1.2, 1.3, -0.4, 0.5, 0.0]),
        "Talos": ("talos_data/robots/talos_reduced.urdf", {"floating_base": True}, None),
        "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", {"floating_base": True}, None),
        "A1": ("a1_description/urdf/a1.urdf", {"floating_base": True}, None),
        "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", {"floating_base": True}, None),
    }
    tiles = []
    for file, options, joints in robots.values():
        robot = known(file, **options)
        q = robot.neutral()
        if joints:
            q[: len(joints)] = joints
        if "a1" in file:
            q[7:] = np.tile([0.0, 0.8, -1.6], 4)
        if "anymal" in file:
            q[7:] = [-0.1, 0.7, -1.0, -0.1, -0.7, 1.0, 0.1, 0.7, -1.0, 0.1, -0.7, 1.0]
        tiles.append(kt.render(robot, q, size=size))
    save_still(path, panels(tiles, 3, robots, 12 * scale))


@still
def learning_tasks(path: Path, scale: int) -> None:
    names = ("cart_pole", "reacher", "hopper", "half_cheetah", "walker", "ant", "humanoid", "quadruped",
             "quadruped_rough", "g1_walk")  # fmt: skip
    size, tiles = times(scale, (132, 118)), []
    for name in names:
        env = kt.learning.task(name)
        worlds = env.reset(seed=1, worlds=1)
        q = np.asarray(env.parts_of_state(worlds.state)["q"])[0]
        far = name == "quadruped_rough"
        camera = kt.pictures.Camera((2.6, -1.9, 1.6), (q[0], q[1], q[2] - 0.1)) if far else None
        tiles.append(kt.render(env.robot, q, size=size, camera=camera))
    save_still(path, panels(tiles, 5, names, 11 * scale))


@still
def sweeps_throws(path: Path, scale: int) -> None:
    """Two hundred throws of a ball, with start, speed and friction that vary."""
    builder = kt.ModelBuilder("ball")
    builder.add_body("world")
    shape = Geometry("collision", "sphere", (0.05,), kt.lie.placement())
    builder.add_body("ball", kt.solids.sphere(0.05, mass=0.2), geometry=[shape])
    builder.add_joint("flies", kt.joints.FloatingBase(), "world", "ball")
    robot = builder.build().on_ground(friction=0.6)
    rng, count = np.random.default_rng(2), 24
    q, v = np.tile([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0], (count, 1)), np.zeros((count, 6))
    v[:, :3] = [1.6, 0.0, 1.2] + 0.35 * rng.normal(size=(count, 3))
    bouncy = kt.contact.soft_constraints(robot, setting="rigid", restitution=0.6)
    states = kt.rollout(robot, q, v, np.zeros((700, 6)), 0.002, contact=bouncy, integrator="discrete")
    sketch = Sketch()
    for way in states[..., :3]:
        for a, b in zip(way[:-20:20], way[20::20], strict=False):
            sketch.line(a, b, (92, 132, 180), thickness=0.007)
        sketch.shape("sphere", (0.05,), pose(way[-1]), ORANGE)
    save_still(path, sketch.draw(times(scale, (560, 260)), direction=(-0.25, 1.0, -0.55), floor=0.0, margin=0.04))


@film
def tour_batch(path: Path, scale: int) -> None:
    """Twelve double pendulums that begin a hundredth of a degree apart."""
    robot = kt.zoo.load("double_pendulum")
    starts = np.array([2.2, 1.0]) + 2e-3 * np.arange(12)[:, None]
    motion = kt.simulate(robot, q=starts, duration=4.0, passive=False)
    films(path, motion, scale, (300, 300), fps=12, samples="ghosts", quality=60)


# Examples


@film
def example_gravity_compensation(path: Path, scale: int) -> None:
    films(path, example("gravity_compensation")["motion"], scale, (260, 240), fps=12, speed=0.4, quality=65)


@film
def example_computed_torque(path: Path, scale: int) -> None:
    films(path, example("computed_torque")["motion"], scale, (260, 240), fps=10, speed=1.0, quality=60)


@still
def example_panda_impedance(path: Path, scale: int) -> None:
    found = example("panda_impedance")
    robot, q = found["panda"], found["q0"]
    hand = found["target"][:3, 3]
    push = found["push"] / np.linalg.norm(found["push"])
    sketch = Sketch().robot(robot, q).arrow(hand - 0.32 * push, hand - 0.03 * push, RED, thickness=0.012)
    sketch.word("push", hand - 0.36 * push, RED)
    for axis in np.eye(3):
        sketch.spring(hand, hand + 0.25 * axis, BLUE)
    save_still(path, sketch.draw(times(scale, (300, 280)), margin=0.05, letters=14 * scale))


@film
def example_panda_grasp(path: Path, scale: int) -> None:
    found = example("panda_grasp")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        robot = found["scene"]("mug")
        motion, _, _ = found["shaken"](robot, "mug", seconds=3.0, setting="rigid")
    films(path, motion, scale, (260, 240), fps=12, quality=60)


@still
def example_inverse_kinematics(path: Path, scale: int) -> None:
    found = example("inverse_kinematics")
    save_still(path, kt.render(found["panda"], found["path"], samples="ghosts", size=times(scale, (480, 340))))


@still
def example_mass_matrices(path: Path, scale: int) -> None:
    panda = known(PANDA)
    q = panda.random(3, size=9)
    save_still(path, kt.render(panda, q, samples="ghosts", size=times(scale, (300, 280))))


@still
def example_push_on_a_link(path: Path, scale: int) -> None:
    found = example("push_on_a_link")
    robot, motion = found["ur5"], found["motion"]
    point = np.asarray(kt.frame_placement(robot, motion.q[0], "forearm_link")) @ [*found["point"], 1.0]
    sketch = Sketch().robot(robot, motion.q[0], opacity=0.3).robot(robot, motion.q[-1])
    sketch.arrow(point[:3] - [0.0, 0.45, 0.0], point[:3], RED, thickness=0.014, word="50 N", beside=(0.0, -1.2))
    save_still(path, sketch.draw(times(scale, (320, 280)), margin=0.06, letters=14 * scale))


@film
def example_cart_pole_swing_up(path: Path, scale: int) -> None:
    beside = kt.pictures.Camera((0.0, -4.8, 0.5), (0.0, 0.0, 0.0))
    films(path, example("cart_pole_swing_up")["motion"], scale, (360, 220), fps=12, quality=60, camera=beside)


@still
def example_quadruped_forces(path: Path, scale: int) -> None:
    found = example("quadruped_forces")
    robot, q = found["a1"], found["q"]
    sketch = Sketch().robot(robot, q)
    for foot, force in zip(found["feet"], found["forces"], strict=True):
        place = np.asarray(kt.frame_placement(robot, q, foot))[:3, 3]
        sketch.arrow(place, place + 0.004 * force, RED, thickness=0.008, word=f"{np.linalg.norm(force):.0f} N")
    save_still(path, sketch.draw(times(scale, (380, 280)), margin=0.08, letters=14 * scale))


@film
def example_quadruped_trot(path: Path, scale: int) -> None:
    films(path, example("quadruped_trot")["motion"], scale, (340, 240), fps=15, speed=0.5, quality=60)


@film
def example_ragdoll_motion(path: Path, scale: int) -> None:
    flight = example("ragdoll_motion")["flight"]
    camera = kt.pictures.Camera(position=(0.0, -4.6, 0.9), target=(0.0, 0.0, 0.0), follows="pelvis")
    films(path, flight, scale, (260, 260), fps=15, speed=0.4, quality=60, camera=camera)


@film
def example_quadrotor(path: Path, scale: int) -> None:
    """The body has no shape; rotors are drawn where its forces act."""
    found = example("quadrotor")
    motion, robot, size = found["motion"], found["quadrotor"], times(scale, (320, 280))
    frames = []
    arms = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * found["arm"]
    for row in range(0, 2001, 50):
        M = np.asarray(kt.frame_placement(robot, motion.q[row], "frame"))
        sketch = Sketch().shape("box", (0.16, 0.16, 0.06), M, ORANGE).room([[-0.3, -0.8, 0.0], [1.3, 0.3, 2.4]])
        for k, (x, y) in enumerate(arms):
            tip = M @ [x, y, 0.0, 1.0]
            sketch.line(M[:3, 3], tip[:3], DARK, thickness=0.012)
            sketch.shape("cylinder", (0.1, 0.012), M @ pose((x, y, 0.03)), GREY)
            thrust = motion.recorded["thrusts"][row, k]
            sketch.arrow(tip[:3], tip[:3] + 0.07 * thrust * M[:3, 2], RED, thickness=0.012)
        sketch.shape("sphere", (0.04,), pose(found["target"]), GREEN)
        frames.append(sketch.draw(size, direction=(-0.7, 1.0, -0.3), floor=0.0, margin=0.03))
    save_film(path, frames, 10)


@still
def example_payload(path: Path, scale: int) -> None:
    panda = known(PANDA)
    q = np.array([0.0, -0.2, 0.0, -1.9, 0.0, 1.7, 0.8, 0.04])
    hand = np.asarray(kt.frame_placement(panda, q, "panda_hand_tcp"))
    sketch = Sketch().robot(panda, q).shape("box", (0.09, 0.05, 0.09), hand, ORANGE)
    sketch.arrow(hand[:3, 3], hand[:3, 3] - [0.0, 0.0, 0.3], RED, thickness=0.012, word="2 kg", beside=(2.6, -1.2))
    save_still(path, sketch.draw(times(scale, (300, 280)), margin=0.05, letters=14 * scale))


@film
def example_several_objects(path: Path, scale: int) -> None:
    """The four objects of the first samples, each in a lane of its own."""
    found = example("several_objects")
    states, slope, size = found["states"][:4], pose(rpy=(0.0, found["angle"], 0.0)), times(scale, (340, 230))
    mug = (("cylinder", (0.045, 0.08), (0.0, 0.0, 0.0)), ("capsule", (0.008, 0.04), (0.06, 0.0, 0.0)))
    shapes = ((("sphere", (0.04,), (0.0, 0.0, 0.0)),), (("box", (0.1, 0.1, 0.08), (0.0, 0.0, 0.0)),),
              (("cylinder", (0.05, 0.08), (0.0, 0.0, 0.0)),), mug)  # fmt: skip
    colors, frames = (ORANGE, (92, 132, 180), (86, 150, 110), PURPLE), []
    for row in range(0, states.shape[1], 16):
        sketch = Sketch().shape("box", (0.75, 0.8, 0.02), slope @ pose((0.27, 0.0, -0.01)), GREY)
        for lane, (parts, color) in enumerate(zip(shapes, colors, strict=True)):
            M = np.eye(4)
            M[:3, :3] = kt.lie.convert(states[lane, row, 3:7], "quaternion", "matrix")
            M[:3, 3] = states[lane, row, :3] + [0.0, 0.2 * (1.5 - lane), 0.0]
            for kind, lengths, place in parts:
                sketch.shape(kind, lengths, M @ pose(place), color, counts=False)
        frames.append(sketch.draw(size, direction=(-0.5, 1.0, -0.75), floor=False, margin=0.03))
    save_film(path, frames + frames[-1:] * 6, 14)


@film
def example_ball_joint(path: Path, scale: int) -> None:
    found = example("ball_joint")
    robot, motion, size = found["pendulum"], found["motion"], times(scale, (240, 220))
    angles, frames = np.linspace(0.0, 2.0 * np.pi, 41), []
    ring = np.stack([0.0 * angles, 0.0 * angles, 0.0 * angles], axis=1)
    ring[:, :2] = 0.8 * np.sin(found["theta"]) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ring[:, 2] = -0.8 * np.cos(found["theta"])
    for row in range(0, 1000, 25):
        M = np.asarray(kt.frame_placement(robot, motion.q[row], "rod"))
        sketch = Sketch().shape("box", (0.5, 0.5, 0.04), pose((0.0, 0.0, 0.06)), GREY, opacity=0.5)
        sketch.shape("sphere", (0.045,), None, DARK).shape("cylinder", (0.02, 0.8), M @ pose((0, 0, -0.4)), ORANGE)
        for a, b in itertools.pairwise(ring):
            sketch.line(a, b, BLUE, thickness=0.005)
        frames.append(sketch.draw(size, direction=(-0.7, 1.0, -0.3), floor=False, margin=0.04))
    save_film(path, frames, 15)


@film
def example_four_bar(path: Path, scale: int) -> None:
    found = example("four_bar")
    robot, motion, size = found["linkage"], found["motion"], times(scale, (300, 220))
    names, frames = ("crank", "coupler", "coupler end", "rocker"), []
    for row in range(0, 5000, 100):
        a, b, c, d = (np.asarray(kt.frame_placement(robot, motion.q[row], name))[:3, 3] for name in names)
        sketch = Sketch().room([[-0.3, 0.0, -0.32], [1.15, 0.0, 0.75]])
        for start, end, color in ((a, d, GREY), (a, b, ORANGE), (b, c, (92, 132, 180)), (c, d, DARK)):
            sketch.line(start, end, color, thickness=0.028)
        for joint in (a, b, c, d):
            sketch.shape("cylinder", (0.045, 0.09), pose(joint, (np.pi / 2, 0.0, 0.0)), INK)
        frames.append(sketch.draw(size, direction=(-0.25, 1.0, -0.2), floor=False, margin=0.02))
    save_film(path, frames, 12)


@film
def example_identification(path: Path, scale: int) -> None:
    """The exciting motion."""
    panda, excitation = example("identification")["panda"], example("identification")["excitation"]
    t = np.arange(0.0, min(10.0, excitation.trajectory.period), 1.0 / 5.0)
    q = excitation.trajectory.at(t)[0]
    size, frames = times(scale, (240, 260)), []
    camera = Sketch().room([[-0.3, -0.4, 0.0], [0.55, 0.4, 0.95]]).camera(size, margin=0.0)
    frames = [kt.render(panda, x, size=size, camera=camera) for x in q]
    save_film(path, frames, 10)


@film
def example_rollouts(path: Path, scale: int) -> None:
    motions = example("rollouts")["motions"]
    beside = kt.pictures.Camera((0.0, -4.2, 0.9), (0.0, 0.0, 0.45))
    films(path, motions, scale, (360, 220), fps=12, which=range(988, 1000), speed=0.8, quality=55, samples="ghosts",
          camera=beside)  # fmt: skip


@still
def example_trajectory_in_pandas(path: Path, scale: int) -> None:
    save_still(path, plotted(example("trajectory_in_pandas")["motion"], scale, what=["positions", "energies"]))


# The first picture of README


@film
def a1_trots(path: Path, scale: int) -> None:
    """Unitree's A1 trots forward by whole-body control, as in examples/quadruped_trot.py, on ground with contacts."""
    control, (speed, step, lift, stand, steps) = kt.control, (0.25, 0.2, 0.06, 0.2, 16)
    robot = known("a1_description/urdf/a1.urdf", floating_base=True)
    feet = [name for name in robot.frames if name.endswith("foot")]
    robot = robot.on_ground(friction=0.8).with_contacts(feet).without_self_contact()
    q0 = robot.neutral()
    q0[7:] = np.tile([0.0, 0.8, -1.6], 4)
    q0[2] -= kt.frame_placement(robot, q0, feet[0])[2, 3] - 0.02
    homes = {name: np.array(kt.frame_placement(robot, q0, name)[:3, 3]) for name in feet}
    trunk = np.array(kt.frame_placement(robot, q0, "trunk"))
    pairs = [[name for name in feet if name[:2] in legs] for legs in (("FL", "RR"), ("FR", "RL"))]
    tasks: dict[str, Any] = {name: control.Position(name) for name in feet}
    tasks |= {
        "trunk": control.Pose("trunk", weight=10.0, priority=1),
        "posture": control.Posture(weight=0.1, priority=1),
    }
    tasks = {f"swing of {name}" if name in feet else name: task for name, task in tasks.items()}
    controller = control.WholeBody(
        robot, tasks, {name: control.Support(name, friction=0.6, velocity_gain=20.0) for name in feet},
        stiffness={"trunk": 150.0, "posture": 50.0, **{f"swing of {name}": 900.0 for name in feet}},
    )  # fmt: skip
    start = {name: homes[name].copy() for name in feet}
    began = {"step": -1}
    targets = {"trunk": trunk, "posture": q0, **{f"swing of {name}": homes[name] for name in feet}}
    controller.step(q0, np.zeros(robot.nv), targets)

    def trot(t: float, q: Any, v: Any) -> Any:
        k = int((t - stand) / step) if t > stand else -1
        swinging = pairs[k % 2] if 0 <= k < steps else []
        if k != began["step"]:
            began["step"] = k
            for name in swinging:
                start[name] = np.array(kt.frame_placement(robot, q, name)[:3, 3])
        s = (t - stand) / step - k
        ahead = speed * float(np.clip(t - stand, 0.0, steps * step))
        moved = trunk.copy()
        moved[0, 3] += ahead
        given, rates, curves = {"trunk": moved}, {}, {}
        for name in swinging:
            goal = homes[name] + [speed * (min(k + 1, steps) * step) + 0.5 * speed * step, 0.0, 0.0]
            way = goal - start[name]
            blend, slope = s - np.sin(2 * np.pi * s) / (2 * np.pi), (1 - np.cos(2 * np.pi * s)) / step
            rise = np.array([0.0, 0.0, lift * np.sin(np.pi * s) ** 2 - 0.012 * s])
            given[f"swing of {name}"] = start[name] + blend * way * [1.0, 1.0, 0.0] + rise
            rates[f"swing of {name}"] = slope * way * [1.0, 1.0, 0.0] + [
                0.0, 0.0, lift * np.pi / step * np.sin(2 * np.pi * s) - 0.012 / step,
            ]  # fmt: skip
            curves[f"swing of {name}"] = np.array(
                [*(2 * np.pi * np.sin(2 * np.pi * s) / step**2 * way[:2]),
                 2 * lift * (np.pi / step) ** 2 * np.cos(2 * np.pi * s)]
            )  # fmt: skip
        moving = 0 <= k < steps
        rates["trunk"] = np.array([speed if moving else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        active = {name: name not in swinging for name in feet}
        active |= {f"swing of {name}": name in swinging for name in feet}
        return controller.step(q, v, given, rates, curves, active=active).tau

    motion = kt.simulate(robot, q=q0, tau=trot, duration=stand + step * steps + 0.2, contact=True, dt=2e-3)
    camera = kt.pictures.Camera((0.95, -1.02, 0.36), (0.0, 0.0, -0.1), follows="trunk")
    films(path, motion, scale, (480, 270), fps=15, quality=55, camera=camera)


# Trained policies

RUNS_FOLDER: Path | None = None
"""The folder of the runs, one per task, each made by `kinetree train TASK --out FOLDER/TASK`."""


def trained(path: Path, scale: int, seconds: float, size: tuple[int, int] = (300, 210), **options: Any) -> None:
    """The beginning of an episode with a policy that was learned; the task is in the name of the film."""
    task = path.stem.removeprefix("trained_")
    if RUNS_FOLDER is None:
        raise SystemExit(f"{path.stem} needs --runs FOLDER, with a run of {task} in it")
    run = kt.learning.load_run(RUNS_FOLDER / task)
    motion = run.play(seed=options.pop("seed", 0), steps=round(seconds / run.env.dt))
    films(path, motion, scale, size, **{"fps": 12, "quality": 55, "camera": "follow", **options})


@film
def trained_quadruped(path: Path, scale: int) -> None:
    trained(path, scale, 4.0)


@film
def trained_quadruped_rough(path: Path, scale: int) -> None:
    behind = kt.pictures.Camera((1.5, -1.3, 0.9), (0.0, 0.0, -0.1), follows="trunk")
    trained(path, scale, 4.0, fps=10, camera=behind, quality=45)


@film
def trained_hopper(path: Path, scale: int) -> None:
    trained(path, scale, 3.5, speed=0.8)


@film
def trained_half_cheetah(path: Path, scale: int) -> None:
    trained(path, scale, 3.0, speed=0.7)


@film
def trained_walker(path: Path, scale: int) -> None:
    trained(path, scale, 3.5, speed=0.8)


@film
def trained_ant(path: Path, scale: int) -> None:
    trained(path, scale, 4.0)


@film
def trained_cart_pole(path: Path, scale: int) -> None:
    beside = kt.pictures.Camera((0.0, -4.6, 0.5), (0.0, 0.0, 0.0))
    trained(path, scale, 4.0, camera=beside)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="pictures; by default all")
    parser.add_argument("--runs", type=Path, help="folder of the runs of trained policies; without it their films stay")
    parser.add_argument("--out", type=Path, help=f"folder to write to; by default {FOLDER}")
    parser.add_argument("--large", action="store_true", help=f"films at three times their size, into {LARGE}")
    parser.add_argument("--list", action="store_true", help="print the names, and write nothing")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - PICTURES.keys()):
        parser.error(f"no picture is called {', '.join(unknown)}; there are {', '.join(PICTURES)}")
    global RUNS_FOLDER
    RUNS_FOLDER = given.runs.resolve() if given.runs else None
    names = given.names or [
        name for name, made in PICTURES.items()
        if (given.runs or not name.startswith("trained_")) and (made.kind == "film" or not given.large)
    ]  # fmt: skip
    if given.list:
        print("\n".join(names))
        return
    folder = (given.out or (LARGE if given.large else FOLDER)).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        print(name, end="", flush=True)
        path = write(name, folder, large=given.large)
        print(f": {path.stat().st_size / 1000:.0f} kB", flush=True)


def write(name: str, folder: Path, *, large: bool = False) -> Path:
    """Write a picture into a folder; an error if it is larger than a checkout may have it."""
    made = PICTURES[name]
    path = folder / f"{name}{'.mp4' if large else '.webp'}"
    made.make(path, 3 if large else 1)
    size = path.stat().st_size
    if not large and size > MOST[made.kind]:
        raise SystemExit(f"{path} has {size:,} bytes, and a {made.kind} may have {MOST[made.kind]:,}")
    return path


if __name__ == "__main__":
    main()
