"""Malformed MJCF files, and what the error says about each; "" where a file is loaded."""

from __future__ import annotations

__all__ = ["BESIDE", "MJCF", "SOUND"]

GEOM = '<geom size="0.1"/>'
HINGE = '<joint name="j" type="hinge"/>'


def body(inside: str, attributes: str = 'name="a"') -> str:
    return f"<body {attributes}>{inside}</body>"


def world(inside: str, before: str = "") -> str:
    return f'<mujoco model="m">\n{before}\n<worldbody>\n{inside}\n</worldbody>\n</mujoco>'


def jointed(joint: str, geom: str = GEOM) -> str:
    return world(body(joint + geom))


def inertial(text: str) -> str:
    return jointed(f"<inertial {text}/>{HINGE}", "")


BESIDE: dict[str, str | bytes] = {
    "ring.xml": '<mujocoinclude><include file="ring.xml"/></mujocoinclude>',
    "one.xml": '<mujocoinclude><include file="two.xml"/></mujocoinclude>',
    "two.xml": '<mujocoinclude><include file="one.xml"/></mujocoinclude>',
    "broken.xml": "<mujocoinclude><body>",
    "link.xml@": "../outside/secret.sdf",
    "zero.xml@": "/dev/zero",
    "empty.stl": b"",
    "short.stl": bytes(80) + b"\xff\xff\xff\x7f" + bytes(10),
    "flat.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "indices.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 99\n",
}


def included(file: str) -> str:
    return world(body(HINGE + GEOM), f'<include file="{file}"/>')


def meshed(file: str) -> str:
    return world(body(HINGE + '<geom type="mesh" mesh="m"/>'), f'<asset><mesh name="m" file="{file}"/></asset>')


