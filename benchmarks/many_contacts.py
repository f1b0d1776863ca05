"""Scenes with many pairs of shapes beside MuJoCo: the first result, memory, and the time of a step.

    python benchmarks/many_contacts.py [--rounds 7] [--worlds 64] [SCENE ...]

Both libraries read the same MJCF file and take the same steps, as long as the file says: spheres in a pit, piles of
boxes, an arm with a gripper above a table with objects, and robots of wheels, which are left out where the wheel is not
installed. Each scene has a process of its own, with an empty cache. Times of a step are medians, in turn, of processor
time, in motions of 50 steps from the same states: one world beside `mj_step`, and a batch on one thread beside
`mujoco.rollout`. Neither has actuators, media or corrections of friction after the solution.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco import rollout

import kinetree as kt
from kinetree.functions.above_ground import usual_start
from robot_tables import installed
from timing import medians

STEPS = 50
_WORLD = '<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/>{}</worldbody></mujoco>'


def pit(count: int) -> str:
    """Spheres on a floor between four walls, in layers."""
    side = 4
    walls = "".join(
        f'<geom type="box" size="{x} {y} 0.3" pos="{a} {b} 0.3"/>'
        for x, y, a, b in ((0.02, 0.5, 0.5, 0), (0.02, 0.5, -0.5, 0), (0.5, 0.02, 0, 0.5), (0.5, 0.02, 0, -0.5))
    )
    places = [
        (0.21 * (k % side) - 0.33, 0.21 * (k // side % side) - 0.33, 0.1 + 0.2 * (k // side**2)) for k in range(count)
    ]
    return _WORLD.format(walls + free_bodies('type="sphere" size="0.1"', places))


def free_bodies(shape: str, places: Iterable[tuple[float, float, float]]) -> str:
    """A body of 1 kg at each of the places."""
    return "".join(f'<body pos="{x} {y} {z}"><freejoint/><geom {shape} mass="1"/></body>' for x, y, z in places)


def pile(count: int) -> str:
    """Boxes in a wall."""
    places = [(0.21 * (k % 5) + 0.1 * (k // 5 % 2), 0, 0.05 + 0.1 * (k // 5)) for k in range(count)]
    return _WORLD.format(free_bodies('type="box" size="0.1 0.1 0.05"', places))


def floor(count: int) -> str:
    """Spheres that touch the floor alone."""
    places = [(0.3 * (k % 30), 0.3 * (k // 30), 0.1) for k in range(count)]
    return _WORLD.format(free_bodies('type="sphere" size="0.1" contype="0" conaffinity="1"', places))


def table(count: int) -> str:
    """An arm of seven joints with a gripper, above a table with spheres, boxes, capsules, cylinders and ellipsoids."""
    shapes = (
        'type="sphere" size="0.03"', 'type="box" size="0.03 0.025 0.03"', 'type="capsule" size="0.02 0.03"',
        'type="cylinder" size="0.03 0.03"', 'type="ellipsoid" size="0.035 0.03 0.03"',
    )  # fmt: skip
    bodies = "".join(
        f'<body pos="{0.3 + 0.09 * (k % 5)} {0.09 * (k // 5) - 0.15} 0.435"><freejoint/>'
        f'<geom {shapes[k % len(shapes)]} density="500"/></body>'
        for k in range(count)
    )
    finger = '<body pos="0 {0}0.03 0.12"><joint type="slide" axis="0 {0}1 0" range="-0.03 0.01" damping="5"/>{1}</body>'
    box = '<geom type="box" size="0.01 0.005 0.03" mass="0.05"/>'
    arm = '<geom type="box" size="0.03 0.05 0.03" pos="0 0 0.06" mass="0.4"/>'
    arm += "".join(finger.format(sign, box) for sign in "+-")
    lengths, bends = (0.3, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1), (0.0, 0.2, 0.0, 1.4, 0.0, 1.4, 0.0)
    for k, (length, bend) in reversed([*enumerate(zip(lengths, bends, strict=True))]):
        above = lengths[k - 1] if k else 0.0
        arm = (
            f'<body pos="0 0 {above}" euler="0 {math.degrees(bend)} 0">'
            f'<joint axis="{"0 1 0" if k % 2 else "0 0 1"}" range="-170 170" armature="0.1" damping="20"/>'
            f'<geom type="capsule" size="0.04" fromto="0 0 0 0 0 {length}" mass="2"/>{arm}</body>'
        )
    top = '<geom type="box" size="0.4 0.4 0.02" pos="0.5 0 0.38"/>'
    return _WORLD.format(top + f'<body pos="0 0 0.4">{arm}</body>' + bodies)


class Scene(NamedTuple):
    """A file, and the folder of its meshes."""

    path: Path
    folder: Path


def written(text: Callable[[int], str], count: int) -> Scene:
    """A scene of so many bodies."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "scene.xml"
    path.write_text(text(count))
    return Scene(path, folder)


def in_wheel(package: str, file: str) -> Scene | None:
    """A file of a wheel, if that is installed."""
    folder = installed(package)
    return None if folder is None else Scene(folder / file, folder)


