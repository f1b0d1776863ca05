"""Rollouts with contacts beside `mujoco.rollout`: legged robots that are shaken on the ground, the same in both.

    python benchmarks/contact_rollouts.py [--worlds 4096] [--steps 100] [--rounds 5] [--threads 1] [ROBOT ...]

Each robot is written as MJCF, with a ground, the shapes that may touch it, and springs in its joints so that it stands;
both libraries read that file, and MuJoCo has its own settings. The worlds begin near the standing posture, at random,
and random joint forces act. Medians of rounds, in turn; and how far apart the motions are.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

import kinetree as kt
from kinetree.records import record
from robots import FOLDER
from timing import medians


@record(frozen=True, slots=True)
class Scene:
    """A robot of the wheel example-robot-data on the ground."""

    file: str
    touching: tuple[tuple[str, Mapping[str, str]], ...]
    """Bodies, and the attributes of geoms on them."""
    height: float
    """Height of the base while it stands, m."""
    posture: Mapping[str, float]
    """Angles of the joints whose names contain something, rad."""
    stiffness: float
    """Stiffness of the springs that hold the posture, N·m/rad."""


def _sphere(body: str, radius: float, at: str = "0 0 0") -> tuple[str, Mapping[str, str]]:
    return body, {"type": "sphere", "size": str(radius), "pos": at}


SCENES = {
    "anymal_c": Scene(
        "anymal_c_simple_description/urdf/anymal.urdf",
        (
            ("base", {"type": "box", "size": "0.35 0.15 0.1"}),
            *(_sphere(f"{leg}_FOOT", 0.03) for leg in ("LF", "RF", "LH", "RH")),
        ),
        0.54,
        {"F_HFE": 0.4, "H_HFE": -0.4, "F_KFE": -0.8, "H_KFE": 0.8},
        400.0,
    ),
    "go2": Scene(
        "go2_description/urdf/go2.urdf",
        (
            ("base", {"type": "box", "size": "0.19 0.047 0.057"}),
            *(_sphere(f"{leg}_foot", 0.022) for leg in ("FL", "FR", "RL", "RR")),
        ),
        0.3,
        {"thigh": 0.8, "calf": -1.5},
        150.0,
    ),
    "g1": Scene(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        tuple(
            _sphere(f"{side}_ankle_roll_link", 0.005, at)
            for side in ("left", "right")
            for at in ("-0.05 0.025 -0.03", "-0.05 -0.025 -0.03", "0.12 0.03 -0.03", "0.12 -0.03 -0.03")
        ),
        0.79,
        {},
        300.0,
    ),
}


def written(scene: Scene, path: Path) -> None:
    """Write the MJCF file of a scene."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the robot's file
        robot = kt.load(FOLDER / scene.file, floating_base=True)
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
    world = tree.getroot().find("worldbody")
    ET.SubElement(world, "geom", {"name": "floor", "type": "plane", "size": "0 0 1", "contype": "1"})
    for joint in tree.iter("joint"):
        if joint.get("type", "hinge") == "hinge" and joint.get("name"):
            angle = next((x for part, x in scene.posture.items() if part in joint.get("name", "")), 0.0)
            joint.set("stiffness", str(scene.stiffness))
            joint.set("damping", str(0.02 * scene.stiffness))
            joint.set("springref", str(angle))
    tree.write(path)


def measure(name: str, scene: Scene, worlds: int, steps: int, rounds: int, threads: int) -> None:
    """Print one line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.xml"
        written(scene, path)
        robot, theirs = kt.load(path), mujoco.MjModel.from_xml_path(str(path))
    theirs.opt.timestep = 0.002
    rng, dt = np.random.default_rng(0), 0.002
    standing = np.array(theirs.qpos_spring)
    standing[2] = scene.height
    qpos = np.tile(standing, (worlds, 1))
    qpos[:, 2] += rng.uniform(0.0, 0.02, worlds)
    qpos[:, 7:] += rng.uniform(-0.1, 0.1, (worlds, theirs.nq - 7))
    qvel = rng.uniform(-0.3, 0.3, (worlds, theirs.nv))
    force = rng.normal(size=(worlds, steps, theirs.nv)) * 0.02 * scene.stiffness
    force[..., :6] = 0.0
    layout = kt.Layout(robot, "mujoco")
    q, v = layout.q_from(qpos), layout.v_from(qpos, qvel)
    tau = layout.tau_from(np.repeat(qpos[:, None], steps, 1), force)
    start = time.perf_counter()
    kt.rollout(robot, q[:64], v[:64], tau[:64], dt, contact=True, passive=True, threads=threads)
    first = time.perf_counter() - start
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros((worlds, mujoco.mj_stateSize(theirs, spec)))
    state[:, 1 : 1 + theirs.nq], state[:, 1 + theirs.nq : 1 + theirs.nq + theirs.nv] = qpos, qvel
    data = [mujoco.MjData(theirs) for _ in range(threads)]
    applied = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    found = {}

    def own() -> None:
        found["kinetree"] = kt.rollout(robot, q, v, tau, dt, contact=True, passive=True, threads=threads)

    def peer() -> None:
        found["mujoco"], _ = rollout.rollout(theirs, data, state, force, control_spec=applied)

    times = medians({"kinetree": own, "mujoco": peer}, rounds)
    each = 1e6 / (worlds * steps) * threads
    apart = np.abs(found["kinetree"][:, -1, :3] - found["mujoco"][:, -1, 1:4]).max(axis=-1)
    print(
        f"{name:10} {times['kinetree'] * each:7.2f} µs per step and thread, mujoco {times['mujoco'] * each:7.2f}: "
        f"{times['mujoco'] / times['kinetree']:5.1f} times; first use {first:.1f} s; base apart after {steps} steps: "
        f"median {np.median(apart):.0e} m, largest {apart.max():.0e} m"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=", ".join(SCENES))
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    for name in given.robots or SCENES:
        measure(name, SCENES[name], given.worlds, given.steps, given.rounds, given.threads)


if __name__ == "__main__":
    main()
