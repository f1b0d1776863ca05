"""Actuators, tendons and options beside MuJoCo's compiled model, and refusals of what contradicts itself."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.io.mjcf.agreement import assert_agrees
from tests.io.mjcf.extras_agreement import differences

J = 'joint="j"'


def file(
    tmp_path: Path, actuators: str, default: str = "", compiler: str = "", joint: str = 'range="-1 2"', more: str = ""
) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(
        f"""<mujoco><compiler angle="radian" {compiler}/><default>{default}</default><worldbody><site name="w"/>
<body name="b"><joint name="j" {joint}/><geom name="g" size="0.1"/><site name="s"/></body>
<body name="bb" pos="1 0 0"><joint name="ball" type="ball"/><geom size="0.1"/></body>
<body name="f" pos="2 0 0"><joint name="free" type="free"/><geom size="0.1"/></body></worldbody>
<tendon><fixed name="t" range="-3 4"><joint joint="j" coef="1"/></fixed></tendon>
<actuator>{actuators}</actuator>{more}</mujoco>""",
        encoding="utf-8",
    )
    return path


def nested(outer: str, inner: str) -> str:
    return f'{outer}<default class="x">{inner}</default>'


GENERAL = '<general gainprm="7" biastype="affine" biasprm="1 -7 -3" dyntype="filter" dynprm="3"/>'
AGREE = {
    "motor": f"<motor {J}/>",
    "two motors of one joint": f'<motor {J}/><motor name="m" {J} gear="3"/>',
    "position": f'<position {J} kp="5" kv="1"/>',
    "position with a filter": f'<position {J} kp="5" timeconst="0.1"/>',
    "position with a filter of no time": f'<position {J} kp="5" timeconst="0"/>',
    "position with a ratio of damping": f'<position {J} kp="5" dampratio="1"/>',
    "velocity": f'<velocity {J} kv="5"/><velocity {J}/>',
    "intvelocity": f'<intvelocity {J} kp="5" actrange="-1 1"/><intvelocity {J} kp="5"/>',
    "damper": f'<damper {J} kv="5" ctrlrange="0 1"/>',
    "cylinder": f'<cylinder {J} timeconst="0.1" diameter="0.1" bias="1 2 3"/><cylinder {J} area="2"/>',
    "muscle": f'<muscle {J}/><muscle tendon="t" force="3" scale="100" range="0.5 1" tausmooth="0.1"/>',
    "adhesion": '<adhesion body="b" gain="2" ctrlrange="0 1"/>',
    "pid": f'<pid {J} kp="5" kv="1"/>',
    "pid with states": f'<pid {J} kp="5" ki="1" imax="3" slewmax="2" posrange="-1 1" input="pos vel ff"/>',
    "orientation": '<orientation joint="ball" kp="4" kv="1"/>',
    "orientation by quaternion": '<orientation joint="ball" kp="4" input="quat" ctrlrange="-1 1" forcerange="0 2"/>',
    "dcmotor": f"""<dcmotor {J} motorconst="0.1 0.2" resistance="2" inductance="0.1 0" saturation="3 0 5"
        thermal="1 2 0 .1 20 25" controller="1 2 3 4 5 6" input="pos vel" lugre="1 2 3 4 5" cogging="1 2 3"/>""",
    "dcmotor by its nominal values": f'<dcmotor {J} nominal="12 1 100" damping="0.001"/>',
    "dcmotor without a control": f'<dcmotor {J} resistance="2" input="none"/>',
    "dcmotor by time constants": f'<dcmotor {J} motorconst="1" resistance="3" thermal="2 0 6 .1 20 25"/>',
    "general": f'<general {J} gainprm="3" biastype="affine" biasprm="0 -3 -1"/>',
    "general with a ratio of damping": f'<general {J} gainprm="3" biastype="affine" biasprm="0 -3 1"/>',
    "general without": f'<general {J} gainprm="4" biastype="affine" biasprm="0 -3 1"/>',
    "general with a user's dynamics": f'<general {J} dyntype="user" actdim="3"/><general {J} dyntype="integrator"/>',
    "general that turns": """<general joint="ball" gaintype="so3" biastype="so3" gainprm="3" biasprm="0 -3 0"
        dyntype="integrator"/>""",
    "inputs": f'<general {J} input="pos"/><general {J} input="pressure"/>',
    "inherited range": f'<position {J} inheritrange="0.5"/><intvelocity {J} inheritrange="1"/>',
    "inherited range of a tendon": '<position tendon="t" inheritrange="0.5"/>',
    "inherited range of others": f"""<general {J} gainprm="1" biastype="affine" biasprm="0 -1 0" inheritrange="0.5"/>
        <pid {J} inheritrange="1"/>""",
    "ranges": f'<motor {J} ctrlrange="-1 1" forcerange="-2 3" forcelimited="false" lengthrange="0 1" group="3"/>',
    "a delay": f'<motor {J} nsample="3" delay="0.01" interp="linear"/>',
    "sites": '<motor site="s" gear="0 0 1"/><motor site="s" refsite="w" gear="0 1 0 0 0 2"/>',
    "a slider-crank": '<motor cranksite="s" slidersite="w" cranklength="0.2"/>',
    "balls": '<motor joint="ball"/><motor jointinparent="ball" gear="0 1 0"/><position joint="ball" kp="3"/>',
    "free": '<motor joint="free" gear="1 0 0 0 0 1"/>',
    "user data": f'<motor {J} user="1 2"/><motor {J}/>',
}
DEFAULTS = {
    "position, motor": (f"<motor {J}/>", '<position kp="50" kv="3"/>'),
    "position, velocity": (f'<velocity {J} kv="2"/>', '<position kp="50" kv="3" timeconst="0.1"/>'),
    "position, position": (f'<position {J} kv="2"/>', '<position kp="50" dampratio="1"/>'),
    "position, general": (f"<general {J}/>", '<position kp="5" timeconst="0.1"/>'),
    "position, another gain": (f'<general {J} gaintype="affine"/>', '<position kp="5" timeconst="0.1"/>'),
    "position, intvelocity": (f"<intvelocity {J}/>", '<position kp="5" kv="2" timeconst="0.1"/>'),
    "position, pid": (f"<pid {J}/>", '<position kp="5" kv="2" timeconst="0.1"/>'),
    "position, orientation": ('<orientation joint="ball"/>', '<position kp="5" kv="2"/>'),
    "position, cylinder": (f"<cylinder {J}/>", '<position kp="3" kv="2"/>'),
    "position, adhesion": ('<adhesion body="b" ctrlrange="0 1"/>', '<position kp="3"/>'),
    "general, motor": (f"<motor {J}/>", GENERAL),
    "general, position": (f"<position {J}/>", GENERAL),
    "general, velocity": (f"<velocity {J}/>", '<general gainprm="7"/>'),
    "general, cylinder": (f"<cylinder {J}/>", GENERAL),
    "general, muscle": (f"<muscle {J}/>", '<general gainprm="7 8" dynprm="3"/>'),
    "general, pid": (f"<pid {J}/>", GENERAL),
    "general, damper": (f'<damper {J} ctrlrange="0 1"/>', '<general gaintype="affine" gainprm="1 2 -3"/>'),
    "general, dcmotor": (
        f'<dcmotor {J} motorconst="1" resistance="3"/>',
        '<general gainprm="2 0.1" forcerange="-3 3"/>',
    ),
    "general early, position": (f'<position {J} timeconst="0.1"/>', '<general actearly="true"/>'),
    "general filter, position": (f"<position {J}/>", '<general dyntype="filterexact" dynprm="3 4"/>'),
    "general with ranges, position": (f'<position {J} timeconst="1"/>', '<general actrange="0 1" dyntype="filter"/>'),
    "a gain of muscles, muscle": (
        f"<muscle {J}/>",
        """<general gaintype="muscle" biastype="muscle" dyntype="muscle" dynprm="0.02 0.03 0.1"
        gainprm="0.6 1.1 3 150 0.4 1.7 1.6 1.4 1.1"/>""",
    ),
    "a gain of pids, pid": (
        f"<pid {J}/>",
        """<general gaintype="pid" dyntype="pid" dynprm="3 4" gainprm="5 6" biastype="affine"
        biasprm="1 -2 -3 4"/>""",
    ),
    "motor with a gear": (f'<motor {J} gear="3"/><motor site="s" gear="0 0 1"/>', '<motor gear="1 2 3 4 5 6"/>'),
    "muscle, muscle": (f'<muscle {J} force="3"/>', '<muscle force="30" timeconst="0.1 0.2"/>'),
    "muscle, general": (f"<general {J}/>", '<muscle force="5"/>'),
    "dcmotor, dcmotor": (
        f'<dcmotor {J} saturation="0 2"/>',
        '<dcmotor motorconst="0.1" resistance="2" saturation="3"/>',
    ),
    "pid, pid": (f"<pid {J}/>", '<pid kp="3" ki="1" kv="2"/>'),
    "pid, position": (f"<position {J}/>", '<pid kp="3" ki="1" kv="2" input="pos"/>'),
    "damper, damper": (f"<damper {J}/>", '<damper kv="3" ctrlrange="0 1"/>'),
    "velocity, position, velocity": (f'<velocity {J} class="x"/>', nested('<velocity kv="5"/>', "<position/>")),
    "position, velocity, position": (f'<position {J} class="x"/>', nested('<position kp="5" kv="2"/>', "<velocity/>")),
    "position, general, position": (
        f'<position {J} class="x"/>',
        nested('<position kp="5" kv="2" timeconst="0.3"/>', "<general/>"),
    ),
    "position, motor, general": (f'<general {J} class="x"/>', nested('<position kp="5"/>', "<motor/>")),
    "general, motor, general": (f'<general {J} class="x"/>', nested(GENERAL, "<motor/>")),
    "general, general": (f'<general {J} class="x"/>', nested(GENERAL, '<general gaintype="affine"/>')),
    "an inherited range, motor": (f"<motor {J}/><velocity {J}/>", '<position inheritrange="1"/>'),
    "an inherited range, a range": (f'<position {J} ctrlrange="0 1"/>', '<position inheritrange="1"/>'),
    "a range, an inherited range": (f'<position {J} inheritrange="0.5"/>', '<position ctrlrange="0 1"/>'),
    "a range, no inherited range": (
        f'<position {J} inheritrange="0" ctrlrange="0 1"/>',
        '<position inheritrange="1"/>',
    ),
}


@pytest.mark.parametrize("actuators", AGREE.values(), ids=AGREE)
def test_actuators_are_as_mujoco_compiles_them(tmp_path: Path, actuators: str) -> None:
    assert differences(file(tmp_path, actuators)).found == []


@pytest.mark.parametrize(("actuators", "default"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults_of_actuators_are_as_mujoco_combines_them(tmp_path: Path, actuators: str, default: str) -> None:
    assert differences(file(tmp_path, actuators, default)).found == []


REFUSED = {
    "no target": ("<motor/>", "it acts on nothing; name what it acts on"),
    "two targets": (f'<motor {J} tendon="t"/>', "it acts on two things, joint and tendon; remove one of them"),
    "unknown joint": ('<motor joint="jj"/>', "joint='jj': there is no joint of this name: did you mean 'j'"),
    "unknown tendon": ('<motor tendon="tt"/>', "there is no tendon of this name: did you mean 't'"),
    "unknown site": ('<motor site="S"/>', "there is no site of this name: did you mean 's'?"),
    "unknown body": ('<adhesion body="c" ctrlrange="0 1"/>', "there is no body of this name"),
    "refsite without site": (f'<motor {J} refsite="s"/>', "refsite goes with site, but it acts on a joint; remove it"),
    "a crank without slider": ('<motor cranksite="s" cranklength="1"/>', 'add slidersite="…"'),
    "a crank without rod": ('<motor cranksite="s" slidersite="w"/>', "give cranklength, a positive length"),
    "limited without a range": (
        f'<motor {J} ctrllimited="true"/>',
        'it has ctrllimited="true", but no ctrlrange; add it',
    ),
    "a reversed range": (f'<motor {J} ctrlrange="1 0"/>', "ctrlrange is 1 to 0; the first number must be smaller"),
    "an activation range without one": (f'<motor {J} actrange="0 1"/>', 'has no attribute "actrange"'),
    "no activation": (f'<general {J} actrange="0 1"/>', "it has actrange, but no activation"),
    "kv and dampratio": (f'<position {J} kv="1" dampratio="1"/>', "kv and dampratio"),
    "negative kv": (f'<position {J} kv="-1"/>', "kv is -1, but it cannot be negative"),
    "two ranges": (f'<position {J} ctrlrange="0 1" inheritrange="1"/>', "ctrlrange and inheritrange"),
    "no range to inherit": ('<position joint="ball" inheritrange="1"/>', "inheritrange needs the range of a hinge"),
    "too many numbers": (f'<general {J} gainprm="1 2 3 4 5 6 7 8 9 10 11"/>', "holds 11 numbers; expected 1 to 10"),
    "a delay without samples": (f'<motor {J} delay="0.1"/>', 'add nsample="…"'),
    "inputs in another order": (f'<pid {J} input="vel pos"/>', "must name each word once, in the order pos, vel, ff"),
    "an unknown input": (f'<pid {J} input="volts"/>', 'input holds "volts", which is not one of its words'),
    "a damper without a range": (f'<damper {J} kv="1"/>', "a <damper> needs a ctrlrange"),
    "a motor without a constant": (f'<dcmotor {J} resistance="2"/>', "its motor constant is not positive"),
    "two of one name": (f'<motor {J} name="m"/><motor {J} name="m"/>', "there are two actuators named 'm'"),
    "an orientation of a hinge": (f'<orientation {J} kp="1"/>', "'j' is not a ball joint"),
    "an unknown class": (f'<motor {J} class="x"/>', "there is no such default class"),
    "an unknown type": (f'<general {J} gaintype="fix"/>', 'gaintype="fix" is not one of its words'),
}


@pytest.mark.parametrize(("actuators", "message"), REFUSED.values(), ids=REFUSED)
def test_contradictions_are_refused(tmp_path: Path, actuators: str, message: str) -> None:
    with pytest.raises(kt.errors.ModelError) as refusal:
        kt.load(file(tmp_path, actuators))
    assert message in str(refusal.value)
    assert "robot.xml:" in str(refusal.value)


def test_ranges_need_flags_where_autolimits_is_off(tmp_path: Path) -> None:
    joint = 'range="-1 2" limited="true"'
    tendon_limits = file(tmp_path, f'<motor {J} ctrlrange="0 1"/>', compiler='autolimits="false"', joint=joint)
    tendon_limits.write_text(tendon_limits.read_text().replace('name="t" range="-3 4"', 'name="t"'), encoding="utf-8")
    with pytest.raises(kt.errors.ModelError, match='does not say ctrllimited="true" or "false"'):
        kt.load(tendon_limits)


def test_motors_are_where_actuators_act(tmp_path: Path) -> None:
    def motors(actuators: str) -> list[bool]:
        return kt.load(file(tmp_path, actuators)).actuated.tolist()

    usual = [True] * 4 + [False] * 6
    assert motors("") == usual
    assert motors(f"<motor {J}/>") == [True] + [False] * 9
    assert motors('<motor tendon="t"/>') == [True] + [False] * 9
    assert motors('<motor joint="ball" gear="0 1 0"/>') == [False, False, True] + [False] * 7
    assert motors('<motor jointinparent="ball"/>') == [False, True, True, True] + [False] * 6
    assert motors('<motor joint="free" gear="1 0 0 0 0 1"/>') == [False] * 4 + [True] * 3 + [False, False, True]
    assert motors('<motor site="s" refsite="w"/>') == [True] + [False] * 9
    assert motors('<motor site="s"/>') == usual
    robot = kt.load(file(tmp_path, '<motor name="jet" site="s"/>'))
    assert any("push a body from outside" in note and "jet" in note for note in robot.notes)


def test_actuators_add_inertia_and_damping_to_joints(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        f"""<motor {J} gear="3" armature="0.2" damping="0.1"/><motor jointinparent="ball" gear="2" armature="0.1"/>
        <motor joint="free" gear="2" armature="0.3"/>""",
    )
    robot = assert_agrees(path)
    assert np.allclose(robot.joints["j"].armature, 9 * 0.2)
    assert np.allclose(robot.joints["j"].damping, 9 * 0.1)


def test_records_are_found_by_name(tmp_path: Path) -> None:
    actuators = kt.load(file(tmp_path, f'<motor name="hip" {J} gear="5"/>')).extras.actuators
    assert actuators["hip"] is actuators[0]
    assert "hip" in actuators
    assert "knee" not in actuators
    assert actuators.names == ["hip"]
    assert actuators == tuple(actuators)
    with pytest.raises(kt.errors.NameNotFoundError, match="no record here has the name 'hop': did you mean 'hip'"):
        actuators["hop"]


TENDONS = {
    "fixed": """<fixed name="u" stiffness="1 2 3" damping="2" frictionloss="0.1" range="0 1" springlength="0.1"
        solreflimit="0.03" solimpfriction="0.8" margin="0.01" group="2" armature="0.3" actuatorfrcrange="-1 2">
        <joint joint="j" coef="2"/></fixed>""",
    "spatial": """<spatial name="u" width="0.01" rgba="1 0 0 1" springlength="0.1 0.2" springyield="0.3">
        <site site="w"/>
        <geom geom="g" sidesite="s"/><site site="s"/><pulley divisor="2"/><site site="w"/><site site="s"/></spatial>""",
    "unnamed": '<fixed><joint joint="j" coef="1"/></fixed>',
}


@pytest.mark.parametrize("tendon", TENDONS.values(), ids=TENDONS)
@pytest.mark.filterwarnings("ignore:.*armature:kinetree.errors.ModelWarning")
def test_tendons_are_as_mujoco_compiles_them(tmp_path: Path, tendon: str) -> None:
    default = '<tendon damping="1 0.5" solimplimit="0.7 0.8" width="0.1" limited="false"/>'
    assert differences(file(tmp_path, "", default, more=f"<tendon>{tendon}</tendon>")).found == []


BAD_TENDONS = {
    "unknown joint": ('<fixed><joint joint="k" coef="1"/></fixed>', "there is no joint of this name"),
    "a ball": ('<fixed><joint joint="ball" coef="1"/></fixed>', "'ball' is a ball joint"),
    "no factor": ('<fixed><joint joint="j"/></fixed>', 'add coef="…"'),
    "no joints": ("<fixed/>", "it has no joints; add at least one <joint>"),
    "one site": ('<spatial><site site="s"/></spatial>', "needs two sites or more"),
    "no site at the end": ('<spatial><site site="s"/><site site="w"/><geom geom="g"/></spatial>', "begins and ends"),
    "limited": ('<fixed limited="true"><joint joint="j" coef="1"/></fixed>', 'it has limited="true", but no range'),
    "two of one name": ('<fixed name="t"><joint joint="j" coef="1"/></fixed>', "there are two tendons named 't'"),
}


@pytest.mark.parametrize(("tendon", "message"), BAD_TENDONS.values(), ids=BAD_TENDONS)
def test_bad_tendons_are_refused(tmp_path: Path, tendon: str, message: str) -> None:
    with pytest.raises(kt.errors.ModelError) as refusal:
        kt.load(file(tmp_path, "", more=f"<tendon>{tendon}</tendon>"))
    assert message in str(refusal.value)


def test_options_and_flags_are_as_mujoco_reads_them(tmp_path: Path) -> None:
    option = """<option timestep="0.01" wind="1 2 3" density="1.2" viscosity="0.1" integrator="discrete" cone="elliptic"
        jacobian="dense" solver="PGS" iterations="7" o_solref="0.03" o_margin="0.1" o_friction="0.5" impratio="3"
        actuatorgroupdisable="1 4"><flag contact="disable" energy="enable" sleep="enable" eulerdamp="disable"/></option>
        <option timestep="0.02"><flag limit="disable" energy="disable"/></option>"""
    path = file(tmp_path, "", more=option)
    assert differences(path).found == []
    assert kt.load(path).extras.options.timestep == 0.02
    assert kt.load(file(tmp_path, "")).extras.options is None
    for bad, message in (
        ('timestep="0"', "timestep is 0 s, but it must be positive"),
        ('solver="Gauss"', 'solver="Gauss" is not one of its words'),
        ('actuatorgroupdisable="31"', "groups are whole numbers from 0 to 30"),
        ('iterations="1.5"', "must be a whole number"),
    ):
        with pytest.raises(kt.errors.ModelError, match=message):
            kt.load(file(tmp_path, "", more=f"<option {bad}/>"))


JOINTS = {
    "hinge": """name="j" margin="0.1" solreflimit="0.03 0.9" solimplimit="0.8" frictionloss="0.2"
        solreffriction="0.05" group="3\"""",
    "polynomials": 'name="j" stiffness="1 2 3" damping="4 5 6"',
    "yield": 'name="j" stiffness="1" springyield="0.2"',
    "ball": 'name="j" type="ball" range="0 1" stiffness="3" springyield="0.2" user="1 2"',
    "forces": 'name="j" actuatorfrcrange="-1 2" actuatorgravcomp="true"',
    "even forces": 'name="j" actuatorfrcrange="-2 2"',
    "slide": 'name="j" type="slide" margin="0.1" springyield="0.2" stiffness="1"',
}


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_settings_of_joints_are_as_mujoco_compiles_them(tmp_path: Path, joint: str) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="a" gravcomp="0.5" user="3"><joint {joint}/>
        <geom size="0.1" group="2" fluidshape="ellipsoid" fluidcoef="1 2 3" user="1 2"/>
        <site name="s" type="box" size="1 2 3" group="1" user="4"/><camera name="c" fovy="30" resolution="640 480"/>
        </body><body name="m" mocap="true"><geom size="0.1"/></body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    assert differences(path).found == []


def test_springs_by_time_constants_are_filled_and_noted(tmp_path: Path) -> None:
    robot = kt.load(file(tmp_path, "", joint='springdamper="0.1 1"'))
    assert robot.extras.joints["j"].spring_damper == (0.1, 1.0)
    assert any("springdamper" in note for note in robot.notes)


def test_text_and_pickles_hold_actuators(tmp_path: Path) -> None:
    robot = kt.load(file(tmp_path, f'<position name="hip" {J} kp="5"/><motor tendon="t"/>'))
    assert pickle.loads(pickle.dumps(robot)).extras == robot.extras
    kt.save(robot, tmp_path / "robot.json")
    again = kt.load(tmp_path / "robot.json")
    assert again.extras == robot.extras
    assert again.extras.actuators["hip"].gain_parameters[0] == 5.0
