"""What is kept as data and not computed: a note has its file and line, and the function that would need it names it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinetree as kt

TEXT = """<mujoco>
<option density="1000"/>
<asset><mesh name="hull" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><camera name="eye"/><body name="arm"><joint name="hinge"/><geom name="ball" size="0.1"/><site name="tip"/>
<geom type="mesh" mesh="hull" {fluid}/></body></worldbody>
<actuator>
{actuator}
</actuator>
<sensor>
{sensor}
</sensor>
</mujoco>"""
MOTOR, ANGLE = '<motor joint="hinge"/>', '<jointpos name="angle" joint="hinge"/>'


def loaded(folder: Path, actuator: str = MOTOR, sensor: str = ANGLE, fluid: str = "") -> kt.Model:
    (folder / "arm.xml").write_text(TEXT.format(actuator=actuator, sensor=sensor, fluid=fluid))
    return kt.load(folder / "arm.xml")


@pytest.mark.parametrize(
    ("element", "what", "refused"),
    [
        ('<dcmotor name="a" joint="hinge" resistance="1" motorconst="1"/>', '"dcmotor"', "of the kind 'dcmotor'"),
        ('<pid name="a" joint="hinge" kp="2" ki="1"/>', '"pid"', "dynamics of the kind 'pid'"),
        ('<adhesion name="a" body="arm" gain="2" ctrlrange="0 1"/>', "adhesion by contacts of a body", "adhesion"),
        ('<general name="a" joint="hinge" gaintype="user"/>', '"user"', "a gain of the kind 'user'"),
        ('<motor name="a" joint="hinge" delay="0.01" nsample="4"/>', "a delay", "a delay of its control"),
    ],
)
def test_actuators(element: str, what: str, refused: str, tmp_path: Path) -> None:
    robot = loaded(tmp_path, actuator=element)
    tag = element[1:].partition(" ")[0]
    (note,) = [one for one in robot.notes if "kt.dynamics.actuator_forces refuses" in one]
    assert f'arm.xml:7: <{tag} name="a"> ({what})' in note
    with pytest.raises(kt.errors.OptionError, match=f"the actuator 'a' \\({tag}\\) has .*{refused}"):
        kt.dynamics.actuator_forces(robot, [0.0], [0.0], [0.0])


@pytest.mark.parametrize(
    ("element", "what"),
    [
        ('<user name="s" dim="2"/>', ""),
        ('<tactile name="s" geom="ball" mesh="hull"/>', ""),
        ('<camprojection name="s" site="tip" camera="eye"/>', ""),
        ('<jointpos name="s" joint="hinge" delay="0.01" nsample="4"/>', " (a delay)"),
        ('<jointpos name="s" joint="hinge" interval="0.1"/>', " (an interval)"),
    ],
)
def test_sensors(element: str, what: str, tmp_path: Path) -> None:
    robot = loaded(tmp_path, sensor=f"{ANGLE}\n{element}")
    tag = element[1:].partition(" ")[0]
    (note,) = [one for one in robot.notes if "kt.dynamics.sensors needs" in one]
    assert f'arm.xml:11: <{tag} name="s">{what}' in note
    with pytest.raises(
        kt.errors.OptionError, match=rf"the sensor 's' \({tag}\) .*choose others by names=, among 'angle'"
    ):
        kt.dynamics.sensors(robot, [0.0], [0.0])


def test_a_mesh_as_an_ellipsoid_in_a_medium(tmp_path: Path) -> None:
    robot = loaded(tmp_path, fluid='fluidshape="ellipsoid"')
    with pytest.raises(kt.errors.OptionError, match=r"as on an ellipsoid on the mesh of 'arm'"):
        kt.dynamics.fluid_forces(robot, [0.0], [0.0])


def test_what_is_computed_needs_no_note(tmp_path: Path) -> None:
    assert not any("not computed" in note for note in loaded(tmp_path).notes)
