"""Steps of a pile at rest, in which bodies may sleep or not, beside MuJoCo's.

    python benchmarks/sleeping.py [--rows 10 24] [--worlds 1 4] [--rounds 3]

A pyramid of boxes on a floor, with as many in its lowest row as `--rows` says. Times are processor times on one thread,
the shortest of some rounds, in µs for each step of all worlds: after all bodies sleep, in `kt.rollout`, whose motions
begin awake, so that the steps until then are subtracted; and without sleep from the same state.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np

import kinetree as kt
from kinetree.functions.above_ground import usual_start
from many_contacts import free_bodies, written

DT, AWAKE, STEPS = 0.002, 14, 60
_TEXT = (
    '<mujoco><option timestep="0.002">{}</option><worldbody><geom type="plane" size="5 5 1"/>{}</worldbody></mujoco>'
)


def pyramid(rows: int, *, sleeps: bool = False) -> str:
    """The file of a pyramid of boxes."""
    places = [(0.21 * (k + 0.5 * row), 0, 0.05 + 0.0999 * row) for row in range(rows) for k in range(rows - row)]
    return _TEXT.format('<flag sleep="enable"/>' * sleeps, free_bodies('type="box" size="0.1 0.1 0.05"', places))


def shortest(call: Callable[[int], object], rounds: int) -> float:
    """µs of a step, after the first ones."""
    call(AWAKE)
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        began = time.process_time()
        call(AWAKE)
        middle = time.process_time()
        call(AWAKE + STEPS)
        times.append((middle - began, time.process_time() - middle))
    return 1e6 * (min(t for _, t in times) - min(t for t, _ in times)) / STEPS


def rolled(robot: kt.Model, state: tuple[np.ndarray, np.ndarray], soft: object, count: int) -> None:
    """Steps of motions that begin in these states."""
    kt.rollout(robot, *state, np.zeros((len(state[0]), count, robot.nv)), DT, contact=soft, threads=1)  # type: ignore[call-overload]


def stepped(model: mujoco.MjModel, data: mujoco.MjData, count: int) -> None:
    """Steps of MuJoCo."""
    for _ in range(count):
        mujoco.mj_step(model, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[10, 24])
    parser.add_argument("--worlds", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print("boxes  worlds      awake     asleep  times")
    for rows in given.rows:
        robot = kt.load(written(pyramid, rows).path)
        settings = {name: kt.contact.soft_constraints(robot, sleep=name == "asleep") for name in ("awake", "asleep")}
        start = usual_start(robot, touches=True)
        motion = kt.simulate(robot, q=start, duration=1.0, dt=DT, contact=settings["asleep"], record=[])
        assert motion.recorded["asleep"][-1].all()
        q, v = motion.q[-1], motion.v[-1]
        for worlds in given.worlds:
            many = np.tile(q, (worlds, 1)), np.tile(v, (worlds, 1))
            took = {name: shortest(partial(rolled, robot, many, soft), given.rounds) for name, soft in settings.items()}
            awake, asleep = took["awake"], took["asleep"]
            print(f"{robot.nv // 6:5} {worlds:7} {awake:10.1f} {asleep:10.1f} {awake / asleep:6.1f}", flush=True)
        theirs: list[float] = []
        for sleeps in (False, True):
            model = mujoco.MjModel.from_xml_string(pyramid(rows, sleeps=sleeps))
            data = mujoco.MjData(model)
            for _ in range(round(1.0 / DT)):
                mujoco.mj_step(model, data)
            theirs.append(shortest(partial(stepped, model, data), given.rounds))
        print(f"{robot.nv // 6:5}  MuJoCo {theirs[0]:10.1f} {theirs[1]:10.1f} {theirs[0] / theirs[1]:6.1f}", flush=True)


if __name__ == "__main__":
    main()
