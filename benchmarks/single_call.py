"""One call from Python, compared with Pinocchio's, in one process and in turn.

    python benchmarks/single_call.py [--rounds 200]

The kinetree calls are `kt.compile(robot, ...)`, with `out=` and without, and the public functions, which look up the
compiled one. Figures are medians of rounds of many calls; the ratio is what matters.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import kinetree as kt
from robots import ROBOTS, Robot
from timing import medians

CALLS = 200  # per round

GOALS = {
    ("Panda", "aba out="): 6, ("Talos", "aba out="): 3, ("Panda", "aba"): 4, ("Talos", "aba"): 2.5,
    ("Panda", "rnea out="): 4, ("Panda", "crba out="): 2, ("Panda", "frame Jacobian out="): 2,
}  # fmt: skip


def compare(robot: Robot, rounds: int) -> None:
    model = robot.load()
    peer = pin.buildModelFromUrdf(robot.path, *([pin.JointModelFreeFlyer()] if robot.floating else []))
    data = peer.createData()
    rng = np.random.default_rng(0)
    q, (v, x) = model.random(rng), rng.normal(size=(2, model.nv))
    peer_q = pin.randomConfiguration(peer, -np.ones(peer.nq), np.ones(peer.nq))
    frame = list(model.frames)[-1]
    peer_frame = peer.getFrameId(frame)
    aba, rnea, crba = (kt.compile(model, f) for f in (kt.aba, kt.rnea, kt.crba))
    jacobian = kt.compile(model, kt.frame_jacobian, frame=frame, expressed_in="world")
    out, H, J = np.empty(model.nv), np.empty((model.nv, model.nv)), np.empty((6, model.nv))
    ours: dict[str, dict[str, Callable[[], object]]] = {
        "aba": {"aba out=": lambda: aba(q, v, x, out=out), "aba": lambda: aba(q, v, x),
                "kt.aba": lambda: kt.aba(model, q, v, x)},
        "rnea": {"rnea out=": lambda: rnea(q, v, x, out=out), "rnea": lambda: rnea(q, v, x)},
        "crba": {"crba out=": lambda: crba(q, out=H), "crba": lambda: crba(q)},
        "frame Jacobian": {"frame Jacobian out=": lambda: jacobian(q, out=J), "frame Jacobian": lambda: jacobian(q)},
    }  # fmt: skip
    theirs: dict[str, Callable[[], object]] = {
        "aba": lambda: pin.aba(peer, data, peer_q, v, x),
        "rnea": lambda: pin.rnea(peer, data, peer_q, v, x),
        "crba": lambda: pin.crba(peer, data, peer_q),
        "frame Jacobian": lambda: pin.computeFrameJacobian(peer, data, peer_q, peer_frame, pin.WORLD),
    }
    for name, calls in ours.items():
        times = medians({**calls, "pinocchio": theirs[name]}, rounds, CALLS)
        for call in calls:
            goal = GOALS.get((robot.name, call))
            print(
                f"{robot.name:8} {call:20} {times[call] * 1e6:7.2f} µs, pinocchio {times['pinocchio'] * 1e6:7.2f}:"
                f" {times['pinocchio'] / times[call]:5.1f} times" + (f" (goal {goal})" if goal else "")
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    for robot in ROBOTS:
        compare(robot, rounds)


if __name__ == "__main__":
    main()
