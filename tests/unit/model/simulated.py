"""Extras of each kind that simulations use."""

from __future__ import annotations

from kinetree.model.extras import (
    Actuator,
    BodySettings,
    Camera,
    ContactExclusion,
    ContactPair,
    Equality,
    Extras,
    JointSettings,
    JointState,
    Keyframe,
    Pulley,
    Sensor,
    ShapeSettings,
    SimulationFlags,
    SimulationOptions,
    Site,
    Tendon,
    TendonJoint,
    TendonShape,
    TendonSite,
    Unused,
)

STATE = (JointState("slide", (0.5,), (0.0,)), JointState("hinge", (-1.0,), (2.0,)))
SIMULATED = Extras(
    options=SimulationOptions(timestep=0.01, flags=SimulationFlags(contact=False), disabled_actuator_groups=(1, 4)),
    actuators=(
        Actuator("motor", "joint", "hinge", gear=(3.0, 0.0, 0.0, 0.0, 0.0, 0.0), control_range=(-1.0, 1.0)),
        Actuator("other", "tendon", "sum", damping_ratio=1.0, plugin=Unused("plugin", (("plugin", "pid"),))),
    ),
    tendons=(
        Tendon("sum", "fixed", (TendonJoint("hinge", 2.0), TendonJoint("slide", -1.0)), spring_length=(0.5, 1.0)),
        Tendon("string", "spatial", (TendonSite("a"), TendonShape("ball", "a"), TendonSite("a"), Pulley(2.0))),
    ),
    equalities=(Equality("weld", "weld", "body", "lower", "world", relative_position=(1.0, 2.0, 3.0)),),
    sensors=(Sensor("speed", "jointvel", "joint", "hinge"),),
    contact_pairs=(ContactPair("ball", "floor", friction=(0.5,) * 5),),
    contact_exclusions=(ContactExclusion("upper", "lower"),),
    keyframes=(Keyframe("home", STATE, time=1.0, controls=(0.5,)),),
    reference_configuration=Keyframe("", STATE),
    joints=(JointSettings("hinge", margin=0.25),),
    bodies=(BodySettings("lower", gravity_compensation=1.0),),
    shapes=(ShapeSettings("lower", 0, group=2),),
    sites=(Site("a", "lower", "a", size=(0.5, 0.25, 0.125)),),
    cameras=(Camera("eye", "lower", "eye", resolution=(640, 480)),),
)
