"""One call from Python, compared with Pinocchio's, in one process and in turn.

    python benchmarks/single_call.py [--rounds 200]

Drake takes part where it is installed; its caches are made invalid before each call, as a new state does. The kinetree
calls are `kt.compile(robot, ...)`, with `out=` and without, and the public functions, which look up the
compiled one. Figures are medians of rounds of many calls; the ratio is what matters.
"""

from __future__ import annotations

import argparse
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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


def drake_calls(path: str, model: kt.Model) -> dict[str, Callable[[], object]]:
    """The same functions of Drake, at its own default state; none if it is not installed."""
    if find_spec("pydrake") is None:
        return {}
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

    from kinetree.comparison.drake import DrakeSide
    from kinetree.comparison.source import Source

    root = ET.parse(path)
    for joint in root.iter("joint"):
        for mimic in joint.findall("mimic"):  # here they move by themselves, as for the others
            joint.remove(mimic)
    with tempfile.TemporaryDirectory() as folder:
        root.write(copy := Path(folder) / "robot.urdf")
        side = DrakeSide(Source(copy, "URDF", model))
    plant, context = side.plant, side.context
    x, vdot, forces = plant.GetPositionsAndVelocities(context), np.ones(plant.num_velocities()), MultibodyForces(plant)
    plant.get_applied_generalized_force_input_port().FixValue(context, vdot)
    world, body = plant.world_frame(), plant.GetBodyByName(list(model.bodies)[-1]).body_frame()

    def at_state(call: Callable[..., Any], *arguments: Any) -> Callable[[], object]:
        def run() -> object:
            plant.SetPositionsAndVelocities(context, x)
            return call(context, *arguments)

        return run

    jacobian = JacobianWrtVariable.kV, body, np.zeros(3), world, world
    return {
        "aba": at_state(plant.EvalTimeDerivatives), "rnea": at_state(plant.CalcInverseDynamics, vdot, forces),
        "crba": at_state(plant.CalcMassMatrix),
        "frame Jacobian": at_state(plant.CalcJacobianSpatialVelocity, *jacobian),
    }  # fmt: skip


def measured(robot: Robot, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds per call of each function: of kinetree's ways to call it, and of "pinocchio" and "drake"."""
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
    drake = drake_calls(robot.path, model)
    found = {}
    for name, calls in ours.items():
        peers = {"pinocchio": theirs[name]} | ({"drake": drake[name]} if drake else {})
        found[name] = medians({**calls, **peers}, rounds, CALLS)
    return found


def compare(robot: Robot, rounds: int) -> None:
    for times in measured(robot, rounds).values():
        peers = {name: times.pop(name) for name in ("pinocchio", "drake") if name in times}
        for call, own in times.items():
            goal = GOALS.get((robot.name, call))
            others = ", ".join(f"{name} {t * 1e6:7.2f}: {t / own:5.1f} times" for name, t in peers.items())
            print(f"{robot.name:8} {call:20} {own * 1e6:7.2f} µs, {others}" + (f" (goal {goal})" if goal else ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    for robot in ROBOTS:
        compare(robot, rounds)


if __name__ == "__main__":
    main()
