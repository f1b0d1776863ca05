"""Gaits of a quadruped beside Crocoddyl: feet that hold in turn, and impacts where they touch down.

    pip install kinetree crocoddyl==3.2.1 "pin==4.0.0" example-robot-data
    OMP_NUM_THREADS=1 python benchmarks/quadruped_gaits.py [walking trotting pacing bounding jumping]

The problems are those of Crocoddyl's `SimpleQuadrupedalGaitProblem` with the numbers of its example, for its ANYmal.
Each is said again in kinetree's terms: one `Phase` per set of feet that hold, whose references are rows, and
`Phase.impact` for the feet that touch down. Both begin with the same controls and the robot standing still at all
knots, which is not a motion, and close the gaps; their costs must agree to 1e-6. Times are processor time of one
thread.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, NamedTuple

import crocoddyl
import example_robot_data
import numpy as np
from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

import kinetree as kt
from trajectory_optimization import FEET, STATE_WEIGHTS, compare

DT = 0.01
LF, RF, LH, RH = FEET
STEPS = {  # the length and the height of a step, knots of a step and between steps; which feet step when
    "walking": (0.25, 0.15, 25, 2, ((RH,), (RF,)), ((LH,), (LF,))),
    "trotting": (0.15, 0.1, 25, 2, ((RF, LH),), ((LF, RH),)),
    "pacing": (0.15, 0.1, 25, 5, ((RF, RH),), ((LF, LH),)),
    "bounding": (0.15, 0.1, 25, 5, ((LF, RF),), ((LH, RH),)),
}
JUMP = 0.15, (0.0, 0.3, 0.0), 10, 20  # height, where to, knots on the ground, and up as well as down


class Part(NamedTuple):
    """Knots with the same feet on the ground, and references: of the centre of mass, and of feet, one row per knot."""

    held: tuple[str, ...]
    knots: int
    com: Any = None
    feet: Any = None
    moved: tuple[str, ...] = ()
    is_impact: bool = False


def main() -> None:
    """Compare, and print."""
    for name in sys.argv[1:] or (*STEPS, "jumping"):
        problem, start, options, peer = gait(name)
        compare(f"{name}, {problem.steps} steps", problem, start, options, peer)


def gait(name: str) -> Any:
    """A gait as a problem of both."""
    loaded = example_robot_data.load("anymal")
    model, robot = loaded.model, anymal()
    layout = kt.interop.Layout(robot, "pinocchio")
    x0 = np.concatenate([model.referenceConfigurations["standing"], np.zeros(model.nv)])
    q0 = layout.q_from(x0[: model.nq])
    made = SimpleQuadrupedalGaitProblem(model, *FEET)
    if name == "jumping":
        height, to, ground, flying = JUMP
        peer = made.createJumpingProblem(x0, height, [*to], DT, ground, flying)
        parts = jump(q0)
    else:
        length, height, knots, between, *_ = STEPS[name]
        create = getattr(made, f"create{name.capitalize()}Problem")
        peer = create(x0, length, height, DT, knots, between)
        parts = steps(q0, name)
    peer.nthreads = 1
    phases = [phase((part.held, part.moved, part.com is not None, part.is_impact), part.knots) for part in parts]
    coms = [np.zeros((part.knots, 3)) if part.com is None else part.com for part in parts]
    feet = [np.zeros((part.knots, 4, 3)) if part.feet is None else padded(part.feet) for part in parts]
    problem = kt.control.OptimalControl(robot, phases, last(name == "jumping"))
    T = problem.steps
    held = np.zeros((T, 12))
    for k, u in enumerate(peer.quasiStatic([x0] * T)):
        if len(u):
            held[k] = layout.tau_from(q0, np.concatenate([np.zeros(6), u]))[6:]
    given = {"com": np.concatenate([*coms, coms[-1][-1:]]), "feet": np.concatenate(feet)}
    states = np.tile(q0, (T + 1, 1)), np.zeros((T + 1, robot.nv))
    return problem, (q0, np.zeros(robot.nv), held), {"states": states, "rows": given}, peer


def padded(feet: Any) -> Any:
    """References (knots, 4, 3) of up to four feet."""
    return np.pad(feet, ((0, 0), (0, 4 - feet.shape[1]), (0, 0)))


def steps(q0: Any, name: str) -> list[Part]:
    """The parts of a gait whose feet step forward."""
    length, height, knots, between, *turns = STEPS[name]
    robot, parts = anymal(), []
    feet = {foot: kt.frame_placement(robot, q0, foot)[:3, 3] for foot in FEET}
    com = np.mean([*feet.values()], axis=0)
    com[2] = kt.center_of_mass(robot, q0)[2]
    k = np.arange(knots)
    rise = 1.0 - abs(k / (0.5 * knots) - 1.0)
    is_first = name != "bounding"
    for turn in turns:
        parts.append(Part(FEET, between))
        for moved in turn:
            far = 0.5 * length if is_first and turn is turns[0] else length
            way = np.stack([far * (k + 1) / knots, 0.0 * k, height * rise], axis=1)
            share = len(moved) / 4
            own = np.stack([feet[foot] + way for foot in moved], axis=1)
            rest = tuple(foot for foot in FEET if foot not in moved)
            parts.append(Part(rest, knots, com + share * way * [1.0, 0.0, 0.0], own, moved))
            parts.append(Part((), 1, None, own[-1:], moved, is_impact=True))
            com = com + np.array([share * far, 0.0, 0.0])
            feet |= {foot: feet[foot] + np.array([far, 0.0, 0.0]) for foot in moved}
    return parts


def jump(q0: Any) -> list[Part]:
    """The parts of a jump."""
    height, to, ground, flying = JUMP
    robot = anymal()
    feet = np.array([kt.frame_placement(robot, q0, foot)[:3, 3] for foot in FEET])
    lowered = -feet[1, 2]
    feet[:, 2] = 0.0
    com = np.array([*feet.mean(axis=0)[:2], kt.center_of_mass(robot, q0)[2]])
    up = com + np.outer((np.arange(flying) + 1) / flying, 0.5 * np.array(to) + [0.0, 0.0, height])
    landed = np.tile(com + np.add(to, [0.0, 0.0, lowered]), (ground - 1, 1))
    return [
        Part(FEET, ground),
        Part((), flying, up),
        Part((), flying),
        Part((), 1, None, (feet + to)[None], FEET, is_impact=True),
        Part(FEET, ground - 1, landed),
    ]


@cache
def anymal() -> kt.Model:
    """Crocoddyl's quadruped."""
    return kt.load(example_robot_data.load("anymal").urdf, floating_base=True)