MJCF: dict[str, tuple[str, str]] = {
    # structure
    "nothing in it": ("<mujoco/>", ""),
    "a root that is another": ("<mujoko/>", "not a robot file that kinetree can read"),
    "cut off": (jointed(HINGE)[:-12], "is it cut off?"),
    "a body outside the world": ('<mujoco><body name="a"/></mujoco>', "<mujoco> has no element <body>"),
    "an element that MuJoCo does not know": (jointed(HINGE + "<goem/>"), "has no element <goem>: did you mean 'geom'"),
    "an attribute that MuJoCo does not know": (jointed('<joint axs="0 0 1"/>'), "no attribute \"axs\""),
    "an attribute of another element": (jointed(HINGE, '<geom size="1" stiffness="1"/>'), 'no attribute "stiffness"'),
    "a section that does not exist": (world("", "<actuators/>"), "has no element <actuators>"),
    "two bodies of one name": (world(body(GEOM) + body(GEOM)), "'a'"),
    "two joints of one name": (jointed(HINGE + HINGE), "'j'"),
    # numbers
    "a unit": (jointed(HINGE, '<geom size="0.1m"/>'), "'0.1m' is not a number"),
    "a comma": (jointed(HINGE, '<geom size="0,1"/>'), "'0,1' is not a number"),
    "not a number": (jointed(HINGE, '<geom size="nan"/>'), "'nan'"),
    "an infinite place": (world(body(HINGE + GEOM, 'name="a" pos="inf 0 0"')), "'inf'"),
    "a place too far away": (
        world(body(GEOM, 'name="a" pos="1e200 0 0"') + body(HINGE + GEOM, 'name="b"')),
        "<body name=\"a\">: joint 'a' is 1e+100 m or more away from",
    ),
    "a mass too large for its place": (
        world(body('<geom size="1" mass="1e90"/>', 'name="a" pos="1e20 0 0"') + body(HINGE + GEOM, 'name="b"')),
        "<body name=\"a\">: the masses and placements of body 'a'",
    ),
    "two numbers for a place": (world(body(HINGE + GEOM, 'name="a" pos="0 0"')), "numbers"),
    "five numbers for a quaternion": (world(body(HINGE + GEOM, 'name="a" quat="1 0 0 0 0"')), "numbers"),
    "a quaternion of zeros": (world(body(HINGE + GEOM, 'name="a" quat="0 0 0 0"')), "quat"),
    "an axis of zeros": (jointed('<joint axis="0 0 0"/>'), "axis"),
    "a range of one number": (jointed('<joint range="1"/>'), "range"),
    "a negative size": (jointed(HINGE, '<geom size="-0.1"/>'), "size"),
    "a size of zero": (jointed(HINGE, '<geom size="0"/>'), "size"),
    "no size": (jointed(HINGE, "<geom/>"), "size"),
    "a box of two sizes": (jointed(HINGE, '<geom type="box" size="1 1"/>'), "size"),
    # words
    "a joint of no type": (jointed('<joint type="revolute"/>'), "revolute"),
    "a geom of no type": (jointed(HINGE, '<geom type="cube" size="1 1 1"/>'), "cube"),
    "an angle in turns": (world(body(HINGE + GEOM), '<compiler angle="turn"/>'), "turn"),
    "a truth of another kind": (world(body(HINGE + GEOM), '<compiler autolimits="maybe"/>'), "maybe"),
    "axes of no order": (world(body(HINGE + GEOM), '<compiler eulerseq="xyw"/>'), "xyw"),
    "coordinates of the world": (world(body(HINGE + GEOM), '<compiler coordinate="global"/>'), "global"),
    # defaults and orientations
    "a default class that does not exist": (jointed('<joint class="big"/>'), "big"),
    "a child class that does not exist": (world(body(HINGE + GEOM, 'name="a" childclass="big"')), "big"),
    "two classes of one name": (
        world(body(HINGE + GEOM), '<default><default class="a"/><default class="a"/></default>'), "'a'"
    ),
    "a class without a name": (world(body(HINGE + GEOM), "<default><default><geom/></default></default>"), "class"),
    "two orientations": (world(body(HINGE + GEOM, 'name="a" quat="1 0 0 0" euler="0 0 0"')), "euler"),
    "an axis and an angle besides a quaternion": (
        world(body(HINGE + '<geom size="0.1" quat="1 0 0 0" axisangle="0 0 1 1"/>')), "axisangle"
    ),
    "axes that are parallel": (world(body(HINGE + GEOM, 'name="a" xyaxes="1 0 0 2 0 0"')), "xyaxes"),
    "ends that are one point": (
        jointed(HINGE, '<geom type="capsule" size="0.1" fromto="0 0 0 0 0 0"/>'), "fromto"
    ),
    # physics
    "a joint on the world": (world(HINGE + GEOM), "joint"),
    "a free joint on the world": (world("<freejoint/>" + GEOM), "freejoint"),
    "a free joint below another body": (world(body(GEOM + body("<freejoint/>" + GEOM, 'name="b"'))), "free"),
    "a free joint beside another": (jointed("<freejoint/>" + HINGE), "free"),
    "two balls": (jointed('<joint type="ball"/><joint type="ball"/>'), "ball"),
    "a massless body that moves": (jointed(HINGE, ""), "moves but has no mass"),
    "a geom without mass": (jointed(HINGE, '<geom size="0.1" mass="0"/>'), "moves but has no mass"),
    "a negative mass": (jointed(HINGE, '<geom size="0.1" mass="-1"/>'), "mass"),
    "a negative mass of a body": (inertial('pos="0 0 0" mass="-1" diaginertia="1 1 1"'), "mass"),
    "an inertia that breaks the triangle inequality": (
        inertial('pos="0 0 0" mass="1" diaginertia="1 1 9"'), "inertia"
    ),
    "a negative inertia": (inertial('pos="0 0 0" mass="1" diaginertia="1 1 -1"'), "inertia"),
    "two kinds of inertia": (
        inertial('pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"'), "inertia"
    ),
    "an inertia without a place": (inertial('mass="1" diaginertia="1 1 1"'), "pos"),
    "two inertials": (
        jointed('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' * 2 + HINGE), "inertial"
    ),
    "a reversed range": (jointed('<joint limited="true" range="1 -1"/>'), "range"),
    "a limit without a range": (jointed('<joint limited="true"/>'), "range"),
    # references
    "a mesh that is not defined": (jointed(HINGE, '<geom type="mesh" mesh="gone"/>'), "gone"),
    "a mesh whose file is missing": (meshed("gone.stl"), "gone.stl"),
    "a mesh that is empty": (meshed("empty.stl"), "empty.stl"),
    "a mesh that is cut off": (meshed("short.stl"), "short.stl"),
    "a mesh that is flat": (meshed("flat.obj"), "flat.obj"),
    "a mesh with wrong indices": (meshed("indices.obj"), "indices.obj"),
    "a mesh above the folder": (meshed("../outside/secret.stl"), "secret.stl"),
    "a mesh by an absolute path": (meshed("/etc/passwd"), "passwd"),
    "a mesh that is a device": (meshed("zero.xml"), "zero.xml"),
    "an include of itself": (included("robot.xml"), "robot.xml"),
    "an include in a ring": (included("ring.xml"), "ring.xml"),
    "two includes in a circle": (included("one.xml"), ".xml"),
    "an include that is missing": (included("gone.xml"), "gone.xml"),
    "an include that is broken": (included("broken.xml"), "broken.xml"),
    "an include above the folder": (included("../outside/secret.sdf"), "secret.sdf"),
    "an include by an absolute path": (included("/etc/passwd"), "passwd"),
    "an include through a link": (included("link.xml"), "link.xml"),
    "an include of a device": (included("zero.xml"), "zero.xml"),
    "an include without a file": (world("", "<include/>"), "file"),
    "a replicate without a count": (world('<replicate sep="a">' + GEOM + "</replicate>"), "count"),
    "a replicate of millions": (world('<replicate count="100000000">' + body(GEOM) + "</replicate>"), "replicate"),
    "replicates in replicates": (
        world('<replicate count="1000">' * 8 + body(GEOM) + "</replicate>" * 8), "replicas"
    ),
    "a model that does not exist": (world('<attach model="gone" prefix="a"/>'), "gone"),
    # XML
    "an entity bomb": ('<!DOCTYPE m [<!ENTITY a "ha">]><mujoco model="&a;"/>', "document type"),
    "an external entity": ('<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mujoco/>', "document type"),
    "bodies in bodies": (world('<body>' * 600 + "</body>" * 600), "deep"),
    "default classes in default classes": (
        world("", "<default>" + "".join(f'<default class="c{k}">' for k in range(600)) + "</default>" * 601), "deep"
    ),
}  # fmt: skip

