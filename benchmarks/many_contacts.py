"""Scenes with many pairs of shapes beside MuJoCo: the first result, memory, and the time of a step.

    python benchmarks/many_contacts.py [--rounds 7] [--worlds 64] [SCENE ...]

Both libraries read the same MJCF file and take the same steps of 2 ms: spheres in a pit, piles of boxes, capsules of
several bodies, and gymnasium's humanoid. Each scene has a process of its own, with an empty cache. Times of a step are
medians, in turn, of processor time, in motions of 50 steps from the same states: one world beside `mj_step`, and a
batch on one thread beside `mujoco.rollout`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

import kinetree as kt
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
    bodies = "".join(
        f'<body pos="{0.21 * (k % side) - 0.33} {0.21 * (k // side % side) - 0.33} {0.1 + 0.2 * (k // side**2)}">'
        '<freejoint/><geom type="sphere" size="0.1" mass="1"/></body>'
        for k in range(count)
    )
    return _WORLD.format(walls + bodies)


def pile(count: int) -> str:
    """Boxes in a wall."""
    bodies = "".join(
        f'<body pos="{0.21 * (k % 5) + 0.1 * (k // 5 % 2)} 0 {0.05 + 0.1 * (k // 5)}"><freejoint/>'
        '<geom type="box" size="0.1 0.1 0.05" mass="1"/></body>'
        for k in range(count)
    )
    return _WORLD.format(bodies)


def floor(count: int) -> str:
    """Spheres that touch the floor alone."""
    bodies = "".join(
        f'<body pos="{0.3 * (k % 30)} {0.3 * (k // 30)} 0.1"><freejoint/>'
        '<geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="1"/></body>'
        for k in range(count)
    )
    return _WORLD.format(bodies)


def humanoid(_: int) -> str:
    """gymnasium's."""
    return Path(str(distribution("gymnasium").locate_file("gymnasium/envs/mujoco/assets/humanoid.xml"))).read_text()


SCENES: dict[str, tuple[Callable[[int], str], int]] = {
    "humanoid": (humanoid, 0),
    "pit of 10 spheres": (pit, 10),
    "pit of 20 spheres": (pit, 20),
    "pit of 30 spheres": (pit, 30),
    "pile of 8 boxes": (pile, 8),
    "pile of 20 boxes": (pile, 20),
    "pile of 50 boxes": (pile, 50),
    "100 spheres on a floor": (floor, 100),
}


def started(name: str) -> tuple[kt.Model, Path]:
    """A scene's robot, and its file."""
    text, count = SCENES[name]
    path = Path(tempfile.mkdtemp()) / "scene.xml"
    path.write_text(text(count))
    return kt.load(path), path


def first_result(name: str) -> str:
    """The columns of the first motion: pairs, wall time and processor time in s, memory in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    robot, _ = started(name)
    pairs = len(kt.contact.soft_constraints(robot).touches)
    began, busy = time.perf_counter(), time.process_time()
    kt.simulate(robot, duration=0.002 * STEPS, dt=0.002, contact=True)
    took, busy = time.perf_counter() - began, time.process_time() - busy
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return f"{name:24} {pairs:6} {took:7.1f} {busy:7.1f} {memory:7.0f}"


def steps(name: str, rounds: int, worlds: int) -> str:
    """The columns of a step in optimised code: µs in one world and in a batch, each with MuJoCo's time over it."""
    robot, path = started(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    q = kt.simulate(robot, duration=0.002, dt=0.002, contact=True).q[0]
    state = np.concatenate([[0.0], q, np.zeros(model.nv)])
    tau = np.zeros((worlds, STEPS, robot.nv))
    many_q = np.tile(q, (worlds, 1))
    many_v = 0.01 * np.random.default_rng(0).normal(size=(worlds, robot.nv))
    states = np.hstack([np.zeros((worlds, 1)), many_q, many_v])

    def theirs() -> None:
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for _ in range(STEPS):
            mujoco.mj_step(model, data)

    def ours(count: int) -> object:
        return kt.rollout(robot, many_q[:count], many_v[:count], tau[:count], 0.002, contact=True, threads=1)

    calls = {
        "one": lambda: ours(1),
        "other": theirs,
        "many": lambda: ours(worlds),
        "others": lambda: rollout.rollout([model], [data], states, nstep=STEPS),
    }
    for call in calls.values():
        call()
    took = {name: 1e6 * t / STEPS for name, t in medians(calls, rounds, clock=time.process_time).items()}
    one, many = took["one"], took["many"]
    return f" {one:9.1f} {took['other'] / one:6.2f} {many / worlds:9.2f} {took['others'] / many:6.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=[*SCENES])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--part", choices=["first", "steps"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        (scene,) = given.scenes
        print(first_result(scene) if given.part == "first" else steps(scene, given.rounds, given.worlds), end="")
        return
    print("scene                     pairs first s  busy s      MB    one µs  times   many µs times")
    for scene in given.scenes:
        for part, optimize in (("first", "background"), ("steps", "now")):
            with tempfile.TemporaryDirectory() as cache:
                options = [f"--part={part}", f"--rounds={given.rounds}", f"--worlds={given.worlds}"]
                command = [sys.executable, "-W", "ignore", __file__, scene, *options]
                environment = {"KINETREE_CACHE_DIR": cache, "KINETREE_OPTIMIZE": optimize}
                subprocess.run(command, env={**os.environ, **environment}, check=False)
        print(flush=True)


if __name__ == "__main__":
    main()