_WALKERS = "locomotion/walkers/assets/"
SCENES: dict[str, Callable[[], Scene | None]] = {
    "humanoid": partial(in_wheel, "gymnasium", "envs/mujoco/assets/humanoid.xml"),
    "pit of 10 spheres": partial(written, pit, 10),
    "pit of 20 spheres": partial(written, pit, 20),
    "pit of 30 spheres": partial(written, pit, 30),
    "pile of 8 boxes": partial(written, pile, 8),
    "pile of 20 boxes": partial(written, pile, 20),
    "pile of 50 boxes": partial(written, pile, 50),
    "pile of 300 boxes": partial(written, pile, 300),
    "1,000 spheres on a floor": partial(written, floor, 1000),
    "arm and 20 objects": partial(written, table, 20),
    "hand and block": partial(in_wheel, "gymnasium-robotics", "envs/assets/hand/manipulate_block.xml"),
    "hand and egg": partial(in_wheel, "gymnasium-robotics", "envs/assets/hand/manipulate_egg.xml"),
    "hand and ball": partial(in_wheel, "gymnasium-robotics", "envs/assets/adroit_hand/adroit_relocate.xml"),
    "GR1": partial(in_wheel, "robosuite", "models/assets/robots/gr1/robot.xml"),
    "CMU humanoid, 2020": partial(in_wheel, "dm-control", _WALKERS + "humanoid_CMU_V2020.xml"),
    "rodent": partial(in_wheel, "dm-control", _WALKERS + "rodent.xml"),
    "dog": partial(in_wheel, "dm-control", "suite/dog.xml"),
    "dog, version 2": partial(in_wheel, "dm-control", _WALKERS + "dog_v2/dog.xml"),
    "fruit fly": partial(in_wheel, "dm-control", _WALKERS + "fruitfly_v2/floor.xml"),
    "fruit fly, meshes": partial(in_wheel, "dm-control", _WALKERS + "build_fruitfly/assets/drosophila_fused.xml"),
}


def first_result(scene: Scene) -> str:
    """The columns of the first motion: pairs, wall time and processor time in s, memory in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    robot = kt.load(scene.path, package_roots=[scene.folder])
    soft, dt = kt.contact.soft_constraints(robot), timestep(robot)
    began, busy = time.perf_counter(), time.process_time()
    kt.simulate(robot, duration=STEPS * dt, dt=dt, contact="partial")
    took, busy = time.perf_counter() - began, time.process_time() - busy
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return f"{robot.nv:4} {len(soft.touches):6} {took:7.1f} {busy:7.1f} {memory:7.0f}"


def timestep(robot: kt.Model) -> float:
    """The length of a step, s."""
    return 0.002 if robot.extras.options is None else robot.extras.options.timestep


def steps(scene: Scene, rounds: int, worlds: int) -> str:
    """The columns of a step in optimised code: contacts that act, µs in one world and in a batch, each with MuJoCo's
    time over it."""
    robot = kt.load(scene.path, package_roots=[scene.folder])
    dt = timestep(robot)
    model = mujoco.MjModel.from_xml_path(str(scene.path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    model.opt.density, model.opt.viscosity, model.opt.noslip_iterations, model.body_gravcomp[:] = 0.0, 0.0, 0, 0.0
    data = mujoco.MjData(model)
    q = usual_start(robot, touches=True)
    tau = np.zeros((worlds, STEPS, robot.nv))
    many_q = np.tile(q, (worlds, 1))
    many_v = 0.01 * np.random.default_rng(0).normal(size=(worlds, robot.nv))
    layout = kt.interop.Layout(robot, "mujoco")
    states = np.zeros((worlds, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1 : 1 + model.nq] = layout.q_to(many_q)
    state = states[0].copy()
    states[:, 1 + model.nq : 1 + model.nq + model.nv] = layout.v_to(many_q, many_v)
    acting: list[int] = []

    def theirs() -> None:
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for _ in range(STEPS):
            mujoco.mj_step(model, data)

    def ours(count: int) -> object:
        return kt.rollout(robot, many_q[:count], many_v[:count], tau[:count], dt, contact="partial", threads=1)

    calls = {
        "one": lambda: ours(1),
        "other": theirs,
        "many": lambda: ours(worlds),
        "others": lambda: rollout.rollout([model], [data], states, nstep=STEPS),
    }
    for call in calls.values():
        call()
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        acting.append(data.ncon)
    took = {name: 1e6 * t / STEPS for name, t in medians(calls, rounds, clock=time.process_time).items()}
    one, many = took["one"], took["many"]
    return (
        f" {np.mean(acting):6.0f} {one:9.1f} {took['other'] / one:6.2f} {many / worlds:9.2f}"
        f" {took['others'] / many:6.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=[*SCENES])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--part", choices=["first", "steps"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        scene = SCENES[given.scenes[0]]()
        assert scene is not None
        print(first_result(scene) if given.part == "first" else steps(scene, given.rounds, given.worlds), end="")
        return
    print("scene                      nv  pairs first s  busy s      MB acting    one µs  times   many µs  times")
    for name in given.scenes:
        if SCENES[name]() is None:
            continue
        print(f"{name:24}", end=" ", flush=True)
        for part, optimize in (("first", "background"), ("steps", "now")):
            with tempfile.TemporaryDirectory() as cache:
                options = [f"--part={part}", f"--rounds={given.rounds}", f"--worlds={given.worlds}"]
                command = [sys.executable, "-W", "ignore", __file__, name, *options]
                environment = {"KINETREE_CACHE_DIR": cache, "KINETREE_OPTIMIZE": optimize}
                subprocess.run(command, env={**os.environ, **environment}, check=False)
        print(flush=True)


if __name__ == "__main__":
    main()