SOUND = (
    """<mujoco model="m">
  <compiler angle="degree" autolimits="true" eulerseq="xyz" inertiafromgeom="auto"/>
  <option gravity="0 0 -9.81" timestep="0.002"/>
  <default>
    <geom density="500" friction="1 0.01 0.001"/>
    <joint damping="0.1" armature="0.01"/>
    <default class="arm"><joint type="hinge" axis="0 1 0" range="-90 90"/><geom type="capsule"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="torso" pos="0 0 1" euler="0 0 30">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.1"/>
      <site name="tip" pos="0 0 0.1"/>
      <frame pos="0.1 0 0" quat="1 0 0 0.1">
        <body name="upper" childclass="arm">
          <joint name="shoulder"/>
          <joint name="slide" type="slide" axis="0 0 1" range="-0.1 0.1"/>
          <geom fromto="0 0 0 0 0 -0.3" size="0.02"/>
          <body name="lower" pos="0 0 -0.3" xyaxes="1 0 0 0 1 0">
            <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.01 0.01 0.001"/>
            <joint name="elbow" ref="10"/>
          </body>
        </body>
      </frame>
    </body>
    <replicate count="3" offset="0.1 0 0" euler="0 0 10">
      <body name="ball"><joint type="ball"/><geom size="0.05" mass="0.1"/></body>
    </replicate>
  </worldbody>
  <actuator><motor joint="elbow" gear="2"/><position name="p" joint="shoulder" kp="10"/></actuator>
</mujoco>
""",
    jointed(HINGE),
)
"""Files that are robots."""
