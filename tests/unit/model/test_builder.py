"""A robot in a few lines of Python: what it becomes, and what is refused."""

# ruff: noqa: E501 - a case a line reads better

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_rpy
from tests.unit.model.bodies import ball, shift

HINGE = kt.Revolute([0, 0, 1])


@pytest.fixture
def builder() -> kt.ModelBuilder:
    """A base with one swinging arm."""
    builder = kt.ModelBuilder("robot")
    builder.add_body("base", ball(5.0))
    builder.add_body("arm", ball(2.0))
    builder.add_joint("hinge", HINGE, "base", "arm", shift(0.5))
    return builder


def test_slots_follow_the_order_in_which_joints_are_added() -> None:
    builder = kt.ModelBuilder("tree")
    for name in ("c", "b", "a", "root"):
        builder.add_body(name, ball())
    builder.add_joint("jc", HINGE, "b", "c")
    builder.add_joint("jb", kt.Free(), "a", "b")
    builder.add_joint("ja", kt.Prismatic([1, 0, 0]), "root", "a")
    model = builder.build()
    assert [(joint.name, joint.slot, joint.q_start, joint.v_start) for joint in model.joints.values()] == [
        ("jc", 1, 0, 0), ("jb", 2, 1, 1), ("ja", 3, 8, 7),
    ]  # fmt: skip
    assert model.tree.parent == (0, 2, 3, 0)
    assert model.tree.outward == ((3, 0), (2, 3), (1, 2))
    assert model.tree.inward == ((1, 2), (2, 3), (3, 0))
    assert model.tree.supports(1) == [3, 2, 1]
    assert model.v_names[:3] == ["jc", "jb.vx", "jb.vy"]


