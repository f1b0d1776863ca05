"""`kt.simulate` with its defaults, beside MuJoCo's loop in C: RK4, steps of 1 ms, one motion on one thread.

    python benchmarks/simulations.py [--rounds 15] [--seconds 5]

MuJoCo takes the same robot without contacts and limits, once with its Coulomb friction (a constraint there) and once
without; `mj_step(model, data, nstep)` is its fastest loop, which keeps nothing, `mujoco.rollout` keeps all states.
`kt.simulate` always has the robot's friction, divides steps where that is stiff, and records states, accelerations and
energies. Steps are those asked for. Medians of rounds, in turn.
"""

from __future__ import annotations

import argparse
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.resources import files

import mujoco
import mujoco.rollout
import numpy as np

import kinetree as kt
from robots import ROBOTS
from timing import medians

OFF = int(
    mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_EQUALITY
)
FRICTION = int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


def peer(text: str, *, friction: bool) -> mujoco.MjModel:
    """The links and joints of a robot file, without shapes."""
    root = ET.fromstring(text)
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    settings = {"fusestatic": "true", "balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", settings)
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= OFF
    model.opt.disableflags |= 0 if friction else FRICTION
    return model


def loops(model: mujoco.MjModel, q: np.ndarray, steps: int) -> dict[str, Callable[[], object]]:
    """MuJoCo's own loops."""
    data, state = mujoco.MjData(model), np.zeros(mujoco.mj_stateSize(model, STATE))

    def start() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = q

    def stepped() -> None:
        start()
        mujoco.mj_step(model, data, nstep=steps)

    start()
    mujoco.mj_getState(model, data, state, STATE)
    return {"mj_step": stepped, "rollout": lambda: mujoco.rollout.rollout(model, data, state, nstep=steps)}


def compare(name: str, robot: kt.Model, text: str, seconds: float, rounds: int) -> None:
    steps, q = round(seconds / 1e-3), robot.neutral()
    q = q + np.resize([0.3, 0.6, -0.2], robot.nq)
    found: list[kt.Trajectory] = []
    calls: dict[str, Callable[[], object]] = {
        "kt.simulate": lambda: found.append(kt.simulate(robot, q=q, duration=seconds))
    }
    for friction in (True, False):
        for kind, call in loops(peer(text, friction=friction), q, steps).items():
            calls[f"{kind}, {'with' if friction else 'no'} friction"] = call
    for call in calls.values():
        call()
    times = medians(calls, rounds)
    own = times.pop("kt.simulate")
    print(f"{name}: {steps} steps, up to {found[-1].substeps} parts each: kt.simulate {own * 1e3:.1f} ms")
    for kind, time in times.items():
        print(f"  {kind:24} {time * 1e3:7.1f} ms: {time / own:5.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # joints swing through their stops
    arm = (files("kinetree.zoo") / "models" / "arm7.urdf").read_text()
    compare("arm7", kt.zoo.load("arm7"), arm, options.seconds, options.rounds)
    for robot in ROBOTS[:2]:
        with open(robot.path, encoding="utf-8") as file:
            compare(robot.name, robot.load(), file.read(), options.seconds, options.rounds)


if __name__ == "__main__":
    main()
