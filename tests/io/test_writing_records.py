"""Records of actuators, tendons, constraints, sensors, keyframes and settings: written as MJCF and read again.

Each comes back equal, and MuJoCo compiles the same model of what was written as of the file it came from.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.io.texts import written
from kinetree.model.extras import (
    Actuator,
    BodySettings,
    Equality,
    Extras,
    JointSettings,
    JointState,
    Keyframe,
    Pulley,
    Sensor,
    ShapeSettings,
    Tendon,
    TendonJoint,
    TendonShape,
    TendonSite,
    Unused,
)
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.io.mjcf.record_files import FILES
from tests.io.mjcf.record_trips import different, trip
from tests.io.mjcf.test_actuators import AGREE as ACTUATORS
from tests.io.mjcf.test_actuators import file as actuator_file
from tests.io.mjcf.test_data_sections import AGREE as SECTIONS
from tests.io.mjcf.test_data_sections import file as section_file
from tests.strategies import law


def assert_same(path: Path) -> None:
    """The records of a file come back, and MuJoCo finds the same in both files."""
    found = trip(path)
    assert (found.losses.lost, found.losses.impossible) == ([], [])
    assert found.records == []
    assert found.models == []


@pytest.mark.parametrize("text", ACTUATORS.values(), ids=ACTUATORS)
def test_actuators_come_back(tmp_path: Path, text: str) -> None:
    assert_same(actuator_file(tmp_path, text))


@pytest.mark.parametrize("text", SECTIONS.values(), ids=SECTIONS)
def test_sections_come_back(tmp_path: Path, text: str) -> None:
    assert_same(section_file(tmp_path, text))


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_whole_files_come_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(text, encoding="utf-8")
    assert_same(path)


SKELETON = """<mujoco><compiler angle="radian"/><worldbody><site name="w"/><body name="a"><joint name="j" range="-1 2"/>
<geom name="g" size="0.1"/><site name="s" pos="0.1 0.2 0.3"/><body name="b" pos="0 0 1"><joint name="k" type="slide"
axis="1 0 0" ref="0.5"/><geom name="h" type="cylinder" size="0.1 0.2"/><site name="t" pos="0 0 0.1"/></body></body>
<body name="c" pos="1 0 0"><joint name="ball" type="ball"/><geom name="i" size="0.1"/></body>
<body name="f" pos="2 0 0"><freejoint name="free"/><geom name="l" size="0.2"/></body></worldbody></mujoco>"""


def numbers(count: int) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[st.integers(-3000, 3000).map(lambda n: n / 1000)] * count)


def few(count: int) -> st.SearchStrategy[tuple[float, ...]]:
    return st.lists(st.integers(1, 3000).map(lambda n: n / 1000), max_size=count).map(tuple)


positive = st.integers(1, 3000).map(lambda n: n / 1000)
ranges = st.tuples(positive, positive).map(lambda p: (-p[0], p[1])) | st.just((0.0, 0.0))
solver = st.tuples(positive, positive)


@st.composite
def actuators(draw: st.DrawFn, name: str) -> Actuator:
    """Any law on any target."""
    transmission, target, reference = draw(
        st.sampled_from(
            [
                ("joint", "j", ""),
                ("joint", "k", ""),
                ("joint", "free", ""),
                ("jointinparent", "ball", ""),
                ("tendon", "fixed", ""),
                ("tendon", "spatial", ""),
                ("site", "s", ""),
                ("site", "s", "w"),
                ("slidercrank", "s", "t"),
                ("body", "a", ""),
            ]
        )
    )
    dynamics = draw(st.sampled_from(["none", "integrator", "filter", "filterexact", "muscle", "user"]))
    size = draw(st.integers(1, 3)) if dynamics == "user" else int(dynamics != "none")
    acts = dynamics != "none"
    control, force, activation = draw(ranges), draw(ranges), draw(ranges) if acts else (0.0, 0.0)
    adds = transmission == "tendon" and draw(st.booleans())  # that of a joint is part of the joint's
    bias = draw(st.sampled_from(["none", "affine", "user"]))
    return Actuator(
        name,
        transmission,
        target,
        reference,
        gear=draw(numbers(6)),
        crank_length=draw(positive) if transmission == "slidercrank" else 0.0,
        kind=draw(st.sampled_from(["general", "general", "motor"]))
        if dynamics == "none" and bias == "none"
        else "general",
        dynamics=dynamics,
        dynamics_parameters=(*draw(st.tuples(positive, positive)), *draw(numbers(8))),
        gain=draw(st.sampled_from(["fixed", "affine", "user"])),
        gain_parameters=(*draw(st.tuples(positive)), *draw(numbers(9))),
        bias=bias,
        bias_parameters=(0.0, 0.5, *draw(numbers(8))) if bias != "none" else (0.0,) * 10,
        control_limited=control != (0.0, 0.0) and draw(st.booleans()),
        control_range=control,
        force_limited=force != (0.0, 0.0),
        force_range=force,
        activation_limited=activation != (0.0, 0.0),
        activation_range=activation,
        activation_size=size,
        acts_early=acts and draw(st.booleans()),
        length_range=draw(ranges),
        damping=draw(st.tuples(positive, positive, positive)) if adds else (0.0, 0.0, 0.0),
        group=draw(st.integers(0, 4)),
        user=draw(few(3)),
    )


@st.composite
def records(draw: st.DrawFn) -> Extras:
    """Records of everything that SKELETON has."""
    path: list[TendonSite | TendonShape | Pulley] = [
        TendonSite("s"),
        TendonShape("h", draw(st.sampled_from(["", "w"]))),
    ]
    path += [TendonSite("t")]
    if draw(st.booleans()):
        path += [Pulley(draw(positive)), TendonSite("w"), TendonSite("s")]
    bounds = draw(ranges)
    tendons = (
        Tendon(
            "fixed", "fixed", (TendonJoint("j", draw(positive)), TendonJoint("k", draw(positive))),
            limited=bounds != (0.0, 0.0), range=bounds, stiffness=draw(st.tuples(positive, positive, positive)),
            solref_limit=draw(solver), width=draw(positive), user=draw(few(2)),
        ),
        Tendon(
            "spatial", "spatial", tuple(path), spring_length=draw(st.none() | positive.map(lambda x: (x, x + 1.0))),
            damping=draw(st.tuples(positive, positive, positive)), friction=draw(positive),
            group=draw(st.integers(0, 4)), color=(*draw(st.tuples(positive, positive, positive)), 1.0),
        ),
    )  # fmt: skip
    names = [f"actuator {k}" for k in range(draw(st.integers(0, 3)))]
    made = tuple(draw(actuators(name)) for name in names)
    pose = draw(st.none() | numbers(3))
    equalities = (
        Equality("e", "connect", "body", "a", draw(st.sampled_from(["world", "f"])), anchor=draw(numbers(3))),
        Equality(
            "", "weld", "body", "b", "c", draw(st.booleans()), draw(numbers(3)), pose,
            None if pose is None else (*draw(numbers(3)), 1.5), draw(positive), solref=draw(solver),
        ),
        Equality("", "weld", "site", "s", "w", torque_scale=draw(positive)),
        Equality("", "joint", "joint", "j", draw(st.sampled_from(["", "k"])), coefficients=draw(numbers(5))),
        Equality("", "tendon", "tendon", "fixed", draw(st.sampled_from(["", "spatial"]))),
    )  # fmt: skip
    frame = draw(st.sampled_from([("body", "a"), ("xbody", "b"), ("geom", "h"), ("site", "t")]))
    sensors = (
        Sensor("p", "jointpos", "joint", "j", cutoff=draw(positive), noise=draw(positive)),
        Sensor("", draw(st.sampled_from(["framepos", "framequat", "framelinvel"])), *frame, "xbody", "c"),
        Sensor("u", "user", size=draw(st.integers(1, 4)), stage=draw(st.sampled_from(["pos", "vel", "acc"]))),
        Sensor("", "contact", "geom", "g", "geom", "l", ("found", "force"), "maxforce", draw(st.integers(1, 3))),
        *(Sensor("", "actuatorfrc", "actuator", name, user=draw(few(2))) for name in names),
    )  # fmt: skip
    settings = (
        JointSettings(
            "j", margin=draw(positive), solref_limit=draw(solver), spring_yield=draw(positive), user=draw(few(3)),
            actuator_force_limited=True, actuator_force_range=draw(st.tuples(positive, positive).map(
                lambda p: (-p[0], p[0] + p[1]))), actuators_carry_gravity=draw(st.booleans()),
        ),
        JointSettings("ball", limited=True, range=(0.0, draw(positive)), group=draw(st.integers(0, 4))),
        JointSettings("free", stiffness=(draw(positive), 0.0, draw(positive)), margin=draw(positive)),
    )  # fmt: skip
    turn = st.sampled_from([(0.0, 0.0, 0.0, 1.0), (0.5, 0.5, -0.5, 0.5), (0.6, 0.0, 0.0, 0.8)])
    keyframe = Keyframe(
        draw(st.sampled_from(["", "home"])),
        (
            JointState("j", draw(numbers(1)), draw(numbers(1))),
            JointState("k", draw(numbers(1)), draw(numbers(1))),
            JointState("ball", draw(turn), draw(numbers(3))),
            JointState("free", (*draw(numbers(3)), *draw(turn)), draw(numbers(6))),
        ),
        time=draw(positive),
        activations=draw(numbers(sum(one.activation_size for one in made))),
        controls=draw(numbers(len(made))),
    )
    return Extras(
        actuators=made,
        tendons=tendons,
        equalities=equalities,
        sensors=sensors,
        keyframes=(keyframe,),
        joints=settings,
        bodies=(BodySettings("a", draw(positive), sleep=draw(st.sampled_from(["auto", "never"])), user=draw(few(2))),),
        shapes=(ShapeSettings("a", 0, "g", draw(st.integers(1, 4)), fluid_shape="ellipsoid", user=draw(few(2))),),
    )


@law(10)
@given(records())
def test_any_records_come_back(extras: Extras) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        path.write_text(SKELETON, encoding="utf-8")
        bare = kt.load(path)
        builder = kt.ModelBuilder.of(bare)
        held = bare.extras
        builder.extras = replace(extras, sites=held.sites, reference_configuration=held.reference_configuration)
        robot = builder.build()
        text, losses = written(robot, "mjcf")
        lost = [sentence for sentence in losses.lost if "choice of motors" not in sentence]
        assert not lost, lost
        path.write_text(text, encoding="utf-8")
        again = kt.load(path)
        found = list(different(robot.extras, again.extras, "extras"))
        found = [where for where in found if not where.endswith("and 'general'")]
        assert not found, found
        _, records_, models = trip(path)
        assert (records_, models) == ([], [])


def losses_of(extras: Extras, robot: kt.Model | None = None) -> list[str]:
    """What is lost of a robot with these records."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        path.write_text(SKELETON, encoding="utf-8")
        builder = kt.ModelBuilder.of(kt.load(path) if robot is None else robot)
        builder.extras = extras
        text, losses = written(builder.build(), "mjcf")
        path.write_text(text, encoding="utf-8")
        kt.load(path)
        mujoco.MjModel.from_xml_path(str(path))
    return losses.lost


