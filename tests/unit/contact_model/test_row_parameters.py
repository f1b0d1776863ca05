"""Numbers of pairs, shapes, limits, dry friction, equalities and tendons as inputs: those of another file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import reference

Array = NDArray[Any]
SOFT = {"solref": "0.03 0.8", "solimp": "0.8 0.9 0.02 0.4 3"}
FILE = """
<mujoco><compiler angle="radian"/><option timestep="0.002" cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="ball" pos="0 0 .098"><freejoint/><geom name="skin" size=".1" mass="1"/></body>
  <body name="puck" pos="1 0 .099"><freejoint/><geom name="rim" size=".1" mass="1" {rim}/></body>
  <body name="arm" pos="0 1 1">
    <joint name="hinge" axis="0 1 0" range="-1 .004" limited="true" frictionloss="30" {hinge}/>
    <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass="1" contype="0" conaffinity="0"/></body>
  <body name="rod" pos="0 2 1"><joint name="slide" type="slide" axis="0 0 1"/>
    <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass="1" contype="0" conaffinity="0"/></body>
  <body name="bob" pos="0 3 1"><joint type="slide" axis="0 0 1"/>
    <geom size=".02" mass="1" contype="0" conaffinity="0"/></body>
</worldbody>
<contact><pair geom1="floor" geom2="skin" condim="4" {pair}/></contact>
<tendon><fixed name="cable" limited="true" range="-1 .01" frictionloss="200" {cable}>
  <joint joint="slide" coef="2"/></fixed></tendon>
