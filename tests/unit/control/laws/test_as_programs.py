"""Laws are programs: they are batched, differentiated, written as C; and their limits are reported."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import control
from tests.c_code import STRICT, called, library, needs
from tests.kernels import interpreted

ARM = kt.zoo.load("arm6")
TARGET = np.array([0.0, 0.4, -0.8, 0.1, 0.5, 0.0])
SIX = np.full(6, 2.0)
TRACKING = {"target": TARGET, "target_velocity": SIX / 7, "target_acceleration": SIX / 9}
LAWS: dict[str, tuple[Callable[[kt.Model], kt.programs.Program], dict[str, Any]]] = {
    "weight_compensation": (control.weight_compensation, {"damping": SIX}),
    "pd_with_gravity": (control.pd_with_gravity, {"target": TARGET, "stiffness": SIX, "damping": SIX}),
    "computed_torque": (control.computed_torque, {**TRACKING, "stiffness": SIX, "damping": SIX}),
    "passivity_based": (control.passivity_based, {**TRACKING, "rate": SIX, "gain": SIX}),
    "adaptive": (
        lambda robot: control.adaptive(robot, bodies=["hand"]),
        {**TRACKING, "rate": SIX, "gain": SIX, "adaptation": np.ones(10), "dt": 1e-3},
    ),
    "joint_impedance": (control.joint_impedance, {**TRACKING, "stiffness": SIX}),
    "cartesian_impedance": (
        lambda robot: control.cartesian_impedance(robot, "tool", axes="local"),
        {"target": kt.frame_placement(ARM, TARGET, "tool"), "stiffness": np.r_[SIX[:5], 0.0]},
    ),
    "operational_space": (
        lambda robot: control.operational_space(robot, {"hand": control.Position("tool")}),
        {"hand": np.ones(3), "hand_stiffness": SIX[:3], "hand_damping": SIX[:3]},
    ),
}
NAMES = pytest.mark.parametrize("name", LAWS)
STATES = np.random.default_rng(0).normal(size=(2, 5, 6))


@cache
def law(name: str) -> kt.programs.Program:
    return LAWS[name][0](ARM)


def forces(found: Any) -> NDArray[np.float64]:
    """The joint forces that a law returned."""
    tau: NDArray[np.float64] = found["tau"] if isinstance(found, dict) else found
    return tau


def test_these_are_all_laws() -> None:
    from kinetree.control import laws

    assert sorted(LAWS) == laws.__all__


@NAMES
def test_a_law_gives_the_same_in_a_batch_and_in_python(name: str) -> None:
    q, v = STATES
    many = forces(law(name)(q, v, **LAWS[name][1]))
    assert many.shape == (5, 6)
    assert np.array_equal(many[2], forces(law(name)(q[2], v[2], **LAWS[name][1])))
    bound = law(name).bound([q[2], v[2]], LAWS[name][1])
    plain = forces(law(name).function(**dict(zip(law(name).arguments, bound, strict=True))))
    assert np.allclose(plain, many[2], rtol=0, atol=1e-9)


@NAMES
def test_no_force_is_nan(name: str) -> None:
    """Where a state is not finite, the forces of that sample are zero, and NumPy warns of it."""
    q, v = (x.copy() for x in STATES)
    q[1, 2], v[3, 0] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        found = law(name)(q, v, **LAWS[name][1])
    tau = forces(found)
    assert np.isfinite(tau).all()
    assert np.all(tau[[1, 3]] == 0.0)
    assert np.all(np.abs(tau[[0, 2, 4]]).max(axis=1) > 0.0)
    if name == "adaptive":
        assert np.isfinite(found["estimate"]).all()


@NAMES
def test_forces_stay_bounded_in_all_configurations(name: str) -> None:
    """Every quarter turn of every joint, where most are singular, with a velocity."""
    quarters = np.stack(np.meshgrid(*[np.array([0.0, np.pi / 2])] * 6), axis=-1).reshape(-1, 6)
    tau = forces(law(name)(quarters, 0.3 * np.ones(6), **LAWS[name][1]))
    assert np.isfinite(tau).all()
    assert np.abs(tau).max() < 1000.0


@pytest.mark.parametrize("name", ["computed_torque", "cartesian_impedance"])
def test_a_law_has_derivatives(name: str) -> None:
    given = dict(zip(law(name).arguments, law(name).bound(STATES[:, 0], LAWS[name][1]), strict=True))
    h, way = 1e-6, {x: np.random.default_rng(1).normal(size=6) for x in ("q", "v", "stiffness")}
    way["stiffness"][5] = 0.0  # the root of a stiffness of zero has no derivative
    with interpreted():
        _, slope = kt.jvp(LAWS[name][0](ARM), given, way)
        after, before = (law(name)(**{**given, **{x: given[x] + s * d for x, d in way.items()}}) for s in (h, -h))
    assert np.allclose((after - before) / (2 * h), slope, rtol=1e-6, atol=1e-6)


@NAMES
def test_a_law_is_pickled_as_what_it_was_made_of(name: str) -> None:
    with interpreted():
        again = pickle.loads(pickle.dumps(law(name)))(*STATES[:, 0], **LAWS[name][1])
    assert np.allclose(forces(again), forces(law(name)(*STATES[:, 0], **LAWS[name][1])), rtol=0, atol=1e-10)


@needs("gcc")
@pytest.mark.parametrize("name", ["adaptive", "cartesian_impedance"])
def test_a_law_is_written_as_c(name: str, tmp_path: Path) -> None:
    made = kt.interop.to_c(law(name))
    for path, text in ((tmp_path / f"{made.name}.c", made.source), (tmp_path / f"{made.name}.h", made.header)):
        path.write_text(text)
    given = law(name).bound(STATES[:, 0], LAWS[name][1])
    expected = law(name)(*given)
    results = [*expected.values()] if isinstance(expected, dict) else [expected]
    whole = np.concatenate(results)
    run = getattr(library(tmp_path, "gcc", [tmp_path / f"{made.name}.c"], *STRICT), made.name)
    found = np.concatenate(called(run, given, [port.size for port in made.outputs], made.workspace))
    assert np.allclose(found, whole, rtol=0, atol=1e-12 * np.abs(whole).max())


@NAMES
def test_a_robot_with_a_joint_without_motor_is_refused(name: str) -> None:
    floating = kt.zoo.load("quadruped")
    with pytest.raises(
        kt.errors.ActuationError, match=f"kt.control.{name} gives a force to every degree of freedom, but"
    ):
        LAWS[name][0](floating)


@pytest.mark.parametrize("name", ["joint_impedance", "cartesian_impedance", "operational_space"])
def test_a_joint_that_moves_nothing_is_reported_where_the_mass_matrix_is_inverted(name: str) -> None:
    builder = kt.ModelBuilder("hand")
    for body in ("base", "tool"):
        builder.add_body(body)
    builder.add_joint("turn", kt.Revolute([0, 0, 1]), "base", "tool")
    law = LAWS[name][0](builder.build())
    given: Any = {x: np.zeros(a.shape) for x, a in law.arguments.items() if x not in law.defaults}
    with pytest.raises(kt.errors.SingularModelError, match="joint 'turn' of 'hand' moves nothing that has mass"):
        law(**given)


def test_invalid_options_are_reported() -> None:
    with pytest.raises(kt.errors.OptionError, match="damping must be 'ratio' or 'given', not 'critical'"):
        control.joint_impedance(ARM, damping="critical")
    with pytest.raises(kt.errors.OptionError, match="damping must be 'ratio' or 'given'"):
        control.cartesian_impedance(ARM, "tool", damping=1.0)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="metric must be 'euclidean' or 'natural', not 'riemannian'"):
        control.adaptive(ARM, metric="riemannian")
    with pytest.raises(kt.errors.NameNotFoundError, match="tol"):
        control.cartesian_impedance(ARM, "tol")
    with pytest.raises(kt.errors.NameNotFoundError, match="wrld"):
        control.cartesian_impedance(ARM, "tool", axes="wrld")
    with pytest.raises(kt.errors.NameNotFoundError, match="load"):
        control.adaptive(ARM, bodies=["load"])
