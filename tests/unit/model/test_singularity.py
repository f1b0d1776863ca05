"""Joints for which forward dynamics is not defined are known when the robot is made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms.crba import crba
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.strategies import law
from tests.unit.model.bodies import ball, chain, point, shift

X, Y, Z = kt.Revolute([1, 0, 0]), kt.Revolute([0, 1, 0]), kt.Revolute([0, 0, 1])
ALONG_X = kt.Prismatic([1, 0, 0])
NOTHING = Inertia.zero()


def test_a_robot_of_solid_bodies_has_none() -> None:
    assert chain([(X, ball()), (ALONG_X, ball()), (kt.Free(), ball())]).singular_joints == ()


def test_a_massless_tip_is_singular() -> None:
    assert chain([(X, ball()), (Y, NOTHING), (Z, NOTHING)]).singular_joints == ("j2", "j3")


def test_a_massless_link_between_solid_ones_is_not() -> None:
    assert chain([(X, NOTHING), (Y, NOTHING), (Z, ball())]).singular_joints == ()


def test_two_joints_about_one_line_with_nothing_between_are_singular_once() -> None:
    # The outer one turns the ball; whatever the inner one does, the outer one can undo.
    assert chain([(Z, NOTHING), (Z, ball())]).singular_joints == ("j1",)


def test_parallel_axes_apart_are_not_singular() -> None:
    assert chain([(Z, NOTHING), (Z, ball())], offset=shift(0.3)).singular_joints == ()


def test_seven_joints_between_a_body_and_the_root_are_one_too_many() -> None:
    axes = [X, Y, Z, X, Y, Z, X]
    parts = [(axis, NOTHING) for axis in axes[:-1]] + [(axes[-1], ball())]
    model = chain(parts, offset=shift(0.3, 0.2, 0.1))
    assert model.singular_joints == ("j1",)
    assert chain(parts[1:], offset=shift(0.3, 0.2, 0.1)).singular_joints == ()


def test_a_point_mass_resists_a_turn_only_away_from_the_axis() -> None:
    assert chain([(X, point())]).singular_joints == ("j1",)
    assert chain([(X, point(com=(0.5, 0.0, 0.0)))]).singular_joints == ("j1",)
    assert chain([(X, point(com=(0.0, 0.5, 0.0)))]).singular_joints == ()


def test_a_point_mass_on_a_skew_axis_is_singular_in_spite_of_rounding() -> None:
    axis = np.array([0.3, -0.5, 0.7]) / np.linalg.norm([0.3, -0.5, 0.7])
    com = tuple(float(x) for x in 1.7 * axis)
    assert chain([(kt.Revolute(list(axis)), point(2.3, com))]).singular_joints == ("j1",)


def test_a_point_mass_resists_a_displacement() -> None:
    assert chain([(ALONG_X, point())]).singular_joints == ()


def test_two_displacements_along_one_line_are_singular() -> None:
    assert chain([(ALONG_X, NOTHING), (ALONG_X, ball())]).singular_joints == ("j1",)


def test_inertia_without_mass_resists_a_turn_but_no_displacement() -> None:
    massless = Inertia(0.0, ball().h, ball().I)
    with pytest.warns(kt.errors.ModelWarning, match="has inertia but no mass"):
        assert chain([(X, massless)]).singular_joints == ()
    with pytest.warns(kt.errors.ModelWarning, match="has inertia but no mass"):
        assert chain([(ALONG_X, massless)]).singular_joints == ("j1",)


def test_a_free_point_mass_is_singular_and_two_of_them_make_a_line_that_is() -> None:
    assert chain([(kt.Free(), point())]).singular_joints == ("j1",)
    assert chain([(kt.Free(), point(com=(1.0, 0.0, 0.0)) + point(com=(-1.0, 0.0, 0.0)))]).singular_joints == ("j1",)


def test_a_free_ball_far_from_its_origin_is_not_singular() -> None:
    assert chain([(kt.Free(), ball(com=(100.0, 0.0, 0.0)))]).singular_joints == ()


def test_a_massless_floating_base_is_held_by_its_legs() -> None:
    builder = kt.ModelBuilder("legs")
    builder.add_body("base")
    for i, kind in enumerate((X, Y)):
        builder.add_body(f"leg{i}", ball())
        builder.add_joint(f"hip{i}", kind, "base", f"leg{i}", shift(0.1 * i, 0.2))
    assert builder.build(floating_base=True).singular_joints == ()


def test_legs_that_swing_about_one_line_do_not_hold_a_massless_base() -> None:
    builder = kt.ModelBuilder("legs")
    builder.add_body("base")
    for i in range(40):
        builder.add_body(f"leg{i}", ball())
        builder.add_joint(f"hip{i}", X, "base", f"leg{i}", shift(0.1 * i))
    assert builder.build(floating_base=True).singular_joints == ("root_joint",)


@pytest.mark.parametrize(
    ("place", "armature"),
    [(kt.lie.placement(rpy=(0.0, 0.0, 0.3)), 0.0), (None, 0.01)],
    ids=["in another direction", "geared"],
)
def test_a_leg_that_is_not_quite_like_the_others_is_heard(place: Transform | None, armature: float) -> None:
    """Legs that are alike resist the same motions, and one of them stands for all; this one holds what they do not."""
    builder = kt.ModelBuilder("legs")
    builder.add_body("base")
    for i in range(4):
        builder.add_body(f"leg{i}", ball())
        at, rotor = (None, 0.0) if i else (place, armature)
        builder.add_joint(f"hip{i}", X, "base", f"leg{i}", at, armature=[rotor])
    assert builder.build(floating_base=True).singular_joints == ()


def test_armature_resists_by_itself() -> None:
    assert chain([(X, NOTHING), (Y, NOTHING)], armature=0.01).singular_joints == ()


def test_a_chain_of_2000_point_masses_is_settled() -> None:
    model = chain([(ALONG_X, point(com=(0.0, 0.1, 0.0)))] * 2000, offset=shift(0.1))
    assert model.singular_joints == ()


def test_a_long_chain_of_solid_bodies_on_a_massless_link_is_not_singular() -> None:
    # Far away mass must not make the inertia near by look like rounding.
    parts = [(Z, NOTHING), *[(Z if i % 2 else Y, ball(0.01, 0.01)) for i in range(300)]]
    assert chain(parts, offset=shift(1.0)).singular_joints == ()


def test_more_doubtful_bodies_than_can_be_checked_are_refused() -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"7,000 or more moving bodies with an inertia that is not positive definite"
    ):
        chain([(ALONG_X, point())] * 7000)


def test_inertias_that_overflow_are_refused_at_their_joint() -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"joint 'j2' and what it carries, from body 'b2' outward, have masses"
    ):
        chain([(X, ball()), (kt.joints.Helical([0, 0, 1], 1e300), NOTHING), (ALONG_X, ball())])


def test_rounding_where_all_rotational_inertia_is_freed_resists_nothing() -> None:
    builder = kt.ModelBuilder("chain")
    builder.add_body("b0")
    for k, (kind, inertia) in enumerate([(X, NOTHING), (X, NOTHING), (Y, NOTHING), (X, NOTHING), (X, point())], 1):
        builder.add_body(f"b{k}", inertia)
        builder.add_joint(f"j{k}", kind, f"b{k - 1}", f"b{k}", shift(0.3, 0.1, -0.2) if k == 4 else None)
    assert builder.build().singular_joints == ("j1", "j4", "j5")


def test_coordinates_whose_inertia_overflows_are_refused_at_the_joint() -> None:
    builder = kt.ModelBuilder("pair")
    builder.add_body("b0")
    for k in (1, 2):
        builder.add_body(f"b{k}")
        builder.add_joint(f"j{k}", Z, f"b{k - 1}", f"b{k}", armature=[1e300 * (k - 1)], where=f"line {k}")
    builder.add_coupling("c", ["j1", "j2"], [[1.0], [1e5]], coordinates=["x"])
    with pytest.raises(kt.errors.ModelError, match=r"line 2: joint 'j2' and what it carries, from body 'b2' outward"):
        builder.build()


@pytest.mark.filterwarnings("ignore:body 'b3' has inertia but no mass:kinetree.errors.ModelWarning")
def test_less_than_no_inertia_by_rounding_is_none() -> None:
    spin = Inertia(0.0, Vec3.zero(), Sym3.scalar(1.0))
    ellipsoid = kt.joints.Ellipsoid([1.0, 1.0, 1.0])
    builder = kt.ModelBuilder("chain")
    builder.add_body("b0")
    for k, (kind, inertia, armature) in enumerate(
        [
            (ellipsoid, NOTHING, 1.0),
            (ellipsoid, NOTHING, 0.0),
            (kt.joints.Spherical(), spin, 1e99),
            (ALONG_X, ball(), 0.0),
        ],
        1,
    ):
        builder.add_body(f"b{k}", inertia)
        builder.add_joint(f"j{k}", kind, f"b{k - 1}", f"b{k}", armature=[armature] * kind.nv)
    assert builder.build().singular_joints == ()


INERTIAS = [NOTHING, NOTHING, point(), point(com=(0.0, 0.2, 0.0)), ball(com=(0.1, 0.0, 0.3))]
KINDS = [X, Y, Z, ALONG_X, kt.Prismatic([0, 0, 1])]
joints = st.tuples(st.sampled_from(KINDS), st.sampled_from(INERTIAS), st.booleans(), st.integers(0, 100))


@law(400)
@given(st.lists(joints, min_size=1, max_size=8))
def test_there_are_as_many_singular_joints_as_the_mass_matrix_has_directions_without_inertia(
    parts: list[tuple[kt.Revolute | kt.Prismatic, Inertia, bool, int]],
) -> None:
    builder = kt.ModelBuilder("tree")
    builder.add_body("b0")
    for i, (kind, inertia, apart, choice) in enumerate(parts, 1):
        builder.add_body(f"b{i}", inertia)
        place = shift(0.3, 0.1, -0.2) if apart else None
        builder.add_joint(f"j{i}", kind, f"b{choice % i}", f"b{i}", place)
    model = builder.build()
    q = model.tree.split(model.random(1).tolist(), "nq")
    H = np.zeros((model.nv, model.nv))
    for (i, j), block in crba(model.tree, q).items():
        H[i - 1, j - 1] = H[j - 1, i - 1] = block[0][0]
    assert np.linalg.matrix_rank(H, tol=1e-9, hermitian=True) == model.nv - len(model.singular_joints)