<equality><joint name="follows" joint1="slide" joint2="hinge" polycoef="0 .1 0 0 0" {follows}/>
  <weld body1="bob" {weld}/></equality></mujoco>"""
PARTS = ("rim", "hinge", "pair", "cable", "follows", "weld")
CHANGES = {
    "pair.0.friction": ("pair", 'friction="0.6 0.4 0.02 0.001 0.001"'),
    "pair.0.solref": ("pair", f'solref="{SOFT["solref"]}"'),
    "pair.0.solimp": ("pair", f'solimp="{SOFT["solimp"]}"'),
    "pair.0.margin": ("pair", 'margin="0.003"'),
    "shape.rim.solimp": ("rim", f'solimp="{SOFT["solimp"]}"'),
    "joint.hinge.solref_limit": ("hinge", f'solreflimit="{SOFT["solref"]}"'),
    "joint.hinge.solimp_limit": ("hinge", f'solimplimit="{SOFT["solimp"]}"'),
    "joint.hinge.margin": ("hinge", 'margin="0.05"'),
    "joint.hinge.solref_friction": ("hinge", f'solreffriction="{SOFT["solref"]}"'),
    "joint.hinge.solimp_friction": ("hinge", f'solimpfriction="{SOFT["solimp"]}"'),
    "tendon.cable.solref_limit": ("cable", f'solreflimit="{SOFT["solref"]}"'),
    "tendon.cable.solimp_limit": ("cable", f'solimplimit="{SOFT["solimp"]}"'),
    "tendon.cable.margin": ("cable", 'margin="0.01"'),
    "tendon.cable.solref_friction": ("cable", f'solreffriction="{SOFT["solref"]}"'),
    "tendon.cable.solimp_friction": ("cable", f'solimpfriction="{SOFT["solimp"]}"'),
    "equality.follows.solref": ("follows", f'solref="{SOFT["solref"]}"'),
    "equality.follows.solimp": ("follows", f'solimp="{SOFT["solimp"]}"'),
    "equality.1.solref": ("weld", f'solref="{SOFT["solref"]}"'),
    "equality.1.solimp": ("weld", f'solimp="{SOFT["solimp"]}"'),
}


def loaded(folder: Path, **given: str) -> kt.Model:
    path = folder / "parts.xml"
    path.write_text(FILE.format(**{part: given.get(part, "") for part in PARTS}))
    return kt.load(path)


def number(name: str) -> Array:
    """What a change gives, as the parameter."""
    found = np.array([float(x) for x in re.findall(r"[-\d.]+", CHANGES[name][1].split('"')[1])])
    return found[0] if len(found) == 1 else found


def state(robot: kt.Model) -> tuple[Array, Array, Array]:
    """The ball slides in the floor, the hinge and the cable are beyond their ends, and all move."""
    q = np.array(robot.neutral())
    q[:3], q[7:10], q[14:] = (0.0, 0.0, 0.0985), (1.0, 0.0, 0.0991), (0.006, 0.0062, 0.01)
    v = np.random.default_rng(0).normal(size=robot.nv)
    v[[2, 8, 12, 13, 14]] = -0.01, -0.02, 0.5, 0.2, 0.3
    return q, v, np.zeros(robot.nv)


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    return loaded(tmp_path_factory.mktemp("parts"))


def accelerations(robot: kt.Model, names: list[str], *values: Array) -> Array:
    q, v, tau = state(robot)
    return kt.contact_dynamics(robot, q, v, tau, parameters=dict(zip(names, values, strict=True))).qdd


def in_floats(robot: kt.Model) -> Array:
    return reference(kt.contact_dynamics, robot, *state(robot), passive=True)[: robot.nv]


def test_they_are_listed_with_the_files_own_values(robot: kt.Model) -> None:
    assert set(CHANGES) <= set(robot.parameter_names)
    assert robot.parameter("pair.0.friction").tolist() == [1.0, 1.0, 0.005, 0.0001, 0.0001]
    assert robot.parameter("joint.hinge.margin").shape == ()
    assert robot.parameter("equality.1.solimp").tolist() == [0.9, 0.95, 0.001, 0.5, 2.0]


def test_given_numbers_are_those_of_another_file(robot: kt.Model, tmp_path: Path) -> None:
    names = list(CHANGES)
    own = [robot.parameter(name) for name in names]
    given = [[*own[:k], number(name), *own[k + 1 :]] for k, name in enumerate(names)]
    columns = [np.stack(column) for column in zip(own, *given, strict=True)]
    usual, *found = accelerations(robot, names, *columns)
    np.testing.assert_allclose(usual, in_floats(robot), rtol=1e-9, atol=1e-9)
    for (name, (part, text)), given_here in zip(CHANGES.items(), found, strict=True):
        changed = in_floats(loaded(tmp_path, **{part: text}))
        assert np.abs(changed - usual).max() > 1e-3, name
        np.testing.assert_allclose(given_here, changed, rtol=1e-8, atol=1e-8, err_msg=name)


def test_derivatives_agree_with_differences(robot: kt.Model) -> None:
    names, rng = list(CHANGES), np.random.default_rng(1)
    at = [np.asarray(number(name)) for name in names]
    along = [x * rng.uniform(0.5, 1.0, x.shape) for x in at]
    each = [np.stack([y * float(j == k) for j in range(len(names))]) for k, y in enumerate(along)]  # one name a sample
    _, slopes = kt.jvp(
        robot, kt.contact_dynamics, state(robot), dict(zip(names, each, strict=True)),
        parameters=dict(zip(names, at, strict=True)),
    )  # fmt: skip
    ends = [accelerations(robot, names, *(x + h * y for x, y in zip(at, each, strict=True))) for h in (1e-6, -1e-6)]
    for name, slope, expected in zip(names, slopes, (ends[0] - ends[1]) / 2e-6, strict=True):
        assert np.abs(expected).max() > 1e-4, name
        np.testing.assert_allclose(slope[: robot.nv], expected, atol=1e-6 * np.abs(expected).max(), err_msg=name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pair.1.solref", "there is no pair '1'"),
        ("pair.0.size", "the pair '0' has friction, solref, solimp, margin"),
        ("equality.folows.solref", "there is no equality 'folows'; did you mean 'follows'"),
        ("joint.slide.solref_limit", "a joint has placement, armature"),
    ],
)
def test_unknown_names_are_answered_with_what_there_is(robot: kt.Model, name: str, words: str) -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=words):
        robot.parameter(name)