@cache
def reference() -> Any:
    """Where it stands."""
    model = example_robot_data.load("anymal").model  # which owns the memory of its configurations
    return kt.interop.Layout(anymal(), "pinocchio").q_from(model.referenceConfigurations["standing"].copy())


def state(q: Any, v: Any) -> Any:
    """Residuals of the state, and of its limits."""
    robot = anymal()
    x = np.concatenate([kt.difference(robot, reference(), q), v])
    most = np.concatenate([np.full(12, 9.42), np.full(6, np.inf), np.full(12, 15.0)])
    away = np.concatenate([kt.difference(robot, robot.neutral(), q), v])[6:]
    beyond = np.maximum(away - most, 0.0) + np.minimum(away + most, 0.0)
    return np.concatenate([10.0**0.5 * STATE_WEIGHTS * x, 1e3**0.5 * beyond])


@cache
def phase(part: tuple[Any, ...], knots: int) -> kt.control.Phase:
    """Steps in which some feet hold and others follow references; the same ones are compiled once."""
    robot, cone = anymal(), crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False).A
    held, moved, has_com, is_impact = part
    ports = {"q": robot, "v": robot.nv, "com": 3, "feet": (4, 3)}
    is_upper = np.tile([True, True, True, True, False], len(held))

    def away(q: Any, com: Any, feet: Any, weight: float) -> list[Any]:
        body = [1e3 * (kt.center_of_mass(robot, q) - com)] if has_com else []
        return body + [
            weight * (kt.frame_placement(robot, q, foot)[:3, 3] - x) for foot, x in zip(moved, feet, strict=False)
        ]

    def touching(q: Any, v: Any, com: Any, feet: Any) -> Any:
        x = np.concatenate([kt.difference(robot, reference(), q), v])
        weights = np.repeat([1.0, 10.0], [6, robot.nv + 12])
        return np.concatenate([*away(q, com, feet, 1e7**0.5), 10.0**0.5 * weights * x])

    def moving(q: Any, v: Any, u: Any, com: Any, feet: Any, forces: Any = ()) -> Any:
        slips = [cone @ f for f in forces.reshape(-1, 3)] if held else [np.zeros(0)]
        slip = np.concatenate(slips)
        outside = np.where(is_upper, np.maximum(slip, 0.0), np.minimum(slip, 0.0))
        parts = [10.0**0.5 * outside, state(q, v), 0.1**0.5 * u, *away(q, com, feet, 1e3)]
        return DT**0.5 * np.concatenate(parts)

    if is_impact:
        return kt.control.Phase.impact(kt.program(**ports)(touching), [kt.constraints.Contact(foot) for foot in moved])
    ports |= {"u": 12} | ({"forces": 3 * len(held)} if held else {})
    contacts = [kt.constraints.Contact(foot, velocity_gain=50.0) for foot in held]
    return kt.control.Phase(knots, DT, kt.program(**ports)(moving), constraints=contacts)


def last(has_com: bool) -> kt.programs.Program:
    """The cost of the last state."""
    robot = anymal()

    @kt.program(q=robot, v=robot.nv, com=3)
    def end(q: Any, v: Any, com: Any) -> Any:
        return np.concatenate([state(q, v), *([1e3 * (kt.center_of_mass(robot, q) - com)] if has_com else [])])

    return end


if __name__ == "__main__":
    main()
