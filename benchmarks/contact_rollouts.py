"""Rollouts beside `mujoco.rollout`: legged robots that are shaken on the ground, and an arm, the same in both.

    python benchmarks/contact_rollouts.py [--worlds 4096] [--steps 100] [--rounds 5] [--threads 1] [ROBOT ...]

Each legged robot is written as MJCF, with a ground, the shapes that may touch it, and springs in its joints so that it
stands; both libraries read that file, and MuJoCo has its own settings. The worlds begin near the standing posture, at
random, and random joint forces act. The arm has no shapes and no limits, and the damping of its URDF file, which both
take at the new velocity; its fingers are coupled as in that file, by an equality that both solve, or, as
"panda_uncoupled", move by themselves, so that there is nothing to solve.

`mujoco.batch` and mjbatch take part where they are installed; a loop in Python sets the forces of each of their steps.

Medians of rounds, in turn; how far apart the motions are; and the time of the first call of 64 worlds, with an empty
cache and then in new processes (the median of three, without the time to import and to load the robot).
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

import kinetree as kt
from kinetree.records import record
from robots import FOLDER
from timing import medians

Array = NDArray[np.float64]
DT = 0.002
"""Length of a step, s."""


@record(frozen=True, slots=True)
class Scene:
    """A robot of the wheel example-robot-data, on the ground if its base floats."""

    file: str
    posture: Mapping[str, float]
    """Angles of the joints whose names contain something, rad."""
    touching: tuple[tuple[str, Mapping[str, str]], ...] = ()
    """Bodies, and the attributes of geoms on them."""
    height: float | None = None
    """Height of the base while the robot stands, m; None for a fixed base."""
    stiffness: float | None = None
    """Stiffness of the springs that hold the posture, N·m/rad; None leaves joints as the file has them."""
    is_coupled: bool = True
    """Whether joints that mimic others in the file are coupled."""


def _sphere(body: str, radius: float, at: str = "0 0 0") -> tuple[str, Mapping[str, str]]:
    return body, {"type": "sphere", "size": str(radius), "pos": at}


_BENT = {"joint2": 0.5, "joint4": -2.0, "joint6": 2.0, "finger": 0.02}
SCENES = {
    "anymal_c": Scene(
        "anymal_c_simple_description/urdf/anymal.urdf",
        {"F_HFE": 0.4, "H_HFE": -0.4, "F_KFE": -0.8, "H_KFE": 0.8},
        (
            ("base", {"type": "box", "size": "0.35 0.15 0.1"}),
            *(_sphere(f"{leg}_FOOT", 0.03) for leg in ("LF", "RF", "LH", "RH")),
        ),
        0.54,
        400.0,
    ),
    "go2": Scene(
        "go2_description/urdf/go2.urdf",
        {"thigh": 0.8, "calf": -1.5},
        (
            ("base", {"type": "box", "size": "0.19 0.047 0.057"}),
            *(_sphere(f"{leg}_foot", 0.022) for leg in ("FL", "FR", "RL", "RR")),
        ),
        0.3,
        150.0,
    ),
    "g1": Scene(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        {},
        tuple(
            _sphere(f"{side}_ankle_roll_link", 0.005, at)
            for side in ("left", "right")
            for at in ("-0.05 0.025 -0.03", "-0.05 -0.025 -0.03", "0.12 0.03 -0.03", "0.12 -0.03 -0.03")
        ),
        0.79,
        300.0,
    ),
    "panda": Scene("panda_description/urdf/panda.urdf", _BENT),
    "panda_uncoupled": Scene("panda_description/urdf/panda.urdf", _BENT, is_coupled=False),
}


def written(scene: Scene, path: Path) -> None:
    """Write the MJCF file of a scene."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the robot's file
        robot = kt.load(FOLDER / scene.file, floating_base=scene.height is not None, mimic=scene.is_coupled)
        kt.save(robot, path, lossy=True)
    tree = ET.parse(path)
    bodies = {body.get("name"): body for body in tree.iter("body")}
    for body in tree.iter("body"):
        for geom in body.findall("geom"):
            body.remove(geom)
    for asset in tree.getroot().findall("asset"):
        tree.getroot().remove(asset)
    for name, attributes in scene.touching:
        ET.SubElement(bodies[name], "geom", {"contype": "0", "conaffinity": "1", **attributes})
    if scene.touching:
        world = tree.getroot().find("worldbody")
        ET.SubElement(world, "geom", {"name": "floor", "type": "plane", "size": "0 0 1", "contype": "1"})
    for joint in tree.iter("joint"):
        if joint.get("type") not in ("hinge", "slide"):
            continue  # an equality's, or the base's
        angle = next((x for part, x in scene.posture.items() if part in joint.get("name", "")), 0.0)
        joint.set("springref", str(angle))
        if scene.stiffness is None:
            joint.attrib.pop("range", None)
        else:
            joint.set("stiffness", str(scene.stiffness))
            joint.set("damping", str(0.02 * scene.stiffness))
    tree.write(path)


