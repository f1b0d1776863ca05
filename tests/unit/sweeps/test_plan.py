"""What varies from sample to sample, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sweeps import Anywhere, Grid, LogUniform, Normal, Uniform
from kinetree.sweeps.plan import Plan, planned
from kinetree.sweeps.quantities import Quantities

ROBOT = kt.zoo.load("double_pendulum")
MASS, INERTIA = "body.lower_rod.mass", "body.lower_rod.inertia"


@kt.program(q=2, gain=(), gear=int)
def law(q, gain, gear):  # type: ignore[no-untyped-def]
    return -gain * gear * q


def pulls(_t: float, q: Any, _v: Any) -> Any:
    return q


def plan(vary: Any, samples: Any = None, seed: Any = 0, **options: Any) -> Plan:
    return planned(ROBOT, Quantities(ROBOT, options), vary, samples, seed)


def test_values_do_not_depend_on_blocks() -> None:
    made = plan(
        {"q": Uniform(-1, [1, 2]), (MASS, INERTIA): LogUniform(0.5, 2.0, relative=True),
         "v.elbow": Grid([1.0, 2.0, 3.0]),
         "dq": Normal(0.0, 0.1), "tau": np.arange(24.0).reshape(12, 2)},
        4,
    )  # fmt: skip
    whole = made.values(0, 12)
    for name, x in whole.items():
        parts = [made.values(a, b)[name] for a, b in ((0, 5), (5, 6), (6, 12))]
        np.testing.assert_array_equal(np.concatenate(parts), x)
        assert x.shape == (12, *made.shapes[name])
    assert (whole["q"] >= -1.0).all()
    assert (whole["q"] <= [1.0, 2.0]).all()
    np.testing.assert_array_equal(whole["v.elbow"], np.repeat([1.0, 2.0, 3.0], 4))
    factors = whole[MASS] / ROBOT.parameter(MASS)
    np.testing.assert_allclose(whole[INERTIA], factors[:, None] * ROBOT.parameter(INERTIA), rtol=1e-15)
    assert len(np.unique(factors)) == 12


def test_each_element_has_a_number_of_its_own_but_factors_do_not() -> None:
    found = plan({"q": Uniform(-1.0, 1.0), "gravity": Uniform(0.9, 1.1, relative=True)}, 3).values(0, 3)
    assert len(np.unique(found["q"])) == 6
    assert (found["gravity"][:, :2] == 0.0).all()


def test_grids_go_through_all_their_points() -> None:
    made = plan({"q.shoulder": Grid([1.0, 2.0]), "q.elbow": Grid([5.0, 6.0, 7.0])})
    assert (made.samples, made.grid) == (6, {"q.shoulder": 2, "q.elbow": 3})
    found = made.values(0, 6)
    np.testing.assert_array_equal(found["q.shoulder"].reshape(2, 3)[:, 0], [1.0, 2.0])
    np.testing.assert_array_equal(found["q.elbow"].reshape(2, 3)[0], [5.0, 6.0, 7.0])


def test_configurations_anywhere_are_those_of_the_robot() -> None:
    robot = kt.zoo.load("quadruped")
    made = planned(robot, Quantities(robot, {}), {"q": Anywhere()}, 5, 0)
    q = made.values(0, 5)["q"]
    np.testing.assert_array_equal(made.values(3, 5)["q"], q[3:])
    robot.check_configuration(q)
    assert len(np.unique(q[:, 3])) == 5


def test_what_simulate_is_given() -> None:
    quantities = Quantities(ROBOT, {"v": [0.0, 3.0], "parameters": {"gravity": [0.0, 0.0, -1.0]}, "duration": 1.0})
    values = {"q.elbow": np.array([1.0, 2.0]), "v.shoulder": np.array([4.0, 5.0]), "tau": np.ones((2, 2)),
              MASS: np.array([2.0, 3.0]), "f_ext.tip": np.ones((2, 6))}  # fmt: skip
    given = quantities.arguments(values, 2)
    np.testing.assert_array_equal(given["q"], [[0.0, 1.0], [0.0, 2.0]])
    np.testing.assert_array_equal(given["v"], [[4.0, 3.0], [5.0, 3.0]])
    assert (given["tau"].shape, given["f_ext"]["tip"].shape, given["duration"]) == ((2, 1, 2), (2, 1, 6), 1.0)
    assert [*given["parameters"]] == ["gravity", MASS]
    near = Quantities(ROBOT, {"q": [0.1, 0.2]}).arguments({"dq": np.array([[1.0, 2.0]])}, 1)
    np.testing.assert_allclose(near["q"], [[1.1, 2.2]])


def test_arguments_of_programs_vary_as_the_kind_of_numbers_that_they_are() -> None:
    given = {"tau": law, "arguments": {"gain": 2.0, "gear": 1}}
    made = plan({"arguments.gear": Grid([1, 2]), "arguments.gain": Uniform(0.5, 1.5, relative=True)}, **given)
    found = Quantities(ROBOT, given).arguments(made.values(0, 2), 2)["arguments"]
    assert found["gear"].tolist() == [1, 2]
    assert found["gear"].dtype.kind == "i"
    assert (abs(found["gain"] - 2.0) <= 1.0).all()


@pytest.mark.parametrize(
    ("vary", "samples", "error", "message"),
    [
        ({}, 1, kt.errors.DTypeError, "vary must be a dict"),
        ({"q": Uniform(0, 1)}, None, kt.errors.OptionError, "samples must be a whole number from 1 on, not None"),
        ({"q": Uniform(0, 1)}, True, kt.errors.OptionError, "not True"),
        ({"q": 1.0}, 1, kt.errors.DTypeError, "a value common to all samples is an argument of its own"),
        ({3: Uniform(0, 1)}, 1, kt.errors.DTypeError, "a name, or a tuple of names"),
        ({"q.elbo": Uniform(0, 1)}, 1, kt.errors.NameNotFoundError, "did you mean 'q.elbow'"),
        ({"body.rod.mass": Uniform(0, 1)}, 1, kt.errors.NameNotFoundError, "there is no body 'rod'"),
        ({"f_ext.top": Uniform(0, 1)}, 1, kt.errors.NameNotFoundError, "has no frame 'top'"),
        ({"arguments.gain": Uniform(0, 1)}, 1, kt.errors.OptionError, "there is none"),
        ({"q": Uniform(1, 0)}, 1, kt.errors.OptionError, "the lower end of .* is above the upper one"),
        ({"q": Uniform(0, np.nan)}, 1, kt.errors.OptionError, "must be finite"),
        ({"q": Uniform(0, [1, 2, 3])}, 1, kt.errors.ShapeError, "do not go together"),
        ({"q": LogUniform(0, 1)}, 1, kt.errors.OptionError, "must be positive"),
        ({"q": Normal(0, -1)}, 1, kt.errors.OptionError, "must not be negative"),
        ({"q": Grid([])}, 1, kt.errors.OptionError, "a list of one or more values"),
        ({"q": Grid([[1, 2, 3]])}, 1, kt.errors.ShapeError, "but q has the shape"),
        ({"q": Uniform(1, 2, relative=True)}, 1, kt.errors.OptionError, "q is zero"),
        ({MASS: Uniform(1, 2, relative=1)}, 1, kt.errors.OptionError, "relative must be True or False, not 1"),  # type: ignore[arg-type]
        ({"v": Anywhere()}, 1, kt.errors.OptionError, "for q alone"),
        ({"q": np.zeros((3, 2))}, 4, kt.errors.ShapeError, "3 values, but there are 4 samples"),
        ({("q", "v"): Uniform(0, 1), "v": Uniform(0, 1)}, 1, kt.errors.OptionError, "v is there twice"),
    ],
)
def test_what_cannot_vary_is_refused(vary: Any, samples: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        plan(vary, samples)


def test_what_a_controller_computes_cannot_vary() -> None:
    with pytest.raises(kt.errors.OptionError, match="a controller computes it"):
        plan({"tau": Uniform(0, 1)}, 1, tau=pulls)
    with pytest.raises(kt.errors.OptionError, match="constant over the motion"):
        plan({"tau": Uniform(0, 1)}, 1, tau=np.zeros((5, 2)))
    with pytest.raises(kt.errors.OptionError, match="seed must be a whole number from 0 on"):
        plan({"q": Uniform(0, 1)}, 1, seed=-1)
