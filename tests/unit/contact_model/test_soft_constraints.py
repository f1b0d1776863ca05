"""Soft constraints of robots whose files say nothing of contacts; flags of MJCF files; what has no constraint yet."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import Box, Cylinder, Sphere
from kinetree.contact_model import InverseWeights, SoftConstraints, soft_constraints

_INERTIA = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>'


def _link(name: str, shape: str = '<sphere radius="0.1"/>', *, at: str = "0 0 0", inertia: str = _INERTIA) -> str:
    return f"""<link name="{name}">{inertia}
      <visual><geometry><sphere radius="9"/></geometry></visual>
      <collision name="{name}"><origin xyz="{at}"/><geometry>{shape}</geometry></collision></link>"""


def _joint(name: str, parent: str, child: str, *, kind: str = "revolute", more: str = "", at: str = "0 0 0.4") -> str:
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="9" velocity="9"/>{more}</joint>"""


ARM = f"""<robot name="arm">
  {_link("base", '<box size="0.4 0.6 0.2"/>')} {_link("upper")}
  {_link("lower", '<cylinder radius="0.1" length="0.3"/>')}
  {_link("hand")} {_link("plate", at="1 0 0")} <link name="between"/>
  {_joint("shoulder", "base", "upper", more='<dynamics friction="0.7"/>')}
  {_joint("elbow", "upper", "between", more="", kind="continuous")}
  {_joint("twist", "between", "lower", at="0 0 0.2")}
  {_joint("wrist", "lower", "hand", at="0 0 0.1", more='<mimic joint="shoulder" multiplier="-0.5" offset="0.1"/>')}
  {_joint("mount", "base", "plate", kind="fixed")}
</robot>"""


def _load(folder: Path, text: str, name: str = "robot.urdf", **options: object) -> kt.Model:
    file = folder / name
    file.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return kt.load(file, **options)  # type: ignore[call-overload, no-any-return]


def _pairs(soft: SoftConstraints) -> set[frozenset[str]]:
    return {frozenset((touch.first.name, touch.second.name)) for touch in soft.touches}


def _set(*pairs: str) -> set[frozenset[str]]:
    return {frozenset(pair.split()) for pair in pairs}


def test_neighbours_do_not_touch(tmp_path: Path) -> None:
    """Nor those with a massless body between them; what is fixed to the base beside it is nobody's neighbour."""
    soft = soft_constraints(_load(tmp_path, ARM))
    assert _pairs(soft) == _set("base hand", "base lower", "upper hand", "upper plate", "plate lower", "plate hand")
    assert not soft.unsupported


def test_shapes_have_half_lengths_and_the_usual_parameters(tmp_path: Path) -> None:
    soft = soft_constraints(_load(tmp_path, ARM), timestep=0.005)
    (touch,) = (one for one in soft.touches if {one.first.name, one.second.name} == {"base", "hand"})
    assert (touch.first.shape, touch.second.shape) == (Sphere(0.1), Box(0.2, 0.3, 0.1))
    assert touch.dimension == 3
    assert touch.friction == (1.0, 1.0, 0.005, 0.0001, 0.0001)
    assert touch.softness.reference == (0.02, 1.0)
    assert touch.softness.period == 0.01
    assert (touch.margin, touch.selection, touch.friction_reference) == (0.0, 0.0, (0.0, 0.0))
    (other,) = (one for one in soft.touches if {one.first.name, one.second.name} == {"plate", "lower"})
    assert other.second.shape == Cylinder(0.1, 0.15)


def test_a_free_body_touches_what_is_around_it(tmp_path: Path) -> None:
    """Even if they overlap in the reference configuration: a free joint joins nothing."""
    earth = _link("earth", '<box size="4 4 1"/>', inertia="") + _joint("base", "earth", "ball", kind="floating")
    robot = _load(
        tmp_path, f"<robot name='scene'>{earth} {_link('ball')} {_link('arm')} {_joint('j', 'ball', 'arm')}</robot>"
    )
    assert _pairs(soft_constraints(robot)) == _set("earth ball", "earth arm")


def test_shapes_that_overlap_at_rest_are_reported(tmp_path: Path) -> None:
    text = ARM.replace('<sphere radius="0.1"/>', '<sphere radius="0.45"/>')
    soft = soft_constraints(_load(tmp_path, text))
    overlapping = {frozenset(one.name.split(", ")) for one in soft.unsupported if one.what == "overlap"}
    assert frozenset(("upper", "hand")) in overlapping
    assert not overlapping & _pairs(soft)