def test_fixed_bodies_merge_through_several_joints_and_under_moving_ones(builder: kt.ModelBuilder) -> None:
    turn = Transform(from_rpy(0.0, 0.0, math.pi / 2).T, Vec3(1.0, 0.0, 0.0))
    builder.add_body("plate", ball(3.0))
    builder.add_body("tip", ball(1.0))
    builder.add_body("wheel", ball(0.5))
    builder.add_joint("weld1", kt.Fixed(), "arm", "plate", turn)
    builder.add_joint("weld2", kt.Fixed(), "plate", "tip", turn)
    builder.add_joint("axle", HINGE, "tip", "wheel", shift(0.0, 0.25))
    model = builder.build()
    # One turn to the left at (1, 0), then one metre ahead: the tip is at (1, 1), facing back.
    assert model.frames["tip"].placement.r == Vec3(1.0, 1.0, 0.0)
    assert model.tree.I[1].mass == 6.0
    np.testing.assert_allclose(model.tree.I[1].h.components(), (3.0 + 1.0, 1.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(model.tree.X_T[2].r.components(), (1.0, 0.75, 0.0), atol=1e-15)
    assert (model.bodies["tip"].is_fixed, model.bodies["wheel"].is_fixed) == (True, False)
    assert model.mass == 11.5


def test_frames_sit_on_bodies_moving_or_merged(builder: kt.ModelBuilder) -> None:
    builder.add_body("plate", ball())
    builder.add_joint("weld", kt.Fixed(), "arm", "plate", shift(1.0))
    builder.add_frame("corner", "plate", shift(0.0, 2.0))
    corner = builder.build().frames["corner"]
    assert (corner.slot, corner.body) == (1, "plate")
    assert corner.placement.r == Vec3(1.0, 2.0, 0.0)


def test_the_root_joint_gets_a_name_that_is_free(builder: kt.ModelBuilder) -> None:
    builder.add_body("more", ball())
    builder.add_joint("root_joint", HINGE, "arm", "more")
    assert list(builder.build(floating_base=True).joints) == ["root_joint_", "hinge", "root_joint"]


def test_one_builder_makes_a_fixed_and_a_floating_robot(builder: kt.ModelBuilder) -> None:
    fixed, floating = builder.build(), builder.build(floating_base=True)
    assert (fixed.nq, floating.nq) == (1, 8)
    assert fixed.mass == floating.mass == 7.0


def test_gravity_is_a_field_of_the_model() -> None:
    builder = kt.ModelBuilder("moon", gravity=(0, 0, -1.62))
    builder.add_body("base")
    assert builder.build().gravity == (0.0, 0.0, -1.62)


def test_a_wrong_name_is_answered_with_the_nearest(builder: kt.ModelBuilder) -> None:
    model = builder.build()
    with pytest.raises(kt.errors.NameNotFoundError, match="this robot has no joint 'hing': did you mean 'hinge'"):
        model.joints["hing"]
    assert "hing" not in model.joints
    assert repr(model.bodies) == "body names: ['base', 'arm']"


Spoil = Callable[[kt.ModelBuilder], None]


def _with_inertia(inertia: Inertia) -> Spoil:
    return lambda builder: builder.add_joint("j", HINGE, "arm", builder.add_body("x", inertia) or "x")


def _with_joint(**options: object) -> Spoil:
    def spoil(builder: kt.ModelBuilder) -> None:
        builder.add_body("x", ball())
        builder.add_joint(**{"name": "j", "kind": HINGE, "parent": "arm", "child": "x", **options})  # type: ignore[arg-type]

    return spoil


NAN = math.nan
REFUSED: dict[str, tuple[Spoil, str]] = {
    "a mass that is NaN": (_with_inertia(Inertia(NAN, Vec3.zero(), Sym3.scalar(1.0))), "body 'x' has a mass, centre of mass"),
    "an infinite inertia": (_with_inertia(Inertia(1.0, Vec3.zero(), Sym3.scalar(math.inf))), "that is not finite or overflows"),
    "a mass that is text": (_with_inertia(Inertia("one", Vec3.zero(), Sym3.zero())), "entries are not all numbers"),  # type: ignore[arg-type]
    "an inertia that is a number": (_with_inertia(1.0), "body 'x': its inertia must be an Inertia, not 1.0"),  # type: ignore[arg-type]
    "a moment of mass without mass": (_with_inertia(Inertia(0.0, Vec3(1.0, 0.0, 0.0), Sym3.scalar(1.0))), "has a first moment of mass but no mass"),
    "a negative mass": (_with_inertia(ball(-1.0)), "body 'x' has the negative mass -1 kg"),
    "an inertia too small for its centre of mass": (_with_inertia(Inertia(1.0, Vec3(1.0, 0.0, 0.0), Sym3.scalar(0.5))), "has an inertia with the negative principal moment -0.5"),
    "a kind that is a word": (_with_joint(kind="revolute"), "its kind must be a joint kind such as Revolute"),
    "a placement that is a list": (_with_joint(placement=[0, 0, 1]), "its placement must be a Transform, such as"),
    "a placement that is not a rotation": (_with_joint(placement=Transform(Mat3.zero(), Vec3.zero())), "is not a rotation matrix"),
    "a mirrored placement": (_with_joint(placement=Transform(Mat3(Vec3(-1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)), Vec3.zero())), "is not a rotation matrix"),
    "a placement at NaN": (_with_joint(placement=shift(NAN)), "joint 'j' is at a place that is not finite"),
    "a name that is a number": (_with_joint(name=3), "the name of a joint must be a string with something in it, not 3"),
    "limits for two coordinates": (_with_joint(limits=kt.model.Limits((0.0, 0.0), (1.0, 1.0), (1.0,), (1.0,))), "joint 'j' needs 1 values of lower limits (revolute about z), not 2"),
    "limits at infinity": (_with_joint(limits=kt.model.Limits((math.inf,), (math.inf,), (1.0,), (1.0,))), "has both limits at inf; without limits, lower is -inf and upper is inf"),
    "reversed limits": (_with_joint(limits=kt.model.Limits((1.0,), (0.0,), (1.0,), (1.0,))), "has the lower limit 1 above the upper limit 0; exchange them"),
    "a limit that is NaN": (_with_joint(limits=kt.model.Limits((NAN,), (0.0,), (1.0,), (1.0,))), "has nan among its lower limits; give numbers"),
    "a limit that is text": (_with_joint(limits=kt.model.Limits(("0",), (1.0,), (1.0,), (1.0,))), "has '0' among its lower limits"),  # type: ignore[arg-type]
    "a negative effort limit": (_with_joint(limits=kt.model.Limits((0.0,), (1.0,), (1.0,), (-1.0,))), "has the negative effort limit -1"),
    "damping for two": (_with_joint(damping=(1.0, 2.0)), "joint 'j' needs 1 values of damping (revolute about z), not 2"),
    "damping that is a number": (_with_joint(damping=0.1), "damping must be a sequence of numbers, not 0.1"),
    "friction that is infinite": (_with_joint(friction=(math.inf,)), "joint 'j' has friction that is not finite"),
    "negative armature": (_with_joint(armature=(-0.1,)), "joint 'j' has the negative armature -0.1"),
    "a rotor that is too fast to be geared": (_with_joint(rotor=kt.model.Rotor(1.0, 1e160)), "joint 'j' has a rotor whose ratio² inertia overflows"),
    "a mimic factor that is NaN": (_with_joint(mimic=kt.model.Mimic("hinge", NAN, 0.0)), "mimics with a multiplier or an offset that is not finite"),
    "a mimic between joints of several coordinates": (_with_joint(kind=kt.Free(), mimic=kt.model.Mimic("hinge", 1.0, 0.0)), "both must be joints of one coordinate"),
    "a frame on nothing": (lambda b: b.add_frame("f", "arn", shift()), "frame 'f' sits on 'arn', but there is no such body: did you mean 'arm'?"),
    "a frame with the name of a body": (lambda b: b.add_frame("arm", "base", shift()), "frame 'arm' has the name of a body; rename it"),
    "two frames of one name": (lambda b: (b.add_frame("f", "base", shift()), b.add_frame("f", "arm", shift())), "two frames named 'f'"),  # type: ignore[dict-item, func-returns-value]
    "a frame at NaN": (lambda b: b.add_frame("f", "base", shift(NAN)), "frame 'f' is at a place that is not finite"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused_by_name(spoil: Spoil, message: str, builder: kt.ModelBuilder) -> None:
    def make() -> None:
        spoil(builder)
        builder.build()

    with pytest.raises(kt.errors.ModelError) as caught:
        make()
    assert message in str(caught.value)


def test_where_a_part_stands_begins_the_message(builder: kt.ModelBuilder) -> None:
    builder.add_body("x", ball(-1.0), where="robot.txt, line 7")
    builder.add_joint("j", HINGE, "arm", "x")
    with pytest.raises(kt.errors.ModelError, match=r"^robot.txt, line 7: body 'x' has the negative mass"):
        builder.build()


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, math.inf), (0, 0, "down"), 9.81])
def test_gravity_must_be_three_finite_numbers(gravity: object) -> None:
    with pytest.raises(kt.errors.ModelError, match="gravity must be"):
        kt.ModelBuilder("robot", gravity=gravity)  # type: ignore[arg-type]


def test_a_light_body_far_from_its_origin_is_not_taken_for_indefinite(builder: kt.ModelBuilder) -> None:
    builder.add_body("x", ball(1.0, 1e-3, com=(50.0, -20.0, 10.0)))
    builder.add_joint("j", HINGE, "arm", "x")
    assert builder.build().singular_joints == ()


def test_a_point_mass_with_rounding_for_inertia_is_not_taken_for_indefinite(builder: kt.ModelBuilder) -> None:
    builder.add_body("x", Inertia(0.7, Vec3.zero(), Sym3(-5e-20, -5e-20, 0.0, 1e-20, 0.0, 0.0)))
    builder.add_joint("j", kt.Prismatic([1, 0, 0]), "arm", "x")
    assert builder.build().singular_joints == ()


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_principal_moments_are_judged_by_the_size_of_the_largest(size: float) -> None:
    """Rounding in the seventh digit is forgiven, and what is wrong by a hundredth is not: of a watch and of a ship."""

    def build(xx: float, yy: float, zz: float) -> kt.Model:
        made = kt.ModelBuilder("robot")
        made.add_body("base")
        made.add_body("x", Inertia(size, Vec3.zero(), Sym3(xx * size, yy * size, zz * size, 0.0, 0.0, 0.0)))
        made.add_joint("j", HINGE, "base", "x")
        return made.build()

    assert build(-1e-7, 1.0, 1.0).notes == build(1.0, 1.0, 2.0 + 1e-7).notes == ()
    with pytest.raises(kt.errors.ModelError, match="'x' has an inertia with the negative principal moment"):
        build(-0.01, 1.0, 1.0)
    with pytest.warns(kt.errors.ModelWarning, match="'x' has an inertia that no rigid body can have"):
        build(1.0, 1.0, 2.01)
