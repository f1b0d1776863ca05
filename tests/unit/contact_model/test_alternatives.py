"""One of several objects in a world, chosen by a parameter: against robots with that object alone."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ConfigurationError, DTypeError, ModelError, NameNotFoundError, OptionError
from kinetree.model import Geometry
from kinetree.model.extras import ContactParameters
from kinetree.spatial import Mat3, Transform, Vec3
from tests.c_code import called, library, needs

WHICH = "body.object.alternative"
MESH = """v 0.03 0.03 0.03
v 0.03 -0.04 -0.03
v -0.03 0.03 -0.03
v -0.03 -0.03 0.05
f 1 2 3
f 1 4 2
f 1 3 4
f 2 4 3
"""


def shape(kind: str, size: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0), **more: Any) -> Geometry:
    return Geometry("collision", kind, tuple(size), kt.lie.placement(at), **more)


def thing(name: str, mass: float, *shapes: Geometry) -> kt.Model:
    """A body whose inertia is that of no shape, with a centre of mass of its own; its shapes have its name."""
    builder = kt.ModelBuilder(name)
    inertia = kt.lie.placement((0.002, 0.001, -0.003)).back(kt.solids.box(0.06, 0.08, 0.1, mass=mass or 1.0))
    named = [replace(one, name=name + "'" * k) for k, one in enumerate(shapes)]
    builder.add_body(name, inertia if mass else None, geometry=named)
    return builder.build()


@cache
def objects() -> dict[str, kt.Model]:
    slippery = ContactParameters(friction=(0.2, 0.005, 0.0001), priority=1)
    return {
        "can": thing("can", 0.3, shape("cylinder", (0.03, 0.1))),
        "box": thing("box", 0.2, shape("box", (0.06, 0.08, 0.1), contact=slippery)),
        "egg": thing("egg", 0.1, shape("ellipsoid", (0.03, 0.03, 0.04))),
        "mug": thing("mug", 0.4, shape("cylinder", (0.04, 0.1)), shape("capsule", (0.008, 0.05), (0.06, 0.0, 0.0))),
    }


def mesh(folder: Path) -> kt.Model:
    path = folder / "stone.obj"
    path.write_text(MESH)
    return thing("stone", 0.5, shape("mesh", (1.0, 1.0, 1.0), mesh="stone.obj", mesh_path=path))


def world() -> kt.Model:
    builder = kt.ModelBuilder("world")
    builder.add_body("world")
    return builder.build()


@cache
def scene(spheres: int = 0) -> kt.Model:
    """The ground with a step, and other spheres; "object" is a ball, or one of the others."""
    robot = world().with_obstacle("box", (0.1, 0.1, 0.04), kt.lie.placement((0.4, 1.0, 0.02)), name="step")
    for k in range(spheres):
        robot = robot.with_free_body("sphere", 0.05, kt.lie.placement((0.1 * k, 1.0, 0.05)), mass=1.0, name=f"s{k}")
    robot = robot.with_free_body("sphere", 0.04, mass=0.1, name="object").on_ground()
    return robot.with_alternatives("object", objects())


@cache
def few() -> kt.Model:
    """A ball or a can on the ground."""
    robot = world().with_free_body("sphere", 0.04, mass=0.1, name="object").on_ground()
    return robot.with_alternatives("object", {"can": objects()["can"]})


NAMES = ["object", *objects()]


def states(robot: kt.Model, worlds: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """The object a little in the ground, or above it; other bodies at rest, two of them inside each other."""
    rng = np.random.default_rng(seed)
    q = np.tile(robot.neutral(), (worlds, 1))
    own = robot.joints["object_joint"].q_slice.start
    q[:, own : own + 3] = rng.uniform((0.3, 0.9, 0.02), (0.4, 1.0, 0.07), (worlds, 3))
    turns = rng.normal(size=(worlds, 4))
    q[:, own + 3 : own + 7] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    v = 0.3 * rng.normal(size=(worlds, robot.nv))
    return q, v, np.zeros_like(v)


def check_against_alone(robot: kt.Model, *some: str, worlds: int = 4, tolerance: float = 1e-9, **options: Any) -> None:
    """Each world is that of a robot with one object alone; compared for some of the objects, or for all."""
    names = [one.name for one in robot.bodies["object"].alternatives]
    q, v, tau = states(robot, worlds * len(names))
    which = np.arange(len(q)) % len(names)
    found = kt.contact_dynamics(robot, q, v, tau, parameters={WHICH: which}, **options)
    touching = 0
    for name in some or names:
        k = names.index(name)
        alone = robot.with_present("object", name)
        one = kt.contact_dynamics(alone, q[which == k], v[which == k], tau[which == k], **options)
        scale = np.abs(one.qdd).max()
        np.testing.assert_allclose(found.qdd[which == k], one.qdd, rtol=0.0, atol=tolerance * scale)
        np.testing.assert_allclose(
            found.forces[which == k], one.forces, rtol=0.0, atol=tolerance * np.abs(one.forces).max(initial=1.0)
        )
        touching += (one.forces != 0.0).any()
    assert touching == len(some or names)


def test_a_world_has_the_acceleration_of_a_robot_with_its_object_alone() -> None:
    check_against_alone(scene())


@pytest.mark.parametrize("setting", ["compliant", pytest.param("rigid", marks=pytest.mark.deep)])
def test_so_it_is_with_contacts_of_other_settings(setting: str) -> None:
    check_against_alone(scene(), "egg", "mug", contact=setting, tolerance=1e-7)


def test_so_it_is_with_contacts_in_loops() -> None:
    robot = scene(9)
    assert kt.contact.soft_constraints(robot).called_for(robot, ["body.object.alternative"]).are_looped
    check_against_alone(robot, "box", "mug")


def test_an_object_may_be_a_mesh(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    check_against_alone(few().with_alternatives("object", {"stone": mesh(tmp_path)}), "stone")


@pytest.mark.parametrize("spheres", [0, 9])
def test_a_world_has_the_same_bits_in_any_batch_and_on_threads(spheres: int) -> None:
    robot = scene(spheres)
    q, v, tau = states(robot, 64)
    which = np.random.default_rng(5).integers(0, len(NAMES), 64)

    def found(some: Any, threads: int | None = None) -> kt.dynamics.ContactMotion:
        given = {WHICH: which[some]}
        return kt.contact_dynamics(robot, q[some], v[some], tau[some], parameters=given, threads=threads)

    whole = found(slice(None), threads=1)
    for some in (slice(7), slice(3, 4), slice(None, None, -1), which == 1):
        for one, all_of_it in zip(found(some), whole, strict=True):
            np.testing.assert_array_equal(one, all_of_it[some])
    np.testing.assert_array_equal(found(slice(None), threads=2).qdd, whole.qdd)
    np.testing.assert_array_equal(found(5).qdd, whole.qdd[5])


def test_the_robot_without_the_parameter_has_the_object_that_is_present() -> None:
    robot, plain = few(), world().with_free_body("sphere", 0.04, mass=0.1, name="object").on_ground()
    q, v, tau = states(robot, 3)
    for one, other in zip(kt.contact_dynamics(robot, q, v, tau), kt.contact_dynamics(plain, q, v, tau), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(kt.contact.soft_constraints(robot).touches) == len(kt.contact.soft_constraints(plain).touches)


def test_inertias_follow_the_object() -> None:
    robot = scene()
    q, v, tau = states(robot, len(NAMES))
    which = np.arange(len(NAMES))
    found = kt.mass_matrix(robot, q, parameters={WHICH: which})
    heavier = kt.mass_matrix(robot, q, parameters={WHICH: which, "body.object.mass": [2.0] * len(NAMES)})
    for k in which:
        alone = robot.with_present("object", int(k))
        np.testing.assert_allclose(found[k], kt.mass_matrix(alone, q[k]), rtol=1e-13, atol=1e-15)
        other = kt.mass_matrix(alone, q[k], parameters={"body.object.mass": 2.0})
        np.testing.assert_allclose(heavier[k], other, rtol=1e-13, atol=1e-15)
    spread = kt.aba(robot, q, v, tau, parameters={WHICH: which})
    assert len(np.unique(spread[:, -1])) == len(NAMES)


@pytest.mark.parametrize("wrt", ["q", "v", "body.object.mass"])
def test_derivatives_are_those_of_the_object_that_is_there(wrt: str) -> None:
    robot = few()
    q, v, tau = states(robot, 2)
    q[:, 2] = 0.02
    which = np.arange(2)
    mass = np.array([one.mass for one in robot.bodies["object"].alternatives])
    more = {"body.object.mass": mass} if wrt == "body.object.mass" else {}
    state = (q, v, tau)
    found = kt.jacobian(robot, kt.contact_dynamics, state, wrt=wrt, parameters={WHICH: which, **more})
    for k in which:
        own: Any = {name: x[k] for name, x in more.items()}
        alone = robot.with_present("object", int(k))
        one = kt.jacobian(alone, kt.contact_dynamics, tuple(x[k] for x in state), wrt=wrt, parameters=own or None)
        np.testing.assert_allclose(found[k], one, rtol=0.0, atol=1e-9 * np.abs(found).max())
    assert found.any()


def test_the_derivative_by_the_number_is_zero() -> None:
    robot = scene()
    state = states(robot, 2)
    assert not kt.jacobian(robot, kt.contact_dynamics, state, wrt=WHICH, parameters={WHICH: [1.0, 2.0]}).any()


def test_motions_are_those_of_robots_with_one_object() -> None:
    robot = few()
    q, _, _ = states(robot, 2)
    q[:, 2:7] = 0.055, 0.0, 0.0, 0.0, 1.0
    which, still = np.arange(2), np.zeros(robot.nv)
    rows = np.zeros((20, robot.nv))
    states_ = kt.rollout(robot, q, still, rows, 0.002, contact=True, parameters={WHICH: which})
    by_step = {f"{WHICH}[:]": np.tile(which[:, None], (1, 20))}
    np.testing.assert_array_equal(kt.rollout(robot, q, still, rows, 0.002, contact=True, parameters=by_step), states_)
    motion = kt.simulate(robot, q=q, duration=0.04, dt=0.002, contact=True, parameters={WHICH: which})
    for k in which:
        alone = robot.with_present("object", int(k))
        one = kt.rollout(alone, q[k], still, rows, 0.002, contact=True)
        np.testing.assert_allclose(states_[k], one, rtol=0.0, atol=1e-9)
        of_one = kt.simulate(alone, q=q[k], duration=0.04, dt=0.002, contact=True)
        np.testing.assert_allclose(motion.q[k], of_one.q, rtol=0.0, atol=1e-9)


def test_the_object_may_change_on_the_way() -> None:
    robot = few()
    q, _, _ = states(robot, 1)
    rows, which = np.zeros((20, robot.nv)), np.repeat([0.0, 1.0], 10)
    whole = kt.rollout(robot, q[0], rows[0], rows, 0.002, contact=True, parameters={f"{WHICH}[:]": which})
    with pytest.raises(ConfigurationError, match=r"alternative\[:\]\[10\] is 2: body 'object' is one of 2 objects"):
        kt.rollout(robot, q[0], rows[0], rows, 0.002, contact=True, parameters={f"{WHICH}[:]": 2.0 * which})
    half = kt.rollout(robot, q[0], rows[0], rows[:10], 0.002, contact=True, parameters={WHICH: 0.0})
    again = {WHICH: 1.0}
    rest = kt.rollout(robot, *np.split(half[-1], [robot.nq]), rows[:10], 0.002, contact=True, parameters=again)
    np.testing.assert_array_equal(whole, np.concatenate([half, rest]))


def test_forces_of_absent_objects_are_zero() -> None:
    robot = scene()
    q, v, _ = states(robot, len(NAMES))
    which = np.arange(len(NAMES))
    pairs = kt.contact.contact_pairs(robot, parameters=[WHICH])
    forces = kt.contact.contact_forces(robot, q, v, v, parameters={WHICH: which})
    assert pairs[-1].slots.stop == forces.distances.shape[1]
    found = {(pair.first, pair.second): forces.forces[:, pair.slots] for pair in pairs}
    near = {(pair.first, pair.second): (forces.distances[:, pair.slots] < 1.0).any(axis=-1) for pair in pairs}
    for k, name in enumerate(NAMES):
        alone = robot.with_present("object", name)
        of_one = kt.contact.contact_forces(alone, q[k], v[k], v[k])
        own = {(pair.first, pair.second): pair.slots for pair in kt.contact.contact_pairs(alone)}
        for names, pushes in found.items():
            wanted = of_one.forces[own[names]] if names in own else 0.0
            np.testing.assert_allclose(pushes[k], wanted, atol=1e-9 * np.abs(of_one.forces).max(initial=1.0))
            assert names in own or not near[names][k]


def test_two_bodies_may_have_alternatives() -> None:
    robot = few().with_free_body("box", (0.1, 0.1, 0.1), mass=0.5, name="other")
    robot = robot.with_alternatives("other", {"ball": thing("ball", 1.0, shape("sphere", (0.06,)))})
    q, v, tau = states(robot, 4)
    q[:, -7:-4] = q[:, robot.joints["object_joint"].q_slice.start :][:, :3] + [0.05, 0.0, 0.03]
    one, two = np.arange(4) % 2, np.arange(4) // 2
    found = kt.contact_dynamics(robot, q, v, tau, parameters={WHICH: one, "body.other.alternative": two})
    for k in (1, 2):  # one of them is there
        alone = robot.with_present("object", int(one[k])).with_present("other", int(two[k]))
        wanted = kt.contact_dynamics(alone, q[k], v[k], tau[k]).qdd
        np.testing.assert_allclose(found.qdd[k], wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())
    with_one = kt.contact_dynamics(robot, q[:2], v[:2], tau[:2], parameters={WHICH: one[:2]})
    np.testing.assert_allclose(with_one.qdd, found.qdd[:2], rtol=0.0, atol=1e-9 * np.abs(found.qdd).max())


def test_shapes_alone_may_differ() -> None:
    """The body is a finger, or fixed in the world."""
    robot = kt.zoo.load("cart_pole").without_self_contact()
    robot = robot.with_free_body("sphere", 0.1, kt.lie.placement((0.0, 0.0, 0.55)), mass=1.0, name="ball")
    pads = {"round": thing("round", 0.0, shape("sphere", (0.06,), (0.0, 0.0, 0.5)))}
    finger = "pole"
    robot = robot.with_alternatives(finger, pads)
    q, v, tau = np.tile(robot.neutral(), (2, 1)), np.zeros((2, robot.nv)), np.zeros((2, robot.nv))
    found = kt.contact_dynamics(robot, q, v, tau, parameters={f"body.{finger}.alternative": [0, 1]}).qdd
    for k in range(2):
        alone = kt.contact_dynamics(robot.with_present(finger, k), q[k], v[k], tau[k]).qdd
        np.testing.assert_allclose(found[k], alone, rtol=0.0, atol=1e-9 * np.abs(alone).max())
    assert not np.allclose(found[0], found[1])
    with pytest.raises(ModelError, match=r"has an inertia of its own, but joint .* does not let it move freely"):
        robot.with_alternatives(finger, {"heavy": thing("heavy", 0.1, shape("sphere", (0.06,)))})


def test_shapes_of_absent_objects_have_parameters() -> None:
    robot = scene()
    q, v, tau = states(robot, 2)
    size, name = np.array([[0.03, 0.1], [0.05, 0.14]]), "shape.can.size"
    found = kt.contact_dynamics(robot, q, v, tau, parameters={WHICH: [1.0, 1.0], name: size})
    for k, lengths in enumerate(size):
        builder = thing("can", 0.3, shape("cylinder", lengths))
        alone = scene().with_alternatives("object", {"other can": builder}).with_present("object", "other can")
        wanted = kt.contact_dynamics(alone, q[k], v[k], tau[k]).qdd
        np.testing.assert_allclose(found.qdd[k], wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize(("number", "text"), [(5, "5"), (-1, "-1"), (0.5, "0.5"), (np.nan, "nan"), (np.inf, "inf")])
def test_an_invalid_object_number_is_reported_with_its_sample(number: float, text: str) -> None:
    robot = scene()
    q, v, tau = states(robot, 3)
    which = np.array([0.0, number, 1.0])
    message = rf"{WHICH}\[1\] is {text}: body 'object' is one of 5 objects, by their numbers 0 \(object\), 1 \(can\)"
    with pytest.raises(ConfigurationError, match=message):
        kt.contact_dynamics(robot, q, v, tau, parameters={WHICH: which})
    with pytest.raises(ConfigurationError, match=f"{WHICH} is {text}: body"):
        kt.mass_matrix(robot, q[0], parameters={WHICH: number})
    function = kt.compile(robot, kt.mass_matrix, parameters=[WHICH])
    for _ in range(3):
        function(q[0], 1.0)
    with pytest.raises(ConfigurationError, match=f"{WHICH} is {text}: body"):
        function(q[0], np.array(number))
    if np.isfinite(number):
        with pytest.raises(ConfigurationError, match=rf"simulate: {WHICH}\[1\] is {text}"):
            kt.simulate(robot, q=q, duration=0.01, parameters={WHICH: which})


def test_other_wrong_arguments_are_reported() -> None:
    robot, (q, v, tau) = scene(), states(scene(), 1)
    with pytest.raises(DTypeError, match=WHICH):
        kt.contact_dynamics(robot, q, v, tau, parameters={WHICH: ["can"]})  # type: ignore[dict-item]
    with pytest.raises(NameNotFoundError, match=r"one object alone; robot\.with_alternatives gives it others"):
        kt.mass_matrix(robot, q, parameters={"body.world.alternative": 0.0})
    with pytest.raises(NameNotFoundError, match="did you mean 'can'"):
        robot.with_present("object", "cam")
    for wrong in (5, -1, 1.5, True, None):
        with pytest.raises(OptionError, match="one of 5 objects"):
            robot.with_present("object", wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="one object alone"):
        robot.with_present("world", 0)
    for objects_, message in (
        ({}, "takes robots by name"),
        ([objects()["can"]], "takes robots by name"),
        ({"can": objects()["can"]}, "needs a name of its own, not 'can'"),
        ({3: objects()["can"]}, "needs a name of its own, not 3"),
        ({"arm": kt.zoo.load("arm6")}, "is not one rigid body: it has 6 degrees of freedom"),
        ({"air": thing("air", 0.0)}, "which moves freely, needs a mass"),
        ({"can": 1.0}, "needs a name of its own"),
        ({"tin": 1.0}, "alternative 'tin' must be a Model"),
    ):
        with pytest.raises(ModelError, match=message):
            robot.with_alternatives("object", objects_)  # type: ignore[arg-type]
    with pytest.raises(NameNotFoundError, match="no body 'objekt'"):
        robot.with_alternatives("objekt", objects())


def test_the_present_object_is_the_one_of_the_robot() -> None:
    robot = few()
    can = robot.with_present("object", "can")
    assert can != robot
    assert can.with_present("object", 0) == robot
    assert can.bodies["object"].mass == 0.3
    assert [one.shape for one in can.bodies["object"].geometry] == ["cylinder"]
    assert [one.name for one in can.bodies["object"].alternatives] == ["object", "can"]
    assert can.parameter(WHICH) == 1.0
    q, v, tau = states(robot, 1)
    for k in range(2):
        given = {WHICH: float(k)}
        one, other = (kt.contact_dynamics(x, q, v, tau, parameters=given).qdd for x in (robot, can))
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9 * np.abs(one).max())


def test_objects_of_files_have_a_world_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        '<mujoco><worldbody><body name="ball" pos="1 0 0"><freejoint/><geom size="0.05" mass="0.7" pos="0 0 0.01"/>'
        "</body></worldbody></mujoco>"
    )
    robot = few().with_alternatives("object", {"loaded": kt.load(path)}).with_present("object", "loaded")
    (found,) = robot.bodies["object"].geometry
    assert (found.size, found.placement.r.z, robot.bodies["object"].mass) == ((0.05,), 0.01, 0.7)


def test_meshes_of_objects_may_be_made_in_their_file(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    path = tmp_path / "stone.xml"
    path.write_text(
        '<mujoco><asset><mesh name="stone" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody><body name="stone">'
        '<freejoint/><geom type="mesh" mesh="stone" mass="0.7"/></body></worldbody></mujoco>'
    )
    stone = kt.load(path)
    for robot, name in ((few(), "object"), (stone.on_ground(), "stone")):
        both = robot.with_alternatives(name, {"first": stone, "second": stone})
        present = both.with_present(name, "second")
        assert present.with_present(name, 0).extras == both.extras
        vertices = [
            {side.shape.vertices for touch in (*soft.touches, *soft.absent) for side in (touch.first, touch.second)
             if side.shape.kind == "hull"}
            for soft in map(kt.contact.soft_constraints, (both, present))
        ]  # fmt: skip
        assert len(vertices[0]) == 1
        assert vertices[0] == vertices[1]


def field(seed: int, *, smooth: bool = False) -> kt.Model:
    """A world with hills."""
    world = kt.ModelBuilder("ground")
    world.add_body("ground")
    hills = world.build().on_terrain(size=(2.0, 2.0), spacing=0.25, steepness=0.4, seed=seed)
    return hills.with_smooth_terrain() if smooth else hills


def test_a_world_has_one_of_several_terrains() -> None:
    """Height fields of the robot itself, smooth or not, and boxes: each sample as the robot with its terrain alone."""
    steps = kt.ModelBuilder("steps")
    boxes = [
        Geometry("collision", "box", (0.5, 2.0, h), Transform(Mat3.identity(), Vec3(x, 0.0, 0.0)), f"step {x}")
        for x, h in ((-0.25, 0.1), (0.25, 0.2))
    ]
    steps.add_body("steps", geometry=boxes)
    robot = field(0).with_free_body("sphere", 0.1, mass=0.5, name="ball")
    robot = robot.with_alternatives("ground", {"other": field(1), "smooth": field(1, smooth=True)})
    robot = robot.with_alternatives("ground", {"steps": steps.build()})
    assert kt.from_text(kt.to_text(robot)) == robot == pickle.loads(pickle.dumps(robot))
    q, v, tau = np.tile(robot.neutral(), (4, 2, 1)), np.full(6, 0.3), np.zeros((150, 6))
    q[..., 2], q[:, 1, 0] = 0.3, 0.4
    which = np.array([[3, 0], [1, 2], [2, 1], [0, 3]])
    found = kt.rollout(robot, q, v, tau, 0.002, contact=True, parameters={"body.ground.alternative": which})
    ends = [found[which == k][:, -1, :7].ravel() for k in range(4)]
    assert min(np.abs(a - b).max() for k, a in enumerate(ends) for b in ends[:k]) > 1e-6
    for k in range(4):
        there = robot.with_present("ground", k)
        alone = kt.rollout(there, q[which == k], v, tau, 0.002, contact=True)
        np.testing.assert_allclose(found[which == k], alone, rtol=0, atol=1e-9)
        same = there.with_present("ground", 0).with_present("ground", k)
        np.testing.assert_array_equal(kt.rollout(same, q[which == k], v, tau, 0.002, contact=True), alone)


def test_texts_pickles_and_changes_keep_the_objects() -> None:
    robot = scene().with_present("object", "box")
    assert pickle.loads(pickle.dumps(robot)) == robot
    text = kt.to_text(robot)
    assert '"version": 3' in text
    assert kt.from_text(text) == robot
    assert kt.to_text(kt.from_text(text)) == text
    with pytest.raises(ModelError, match='"alternatives" came with version 3'):
        kt.from_text(text.replace('"version": 3', '"version": 2'))
    with pytest.raises(ModelError, match="present is 7, but it has 5 alternatives"):
        kt.from_text(text.replace('"present": 2', '"present": 7'))
    with pytest.raises(ModelError, match="two of its alternatives have one name"):
        kt.from_text(text.replace('"name": "can"', '"name": "egg"', 1))
    with pytest.raises(ModelError, match="alternatives of body 'object' have no place in MJCF: object, can, egg, mug"):
        kt.to_text(robot, "mjcf")
    larger = robot.scaled(2.0).bodies["object"]
    assert [one.mass for one in larger.alternatives] == pytest.approx([0.8, 2.4, 1.6, 0.8, 3.2])
    assert larger.alternatives[1].geometry[0].size == (0.06, 0.2)
    image = robot.mirrored("y").bodies["object"].alternatives[4]
    assert image.center_of_mass[1] == pytest.approx(-0.001)
    beside = kt.zoo.load("arm6").beside(robot, prefix="b_")
    assert [one.name for one in beside.bodies["b_object"].alternatives] == NAMES
    apart = robot.with_contacts([])
    assert not kt.contact.soft_constraints(apart).called_for(apart, ["body.object.alternative"]).touches


def test_pictures_have_the_object_of_each_sample(tmp_path: Path) -> None:
    robot = few()
    q, _, _ = states(robot, 2)
    q[:, :3] = 0.0, 0.0, 0.1
    given = {WHICH: [1, 0]}
    both = kt.render(robot, q, size=(80, 40), parameters=given)
    assert not np.array_equal(both, kt.render(robot, q, size=(80, 40)))
    for k in (0, 1):
        alone = kt.render(robot.with_present("object", k), q[0], size=(80, 40))
        np.testing.assert_array_equal(kt.render(robot, q[0], size=(80, 40), parameters={WHICH: k}), alone)
    motion = kt.simulate(robot, q=q, duration=0.1, dt=0.01, contact=True, parameters=given)
    assert motion.film(tmp_path / "fall.gif", size=(64, 36), parameters=given).stat().st_size
    pytest.importorskip("viser")
    page = kt.viewer.save_html(tmp_path / "a.html", robot, parameters={WHICH: 1}).read_bytes()
    assert page == kt.viewer.save_html(tmp_path / "b.html", robot.with_present("object", 1)).read_bytes()
    assert page != kt.viewer.save_html(tmp_path / "c.html", robot).read_bytes()
    with pytest.raises(ConfigurationError, match=rf"render: {WHICH} is 9"):
        kt.render(robot, q[0], parameters={WHICH: 9})


def test_frameworks_choose_objects() -> None:
    robot = few()
    q, v, tau = states(robot, 4)
    which = np.array([0, 1, 1, 0])
    own = kt.contact_dynamics(robot, q, v, tau, parameters={WHICH: which}).qdd
    torch = pytest.importorskip("torch")
    tensors = [torch.from_numpy(x) for x in (q, v, tau)]
    found = kt.contact_dynamics(robot, *tensors, parameters={WHICH: torch.from_numpy(which)}).qdd
    np.testing.assert_array_equal(found.numpy(), own)
    function = kt.interop.to_torch(robot, kt.contact_dynamics, parameters=[WHICH])
    numbers = torch.from_numpy(which.astype(float))
    for _ in range(3):
        function(*tensors, tensors[2], numbers)
    with pytest.raises(ConfigurationError, match=rf"{WHICH}\[1\] is 2: body 'object' is one of 2"):
        function(*tensors, tensors[2], numbers + 1.0)


def test_jax_has_nan_where_there_is_no_such_object() -> None:
    jax = pytest.importorskip("jax")
    robot = few()
    q, v, tau = states(robot, 4)
    which = np.array([0.0, 1.0, 2.0, 0.5])
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        function = jax.jit(lambda *x: kt.contact_dynamics(robot, *x[:3], parameters={WHICH: x[3]}).qdd)
        found = np.asarray(function(q, v, tau, which))
    finally:
        jax.config.update("jax_enable_x64", before)
    own = kt.contact_dynamics(robot, q[:2], v[:2], tau[:2], parameters={WHICH: which[:2]}).qdd
    np.testing.assert_array_equal(found[:2], own)
    assert np.isnan(found[2:]).all()


@needs("gcc")
def test_c_takes_the_number_of_the_object(tmp_path: Path) -> None:
    robot = few()
    made = kt.interop.to_c(robot, kt.contact_dynamics, parameters=[WHICH])
    source = next(path for path in made.save(tmp_path) if path.suffix == ".c")
    function = getattr(library(tmp_path, "gcc", [source], "-O1"), made.name)
    q, v, tau = states(robot, 2)
    for k in range(2):
        own = kt.contact_dynamics(robot, q[k], v[k], tau[k], parameters={WHICH: k})
        (found,) = called(function, (q[k], v[k], tau[k], np.zeros(6), k), [2 * robot.nv + 2], made.workspace)
        np.testing.assert_allclose(found[: robot.nv], own.qdd, rtol=0.0, atol=1e-9 * np.abs(own.qdd).max())
