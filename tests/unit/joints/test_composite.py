"""Composite joints: one joint for a chain of them without bodies between."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.joints.composite import Part
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from tests.kernels import compiled_late
from tests.laws.reference import reference
from tests.strategies import axes, law, transforms
from tests.unit.joints.flat_kinds import check_motion, homogeneous

BODY = Inertia.from_com(2.0, Vec3(0.1, 0.2, -0.3), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
SHIFT = kt.lie.placement((0.2, -0.1, 0.3))
TURN = kt.lie.placement((0.1, 0.4, -0.2), rpy=(0.4, -1.1, 0.6))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
CHAINS: dict[str, Sequence[JointKind | Part]] = {
    "two hinges": [kt.Revolute(X), (kt.Revolute(Y), SHIFT)],
    "skew hinges, apart": [(kt.Revolute((1, 2, 2)), TURN), (kt.Revolute((2, -1, 2)), TURN)],
    "hinge and slider": [(kt.Prismatic((0, 3, 4)), TURN), kt.Revolute((0, 3, 4))],
    "with a fixed part": [kt.Revolute(Z), (kt.Fixed(), TURN), kt.Revolute(X)],
    "ball on a slider": [kt.Prismatic(X), (kt.joints.Spherical(), TURN)],
    "slider on a ball": [(kt.joints.Spherical(), SHIFT), (kt.joints.Helical((1, 1, 0), 0.3), TURN)],
    "ball and frame": [(kt.joints.Spherical(), TURN), (kt.joints.Translation(), SHIFT)],
    "nested": [kt.joints.Composite([kt.Revolute(Z), (kt.Prismatic(X), TURN)]), (kt.joints.Universal(X, Y), SHIFT)],
    "six": [kt.joints.Planar((1, 1, 0)), (kt.joints.Universal(X, Z), TURN), kt.Prismatic(Y)],
    "free in two parts": [kt.joints.Translation(), kt.joints.Spherical()],
    "free": [(kt.Free(), TURN)],
    "screws": [
        kt.joints.Screw(angular=Z, linear=(0.1, 0.4, 0.2)),
        kt.joints.Screw(angular=(0.5, 0, 0), linear=(0, 1, 0)),
    ],
}
each = pytest.mark.parametrize("name", CHAINS)
IDENTITY = Transform.identity()


def pairs(parts: Sequence[JointKind | Part]) -> list[Part]:
    return [(part, IDENTITY) if isinstance(part, JointKind) else part for part in parts]


def robot_with(parts: Sequence[Part]) -> kt.Model:
    """A hinged link, the joints with massless bodies between, a body with a frame, and a hinged tip."""
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    builder.add_body("link", BODY)
    builder.add_joint("hinge", kt.Revolute((1, 2, 2)), "base", "link", kt.lie.placement((0.1, 0.0, 0.4)))
    before = "link"
    for k, (kind, X) in enumerate(parts, 1):
        last = k == len(parts)
        name = "body" if last else f"between{k}"
        builder.add_body(name, BODY if last else None)
        # The composite's own fixed side stands somewhere, too.
        where = X @ kt.lie.placement((0.3, -0.2, 0.5), rpy=(0.3, -0.2, 0.9)) if k == 1 else X
        builder.add_joint(f"joint{k}", kind, before, name, where, armature=(0.05,) * kind.nv)
        before = name
    builder.add_frame("tool", "body", TURN)
    builder.add_body("tip", BODY)
    builder.add_joint("tail", kt.Revolute((2, 1, -2)), "body", "tip", kt.lie.placement((0.0, 0.3, 0.2)))
    return builder.build()


def both(name: str) -> tuple[kt.Model, kt.Model]:
    parts = pairs(CHAINS[name])
    return robot_with([(kt.joints.Composite(CHAINS[name]), IDENTITY)]), robot_with(parts)


EXPRESSIONS = ("local", "world", "local_world_aligned")
QUESTIONS: list[tuple[Callable[..., Any], str, dict[str, str]]] = [
    (kt.aba, "qvx", {}),
    (kt.rnea, "qvx", {}),
    (kt.crba, "q", {}),
    (kt.bias_forces, "qv", {}),
    (kt.gravity_forces, "q", {}),
    (kt.kinetic_energy, "qv", {}),
    (kt.potential_energy, "q", {}),
    (kt.center_of_mass, "q", {}),
    (kt.integrate, "qv", {}),
    (kt.difference, "qp", {}),
    (kt.kinematics.coordinate_rates, "qv", {}),
    (kt.kinematics.integrate_jacobian, "qv", {"wrt": "q"}),
    (kt.kinematics.integrate_jacobian, "qv", {"wrt": "v"}),
    (kt.kinematics.difference_jacobian, "qp", {"wrt": "q0"}),
    (kt.kinematics.difference_jacobian, "qp", {"wrt": "q1"}),
    (kt.frame_placement, "q", {"frame": "tool"}),
    *((kt.kinematics.frame_velocity, "qv", {"frame": "tool", "expressed_in": e}) for e in EXPRESSIONS),
    *((kt.frame_jacobian, "q", {"frame": "tip", "expressed_in": e}) for e in EXPRESSIONS),
    *(
        (kt.kinematics.frame_acceleration, "qvx", {"frame": "tool", "expressed_in": e, "kind": "classical"})
        for e in EXPRESSIONS
    ),
    (kt.kinematics.frame_acceleration, "qvx", {"frame": "tip", "expressed_in": "local", "kind": "spatial"}),
]


@each
def test_a_composite_is_the_chain_of_its_parts_in_every_function(name: str) -> None:
    one, many = both(name)
    assert (one.nq, one.nv) == (many.nq, many.nv)
    rng = np.random.default_rng(4)
    numbers = {"q": many.random(rng), "p": many.random(rng)}
    numbers["v"], numbers["x"] = rng.normal(size=(2, many.nv))
    for function, letters, options in QUESTIONS:
        arguments = [numbers[letter] for letter in letters]
        expected = reference(function, many, *arguments, **options)
        actual = reference(function, one, *arguments, **options)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-10 * scale, err_msg=f"{function} {options}")


@pytest.mark.parametrize("name", ["skew hinges, apart", "slider on a ball"])
def test_compiled_it_is_the_chain_of_its_parts_too(name: str) -> None:
    one, many = both(name)
    rng = np.random.default_rng(4)
    q = np.array([many.random(rng) for _ in range(5)])
    v, x = rng.normal(size=(2, 5, many.nv))
    for function, arguments in ((kt.aba, (q, v, x)), (kt.rnea, (q, v, x)), (kt.crba, (q,))):
        expected = function(many, *arguments)
        np.testing.assert_allclose(function(one, *arguments), expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())
    expected = kt.aba(many, q, v, x)
    rolled = compiled_late(one, kt.aba, unroll=False)(q, v, x)
    np.testing.assert_allclose(rolled, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())


PARTS = st.tuples(
    st.one_of(
        st.builds(kt.Revolute, axes()),
        st.builds(kt.Prismatic, axes()),
        st.builds(kt.joints.Helical, axes(), st.just(0.4)),
        st.just(kt.Fixed()),
        st.just(kt.joints.Planar()),
    ),
    transforms(),
)


@given(st.lists(PARTS, min_size=1, max_size=4), st.integers(0, 2**32 - 1))
@law(60)
def test_any_composite_has_the_motion_of_its_parts_and_its_relatives(parts: list[Part], seed: int) -> None:
    assume(0 < sum(kind.nv for kind, _ in parts) <= 6)
    kind = kt.joints.Composite(parts)
    q, v = np.random.default_rng(seed).uniform(-2.0, 2.0, (2, kind.nv)).tolist()
    check_motion(kind, q, v, tolerance=1e-11)
    placed, start = np.eye(4), 0
    for part, X in parts:
        placed = placed @ np.array(X.homogeneous()).reshape(4, 4) @ homogeneous(part, q[start : start + part.nq])
        start += part.nq
    np.testing.assert_allclose(homogeneous(kind, q), placed, atol=1e-12)

    back = kind.reversed()
    assert back is not None
    np.testing.assert_allclose(homogeneous(back, q) @ placed, np.eye(4), atol=1e-11)
    aligned, T = kind.aligned()
    turn = np.array(T.homogeneous(), dtype=float).reshape(4, 4)
    np.testing.assert_allclose(turn @ homogeneous(aligned, q), placed @ turn, atol=1e-11)
    check_motion(aligned, q, v, tolerance=1e-10)
    for normal in range(3):
        M = np.diag([-1.0 if k == normal else 1.0 for k in range(4)])
        image = kind.mirrored(normal)
        assert image is not None
        np.testing.assert_allclose(homogeneous(image, q), M @ placed @ M, atol=1e-12)
    larger = kind.scaled(3.0)
    assert larger is not None
    longer = [x * 3.0 if unit == "m" else x for x, unit in zip(q, kind.q_units, strict=True)]
    placed[:3, 3] *= 3.0
    np.testing.assert_allclose(homogeneous(larger, longer), placed, atol=1e-11)


@given(st.lists(PARTS, min_size=1, max_size=3), st.integers(0, 2**32 - 1))
@law(40)
def test_what_a_composite_leaves_unseen_no_motion_feels(parts: list[Part], seed: int) -> None:
    assume(0 < sum(kind.nv for kind, _ in parts) <= 6)
    kind = kt.joints.Composite(parts)
    part = kind.unseen(BODY)
    q = np.random.default_rng(seed).uniform(-2.0, 2.0, kind.nq).tolist()
    X_J, S, _, _ = kind.calc(q, [0.0] * kind.nv)
    for column in S.columns:
        np.testing.assert_allclose((part @ column).linear_first(), np.zeros(6), atol=1e-10)
    back = X_J.back(part)
    np.testing.assert_allclose(
        (back.mass, *back.h.components(), *back.I.components()),
        (part.mass, *part.h.components(), *part.I.components()),
        atol=1e-10,
    )


UNSEEN: dict[str, tuple[JointKind, Inertia]] = {
    "turns about one point: the mass": (
        kt.joints.Composite([kt.Revolute(X), kt.joints.Spherical()]),
        Inertia(BODY.mass, Vec3.zero(), Sym3.zero()),
    ),
    "displacements: all rotational inertia": (
        kt.joints.Composite([(kt.Prismatic(X), SHIFT), kt.Prismatic((0, 1, 1))]),
        Inertia(0.0, Vec3.zero(), BODY.I),
    ),
    "motion in a plane: a rod": (
        kt.joints.Composite([kt.Prismatic(X), (kt.Revolute(Z), SHIFT)]),
        Inertia(0.0, Vec3.zero(), Sym3(BODY.I.yy, BODY.I.yy, 0.0, 0.0, 0.0, 0.0)),
    ),
    "anything: nothing": (kt.joints.Composite([kt.joints.Translation(), kt.joints.Spherical()]), Inertia.zero()),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_the_unseen_part_is_the_one_expected(case: str) -> None:
    kind, expected = UNSEEN[case]
    assert kind.unseen(BODY) == expected


def test_coordinates_are_those_of_the_parts_in_turn() -> None:
    kind = kt.joints.Composite([kt.Prismatic(X), kt.joints.Spherical(), kt.Fixed(), kt.joints.Cylindrical(Z)])
    assert (kind.nq, kind.nv, kind.is_flat, kind.quaternions) == (7, 6, False, (1,))
    assert kind.q_names == ("1", "2.qx", "2.qy", "2.qz", "2.qw", "4.angle", "4.displacement")
    assert kind.v_names == ("1", "2.wx", "2.wy", "2.wz", "4.angle", "4.displacement")
    assert kind.q_units == ("m", "", "", "", "", "rad", "m")
    assert kind.neutral() == (0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    assert kind.description == "composite of prismatic along x, spherical, fixed, cylindrical about z"
    nested = kt.joints.Composite([kt.joints.Spherical(), kt.joints.Composite([kt.Prismatic(X), kt.joints.Spherical()])])
    assert nested.quaternions == (0, 5)
    assert nested.q_names[4] == "2.1"
    assert nested.v_names[4:] == ("2.2.wx", "2.2.wy", "2.2.wz")


def test_random_configurations_keep_to_each_parts_limits() -> None:
    kind = kt.joints.Composite([kt.Prismatic(X), kt.joints.Spherical(), kt.Revolute(Z)])
    inf = math.inf
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, *quaternion, angle = kind.random(rng, (2.0, -inf, -inf, -inf, -inf, 0.5), (3.0, inf, inf, inf, inf, inf))
        assert 2.0 <= x <= 3.0
        assert math.hypot(*quaternion) == pytest.approx(1.0, rel=1e-15)
        assert 0.5 <= angle <= math.pi


def test_parts_are_kept_with_their_placements() -> None:
    hinge = kt.Revolute(Z)
    kind = kt.joints.Composite([hinge, (hinge, SHIFT)])
    assert kind.parts == ((hinge, IDENTITY), (hinge, SHIFT))
    assert kind == kt.joints.Composite([(hinge, IDENTITY), (kt.Revolute(Z), SHIFT)])
    assert hash(kind) == hash(kt.joints.Composite([hinge, (hinge, SHIFT)]))
    assert kind != kt.joints.Composite([hinge, hinge])
    assert repr(kt.joints.Composite([hinge, kt.Free()])) == "Composite([Revolute([0.0, 0.0, 1.0]), Free()])"


def test_relatives_that_a_part_does_not_have_are_none() -> None:
    class Wobbly(JointKind):
        nq = nv = 1

        def calc(self, q: Sequence[Any], v: Sequence[Any]) -> Any:
            return kt.Revolute(X).calc(q, v)

    kind = kt.joints.Composite([kt.Revolute(Z), Wobbly()])
    assert kind.mirrored(0) is None
    assert kind.scaled(2.0) is None
    assert kind.reversed() is not None
    assert kt.joints.Composite([kt.Revolute(Z), kt.joints.Spherical()]).reversed() is None


def test_a_joint_of_users_own_may_be_a_part() -> None:
    class Bent(JointKind):
        """A hinge about a skew axis."""

        nq = nv = 1

        def calc(self, q: Sequence[Any], v: Sequence[Any]) -> Any:
            return kt.Revolute((1, 2, 2)).calc(q, v)

    own = robot_with([(kt.joints.Composite([Bent(), kt.Prismatic(X)]), IDENTITY)])
    ours = robot_with([(kt.joints.Composite([kt.Revolute((1, 2, 2)), kt.Prismatic(X)]), IDENTITY)])
    q, v, x = np.random.default_rng(2).normal(size=(3, ours.nv))
    np.testing.assert_allclose(kt.aba(own, q, v, x), kt.aba(ours, q, v, x), rtol=1e-11)


def test_it_works_on_arrays_of_samples() -> None:
    kind = kt.joints.Composite(CHAINS["skew hinges, apart"])
    q, v = np.random.default_rng(6).normal(size=(2, 4, 2))
    motion = kind.calc(list(q.T), list(v.T))
    for k in range(4):
        one = kind.calc(q[k].tolist(), v[k].tolist())
        for batch, single in (
            (motion.X_J.homogeneous(), one.X_J.homogeneous()),
            (motion.c_J.linear_first(), one.c_J.linear_first()),
        ):
            numbers = [np.broadcast_to(x, 4)[k] for x in batch]
            np.testing.assert_allclose(numbers, single, atol=1e-14)


def bad(**change: Any) -> Transform:
    return Transform(**{"E": Mat3.identity(), "r": Vec3.zero(), **change})


REFUSED: dict[str, tuple[Any, str]] = {
    "no list": (3, "its parts must be a list of joint kinds"),
    "nothing": ([], "none of its parts moves"),
    "only fixed parts": ([kt.Fixed(), (kt.Fixed(), SHIFT)], "none of its parts moves; use Fixed"),
    "a part that is no joint": ([kt.Revolute(Z), "x"], "part 2 must be a joint kind"),
    "a part with two placements": ([(kt.Revolute(Z), SHIFT, SHIFT)], "part 1 must be a joint kind"),
    "a placement that is none": ([(kt.Revolute(Z), (0, 0, 0))], "the placement of part 1 must be a Transform"),
    "a placement of words": ([(kt.Revolute(Z), bad(r=Vec3("a", 0, 0)))], "part 1 has entries that are not numbers"),  # type: ignore[arg-type]
    "a placement nowhere": ([(kt.Revolute(Z), bad(r=Vec3(math.inf, 0, 0)))], "part 1 is not finite"),
    "a mirror": ([(kt.Revolute(Z), bad(E=Mat3.identity().times(Mat3(Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, -1)))))],
                 "the E of the placement of part 1 is not a rotation matrix"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_composite_is_refused(case: str) -> None:
    parts, message = REFUSED[case]
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.joints.Composite(parts)


def test_parts_that_move_alike_are_refused_by_the_joints_name() -> None:
    with pytest.raises(
        kt.errors.ModelError, match="joint 'joint1': the 2 columns of its motion subspace are dependent"
    ):
        robot_with([(kt.joints.Composite([kt.Prismatic(X), kt.Prismatic(X)]), IDENTITY)])


def test_too_many_degrees_of_freedom_are_refused_by_the_joints_name() -> None:
    with pytest.raises(kt.errors.ModelError, match="joint 'joint1': its nv must be a whole number from 0 to 6, not 7"):
        robot_with([(kt.joints.Composite([kt.Free(), kt.Revolute(X)]), IDENTITY)])


def test_three_turns_about_a_point_cost_less_than_their_chain() -> None:
    parts = pairs([kt.Revolute(Z), kt.Revolute(Y), kt.Revolute(X)])
    robots = robot_with([(kt.joints.Composite(parts), IDENTITY)]), robot_with(parts)
    one, many = (compiled_late(robot, kt.aba).__self__.program.operation_counts().total() for robot in robots)
    assert one < many
