"""Functions of CasADi in symbols have the values of kinetree's, and CasADi's Jacobians of them are kinetree's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.expr import Port, interpret
from kinetree.interop.subject import Subject
from tests.functions import EVERY, FIXED, options_of, samples
from tests.robots import some_joints

casadi = pytest.importorskip("casadi", reason="casadi is not installed")

FLOATING = kt.zoo.load("double_pendulum", floating_base=True)
JOINTS = some_joints("spherical", "prismatic", "ellipsoid")


def dense(x: Any, port: Port) -> NDArray[np.float64]:
    """A matrix of CasADi as the array that it stands for."""
    return np.array(casadi.DM(x)).reshape(port.shape)


@pytest.mark.parametrize("name", [*EVERY])
def test_values_and_jacobians_of_every_function(name: str) -> None:
    function = EVERY[name]
    robot = JOINTS if name in FIXED else FLOATING
    rng = np.random.default_rng(4)
    options = options_of(function, robot.root)
    arrays = [x[0] for x in samples(robot, function, 1, rng)]
    made = kt.interop.to_casadi(robot, function, **options)
    subject = Subject(robot, function, options=options)
    node, numbers = subject.node("float64"), subject.numbers_of_options().values()
    flat = [np.ravel(x).tolist() for x in (*arrays, *numbers)]
    (port,) = node.outputs
    expected = np.reshape(interpret(node.program, *flat)[0], port.shape)
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(dense(made(*arrays), port), expected, atol=1e-12 * scale, rtol=0)
    along = [rng.normal(size=x.shape) for x in arrays]
    forward = node.forward(range(len(arrays)))
    changes = np.reshape(interpret(forward.program, *flat, *(x.ravel().tolist() for x in along))[0], port.shape)
    tangents = made.forward(1)(*arrays, made(*arrays), *along)
    np.testing.assert_allclose(dense(tangents, port), changes, atol=1e-12 * (scale + np.abs(changes).max()), rtol=0)
