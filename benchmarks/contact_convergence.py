"""How many steps with contacts converge within the fixed number of iterations.

    python benchmarks/contact_convergence.py [--worlds 128] [--steps 300] [--only NAME ...] [PACKAGE=FOLDER ...]

Robots fall on their ground from random states and are driven by random commands, which change every ten steps. Printed
are the parts of all steps whose error, as `kt.rollout` reports it, is at most 1e-8 and at most 1e-10; the largest
error; and how many motions ended in NaN. The files are those of the packages that are installed; PACKAGE=FOLDER
gives an unpacked one.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.model import Model

GYM, DM = "gymnasium/envs/mujoco/assets", "dm_control/suite"
ROBOTS = {
    "hopper": ("gymnasium", f"{GYM}/hopper.xml"),
    "walker2d": ("gymnasium", f"{GYM}/walker2d_v5.xml"),
    "half_cheetah": ("gymnasium", f"{GYM}/half_cheetah.xml"),
    "ant": ("gymnasium", f"{GYM}/ant.xml"),
    "humanoid": ("gymnasium", f"{GYM}/humanoid.xml"),
    "humanoidstandup": ("gymnasium", f"{GYM}/humanoidstandup.xml"),
    "dm hopper": ("dm-control", f"{DM}/hopper.xml"),
    "dm walker": ("dm-control", f"{DM}/walker.xml"),
    "dm cheetah": ("dm-control", f"{DM}/cheetah.xml"),
    "dm humanoid": ("dm-control", f"{DM}/humanoid.xml"),
    "zoo quadruped": ("", "quadruped"),
    "zoo ragdoll": ("", "ragdoll"),
}
HELD = 10
"""Steps for which a command is held."""


def load(name: str, folders: dict[str, Path]) -> Model | None:
    """The robot on its ground, or None if its package is not there."""
    package, path = ROBOTS[name]
    if not package:
        return kt.zoo.load(path).on_ground()
    folder = folders.get(package)
    if folder is None:
        try:
            folder = Path(str(distribution(package).locate_file("")))
        except PackageNotFoundError:
            return None
    return kt.load(folder / path)


def starts(robot: Model, worlds: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Random states near the one in which the file places the robot, a little above it."""
    motion = kt.simulate(robot, duration=0.001)
    v = rng.normal(size=(worlds, robot.nv))
    q = kt.integrate(robot, np.tile(motion.q[0], (worlds, 1)), 0.2 * rng.normal(size=v.shape))
    return q, v


def commands(robot: Model, worlds: int, steps: int, rng: np.random.Generator) -> Any:
    """Joint forces (worlds, steps, nv): of its actuators under random commands, or a tenth of its weight, times 1 m."""
    held = -(-steps // HELD)
    drives = robot.extras.actuators
    if drives:
        ctrl = rng.uniform(-1.0, 1.0, (worlds, held, len(drives)))
        rest = robot.neutral()
        tau = np.asarray(kt.dynamics.actuator_forces(robot, rest, np.zeros(robot.nv), ctrl).tau)
    else:
        tau = rng.normal(size=(worlds, held, robot.nv)) * robot.mass
        if robot.nv > 6:
            tau[..., :6] = 0.0
    return np.repeat(tau, HELD, axis=1)[:, :steps]


def measure(name: str, robot: Model, worlds: int, steps: int) -> str:
    rng = np.random.default_rng(0)
    options = robot.extras.options
    dt = options.timestep if options else 0.002
    q, v = starts(robot, worlds, rng)
    tau = commands(robot, worlds, steps, rng)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.SimulationWarning)  # the table says it
        states, error, _ = kt.rollout(robot, q, v, tau, dt, contact="partial", passive=True, report=True)
    took = time.perf_counter() - began
    lost = int((~np.isfinite(states[:, -1])).any(axis=-1).sum())
    finite = error[np.isfinite(error)]
    solved = [f"{100.0 * (finite <= most).mean():11.4f} %" for most in (1e-8, 1e-10)]
    return f"{name:16s}{robot.nv:4d}{finite.size:9d}{''.join(solved)}{finite.max():10.1e}{lost:6d}{took:9.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=128)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--only", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("folders", nargs="*", metavar="PACKAGE=FOLDER")
    given = parser.parse_args()
    folders = {package: Path(folder) for package, _, folder in (x.partition("=") for x in given.folders)}
    print("robot             nv    steps      <= 1e-8     <= 1e-10     worst  lost        s")
    for name in given.only:
        robot = load(name, folders)
        print(
            f"{name:18s} is not installed" if robot is None else measure(name, robot, given.worlds, given.steps),
            flush=True,
        )


if __name__ == "__main__":
    main()
