"""Every public function of a motion, and a user's program, on a small robot: what frameworks are to give.

The reference is the function's program in the interpreter of `kinetree.expr`, and its derivatives there, which
`Case.check_slopes` holds against differences. All frameworks share the kernels of a case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.expr import interpret
from kinetree.interop.node import Node
from kinetree.interop.subject import Subject
from tests.actuated import LEG
from tests.closed_form.scenes import Thing, contact, world
from tests.functions import EVERY, FIXED, PUBLIC, options_of

__all__ = ["FIRST_ONLY", "NAMES", "PROGRAM", "SAMPLES", "Case", "case"]

Array = NDArray[np.float64]

SAMPLES = 3
OTHERS = [
    kt.sim.actuated_rollout, kt.dynamics.actuator_forces, kt.contact.closest_points, kt.contact_dynamics,
        kt.contact.contact_forces, kt.contact.distance, kt.contact.ray_distance,
    kt.dynamics.fluid_forces, kt.rollout, kt.dynamics.sensors,
]  # fmt: skip
"""The public functions that `tests.functions.EVERY` leaves out."""
PROGRAM = "a program of your own"
NAMES = [*sorted([*EVERY, *(f.__name__ for f in OTHERS)]), PROGRAM]
FIRST_ONLY = {"contact_dynamics"}
"""Those that iterate: their solutions have first derivatives only."""
OPTIONS: dict[str, dict[str, Any]] = {
    "actuated_rollout": {"steps": 2},
    "closest_points": {"a": "thing0", "b": "floor"},
    "distance": {"a": "thing0", "b": "floor"},
    "rollout": {"steps": 2},
}
"""Beside those of `tests.functions.options_of`."""
WET = LEG.replace("<option ", '<option density="900" viscosity="0.3" ')


@cache
def leg(text: str = LEG) -> kt.Model:
    """Two joints with actuators, a tendon, limits, damping and sensors."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "leg.xml"
        path.write_text(text)
        return kt.load(path)


@cache
def ball() -> kt.Model:
    """A ball just above the floor, or in it."""
    return world(Thing("sphere", (0.1,), contact(), kt.Prismatic([0, 0, 1])), ground=contact())


@cache
def program() -> kt.programs.Program:
    """It has arguments and results of each kind."""
    robot = leg()

    @kt.program(q=robot, gain=(), count=int, on=bool)
    def law(q, gain, count, on):  # type: ignore[no-untyped-def]
        M, tau = kt.crba(robot, q), np.where(on, -gain * q * count, kt.gravity_forces(robot, q))
        return {"M": M, "on": on, "tau": tau}  # by the alphabet, as JAX's trees are

    return law


