"""The ten programs of docs/programs_controllers.md and docs/programs_examples.md: numbers, batches, derivatives.

Each is compared with its own run on plain arrays (`program.function`), in which NumPy and kinetree's functions compute
one after the other. Derivatives are compared with complex steps through the statements of the traced program: NumPy's
run cannot take them, since kinetree's functions refuse complex arrays, and those statements are what the comparison
with the plain run has confirmed; see tests/complex_steps.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.complex_steps import complex_steps

Array = NDArray[Any]
DOCS = Path(__file__).parents[2] / "docs"
PAGES = "\n".join((DOCS / name).read_text() for name in ("programs_controllers.md", "programs_examples.md"))
BLOCKS = dict(re.findall(r"^## (.*?)$.*?^```python\n(.*?)^```$", PAGES, re.S | re.M))
NAMES = {
    "computed_torque": "Computed torque",
    "impedance": "Cartesian impedance",
    "operational_space": "Operational-space control with a null space",
    "swing_up": "Swinging up a cart-pole by its energy",
    "relative_task": "Two robots, one relative task",
    "mpc_cost": "A cost of model-predictive control",
    "observation": "An observation for learning",
    "collision_margins": "Twelve points and their margins of collision",
    "inverse_kinematics": "Inverse kinematics by damped Newton steps",
    "kalman_step": "A step of a Kalman filter",
}
BENT = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0])
ARM = kt.zoo.load("arm7")
TURNED = kt.lie.placement([0.0, 0.1, 0.2], rpy=[3.0, 0.1, 0.2]).matrix


def pose(rng: np.random.Generator) -> Array:
    """Where the tool of a bent arm is."""
    return kt.frame_placement(ARM, BENT + rng.uniform(-0.4, 0.4, 7), "tool")


def near(rng: np.random.Generator) -> tuple[Array, Array]:
    """A configuration, and a pose of the tool that is not far."""
    q = BENT + rng.uniform(-0.3, 0.3, 7)
    return q, kt.frame_placement(ARM, q + rng.uniform(-0.2, 0.2, 7), "tool")


def belief(rng: np.random.Generator) -> tuple[Any, ...]:
    root = rng.normal(size=(4, 4))
    return rng.normal(size=4), 0.01 * root @ root.T + 0.01 * np.eye(4), 0.3, rng.normal(size=2), 0.01


SAMPLES: dict[str, Callable[[np.random.Generator], tuple[Any, ...]]] = {
    "computed_torque": lambda rng: (*rng.normal(size=(2, 7)), rng.normal(size=(3, 7)), 8.0),
    "impedance": lambda rng: (*rng.normal(size=(2, 7)), pose(rng), *rng.uniform(1.0, 100.0, (2, 6))),
    "operational_space": lambda rng: (BENT + 0.3 * rng.normal(size=7), *rng.normal(size=(1, 7)), [0.4, 0.1, 0.6], BENT),
    "mpc_cost": lambda rng: (0.3 * rng.normal(size=4), rng.normal(size=8), 0.1 * rng.normal(size=4)),
    "observation": lambda rng: (
        kt.zoo.load("quadruped").random(rng), rng.normal(size=18), rng.normal(size=3), rng.normal(size=12)
    ),
    "collision_margins": lambda rng: (rng.normal(size=7), rng.normal(size=3), 0.1),
    "inverse_kinematics": near,
    "kalman_step": belief,
    "swing_up": lambda rng: (rng.normal(size=2), rng.normal(size=2)),
    "relative_task": lambda rng: (
        BENT + 0.3 * rng.normal(size=7), 0.5 * rng.normal(size=6), TURNED
    ),
}  # fmt: skip
ten_programs = pytest.mark.parametrize("name", NAMES)


@cache
def program(name: str) -> kt.programs.Program:
    """A program, from its block, which is run."""
    names: dict[str, Any] = {"__name__": name}
    exec(compile(BLOCKS[NAMES[name]], "<docs/programs_examples.md>", "exec"), names)
    found = names[name]
    assert isinstance(found, kt.programs.Program)
    return found


def samples(name: str, count: int) -> list[tuple[Array, ...]]:
    rng = np.random.default_rng(15)
    return [tuple(np.asarray(x, float) for x in SAMPLES[name](rng)) for _ in range(count)]


def leaves(results: Any) -> Iterator[Array]:
    """All arrays of a result."""
    if isinstance(results, dict):
        results = tuple(results.values())
    if isinstance(results, tuple):
        for x in results:
            yield from leaves(x)
    else:
        yield np.asarray(results)


def close(found: Any, expected: Any, tolerance: float) -> None:
    """All arrays agree, relative to the largest number of each."""
    pairs = list(zip(leaves(found), leaves(expected), strict=True))
    assert pairs
    for x, y in pairs:
        assert x.shape == y.shape
        scale = max(1.0, float(np.abs(y).max(initial=0.0)))
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * scale)


def test_there_are_ten_and_each_has_its_block() -> None:
    assert len(NAMES) == 10
    assert list(BLOCKS) == list(NAMES.values())


@ten_programs
def test_equals_its_run_on_plain_arrays(name: str) -> None:
    for sample in samples(name, 3):
        close(program(name)(*sample), program(name).function(*sample), 1e-12)


@ten_programs
def test_a_batch_is_its_samples(name: str) -> None:
    given = samples(name, 11)
    many = program(name)(*map(np.array, zip(*given, strict=True)))
    for k, sample in enumerate(given):
        one = program(name)(*sample)
        assert all(np.array_equal(x[k], y) for x, y in zip(leaves(many), leaves(one), strict=True))


@ten_programs
def test_single_precision_is_roughly_the_same(name: str) -> None:
    for sample in samples(name, 3):
        single = program(name)(*(x.astype(np.float32) for x in sample))
        assert all(x.dtype == np.float32 for x in leaves(single))
        close(single, program(name)(*sample), 2e-3)


def rates(name: str, argument: str, x: Array, directions: Array) -> Array:
    """How the numbers of an argument change along directions of it."""
    robot = program(name).arguments[argument].robot
    return directions if robot is None else kt.kinematics.coordinate_rates(robot, x, directions)


def changes(name: str, sample: tuple[Array, ...], directions: dict[str, Array]) -> Array:
    """Complex steps along directions (n, *shape) of all arguments: (n, numbers of all results)."""
    moved = [
        rates(name, argument, x, directions[argument]).reshape(-1, x.size)
        for argument, x in zip(program(name).arguments, sample, strict=True)
    ]
    (found,) = complex_steps(program(name).traced().program, sample, moved)
    return found


@pytest.mark.parametrize("name", [*NAMES])
def test_derivatives_are_those_of_complex_steps(name: str) -> None:
    """Along directions that change all arguments, forward and, weighted, backward."""
    one, rng = program(name), np.random.default_rng(1)
    for sample in samples(name, 1):
        directions = {x: rng.normal(size=(3, *argument.direction)) for x, argument in one.arguments.items()}
        expected = changes(name, sample, directions)
        scale = max(1.0, float(np.abs(expected).max()))

        value, change = kt.jvp(one, sample, directions)
        close(tuple(x[0] for x in leaves(value)), tuple(leaves(one(*sample))), 1e-12)
        np.testing.assert_allclose(rows(change, 3), expected, rtol=0, atol=1e-12 * scale)

        weights = [rng.normal(size=x.shape) for x in leaves(one(*sample))]
        _, gradients = kt.vjp(one, sample, like(one(*sample), iter(weights)))
        backward = sum(np.tensordot(d, gradients[x], np.ndim(gradients[x])) for x, d in directions.items())
        forward = expected @ np.concatenate([w.ravel() for w in weights])
        np.testing.assert_allclose(backward, forward, rtol=0, atol=1e-12 * scale * len(expected.T))


def rows(results: Any, count: int) -> Array:
    """All arrays of a result with one leading axis, flat: one row per sample."""
    return np.concatenate([x.reshape(count, -1) for x in leaves(results)], axis=1)


def like(results: Any, arrays: Iterator[Array]) -> Any:
    """A form of arrays with others in it, in order."""
    if isinstance(results, dict):
        return {key: like(x, arrays) for key, x in results.items()}
    if isinstance(results, tuple):
        return (
            type(results)._make(like(x, arrays) for x in results)
            if hasattr(results, "_make")
            else tuple(like(x, arrays) for x in results)
        )
    return next(arrays)
