"""Sensors beside MuJoCo's sensordata, at random states with its own accelerations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.test_actuators import KINDS, TREE, loaded

COUNT = 20
ACCURACY = 1e-11
Array = NDArray[Any]

OBJECTS = (
    ("site", "toe"),
    ("xbody", "shin"),
    ("body", "foot"),
    ("camera", "eye"),
    ("geom", "sole"),
    ("site", "ground"),
)
KINDS_OF_FRAMES = (
    "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel", "framelinacc",
    "frameangacc",
)  # fmt: skip
OTHERS = """
    <jointpos joint="hip"/><jointvel joint="slide" cutoff="0.3"/><ballquat joint="ball"/><ballangvel joint="ball"/>
    <tendonpos tendon="cable"/><tendonvel tendon="weak"/><tendonactuatorfrc tendon="weak"/>
    <actuatorpos actuator="a"/><actuatorvel actuator="b"/><actuatorfrc actuator="c" cutoff="2"/>
    <jointactuatorfrc joint="knee"/><gyro site="toe"/><velocimeter site="toe"/><accelerometer site="toe"/>
    <accelerometer site="ground"/><magnetometer site="hull"/><subtreecom body="thigh"/><subtreecom body="world"/>
    <subtreelinvel body="shin"/><subtreelinvel body="base"/><gyro site="hull" cutoff="0.5"/>
    <clock/><clock cutoff="0.5"/>"""
ACTUATORS = """<position name="a" joint="hip" kp="3" kv="1"/><motor name="b" tendon="weak"/><motor tendon="weak"/>
    <general name="c" joint="knee" dyntype="filter" dynprm="0.1" gainprm="5"/>
    <position site="toe" refsite="hull" gear="1 0 0 0 0 0" kp="3"/>"""


def _frames() -> str:
    lines = []
    for kind in KINDS_OF_FRAMES:
        for object_type, name in OBJECTS:
            if object_type == "body" and kind in KINDS_OF_FRAMES[1:5]:
                continue
            lines.append(f'<{kind} objtype="{object_type}" objname="{name}"/>')
            if kind not in ("framelinacc", "frameangacc"):
                for reference_type, reference in (("site", "hull"), ("xbody", "thigh"), ("geom", "sole")):
                    lines.append(
                        f'<{kind} objtype="{object_type}" objname="{name}" reftype="{reference_type}" '
                        f'refname="{reference}"/>'
                    )
    return "".join(lines)


def _text(sensors: str) -> str:
    text = TREE.format(actuators=ACTUATORS, options="", flags='<flag contact="disable"/>')
    text = text.replace('size="0.1 0.05 0.02"', 'name="sole" euler="0.1 0.2 0" size="0.1 0.05 0.02"')
    text = text.replace('<site name="tip"', '<camera name="eye" pos="0.1 0 0" euler="0.2 0 0.1"/><site name="tip"')
    return text.replace("</mujoco>", f"<sensor>{sensors}</sensor></mujoco>")


def test_sensors_are_those_of_mujoco() -> None:
    text = _text(OTHERS + _frames())
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(3)
    rows: dict[str, list[Array]] = {}
    for _ in range(COUNT):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        d.qvel[:], d.ctrl[:], d.act[:] = rng.normal(size=m.nv), rng.normal(size=m.nu), rng.normal(size=m.na)
        d.time = rng.uniform()
        mujoco.mj_forward(m, d)
        rows.setdefault("time", []).append(np.array(d.time))
        for name in ("qpos", "qvel", "qacc", "ctrl", "act", "sensordata"):
            rows.setdefault(name, []).append(getattr(d, name).copy())
    x = {name: np.array(row) for name, row in rows.items()}
    q, v = layout.q_from(x["qpos"]), layout.v_from(x["qpos"], x["qvel"])
    qdd = layout.qdd_from(x["qpos"], x["qvel"], x["qacc"])
    ours = kt.dynamics.sensors(robot, q, v, qdd, x["ctrl"], x["act"], x["time"])
    assert ours.shape == x["sensordata"].shape
    places = kt.dynamics.sensor_places(robot)
    for k, place in enumerate(places.values()):
        assert (place.start, place.stop - place.start) == (m.sensor_adr[k], m.sensor_dim[k])
        theirs, mine = x["sensordata"][:, place], ours[:, place]
        if m.sensor_type[k] == int(mujoco.mjtSensor.mjSENS_FRAMEQUAT):
            assert (mine[:, 0] >= 0.0).all()
            theirs = theirs * np.where(theirs[:, :1] < 0.0, -1.0, 1.0)
        np.testing.assert_allclose(
            mine, theirs, rtol=0.0, atol=ACCURACY * max(1.0, np.abs(theirs).max()), err_msg=[*places][k]
        )


WITHOUT_MASS = """<mujoco><worldbody>
<body name="base"><freejoint/><geom size=".1" mass="1"/>
  <frame pos="1 2 3" euler="10 20 30"><body name="a" pos="0 .1 .2" euler="20 30 40"><site name="at"/>{first}
    <body name="b" pos="0.1 .2 .3">{second}</body></body></frame></body>