def test_srdf_says_what_touches(tmp_path: Path) -> None:
    robot = _load(tmp_path, ARM)
    (tmp_path / "robot.srdf").write_text(
        """<robot name="arm"><disable_default_collisions link="hand"/><enable_collisions link1="hand" link2="lower"/>
        <disable_collisions link1="upper" link2="plate" reason="Never"/></robot>"""
    )
    robot = _load(tmp_path, ARM, srdf=tmp_path / "robot.srdf")
    assert _pairs(soft_constraints(robot)) == _set("base lower", "hand lower", "plate lower")


def test_limits_and_friction_of_followers(tmp_path: Path) -> None:
    """A follower's limits are its own only if its leader's do not keep it within them."""
    soft = soft_constraints(robot := _load(tmp_path, ARM))
    assert [(one.joint, one.lower, one.upper) for one in soft.limits] == [("shoulder", -1.0, 2.0), ("twist", -1.0, 2.0)]
    assert [(one.joint, one.dof, one.loss) for one in soft.frictions] == [("shoulder", 0, 0.7)]
    for steep in ("2", "-2"):
        narrow = _load(tmp_path, ARM.replace('multiplier="-0.5"', f'multiplier="{steep}"'))
        assert [one.joint for one in soft_constraints(narrow).limits] == ["shoulder", "twist", "wrist"]
    weights = InverseWeights(robot)
    assert weights.of_joint("wrist") == pytest.approx(0.25 * weights.of_joint("shoulder"))


def test_a_body_that_is_free_weighs_its_mass() -> None:
    robot = kt.zoo.load("ragdoll")
    weights = InverseWeights(robot)
    M = kt.crba(robot, robot.neutral())
    np.testing.assert_allclose(weights.of_joint(next(iter(robot.joints))), np.linalg.inv(M)[:3, :3].trace() / 3.0)
    assert tuple(weights.of_body(None)) == (0.0, 0.0)


def test_a_robot_without_inertia_is_refused(tmp_path: Path) -> None:
    robot = _load(tmp_path, ARM.replace(_INERTIA, ""))
    with pytest.raises(kt.errors.ModelError, match=r"the mass matrix has no inverse.*armature"):
        soft_constraints(robot)


@pytest.mark.parametrize("timestep", [0.0, -1.0, float("nan"), float("inf"), "0.002", True])
def test_a_time_step_is_positive(timestep: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="must be a positive number of seconds"):
        soft_constraints(kt.zoo.load("arm6"), timestep)


MJCF = """<mujoco><option noslip_iterations="3"><flag {flag}/></option>
  <asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/>
    <body name="a"><freejoint/><geom name="ball" size="0.1"/></body>
    <body name="b"><joint name="j" range="-9 9" frictionloss="1"/><geom name="wedge" type="mesh" mesh="wedge"/></body>
    <body name="c"><joint name="k"/><site name="p"/><geom size="0.1"/></body>
  </worldbody>
  <equality><joint joint1="j" joint2="k"/><connect name="pin" body1="a" body2="b" anchor="0 0 0"/></equality>
  <tendon><fixed name="cord" range="0 1"><joint joint="j" coef="1"/></fixed>
    <spatial name="band" range="0 1"><site site="p"/><geom geom="ball" sidesite="p"/><site site="p"/></spatial>
  </tendon>
</mujoco>"""


def test_what_has_no_constraint_is_named(tmp_path: Path) -> None:
    soft = soft_constraints(_load(tmp_path, MJCF.format(flag=""), "robot.xml"))
    named = {(one.what, one.name) for one in soft.unsupported}
    assert named >= {("option", "noslip_iterations"), ("tendon", "band")}
    assert not named & {("tendon", "cord"), ("equality", "pin")}
    assert ("shape", "wedge") in named or any("wedge" in {t.first.name, t.second.name} for t in soft.touches)


@pytest.mark.parametrize(
    ("flag", "left"),
    [
        ("", (1, 1, 1, 1, 1, True)),
        ('limit="disable"', (0, 1, 1, 1, 0, True)),
        ('frictionloss="disable"', (1, 0, 1, 1, 1, True)),
        ('equality="disable"', (1, 1, 0, 0, 1, True)),
        ('contact="disable"', (1, 1, 1, 1, 1, False)),
        ('constraint="disable"', (0, 0, 0, 0, 0, False)),
    ],
)
def test_flags(flag: str, left: tuple[int, int, int, int, int, bool], tmp_path: Path) -> None:
    soft = soft_constraints(_load(tmp_path, MJCF.format(flag=flag), "robot.xml"))
    rows = (soft.limits, soft.frictions, soft.couplings, soft.connections, soft.tendons)
    assert (*map(len, rows), bool(soft.touches)) == left
