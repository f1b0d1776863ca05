"""Whole-body control of Talos on two feet where priorities conflict, and in batches.

    pip install example-robot-data
    python benchmarks/whole_body_conflicts.py [STATES]

Momentum comes first, then torso and hand, then posture. States are near standing with small commands of the momentum;
the same with commands that cannot be met; and arbitrary configurations at up to 100 rad/s. Each is also tried with
limits of joints. Times are those of one call from Python, the shortest of three, and of one call for all states.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import distribution

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised

STATES = int(sys.argv[1]) if len(sys.argv) > 1 else 200
ROBOTS = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
ROBOT = kt.load(ROBOTS / "talos_data/robots/talos_reduced.urdf", floating_base=True)
TORSO, HAND = "torso_2_link", "gripper_left_base_link"


def standing() -> np.ndarray:
    q = ROBOT.neutral()
    for side in ("left", "right"):
        for k, angle in ((3, -0.4), (4, 0.86), (5, -0.45)):
            q[ROBOT.joints[f"leg_{side}_{k}_joint"].q_slice] = angle
    return q


def controller(horizon: float | None) -> kt.control.WholeBody:
    feet = {
        name: kt.control.Support(name, size=(0.2, 0.12), friction=0.4) for name in ("left_sole_link", "right_sole_link")
    }
    tasks = {
        "momentum": kt.control.Momentum(),
        "torso": kt.control.Orientation(TORSO, priority=1),
        "hand": kt.control.Position(HAND, priority=1),
        "posture": kt.control.Posture(list(ROBOT.joints)[1:], priority=2),
    }
    return kt.control.WholeBody(ROBOT, tasks, feet, joint_limit_horizon=horizon)


def states(kind: str, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Configurations, velocities and rates of the momentum."""
    rng, nv = np.random.default_rng(0), ROBOT.nv
    if kind == "arbitrary":
        speed = 10.0 ** rng.uniform(0, 2, (STATES, 1))
        return ROBOT.random(rng, STATES), speed * rng.normal(size=(STATES, nv)), 1e3 * rng.normal(size=(STATES, 6))
    size, most = (0.05, 20.0) if kind == "near standing" else (0.1, 1000.0)
    rate = rng.normal(size=(STATES, 6)) * ([most] * 3 + [0.1 * most] * 3)
    return ROBOT.integrate(rest, size * rng.normal(size=(STATES, nv))), 2.0 * size * rng.normal(size=(STATES, nv)), rate


def main() -> None:
    rest = standing()
    targets = {
        "torso": kt.frame_placement(ROBOT, rest, TORSO)[:3, :3],
        "hand": kt.frame_placement(ROBOT, rest, HAND)[:3, 3],
        "posture": rest,
    }
    for horizon in (None, 0.05):
        control = controller(horizon)
        print("with limits of joints" if horizon else "without limits of joints")
        for kind in ("near standing", "pushed", "arbitrary"):
            q, v, rate = states(kind, rest)
            times = []
            for k in range(STATES):
                tries = []
                for _ in range(3):
                    start = time.perf_counter()
                    control.step(q[k], v[k], targets, accelerations={"momentum": rate[k]})
                    tries.append(time.perf_counter() - start)
                times.append(1e3 * min(tries))
            control.step(q[:40], v[:40], targets)  # compiles
            start = time.perf_counter()
            found = control.step(q, v, targets, accelerations={"momentum": rate})
            batch = 1e3 * (time.perf_counter() - start) / STATES
            assert found.is_complete.all()
            print(
                f"  {kind:13s} conflicts in {np.mean(found.programs > 1):4.0%}; median {np.median(times):.2f} ms, "
                f"longest {max(times):.2f} ms; in one call {batch:.2f} ms each"
            )


if __name__ == "__main__":
    main()
