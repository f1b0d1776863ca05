"""`kinetree bench`: how fast this machine is with a robot, compared with other libraries."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

import typer

from kinetree.cli import options
from kinetree.cli.output import new_table, print_json, print_lines
from kinetree.cli.robots import Loading, load_robot, robot_file, takes_loading_options

if TYPE_CHECKING:
    from kinetree.cli.peers import Call, Peer, Samples
    from kinetree.model import Model

__all__ = ["bench"]

_ROUNDS = 7
_SECONDS = 0.02
"""Length of one contender's turn."""


@takes_loading_options(mimic=False)
def bench(
    model: options.Model, samples: options.BatchSize = 4096, as_json: options.Json = False, *, loading: Loading
) -> None:
    """Measure this machine: each algorithm, for one sample and for a batch, next to pinocchio and mujoco if installed.

    Float64, ordinary (N, n) arrays, one thread, every library called from Python; contenders take turns and the
    median counts. A ratio says how many times longer the peer takes. MuJoCo's steps do more than one algorithm each
    (mj_forward, mj_inverse). Joints that mimic others move on their own here, as they do for the peers. On a shared
    machine only the ratios mean much.
    """
    from kinetree.cli.peers import FUNCTIONS, peers
    from kinetree.io.load import settled
    from kinetree.io.macros import readable

    name, source = robot_file(model, loading.source)
    robot = load_robot(model, loading)
    if robot.nv == 0:
        raise typer.BadParameter(
            f"{robot.name!r} has no degree of freedom, so there is nothing to measure", param_hint="ROBOT"
        )
    states = _states(robot, samples)
    path, settings = settled("bench", name, source, **loading.settings())
    with readable(path, settings["xacro_args"]) as file:
        libraries, absent = peers(file, robot, states)
    rows: list[dict[str, Any]] = []
    for function in FUNCTIONS:
        if function == "aba" and robot.singular_joints:
            absent.append(f"aba is not defined: joint {robot.singular_joints[0]!r} moves nothing that has inertia")
        else:
            rows.append(_row(robot, function, states, libraries))
    if as_json:
        print_json(
            {"robot": robot.name, "nv": robot.nv, "floating_base": robot.floating_base, "samples": samples,
             "functions": rows, "absent": absent}
        )  # fmt: skip
        return
    batched = [peer for peer in libraries if peer.batch]
    headings = ["", "first use, s", "one call, µs", *(f"{peer.name}, µs" for peer in libraries)]
    headings += [f"batch of {samples}, ns a sample", *(f"{peer.name}, ns" for peer in batched)]
    base = "floating" if robot.floating_base else "fixed"
    table = new_table(f"{robot.name}: {robot.nv} degrees of freedom, {base} base", headings)
    for row in rows:
        table.add_row(
            row["name"], f"{row['first_use']:.2f}", *_cells(row["one_call"], libraries, 1e6, ".2f"),
            *_cells(row["per_sample"], batched, 1e9, ".1f"),
        )  # fmt: skip
    print_lines(table, *absent)


def _states(robot: Model, count: int) -> Samples:
    import numpy as np

    from kinetree.cli.peers import Samples

    rng = np.random.default_rng(0)
    last = list(robot.joints.values())[-1].child
    q = robot.random(rng, size=count)
    v, tau = rng.uniform(-1.0, 1.0, (2, count, robot.nv))
    return Samples(q, v, tau, last)


def _row(robot: Model, function: str, states: Samples, libraries: list[Peer]) -> dict[str, Any]:
    """Times of one function in seconds, by library: of the first use, of one call, and per sample of a batch."""
    single, batch, first_use = _calls(robot, function, states)
    one = _in_turn({"kinetree": single} | {x.name: x.single[function] for x in libraries if function in x.single})
    many = _in_turn({"kinetree": batch} | {x.name: x.batch[function] for x in libraries if function in x.batch})
    per_sample = {name: seconds / len(states.q) for name, seconds in many.items()}
    return {"name": function, "first_use": first_use, "one_call": one, "per_sample": per_sample}


def _in_turn(contenders: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds per call of each. They take turns because a shared machine's speed drifts during a measurement."""
    counts = {name: _calls_a_turn(call) for name, call in contenders.items()}
    rounds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(_ROUNDS):
        for name, call in contenders.items():
            rounds[name].append(_turn(call, counts[name]) / counts[name])
    return {name: median(times) for name, times in rounds.items()}


def _calls_a_turn(call: Callable[[], object]) -> int:
    count = 1
    while (seconds := _turn(call, count)) < _SECONDS / 4:
        count *= 4
    return max(1, round(count * _SECONDS / seconds))


def _turn(call: Callable[[], object], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - begin


def _calls(robot: Model, function: str, states: Samples) -> tuple[Call, Call, float]:
    """(one sample, a batch, seconds until the first result)."""
    import numpy as np

    from kinetree.compiler.calls import compile_function
    from kinetree.functions import dynamics, jacobians, kinematics

    q, v, tau = states.q, states.v, states.tau
    arguments = {"aba": (q, v, tau), "rnea": (q, v, tau)}.get(function, (q,))
    options: dict[str, Any] = {}
    if function.startswith("frame_"):
        options["frame"] = states.frame
    if function == "frame_jacobian":
        options["expressed_in"] = "local"
    first = tuple(np.array(x[0]) for x in arguments)
    begin = time.perf_counter()
    (named,) = (getattr(room, function) for room in (dynamics, jacobians, kinematics) if function in room.__all__)
    compiled = compile_function(robot, named, **options)
    compiled(*first)
    first_use = time.perf_counter() - begin
    compiled.__self__.optimize("now")
    out = compiled(*arguments)
    return lambda: compiled(*first), lambda: compiled(*arguments, out=out), first_use


def _cells(times: Mapping[str, float], libraries: list[Peer], unit: float, form: str) -> list[str]:
    """kinetree's own time, then that of each library, and how many times longer it takes."""
    own = times["kinetree"]
    compared = [
        f"{times[x.name] * unit:.3g} ({times[x.name] / own:.1f}×)" if x.name in times else "-" for x in libraries
    ]
    return [f"{own * unit:{form}}", *compared]
