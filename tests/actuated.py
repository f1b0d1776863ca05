"""A leg with actuators of three kinds, a tendon and sensors, as an MJCF file."""

from __future__ import annotations

__all__ = ["LEG"]

LEG = """
<mujoco model="leg"><option timestep="0.002"/><default><joint damping="0.2" armature="0.02"/></default>
<worldbody><body name="thigh" gravcomp="0.5"><joint name="hip" axis="0 1 0"/>
  <geom type="capsule" size=".04 .2" mass="2"/>
  <body name="shin" pos="0 0 .3"><joint name="knee" axis="0 1 0" range="-40 40" limited="true"/>
    <geom type="capsule" size=".03 .2" pos="0 0 .2" mass="1"/></body></body></worldbody>
<tendon><fixed name="both" stiffness="2"><joint joint="hip" coef="1"/><joint joint="knee" coef="-1"/></fixed></tendon>
<actuator>
  <general name="hip" joint="hip" dyntype="filterexact" dynprm=".05" gainprm="3" biastype="affine" biasprm="0 -2 -.3"/>
  <position joint="knee" kp="3" kv=".2" ctrlrange="-1 1"/>
  <general name="pull" tendon="both" dyntype="integrator" gainprm="0.5" actrange="-2 2"/>
</actuator>
<sensor><actuatorfrc name="felt" actuator="hip"/><jointactuatorfrc name="all" joint="knee"/></sensor></mujoco>"""
