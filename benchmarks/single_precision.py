"""Differences between float32 and float64 results: the tables of docs/float32.md.

    python benchmarks/single_precision.py [--states 10000]

Both get the same random states, which are exact in float32: configurations from `robot.random`, everything else
standard normal. The error of a sample is its largest difference, relative to the largest entry of its float64 result;
for energies, which may be zero, relative to the largest of all samples. Printed are the median and the largest over the
samples. Below ABA are the entry of q̈ that is worst relative to its own root mean square, and the condition number of
the mass matrix: as it is, and in units that make its diagonal one.
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
    kt.kinematics.frame_velocity,
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


def results(robot: kt.Model, function: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Results of a function in float32 and in float64, (count, entries) each."""
    values = {"frame": [name for name, body in robot.bodies.items() if not body.is_fixed][-1], "expressed_in": "world"}
    options = {name: values[name] for name in function.definition.options if name in values}
    arrays = states(robot, function, count)
    single = function(robot, *arrays, **options).reshape(count, -1)
    double = function(robot, *(x.astype(np.float64) for x in arrays), **options).reshape(count, -1)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    return single, double


def errors(robot: kt.Model, function: Any, count: int) -> np.ndarray:
    """The error of each sample, (count,)."""
    single, double = results(robot, function, count)
    size = np.abs(double).max(axis=1)
    if double.shape[1] == 1:
        size = size.max()
    return np.abs(single - double).max(axis=1) / size  # type: ignore[no-any-return]


def entry_errors(robot: kt.Model, function: Any, count: int) -> np.ndarray:
    """The errors of the worst entry, relative to its own root mean square, (count,)."""
    single, double = results(robot, function, count)
    relative = np.abs(single - double) / np.sqrt((double**2).mean(axis=0))
    return relative[:, np.median(relative, axis=0).argmax()]  # type: ignore[no-any-return]


def cell(error: np.ndarray) -> str:
    return f"{np.median(error):.0e}, {error.max():.0e}".replace("e-0", "e-").replace("e+0", "e")


def scaled(H: np.ndarray) -> np.ndarray:
    """Mass matrices (…, nv, nv) in units that make their diagonals one."""
    d = np.sqrt(np.einsum("...ii->...i", H))
    return H / d[..., :, None] / d[..., None, :]  # type: ignore[no-any-return]


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
        row(f"`{function.__name__}`", [cell(errors(robot, function, count)) for robot in robots])
        if function is kt.aba:
            row("· its worst entry", [cell(entry_errors(robot, function, count)) for robot in robots])
            exact = [states(robot, function, count)[0].astype(np.float64) for robot in robots]
            inertias = [kt.crba(*x) for x in zip(robots, exact, strict=True)]
            row("· condition of H", [cell(np.linalg.cond(H)) for H in inertias])
            row("· the same, scaled", [cell(np.linalg.cond(scaled(H))) for H in inertias])


if __name__ == "__main__":
    main()