def starts(
    robot: kt.Model, theirs: mujoco.MjModel, scene: Scene, worlds: int, steps: int
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Random starts near the posture, and joint forces: in kinetree's order and in MuJoCo's."""
    rng = np.random.default_rng(0)
    standing = np.array(theirs.qpos_spring)
    first = 0 if scene.height is None else 7
    qpos = np.tile(standing, (worlds, 1))
    if scene.height is not None:
        qpos[:, 2] = scene.height + rng.uniform(0.0, 0.02, worlds)
    is_slide = theirs.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    spread = np.where(is_slide, 0.01, 0.1)[-(theirs.nq - first) :]
    qpos[:, first:] += spread * rng.uniform(-1.0, 1.0, (worlds, theirs.nq - first))
    qvel = rng.uniform(-0.3, 0.3, (worlds, theirs.nv))
    strength = theirs.jnt_actfrcrange[:, 1] if scene.stiffness is None else scene.stiffness
    force = rng.normal(size=(worlds, steps, theirs.nv)) * 0.02 * strength
    if scene.height is not None:
        force[..., :6] = 0.0
    layout = kt.interop.Layout(robot, "mujoco")
    own = {
        "q": layout.q_from(qpos),
        "v": layout.v_from(qpos, qvel),
        "tau": layout.tau_from(np.repeat(qpos[:, None], steps, 1), force),
    }
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros((worlds, mujoco.mj_stateSize(theirs, spec)))
    state[:, 1 : 1 + theirs.nq], state[:, 1 + theirs.nq : 1 + theirs.nq + theirs.nv] = qpos, qvel
    return own, {"state": state, "force": force}


def is_held(robot: kt.Model) -> bool:
    """Whether anything touches or is coupled."""
    rows = kt.contact.soft_constraints(robot)
    return bool(rows.touches or rows.couplings)


def moved(robot: kt.Model, own: Mapping[str, Array], threads: int, *, contact: bool) -> Array:
    """The states of kinetree's motions, whose steps are as long as MuJoCo's, stiff springs or not."""
    return kt.rollout(robot, **own, dt=DT, contact=contact, passive=True, divide=False, threads=threads)


def first_call(folder: Path, threads: int) -> float:
    """Seconds of the first call of a process, for the robot and the arrays that lie in a folder."""
    robot = kt.load(folder / "scene.xml")
    with np.load(folder / "first.npz") as arrays:
        own = dict(arrays)
    contact = bool(own.pop("contact"))
    start = time.perf_counter()
    moved(robot, own, threads, contact=contact)
    return time.perf_counter() - start


def first_call_elsewhere(folder: Path, threads: int) -> float:
    """The same in a new process."""
    command = [sys.executable, __file__, "--threads", str(threads), "--first-call", str(folder)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def batches() -> dict[str, Any]:
    """The classes that step many worlds of MuJoCo, by the name of the package: mjbatch needs one version of MuJoCo."""
    found = {}
    for name in ("mujoco.batch", "mjbatch"):
        with suppress(ImportError):
            found[name] = importlib.import_module(name).Batch
    return found


def stepped(kind: Any, theirs: mujoco.MjModel, given: Mapping[str, Array], threads: int) -> Callable[[], Array]:
    """A call that steps all worlds from their starts, with a loop over steps in Python; returns the last qpos."""
    batch = kind(theirs, len(given["state"]), threads)
    qpos, qvel, time, force, warmstart = map(batch.bind, ("qpos", "qvel", "time", "qfrc_applied", "qacc_warmstart"))
    starts = given["state"][:, 1 : 1 + theirs.nq], given["state"][:, 1 + theirs.nq : 1 + theirs.nq + theirs.nv]
    in_steps = [np.ascontiguousarray(x) for x in given["force"].swapaxes(0, 1)]

    def run() -> Array:
        qpos[:], qvel[:] = starts
        time[:], warmstart[:] = 0.0, 0.0
        for x in in_steps:
            force[:] = x
            batch.step()
        return np.array(qpos)

    return run


@record(frozen=True, slots=True)
class Measured:
    """The rollouts of one scene."""

    times: dict[str, float]
    """Seconds per step and thread, by library."""
    first: float
    """Seconds of the first call of 64 worlds, with an empty cache."""
    again: float
    """The same in new processes, from the cache."""
    apart: Array
    """Distances (worlds,) of kinetree's last state from that of `mujoco.rollout`, and in which unit."""
    unit: str


def measured(name: str, worlds: int, steps: int, rounds: int, threads: int, folder: Path) -> Measured:
    """Measure a scene. The folder is an empty one, for files."""
    scene, path = SCENES[name], folder / "scene.xml"
    written(scene, path)
    robot, theirs = kt.load(path), mujoco.MjModel.from_xml_path(str(path))
    theirs.opt.timestep = DT
    own, given = starts(robot, theirs, scene, worlds, steps)
    contact = is_held(robot)
    np.savez(folder / "first.npz", contact=contact, **{key: x[:64] for key, x in own.items()})
    first = first_call(folder, threads)
    again = float(np.median([first_call_elsewhere(folder, threads) for _ in range(3)]))
    data = [mujoco.MjData(theirs) for _ in range(threads)]
    applied = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    found = {}

    def ours() -> None:
        found["kinetree"] = moved(robot, own, threads, contact=contact)

    def peer() -> None:
        found["mujoco"], _ = rollout.rollout(theirs, data, given["state"], given["force"], control_spec=applied)

    others = {key: stepped(kind, theirs, given, threads) for key, kind in batches().items()}
    times = medians({"kinetree": ours, "mujoco.rollout": peer, **others}, rounds)
    compared, unit = (theirs.nq, "rad") if scene.height is None else (3, "m")
    last = found["mujoco"][:, -1, 1 : 1 + compared]
    for key, other in others.items():
        off = np.median(np.abs(other()[:, :compared] - last))
        assert off < 1e-9, f"{key} is {off} away from mujoco.rollout"
    apart = np.abs(found["kinetree"][:, -1, :compared] - last).max(axis=-1)
    each = threads / (worlds * steps)
    return Measured({key: t * each for key, t in times.items()}, first, again, apart, unit)


def measure(name: str, worlds: int, steps: int, rounds: int, threads: int, folder: Path) -> None:
    """Print one line."""
    found = measured(name, worlds, steps, rounds, threads, folder)
    own, apart, unit = found.times.pop("kinetree"), found.apart, found.unit
    others = ", ".join(f"{key} {t * 1e6:7.2f}: {t / own:5.1f} times" for key, t in found.times.items())
    print(
        f"{name:15} {own * 1e6:7.2f} µs per step and thread, {others}; first use {found.first:.1f} s, then "
        f"{found.again * 1e3:.0f} ms from the cache; apart after {steps} steps: median {np.median(apart):.0e} {unit}, "
        f"largest {apart.max():.0e} {unit}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=", ".join(SCENES))
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--first-call", type=Path, metavar="FOLDER", help="used by the other runs")
    given = parser.parse_args()
    if given.first_call:
        print(first_call(given.first_call, given.threads))
        return
    with tempfile.TemporaryDirectory() as place:
        os.environ["KINETREE_CACHE_DIR"] = str(Path(place) / "cache")
        for name in given.robots or SCENES:
            folder = Path(place) / name
            folder.mkdir()
            measure(name, given.worlds, given.steps, given.rounds, given.threads, folder)


if __name__ == "__main__":
    main()
