"""SDF files written for these tests, each for one feature or a combination; a few consist of several files.

The robots hang together loosely and their numbers are odd, so that nothing is right by symmetry.
"""

from __future__ import annotations

__all__ = ["BESIDE", "ROBOTS", "TETRAHEDRON", "inertial", "link", "model", "sdf"]

TETRAHEDRON = """v 0 0 0
v 0.3 0 0
v 0 0.4 0
v 0 0 0.5
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


def inertial(mass: float, pose: str = "0.02 -0.03 0.1 0.3 -0.2 0.5", *, size: float = 1.0) -> str:
    m = mass * size
    return (
        f"<inertial><pose>{pose}</pose><mass>{mass}</mass><inertia><ixx>{0.05 * m}</ixx><ixy>{0.002 * m}</ixy>"
        f"<ixz>{-0.001 * m}</ixz><iyy>{0.06 * m}</iyy><iyz>{0.003 * m}</iyz><izz>{0.04 * m}</izz></inertia></inertial>"
    )


def link(name: str, mass: float = 1.0, pose: str = "", more: str = "") -> str:
    placed = pose if pose.startswith("<") or not pose else f"<pose>{pose}</pose>"
    return f'<link name="{name}">{placed}{inertial(mass)}{more}</link>'


def joint(name: str, type_: str, parent: str, child: str, more: str = "<axis><xyz>0 0 1</xyz></axis>") -> str:
    return f'<joint name="{name}" type="{type_}"><parent>{parent}</parent><child>{child}</child>{more}</joint>'


def axis(xyz: str, more: str = "", tag: str = "axis", attributes: str = "") -> str:
    return f"<{tag}><xyz{attributes}>{xyz}</xyz>{more}</{tag}>"


def model(content: str, name: str = "robot", attributes: str = "") -> str:
    return f'<model name="{name}"{attributes}>{content}</model>'


def sdf(content: str, version: str = "1.9") -> str:
    return f'<?xml version="1.0"?>\n<sdf version="{version}">{content}</sdf>\n'


BASE = joint("base", "fixed", "world", "a", "")
A, B, C = link("a", 1.3), link("b", 0.7, "0.1 0.2 0.3 0.4 -0.5 0.6"), link("c", 0.4, "0.5 -0.1 0.7 -0.3 0.2 1.1")


def _one(type_: str, more: str, version: str = "1.9") -> str:
    """A robot on the world with one joint of interest."""
    return sdf(model(BASE + A + B + joint("j", type_, "a", "b", more)), version)


def _two(first: str, second: str, version: str = "1.9", more: str = "", attributes: str = "") -> str:
    """A chain of three links on the world."""
    joints = joint("j", "revolute", "a", "b", first) + joint("k", "revolute", "b", "c", second)
    return sdf(model(BASE + A + B + C + joints + more, attributes=attributes), version)


SKEW = axis("0.2 -0.7 0.5")
PLACED = "<pose>0.05 0.1 -0.2 0.3 0.1 -0.4</pose>"
NESTED = model(
    "<pose>0.3 0.1 -0.2 0.2 0.3 0.4</pose>" + A + B + joint("j", "revolute", "a", "b", PLACED + SKEW), "inner"
)


def _shaped(*collisions: str, mass: str = "", more: str = "") -> str:
    """A robot whose moving link has its inertia from shapes."""
    shapes = "".join(f'<collision name="s{k}">{shape}</collision>' for k, shape in enumerate(collisions))
    own = f'<inertial auto="true">{mass}{more}</inertial>{shapes}'
    moving = f'<link name="b"><pose>0.1 0.2 0.3 0.4 -0.5 0.6</pose>{own}</link>'
    return sdf(model(BASE + A + moving + joint("j", "revolute", "a", "b", PLACED + SKEW)), "1.11")


def _shape(geometry: str, density: float | None = 800.0, pose: str = "0.1 -0.05 0.2 0.3 0.2 -0.6") -> str:
    dense = "" if density is None else f"<density>{density}</density>"
    return f"<pose>{pose}</pose>{dense}<geometry>{geometry}</geometry>"


BOX = "<box><size>0.1 0.2 0.3</size></box>"
CYLINDER = "<cylinder><radius>0.1</radius><length>0.4</length></cylinder>"

ROBOTS: dict[str, str] = {
    "revolute": _one("revolute", PLACED + SKEW),
    "revolute at the link": _one("revolute", SKEW),
    "revolute at the link, turned": _one("revolute", "<pose>0 0 0 0.3 0.1 -0.4</pose>" + SKEW),
    "continuous": _one("continuous", PLACED + SKEW),
    "prismatic": _one("prismatic", PLACED + SKEW),
    "ball": _one("ball", PLACED),
    "ball at the link": _one("ball", ""),
    "ball at the link, turned": _one("ball", "<pose>0 0 0 0.3 0.1 -0.4</pose>"),
    "universal": _one("universal", PLACED + axis("0.6 0.8 0") + axis("-0.8 0.6 0", tag="axis2")),
    "universal at the link": _one(
        "universal", "<pose>0 0 0 1 0.1 -0.4</pose>" + axis("1 0 0") + axis("0 0 -1", tag="axis2")
    ),
    "screw": _one("screw", PLACED + SKEW + "<screw_thread_pitch>0.3</screw_thread_pitch>"),
    "screw of a left-handed thread": _one("screw", SKEW + "<screw_thread_pitch>-0.3</screw_thread_pitch>"),
    "screw in older words": _one("screw", PLACED + SKEW + "<thread_pitch>7.5</thread_pitch>", "1.5"),
    "screw without a pitch": _one("screw", PLACED + SKEW),
    "fixed joints": sdf(
        model(BASE + A + B + C + joint("j", "revolute", "a", "b", SKEW) + joint("k", "fixed", "b", "c", PLACED))
    ),
    "a chain": _two(PLACED + SKEW, axis("0 1 0")),
    "an axis that is not of length one": _one("revolute", PLACED + axis("0 -3 4")),
    "an axis without xyz": _one("revolute", PLACED + "<axis/>"),
    "one floating link": sdf(model("<pose>1 2 3 0.1 0.2 0.3</pose>" + B)),
    "a floating chain": sdf(model("<pose>1 2 3 0.1 0.2 0.3</pose>" + A + B + joint("j", "revolute", "a", "b", SKEW))),
    "a floating chain whose root comes last": sdf(
        model(B + C + A + joint("k", "prismatic", "b", "c", SKEW) + joint("j", "revolute", "a", "b", PLACED + SKEW))
    ),
    "two floating trees": sdf(model(A + B + C + joint("j", "revolute", "b", "c", PLACED + SKEW))),
    "on a hinge of the world": sdf(
        model(
            "<pose>1 2 3 0.1 0.2 0.3</pose>"
            + B
            + C
            + joint("h", "revolute", "world", "b", PLACED + SKEW)
            + joint("j", "revolute", "b", "c", axis("1 0 0"))
        )
    ),
    "fixed to the world away from the origin": sdf(
        model(
            "<pose>1 2 3 0.1 0.2 0.3</pose>"
            + B
            + C
            + joint("base", "fixed", "world", "b", "")
            + joint("j", "revolute", "b", "c", PLACED + SKEW)
        )
    ),
    "a static model": sdf(
        model("<static>true</static><pose>1 2 3 0.1 0.2 0.3</pose>" + A + B + joint("j", "fixed", "a", "b", ""))
    ),
    "links placed relative to links": sdf(
        model(
            BASE
            + A
            + link("b", 0.7, '<pose relative_to="a">0.1 0.2 0.3 0.4 -0.5 0.6</pose>')
            + link("c", 0.4, '<pose relative_to="b">0.5 -0.1 0.7 -0.3 0.2 1.1</pose>')
            + joint("j", "revolute", "a", "b", PLACED + SKEW)
            + joint("k", "prismatic", "b", "c", SKEW)
        )
    ),
    "links placed relative to their joints": sdf(
        model(
            BASE
            + A
            + link("b", 0.7, '<pose relative_to="j"/>')
            + joint("j", "revolute", "a", "b", '<pose relative_to="a">0.1 0.2 0.3 0.4 -0.5 0.6</pose>' + SKEW)
        )
    ),
    "a joint placed in the model": _two('<pose relative_to="__model__">0.1 0 0.4 0.2 0.5 0.1</pose>' + SKEW, SKEW),
    "a joint placed relative to a joint": _two(
        PLACED + SKEW, '<pose relative_to="j">0.1 0 0.4 0.2 0.5 0.1</pose>' + SKEW
    ),
    "frames": _two(
        PLACED + SKEW,
        '<pose relative_to="f">0.1 0 0.4 0.2 0.5 0.1</pose>' + SKEW,
        more='<frame name="e"/><frame name="f" attached_to="c"><pose>0.2 0.1 0 0.3 0 0.7</pose></frame>'
        '<frame name="g" attached_to="f"><pose relative_to="b">0 0.1 0 0.3 0 0.7</pose></frame>'
        '<frame name="h" attached_to="b"><pose relative_to="e">0.5 0.1 0 0 0 0.7</pose></frame>'
        '<frame name="i"><pose relative_to="h">0.5 0.1 0 0 0 0.7</pose></frame>',
    ),
    "quaternions": _one(
        "revolute", '<pose rotation_format="quat_xyzw">0.1 0.2 0.3 0.1 -0.3 0.5 0.8062257748298549</pose>' + SKEW
    ),
    "degrees": _one("revolute", '<pose degrees="true">0.1 0.2 0.3 30 -45 170</pose>' + SKEW),
    "an axis in a link's frame": _two(PLACED + axis("0.3 0.5 -0.1", attributes=' expressed_in="c"'), SKEW),
    "an axis in the model's frame": _two(PLACED + axis("0.3 0.5 -0.1", attributes=' expressed_in="__model__"'), SKEW),
    "an axis in the frame of a joint": _two(
        PLACED + SKEW,
        "<pose>0.1 0 0.4 0.2 0.5 0.1</pose>" + axis("0.3 0.5 -0.1", attributes=' expressed_in="j"'),
    ),
    "axes of a universal joint in other frames": _one(
        "universal",
        PLACED
        + axis("1 0 0", attributes=' expressed_in="a"')
        + axis("0 0 1", tag="axis2", attributes=' expressed_in="a"'),
    ),
    "use_parent_model_frame": _one(
        "revolute", PLACED + axis("0.3 0.5 -0.1", "<use_parent_model_frame>true</use_parent_model_frame>"), "1.5"
    ),
    "no use_parent_model_frame": _one(
        "revolute", PLACED + axis("0.3 0.5 -0.1", "<use_parent_model_frame>0</use_parent_model_frame>"), "1.6"
    ),
    "axes of SDF 1.4": _one("revolute", PLACED + axis("0.3 0.5 -0.1"), "1.4"),
    "axes of SDF 1.5": _one("revolute", PLACED + axis("0.3 0.5 -0.1"), "1.5"),
    "a nested model": sdf(model("<pose>0.1 0 0.1 0 0.1 0</pose>" + link("o") + NESTED)),
    "a joint to a link of a nested model": sdf(
        model(
            link("o")
            + NESTED
            + joint("base", "fixed", "world", "o", "")
            + joint("h", "revolute", "o", "inner::a", PLACED + SKEW)
        )
    ),
    "a joint to a nested model": sdf(
        model(
            link("o")
            + NESTED.replace('name="inner"', 'name="inner" canonical_link="b"')
            + joint("base", "fixed", "world", "o", "")
            + joint("h", "prismatic", "o", "inner::a", SKEW)
            + '<frame name="f" attached_to="inner"/>'
        )
    ),
    "poses in nested models": sdf(
        model(
            link("o", 0.9, '<pose relative_to="inner::b">0.1 0.2 0 0 0 1</pose>')
            + NESTED
            + '<frame name="f" attached_to="inner::b"><pose relative_to="inner::a">0 0 1 0 0 0</pose></frame>'
            + joint(
                "h",
                "revolute",
                "inner::b",
                "o",
                '<pose relative_to="inner::j"/>' + axis("0 1 0.5", attributes=' expressed_in="inner"'),
            )
        )
    ),
    "a joint between frames": _two(
        PLACED + SKEW,
        "",
    ).replace(
        '<joint name="k" type="revolute"><parent>b</parent><child>c</child>',
        '<frame name="f" attached_to="b"><pose>1 0 0 0 0 1</pose></frame>'
        '<frame name="g" attached_to="c"><pose>0 1 0 0 1 0</pose></frame>'
        '<joint name="k" type="revolute"><parent>f</parent><child>g</child>' + SKEW,
    ),
    "a joint from the model's frame": sdf(
        model(BASE + A + B + joint("j", "revolute", "__model__", "b", PLACED + SKEW))
    ),
    "a placement frame": sdf(
        model(
            "<pose>1 2 3 0.1 0.2 0.3</pose>" + BASE + A + B + joint("j", "revolute", "a", "b", PLACED + SKEW),
            attributes=' placement_frame="b"',
        )
    ),
    "placement frames of nested models": sdf(
        model(
            link("o")
            + NESTED.replace('name="inner"', 'name="inner" placement_frame="j"').replace(
                "<pose>0.3 0.1 -0.2", '<pose relative_to="f">0.3 0.1 -0.2', 1
            )
            + '<frame name="f" attached_to="o"><pose>0 0.2 0 0.5 0 0</pose></frame>'
            + joint("h", "revolute", "o", "inner::a", SKEW)
        )
    ),
    "an included file": sdf(
        model(
            "<include><uri>package://arms/inner.sdf</uri></include>"
            + link("o")
            + joint("h", "revolute", "o", "arm::a", SKEW)
        )
    ),
    "an included file, renamed and placed": sdf(
        model(
            '<include><uri>package://arms/inner.sdf</uri><name>left</name><pose relative_to="o">1 0 0 0 0 1</pose>'
            "<placement_frame>b</placement_frame></include>"
            "<include><uri>package://arms/inner.sdf</uri><name>right</name><pose>-1 0 0 0 0 1</pose></include>"
            + link("o", 2.0, "0 0 1 0 0 1")
            + joint("h", "revolute", "o", "left::a", SKEW)
            + joint("i", "revolute", "o", "right::a", SKEW)
        )
    ),
    "a model that is merged": sdf(
        model(
            '<include merge="true"><uri>package://arms/inner.sdf</uri><pose>1 0 0 0 0 1</pose></include>'
            + link("o")
            + joint("h", "revolute", "o", "a", SKEW)
            + '<frame name="f" attached_to="e"/>'
        )
    ),
    "a file in the folder of a model": sdf(
        model(
            "<include><uri>model://gripper/new.sdf</uri></include>"
            + link("o", 2.0)
            + joint("h", "prismatic", "o", "arm::a", SKEW)
        )
    ),
    "a world": sdf(
        '<world name="w"><gravity>0.5 -1 -9</gravity>'
        + model("<pose>1 0 0 0 0 0.3</pose>" + A + B + joint("j", "revolute", "a", "b", PLACED + SKEW), "first")
        + model("<static>1</static><pose>-1 0 0 0 0 0.3</pose>" + C, "second")
        + "</world>"
    ),
    "a world with a joint between models": sdf(
        '<world name="w"><gravity>0 0 -9.8</gravity>'
        + model("<pose>1 0 0 0 0 0.3</pose>" + A, "first")
        + model('<pose relative_to="f">-1 0 0 0 0 0.3</pose>' + C, "second")
        + '<frame name="f"><pose>0 0 2 0 0.3 0</pose></frame><frame name="g" attached_to="second::c"/>'
        + joint("j", "fixed", "first::a", "second::c", PLACED)
        + "</world>",
        "1.10",
    ),
    "a world that includes": sdf(
        '<world name="w"><gravity>0 0 -9.8</gravity>'
        "<include><uri>package://arms/inner.sdf</uri><pose>0 0 1 0 0 0</pose></include>"
        "<include><uri>package://arms/inner.sdf</uri><name>other</name><pose>0 3 1 0 0 0</pose></include></world>"
    ),
    "an inertia at an angle": sdf(
        model(
            BASE
            + A
            + '<link name="b">'
            + inertial(2.0, "0.3 0.1 -0.2 1.1 0.4 -2.0")
            + "</link>"
            + joint("j", "ball", "a", "b", PLACED)
        )
    ),
    "a link without inertia": sdf(
        model(BASE + A + '<link name="b"/>' + joint("j", "revolute", "a", "b", PLACED + SKEW))
    ),
    "a link with a mass alone": sdf(
        model(
            BASE
            + A
            + '<link name="b"><inertial><mass>2.5</mass></inertial></link>'
            + joint("j", "revolute", "a", "b", PLACED + SKEW)
        )
    ),
    "the inertia of a box": _shaped(_shape(BOX)),
    "the inertia of a cylinder": _shaped(_shape(CYLINDER)),
    "the inertia of a capsule": _shaped(_shape("<capsule><radius>0.1</radius><length>0.4</length></capsule>")),
    "the inertia of a sphere": _shaped(_shape("<sphere><radius>0.1</radius></sphere>")),
    "the inertia of an ellipsoid": _shaped(_shape("<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>")),
    "the inertia of several shapes": _shaped(
        _shape(BOX),
        _shape(CYLINDER, 1200.0, "-0.2 0.1 0 1 0 0"),
        _shape(BOX, None, "0 0.2 0 0 0 1"),
        more="<density>500</density>",
    ),
    "the inertia of water": _shaped(_shape(BOX, None)),
    "the inertia of shapes of a given mass": _shaped(
        _shape(BOX), _shape(CYLINDER, 1200.0, "-0.2 0.1 0 1 0 0"), mass="<mass>3.5</mass>"
    ),
    "a rotor in Drake's words": _one(
        "revolute",
        PLACED
        + axis("0 0 1", "<limit><effort>10</effort></limit>")
        + "<drake:rotor_inertia>0.002</drake:rotor_inertia><drake:gear_ratio>15</drake:gear_ratio>",
    ),
    "a rotor on a joint without a motor": _one(
        "revolute",
        PLACED
        + axis("0 0 1", "<limit><effort>0</effort></limit>")
        + "<drake:rotor_inertia>0.002</drake:rotor_inertia>",
    ),
    "a follower that moves on its own": _two(
        PLACED + SKEW,
        PLACED
        + axis(
            "0 1 0", '<mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>'
        ),
        "1.11",
    ),
}

INNER = sdf(
    model(
        "<pose>0 0.1 0 0 0 0.2</pose>"
        + A
        + link("b", 0.5, '<pose relative_to="__model__">0.1 0.2 0.3 0 0.2 0</pose>')
        + '<frame name="e"><pose>0.3 0 0 0 0 0</pose></frame>'
        + joint(
            "j", "revolute", "a", "b", '<pose relative_to="e"/>' + axis("0 1 1", attributes=' expressed_in="__model__"')
        ),
        "arm",
    )
)

BESIDE: dict[str, str] = {
    "arms/inner.sdf": INNER,
    "tetrahedron.obj": TETRAHEDRON,
    "gripper/model.config": (
        '<?xml version="1.0"?><model><name>gripper</name><sdf version="1.4">old.sdf</sdf>'
        '<sdf version="1.9">new.sdf</sdf>'
        '<sdf version="2.0">future.sdf</sdf><author><name>nobody</name></author></model>'
    ),
    "gripper/old.sdf": INNER.replace("0.3 0 0.2 0", "0.3 0 0.7 0"),
    "gripper/new.sdf": INNER,
}
"""Files beside each of them, which some include."""