class Case:
    """One function on one robot."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.robot: kt.Model | None = None
        self.options: dict[str, Any] = {}
        self.function: Callable[..., Any]
        if name == PROGRAM:
            self.function = program()
        else:
            self.function = PUBLIC[name]
            self.robot = robot_of(name)
            self.options = options_of(self.function, [*self.robot.bodies][-1]) | OPTIONS.get(name, {})
        asked = (self.function,) if self.robot is None else (self.robot, self.function)
        self.subject = Subject(*asked, options=self.options, adapter="the table")
        """All frameworks' adapters are made of it, as by `kt.interop.to_jax` and the others of the same arguments."""
        self.arrays = [np.array(x) for x in self._arguments()]
        """All arguments for three samples, in order; the last one is the same for all of them, if there are others."""
        own = self.subject.numbers_of_options()
        self.smooth = [k for k, kind in enumerate(self.subject.kinds) if kind is float and k not in own]
        """The numbers of the arguments that derivatives are by: no whole numbers, and nothing that options have."""
        kept = [k for k in range(len(self.arrays)) if k not in own]
        self.given = [self.arrays[k] for k in kept]
        """What a call of the public function takes."""
        self.given_names = [self.subject.names[k] for k in kept]
        self.given_ports = [self.subject.ports[k] for k in kept]
        rng = np.random.default_rng(5)
        self.directions = [rng.normal(size=self.arrays[k].shape) for k in self.smooth]
        """A tangent of each of `smooth`."""
        self.weights: Array = rng.normal(size=(SAMPLES, *self.node.outputs[0].shape))
        """A cotangent of the result, which has no numbers where the result has none but truth values."""

    def _arguments(self) -> list[Array]:
        subject, rng = self.subject, np.random.default_rng(6)
        given: dict[int, Any] = {k: np.array(x) for k, x in subject.numbers_of_options().items()}
        last = len(subject.names) - 1
        for k, (name, port) in enumerate(zip(subject.names, subject.ports, strict=True)):
            leading = () if (k == last and last > 0) or k in given else (SAMPLES,)
            if k in given:
                continue
            if subject.kinds[k] is not float:
                given[k] = rng.integers(0, 2, leading).astype(subject.kinds[k])
            elif name in ("q", "q0", "q1", "q2"):
                assert self.robot is not None or port.shape == (2,)
                robot = self.robot or leg()
                given[k] = (
                    0.1 + 0.3 * robot.random(rng, leading) if robot.nq == robot.nv else robot.random(rng, leading)
                )
            elif name in ("origin", "direction"):  # of a ray to the floor
                down = [0.0, 0.0, 2.0 if name == "origin" else -1.0]
                given[k] = down + 0.1 * rng.normal(size=(*leading, *port.shape))
            elif name == "dt":
                given[k] = np.full(leading, 0.01)
            else:
                given[k] = 0.5 * rng.normal(size=(*leading, *port.shape))
        return [given[k] for k in range(len(subject.names))]

    @property
    def node(self) -> Node:
        """Its program in double precision."""
        return self.subject.node("float64")

    def sample(self, k: int) -> list[Array]:
        """The arguments of one sample."""
        pairs = zip(self.arrays, self.subject.ports, strict=True)
        return [np.broadcast_to(x, (SAMPLES, *port.shape))[k] for x, port in pairs]

    def given_sample(self, k: int) -> list[Array]:
        """Of those that a call of the public function takes."""
        pairs = zip(self.given, self.given_ports, strict=True)
        return [np.broadcast_to(x, (SAMPLES, *port.shape))[k] for x, port in pairs]

    def in_form(self, numbers: Array) -> Any:
        """Weights as `kt.vjp` takes them."""
        if self.name != PROGRAM:
            return numbers
        parts = self.subject.results("float64")
        parted = {name.strip("[']"): numbers[:, x].reshape(-1, *port.shape) for name, x, port in parts}
        return {name: x for name, x in parted.items() if name != "on"}  # a truth value

    def flat(self, leaves: Sequence[Any]) -> Array:
        """The numbers of results of three samples, one row per sample."""
        return np.concatenate([np.asarray(x, float).reshape(SAMPLES, -1) for x in leaves], 1)

    @cached_property
    def expected(self) -> Array:
        """The numbers of the results, one row per sample."""
        return self.value.reshape(SAMPLES, -1)

    @cached_property
    def value(self) -> Array:
        """All results of the three samples, in one array."""
        return self._run(self.node, [])

    @cached_property
    def tangents(self) -> Array:
        """Those of the results along `directions`."""
        return self.tangents_along(self.directions)

    @cached_property
    def cotangents(self) -> list[Array]:
        """Those of each argument of `smooth`, for `weights`: of each sample, also of what all samples share."""
        return self._apart(self.node.reverse(self.smooth), [self.weights])

    @cached_property
    def curvatures(self) -> list[Array]:
        """The tangents of `cotangents` along `directions`."""
        return self.curvatures_along(self.directions)

    def tangents_along(self, directions: Sequence[Array]) -> Array:
        """The tangents of the results, for one of each argument of `smooth`."""
        return self._run(self.node.forward(self.smooth), directions)

    def curvatures_along(self, directions: Sequence[Array]) -> list[Array]:
        """The tangents of `cotangents`."""
        node = self.node.reverse(self.smooth).forward(self.smooth)
        return self._apart(node, [self.weights, *directions])

    def close_in_single(self, found: Array) -> None:
        """All numbers but the last one of iterations, their number, which depends on rounding."""
        count = -1 if self.name in FIRST_ONLY else None
        self.close(found[:, :count], self.expected[:, :count], 1e-4)

    def _run(self, node: Node, more: Sequence[Array]) -> Array:
        (found,) = self._apart(node, more)
        return found

    def _apart(self, node: Node, more: Sequence[Array]) -> list[Array]:
        results = [np.empty((SAMPLES, *port.shape)) for port in node.outputs]
        given = [
            np.broadcast_to(x, (SAMPLES, *port.shape))
            for x, port in zip([*self.arrays, *more], node.inputs, strict=True)
        ]
        for k in range(SAMPLES):
            values = interpret(node.program, *(np.asarray(x[k], float).ravel().tolist() for x in given))
            for result, flat in zip(results, values, strict=True):
                result[k] = np.reshape(flat, result.shape[1:])
        return results

    def summed(self, gradients: Sequence[Array]) -> list[Array]:
        """Gradients of each sample as those of the arrays: what samples share has the sum."""
        shaped = zip(gradients, (self.arrays[k] for k in self.smooth), strict=True)
        return [x if x.shape == a.shape else x.sum(0) for x, a in shaped]

    def check_slopes(self) -> None:
        """The derivatives are those of differences."""
        h, arrays = 1e-5, self.arrays
        ends, slopes = [], []
        for sign in (1.0, -1.0):
            self.arrays = [*arrays]
            for k, x in zip(self.smooth, self.directions, strict=True):
                self.arrays[k] = arrays[k] + sign * h * x
            ends.append(self._run(self.node, []))
            slopes.append(self._apart(self.node.reverse(self.smooth), [self.weights]))
        self.arrays = arrays
        self.close(self.tangents, (ends[0] - ends[1]) / (2.0 * h), 1e-6)
        along = [(x * d).reshape(SAMPLES, -1).sum(1) for x, d in zip(self.cotangents, self.directions, strict=True)]
        self.close(sum(along), (self.tangents * self.weights).reshape(SAMPLES, -1).sum(1), 1e-12)
        if self.name in FIRST_ONLY:
            return
        for found, plus, minus in zip(self.curvatures, *slopes, strict=True):
            self.close(found, (plus - minus) / (2.0 * h), 1e-6)

    @staticmethod
    def close(found: Any, expected: Any, tolerance: float = 1e-11) -> None:
        """They are equal, but for a part of the largest number."""
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.shape == expected.shape
        scale = 1.0 + np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)


def robot_of(name: str) -> kt.Model:
    """The robot that a function is tried on."""
    if name in ("closest_points", "contact_dynamics", "contact_forces", "distance", "ray_distance"):
        return ball()
    if name == "floating_inverse_dynamics":
        return kt.zoo.load("double_pendulum", floating_base=True)
    assert name == "fluid_forces" or name in FIXED or name in [f.__name__ for f in OTHERS]
    return leg(WET) if name == "fluid_forces" else leg()


@cache
def case(name: str) -> Case:
    """By its name; what frameworks compile of it, it keeps."""
    return Case(name)
