"""How far float32 results are from float64 ones: the tables of docs/float32.md.

    python benchmarks/single_precision.py [--states 10000]

Both get the same random states, which are exact in float32: configurations as `robot.random` makes them, all else
standard normal. The error of a sample is its largest difference, relative to the largest entry of its float64 result;
for energies, which may be zero, to the largest of all samples. Printed are the median and the largest over the samples.
Below ABA stands the condition number of the mass matrix, by which a solution may lose digits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import kinetree as kt
from robots import ROBOTS

FUNCTIONS: tuple[Callable[..., Any], ...] = (
    kt.rnea,
    kt.bias_forces,
    kt.gravity_forces,
    kt.crba,
    kt.aba,
    kt.forward_kinematics,
    kt.frame_jacobian,
    kt.frame_velocity,
    kt.kinetic_energy,
    kt.potential_energy,
    kt.center_of_mass,
    kt.integrate,
    kt.difference,
)


def states(robot: kt.Model, function: Any, count: int) -> list[np.ndarray]:
    """Random arguments of a function, float32."""
    rng = np.random.default_rng(0)
    arrays = [
        np.stack([robot.random(rng) for _ in range(count)]) if size == "nq" else rng.normal(size=(count, robot.nv))
        for _, size in function.definition.inputs
    ]
    return [x.astype(np.float32) for x in arrays]


def errors(robot: kt.Model, function: Any, count: int) -> np.ndarray:
    """The error of each sample, (count,)."""
    values = {"frame": list(robot.frames)[-1], "expressed_in": "local_world_aligned"}
    options = {name: values[name] for name in function.definition.options}
    arrays = states(robot, function, count)
    single = function(robot, *arrays, **options).reshape(count, -1)
    double = function(robot, *(x.astype(np.float64) for x in arrays), **options).reshape(count, -1)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    size = np.abs(double).max(axis=1)
    if double.shape[1] == 1:
        size = size.max()
    return np.abs(single - double).max(axis=1) / size  # type: ignore[no-any-return]


def row(name: str, cells: list[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10_000)
    count = parser.parse_args().states
    robots = [robot.load() for robot in ROBOTS]
    row("function", [robot.name + (", floating" if robot.floating else "") for robot in ROBOTS])
    row("---", ["---"] * len(robots))
    for function in FUNCTIONS:
        cells = []
        for robot in robots:
            error = errors(robot, function, count)
            cells.append(f"{np.median(error):.0e}, {error.max():.0e}".replace("e-0", "e-"))
        row(f"`{function.__name__}`", cells)
        if function is kt.aba:
            conditions = [
                np.linalg.cond(kt.crba(robot, *(x.astype(np.float64) for x in states(robot, kt.crba, count))))
                for robot in robots
            ]
            row("· condition of H", [f"{np.median(c):.0e}, {c.max():.0e}".replace("e+0", "e") for c in conditions])


if __name__ == "__main__":
    main()
