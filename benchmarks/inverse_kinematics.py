"""Inverse kinematics of random reachable poses beside pytracik (TRAC-IK), pink and mink: success and time.

    pip install pytracik pin-pink mink daqp
    python benchmarks/inverse_kinematics.py [--targets 1000] [--few 30] [--write]

A UR5, a Panda, and an arm and a leg of Talos, each written by kinetree as one URDF file that all read. Targets are the
poses of the last frame at random configurations within the limits. Every solver begins in the middle of the limits; a
target is reached if position and orientation are within 1e-5 m and rad and the joints within their limits, which is
checked by kinetree's kinematics. TRAC-IK has its usual 5 ms, two threads and random starts of its own. pink and mink
take steps of differential inverse kinematics with their own limits, up to 200 from each of up to 10 starts, the
others random. They solve fewer targets, because they take long. Times are processor time per target, medians of rounds
in which the solvers take turns; "one" is a call with one target, "batch" is one call with all of them, on one thread.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.control import Pose, inverse_kinematics
from robots import FOLDER

PAGE = Path(__file__).parents[1] / "docs" / "inverse_kinematics.md"
BEGIN, END = "<!-- figures: python benchmarks/inverse_kinematics.py --write -->\n", "<!-- end of figures -->\n"
ROBOTS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "", "tool0"),
    "Panda": ("panda_description/urdf/panda.urdf", "panda_joint", "panda_hand"),
    "Talos, left arm": ("talos_data/robots/talos_reduced.urdf", "arm_left", "gripper_left_base_link"),
    "Talos, left leg": ("talos_data/robots/talos_reduced.urdf", "leg_left", "left_sole_link"),
}
REACHED, STEPS, STARTS, ROUNDS = 1e-5, 200, 10, 5

Solve = Callable[[Any], Any]
"""From a pose (4, 4) to a configuration, or None."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--few", type=int, default=30)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = [row for name in ROBOTS for row in rows_of(name, given.targets, given.few)]
    versions = ", ".join(f"{name} {version(name)}" for name in ("pytracik", "pin-pink", "mink"))
    head = ["| robot | solver | reached | µs per target | kinetree's batch is quicker by |", "|---|---|---|---|---|"]
    text = "\n".join([*head, *rows, "", f"Measured with {versions}.", ""])
    print(text)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")


def rows_of(name: str, count: int, few: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        robot, path, frame = written(name, Path(folder))
        targets = kt.frame_placement(robot, robot.random(0, size=count), frame)
        task, middle = Pose(frame), 0.5 * (robot.lower + robot.upper)
        trac_ik, pink, mink = (make(robot, path, frame, middle) for make in (in_trac_ik, in_pink, in_mink))
        solvers = {
            "kinetree, batch": (lambda some: [*inverse_kinematics(robot, task, some, threads=1).q], count),
            "kinetree, one": (lambda some: [inverse_kinematics(robot, task, T).q for T in some], count),
            "TRAC-IK": (lambda some: [trac_ik(T) for T in some], count),
            "pink": (lambda some: [pink(T) for T in some], few),
            "mink": (lambda some: [mink(T) for T in some], few),
        }
        for solve, _ in solvers.values():
            solve(targets[:1])
        solvers["kinetree, batch"][0](targets)
        times: dict[str, list[float]] = {solver: [] for solver in solvers}
        reached: dict[str, int] = dict.fromkeys(solvers, 0)
        for turn in range(ROUNDS):
            for solver, (solve, number) in solvers.items():
                own = targets if solver == "kinetree, batch" else targets[:number][turn::ROUNDS]
                begin = time.process_time()
                found = solve(own)
                times[solver].append((time.process_time() - begin) / len(own))
                if solver != "kinetree, batch" or turn == 0:
                    reached[solver] += count_of_reached(robot, frame, found, own)
    medians = {solver: float(np.median(x)) for solver, x in times.items()}
    own = medians["kinetree, batch"]
    return [
        f"| {name} | {solver} | {100 * reached[solver] / number:.1f} % of {number} | {1e6 * medians[solver]:.3g} | "
        f"{medians[solver] / own:.3g} times |"
        for solver, (_, number) in solvers.items()
    ]


def written(name: str, folder: Path) -> tuple[kt.Model, Path, str]:
    """The robot, whose other joints are locked, its file without meshes, and the frame."""
    file, chosen, frame = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        robot = kt.load(str(FOLDER / file), mimic=False)
        robot = robot.lock([joint for joint in robot.joints if not joint.startswith(chosen)])
        path = folder / "robot.urdf"
        kt.save(robot, path)
    tree = ElementTree.parse(path)
    for link in tree.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
    options = ElementTree.SubElement(tree.getroot(), "mujoco")
    ElementTree.SubElement(options, "compiler", fusestatic="false", balanceinertia="true")
    tree.write(path)
    return kt.load(str(path)), path, frame


def count_of_reached(robot: kt.Model, frame: str, found: Sequence[Any], targets: Any) -> int:
    """How many targets were reached within the limits."""
    count, task = 0, Pose(frame)
    for q, target in zip(found, targets, strict=True):
        if q is not None and (q >= robot.lower - 1e-9).all() and (q <= robot.upper + 1e-9).all():
            count += bool(np.abs(task.error(robot, q, target)).max() <= REACHED)
    return count


def in_trac_ik(robot: kt.Model, path: Path, frame: str, middle: Any) -> Solve:
    from trac_ik import TracIK

    solver = TracIK(base_link_name=robot.root, tip_link_name=frame, urdf_path=str(path))
    solver.joint_limits = robot.lower, robot.upper  # of a file with safety_controller it reads zeros
    return lambda T: solver.ik(T[:3, 3].copy(), T[:3, :3].copy(), seed_jnt_values=middle)


def in_pink(robot: kt.Model, path: Path, frame: str, middle: Any) -> Solve:
    import pink
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path))
    data, task, rng = (
        model.createData(),
        pink.tasks.FrameTask(frame, 1.0, 1.0, lm_damping=1e-3),
        np.random.default_rng(0),
    )
    limits = [pink.limits.ConfigurationLimit(model)]

    def solve(T: Any) -> Any:
        task.set_target(pin.SE3(T[:3, :3], T[:3, 3]))
        for start in range(STARTS):
            here = pink.Configuration(model, data, middle if start == 0 else rng.uniform(robot.lower, robot.upper))
            for _ in range(STEPS):
                if np.abs(task.compute_error(here)).max() < 0.1 * REACHED:
                    return here.q
                try:
                    here.integrate_inplace(pink.solve_ik(here, [task], 1.0, solver="daqp", limits=limits), 1.0)
                except pink.exceptions.PinkError:
                    break
        return None

    return solve


def in_mink(robot: kt.Model, path: Path, frame: str, middle: Any) -> Solve:
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    task, rng = mink.FrameTask(frame, "body", 1.0, 1.0, lm_damping=1e-3), np.random.default_rng(0)
    here, limits = mink.Configuration(model), [mink.ConfigurationLimit(model)]

    def solve(T: Any) -> Any:
        task.set_target(mink.SE3.from_matrix(T))
        for start in range(STARTS):
            here.update(middle if start == 0 else rng.uniform(robot.lower, robot.upper))
            for _ in range(STEPS):
                if np.abs(task.compute_error(here)).max() < 0.1 * REACHED:
                    return here.q.copy()
                try:
                    here.integrate_inplace(mink.solve_ik(here, [task], 1.0, solver="daqp", limits=limits), 1.0)
                except mink.exceptions.MinkError:
                    break
        return None

    return solve


if __name__ == "__main__":
    main()