</worldbody><sensor>
  <subtreecom body="a"/><subtreelinvel body="a"/><subtreeangmom body="a"/><subtreecom body="b"/>
  <subtreelinvel body="b"/><subtreeangmom body="b"/><framepos objtype="body" objname="a"/>
  <framelinvel objtype="body" objname="b"/><framelinacc objtype="body" objname="b"/>
  <framepos objtype="body" objname="a" reftype="xbody" refname="b"/><force site="at"/><torque site="at"/>
</sensor></mujoco>"""


@pytest.mark.filterwarnings("ignore:.*has inertia but no mass:kinetree.errors.ModelWarning")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", ""),
        ('<geom size=".1" pos=".3 0 .1" mass="0"/>', '<geom size=".1" pos=".3 0 .1" mass="0"/>'),
        ('<inertial pos=".3 0 .1" mass="0"/>', '<inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/>'),
        ('<inertial pos=".3 0 .1" mass="0" diaginertia="3e-3 2e-3 2e-3"/>', ""),
        ("", '<geom size=".1" pos=".3 0 .1" mass="0.2"/>'),
    ],
    ids=["nothing", "geoms", "places", "moments", "with a mass"],
)  # fmt: skip
def test_bodies_without_mass_have_centres_and_momenta_as_in_mujoco(first: str, second: str, tmp_path: Path) -> None:
    """Also when the robot was written into a file and read again."""
    text = WITHOUT_MASS.format(first=first, second=second)
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(3)
    mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
    d.qvel[:] = rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
    qdd = layout.qdd_from(d.qpos, d.qvel, d.qacc)
    kt.save(robot, tmp_path / "again.xml")
    for one in (robot, kt.load(tmp_path / "again.xml")):
        np.testing.assert_allclose(kt.dynamics.sensors(one, q, v, qdd), d.sensordata, rtol=0, atol=1e-13)
    again = mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    np.testing.assert_allclose(again.body_ipos[2:], m.body_ipos[2:], rtol=0, atol=1e-15)


def test_all_kinds_of_actuators_have_positions_and_velocities() -> None:
    names = [f"u{k}" for k in range(8)]
    actuators = KINDS["sites"]
    for name in names:
        actuators = actuators.replace(" site=", f' name="{name}" SITE=', 1)
    actuators = actuators.replace("SITE=", "site=")
    sensors = "".join(f'<actuatorpos actuator="{x}"/><actuatorvel actuator="{x}"/>' for x in names)
    text = TREE.format(actuators=actuators, options="", flags="")
    text = text.replace("</mujoco>", f"<sensor>{sensors}</sensor></mujoco>")
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco")
    rng = np.random.default_rng(1)
    mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
    d.qvel[:] = rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    ours = kt.dynamics.sensors(robot, layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel))
    np.testing.assert_allclose(ours, d.sensordata, atol=ACCURACY)