MOTOR = Actuator("m", "joint", "j")
LOST = {
    "an actuator of nothing": (Extras(actuators=(replace(MOTOR, target="x"),)), "actuator 'm' is left out: there is"),
    "a sensor of an actuator that is left out": (
        Extras(actuators=(Actuator("m", "joint", "x"),), sensors=(Sensor("n", "actuatorpos", "actuator", "m"),)),
        "sensor 'n' is left out: there is no actuator 'm'",
    ),
    "an activation that is not there": (
        Extras(actuators=(replace(MOTOR, activation_limited=True, activation_range=(0.0, 1.0)),)),
        "its activation is limited, but it has none",
    ),
    "a delay without samples": (Extras(actuators=(replace(MOTOR, delay=0.1),)), "a delay, but no samples"),
    "a ratio that is no servo's": (
        Extras(actuators=(replace(MOTOR, kind="general", bias="affine", damping_ratio=0.5),)),
        "no element of MJCF has all of its numbers together",
    ),
    "a range the wrong way": (
        Extras(actuators=(replace(MOTOR, control_limited=True, control_range=(1.0, -1.0)),)),
        "its ctrlrange 1 -1 would be in force",
    ),
    "a tendon of nothing": (
        Extras(tendons=(Tendon("t", "fixed", (TendonJoint("x", 1.0),)),)), "tendon 't' is left out: there is no joint",
    ),
    "a material that is not there": (
        Extras(shapes=(ShapeSettings("a", 0, material="gold"),)), "shape 0 of body 'a': its material 'gold' is not in",
    ),
    "a shape that is not there": (Extras(shapes=(ShapeSettings("a", 7, group=1),)), "body 'a' has no shape 7"),
    "a joint that is not there": (Extras(joints=(JointSettings("x", margin=1.0),)), "there is no element for 'x'"),
    "a body that is not there": (Extras(bodies=(BodySettings("x", 1.0),)), "there is no element for 'x'"),
    "an equality of nothing": (
        Extras(equalities=(Equality("e", "flex", "flex", "x"),)), "there is no deformable body 'x' in the file",
    ),
    "a keyframe of nothing": (
        Extras(keyframes=(Keyframe("k", (JointState("x", (0.0,), (0.0,)),)),)), "its state of joint 'x' fits none",
    ),
    "controls of nothing": (
        Extras(keyframes=(Keyframe("k", (JointState("j", (0.0,), (0.0,)),), controls=(1.0,)),)), "its ctrl has another",
    ),
    "a turned ball": (
        Extras(reference_configuration=Keyframe("", (JointState("ball", (1.0, 0.0, 0.0, 0.0), (0.0,) * 3),))),
        "turns the ball joint 'ball'",
    ),
    "a reference that moves": (
        Extras(reference_configuration=Keyframe("", (JointState("j", (0.0,), (1.0,)),))), "has velocities",
    ),
    "springs that are not the joint's": (
        Extras(joints=(JointSettings("j", stiffness=(1.0, 2.0, 0.0)),)), "the quadratic and cubic terms are lost",
    ),
    "raw parts of a body that is not there": (
        Extras(unused=(Unused("body", (("name", "x"),), (Unused("light"),)),)), "<light> of body 'x'",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("what", LOST)
def test_records_that_mjcf_cannot_hold_are_reported(what: str) -> None:
    extras, message = LOST[what]
    lost = [sentence for sentence in losses_of(extras) if "choice of motors" not in sentence]
    assert any(message in sentence for sentence in lost), lost


def test_actuators_of_a_joint_that_is_taken_apart_are_lost() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("world")
    builder.add_body("tip", Inertia.from_com(1.0, Vec3.zero(), Sym3(0.2, 0.25, 0.3, 0.0, 0.0, 0.0)))
    builder.add_joint("u", kt.joints.Universal([1, 0, 0], [0, 1, 0]), "world", "tip")
    robot = builder.build()
    losses = losses_of(Extras(actuators=(Actuator("m", "joint", "u"),)), robot)
    assert losses == ["actuator 'm' is left out: there is no joint 'u' in the file"]


def test_what_actuators_add_to_joints_is_not_written_twice(tmp_path: Path) -> None:
    path = actuator_file(tmp_path, '<motor joint="j" armature="0.3" damping="0.7" gear="1.1"/>', joint='armature="0.1"')
    robot = kt.load(path)
    assert robot.joints["j"].armature == (0.1 + 0.3 * 1.1 * 1.1,)
    text = kt.to_text(robot, "mjcf")
    assert 'armature="0.1"/>' in text
    path.write_text(text, encoding="utf-8")
    assert kt.load(path).joints["j"].armature == robot.joints["j"].armature
