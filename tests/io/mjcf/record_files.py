"""MJCF files that say much beyond rigid bodies."""

from __future__ import annotations

__all__ = ["FILES"]

_SHEET = "0 0 0  1 0 0  0 1 0  0 0 1"

FILES = {
    "an arm with references": """<mujoco model="arm"><compiler autolimits="false" eulerseq="zyx"/>
<option timestep="0.001" gravity="0 0 -1" integrator="implicitfast" cone="elliptic" actuatorgroupdisable="1 3">
<flag contact="disable" energy="enable"/></option>
<default><joint damping="0.5" armature="0.01" solreflimit="0.01 1" solimplimit="0.8 0.9"/>
<geom group="2" friction="0.7 0.01 0.001"/>
<position kp="20"/><default class="tip"><joint range="-30 40" limited="true" margin="2"/>
<geom rgba="1 0 0 1" solref="0.03 0.9"/></default></default>
<worldbody><light name="sun" pos="0 0 3" dir="0 0 -1" cutoff="30"/>
<frame pos="0.1 0 0" euler="10 20 30"><light pos="1 2 3"/>
<site pos="0 0 1" euler="5 6 7" type="box" size="0.1 0.2 0.3"/>
<camera pos="1 1 1" xyaxes="0 1 0 0 0 1"/>
<body name="upper" pos="0.1 0.2 0.3" euler="30 20 10" gravcomp="0.5">
<joint name="shoulder" axis="0 1 1" ref="25" springref="10" stiffness="3 0.2 0.1" pos="0 0 -0.1" frictionloss="0.1"
solreffriction="0.04 1" solimpfriction="0.7 0.8" user="1 2"/>
<joint name="lift" type="slide" axis="1 0 0" ref="0.2" springref="0.1" stiffness="7" damping="1 2 3"/>
<geom name="upper_arm" type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.05" mass="2" fluidshape="ellipsoid"
fluidcoef="0.4 0.2"/><site name="elbow_out" pos="0.1 0.1 0.1"/>
<body name="lower" pos="0.3 0.1 0" childclass="tip"><joint name="elbow" axis="0 0 1" actuatorfrcrange="-3 5"
actuatorfrclimited="true" actuatorgravcomp="true" ref="-15" springyield="20" stiffness="1"/>
<geom name="fore_arm" type="box" size="0.1 0.02 0.03" castshadow="false"/><site name="hand" type="capsule"
fromto="0 0 0 0.1 0.1 0" size="0.01" rgba="0 1 0 1" group="3"/><camera name="eye" mode="targetbody" target="upper"
fovy="60" resolution="640 480" output="rgb depth"/></body></body></frame></worldbody>
<actuator><position name="servo" joint="shoulder" ctrlrange="-1 1" ctrllimited="true" armature="0.02" gear="3"/>
<position joint="elbow" dampratio="0.7" inheritrange="0.9" ctrllimited="true" forcerange="-4 4" forcelimited="true"/>
<motor name="push" joint="lift" damping="0.5" group="2"/>
<general name="filter" joint="lift" dyntype="filter" dynprm="0.1" actrange="-1 2" actlimited="true" actearly="true"/>
</actuator>
<sensor><framepos name="at" objtype="site" objname="hand" reftype="body" refname="upper"/><jointpos joint="elbow"/>
<accelerometer site="hand" noise="0.1" cutoff="20"/></sensor>
<keyframe><key name="home" qpos="0.1 0.2 0.3" qvel="1 2 3" ctrl="1 2 3 4" act="0.5"/><key time="3"/></keyframe>
<custom><numeric name="n" data="1 2 3"/><text name="t" data="words"/><tuple name="all"><element objtype="body"
objname="upper" prm="2"/></tuple></custom><size nuserdata="5"/><statistic extent="3"/>
<visual><map znear="0.1"/><global azimuth="30"/></visual></mujoco>""",
    "muscles and strings": """<mujoco><compiler><lengthrange useexisting="false" tolrange="0.5"/></compiler>
<default><tendon width="0.01" rgba="1 0 0 1"/><default class="thick"><tendon width="0.02" stiffness="3"/></default>
</default>
<asset><texture name="grid" type="2d" builtin="checker" width="8" height="8" rgb1="1 0 0"/>
<material name="skin" texture="grid" rgba="0.2 0.3 0.4 1" reflectance="0.5"/></asset>
<worldbody><site name="anchor" pos="0 0 1" material="skin"/>
<geom name="floor" type="plane" size="0 0 0.1" material="skin"/>
<body name="a" pos="0 0 0.5"><joint name="j" axis="0 1 0" range="-60 60"/>
<geom name="bone" type="capsule" size="0.03 0.2"
material="skin"/><geom name="pulley" type="cylinder" size="0.05 0.1" euler="90 0 0" rgba="1 1 0 1" material="skin"/>
<site name="in" pos="0.1 0 0.1"/><site name="side" pos="0.2 0 0"/>
<body name="b" pos="0 0 0.3"><joint name="k" axis="0 1 0" range="-60 60"/><geom size="0.1"/><site name="out"
pos="0.05 0 0.1"/></body></body></worldbody>
<tendon><spatial name="string" range="0.1 2" springlength="0.2 0.5" class="thick" material="skin">
<site site="anchor"/>
<geom geom="pulley" sidesite="side"/><site site="out"/><pulley divisor="2"/><site site="in"/><site site="out"/>
</spatial>
<spatial name="loose" springlength="0.3" frictionloss="0.1" actuatorfrcrange="-2 3" group="2"><site site="in"/>
<geom geom="pulley"/><site site="out"/></spatial>
<fixed name="sum" class="thick" damping="1 0.5" springyield="0.1"><joint joint="j" coef="1"/><joint joint="k"
coef="-2"/></fixed></tendon>
<actuator><muscle name="m" tendon="loose" timeconst="0.02 0.05" range="0.6 1.1" force="50" tausmooth="0.01"
lengthrange="0.1 0.4"/><motor name="pull" tendon="sum" gear="2"/><cylinder tendon="string" area="0.1" timeconst="0.5"
bias="1 -2 -3"/></actuator>
<equality><tendon tendon1="string" tendon2="loose" polycoef="0.1 0.5" solref="0.05 1"/><joint joint1="j" joint2="k"
active="false"/></equality>
<sensor><tendonpos tendon="sum"/><tendonactuatorfrc tendon="sum"/><actuatorfrc actuator="m"/></sensor></mujoco>""",
    "bodies that float and follow": """<mujoco><compiler angle="radian"/><size nkey="4"/>
<worldbody><body name="hand" mocap="true" pos="1 2 3" quat="1 1 0 0"><geom size="0.1" contype="0" conaffinity="0"/>
</body>
<body name="free" pos="0 0 1" quat="1 0.2 0.3 0.4" sleep="never">
<joint name="f" type="free" damping="0.1" stiffness="2"
group="3"/><geom name="g" size="0.1"/><site name="s" pos="0.1 0 0"/>
<body name="held" pos="0.3 0 0"><joint name="ball" type="ball" range="0 1.2" pos="0 0 0.1" stiffness="3"/><geom
name="h" type="ellipsoid" size="0.1 0.05 0.04"/></body></body>
<body name="other" pos="2 0 1"><freejoint name="o"/><geom name="e" type="cylinder" size="0.1 0.2" adhesion="0.3"/>
</body>
<replicate count="3" offset="0.5 0 0" euler="0 0 0.3"><body name="r" pos="0 3 0">
<joint name="rj" axis="1 0 0" ref="0.2"/>
<geom name="rg" size="0.05"/><site name="rs"/></body></replicate></worldbody>
<contact><pair geom1="g" geom2="e" condim="6" friction="0.5" margin="0.01"/><exclude body1="free" body2="held"/>
</contact>
<equality><weld body1="hand" body2="free" relpose="0.1 0.2 0.3 1 0 0 0.1" torquescale="0.5"/><connect body1="other"
body2="held" anchor="0.1 0 0" solimp="0.5 0.6"/><weld site1="s" site2="rs1"/></equality>
<actuator><motor site="s" refsite="rs1" gear="1 0 0 0 0 2"/><adhesion body="other" ctrlrange="0 1" gain="3"/>
<motor joint="ball" gear="0 1 0"/><general jointinparent="f" gear="0 0 1 0 1"/></actuator>
<sensor><contact geom1="g" geom2="e" data="found force" num="2"/><subtreecom body="free"/></sensor>
<keyframe>
<key name="k" mpos="4 5 6" mquat="0 0 1 0" qpos="1 2 3 1 0 0 0.5  0.5 0.5 0.5 0.5  4 5 6 0 1 0 0  0.1 0.2 0.3"
qvel="1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9"/></keyframe></mujoco>""",
    "meshes made in the file": f"""<mujoco><asset>
<mesh name="tent" vertex="{_SHEET}" refpos="0.1 0 0" inertia="exact"/>
<mesh name="ball" builtin="sphere" params="2" scale="0.1 0.1 0.2"/>
<hfield name="hills" nrow="2" ncol="3" size="1 2 0.5 0.1" elevation="0 1 2 3 4 5"/></asset>
<worldbody><geom name="ground" type="hfield" hfield="hills"/><body name="b" pos="0 0 2"><freejoint/>
<geom type="mesh" mesh="tent" pos="0.1 0.2 0.3"/><geom name="fit" type="box" mesh="tent"/>
<geom type="mesh" mesh="ball"
pos="1 0 0" contype="0" conaffinity="0" group="1"/><site name="s" type="sphere"/></body></worldbody></mujoco>""",
}  # fmt: skip
"""Texts by what is in them."""
