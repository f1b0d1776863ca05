"""Joints along and about fixed axes: their motion, their relatives, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.joints import JointKind
from kinetree.joints.composite import unseen_by_trial
from kinetree.spatial import Inertia, Motion, Sym3, Transform, Vec3
from tests.kernels import compiled_late
from tests.laws.reference import reference
from tests.strategies import axes, law, numbers, roundings, vectors
from tests.unit.joints.flat_kinds import Array, check_motion, homogeneous, with_joint

SKEW = (1.0, -2.0, 2.0)
KINDS: dict[str, JointKind] = {
    "screw along": kt.joints.Screw(angular=(0, 0, 0), linear=(0.5, 0, 0)),
    "screw about a line": kt.joints.Screw(angular=(0, -1, 0), linear=(0.2, 0, 0.4)),
    "screw": kt.joints.Screw(angular=(0.6, -1.2, 0.7), linear=(0.3, 0.8, -0.5)),
    "screw through the origin": kt.joints.Screw(angular=(0, 2, 0), linear=(0, 0.3, 0)),
    "screw about a far line": kt.joints.Screw(angular=(0, 0, 0.05), linear=(1.0, 0, 0.01)),
    "helical": kt.joints.Helical(SKEW, 0.3),
    "helical about -x": kt.joints.Helical((-1, 0, 0), -0.2),
    "helical without pitch": kt.joints.Helical((0, 1, 0), 0),
    "cylindrical": kt.joints.Cylindrical(SKEW),
    "cylindrical about y": kt.joints.Cylindrical((0, 1, 0)),
    "universal": kt.joints.Universal((1, 0, 0), (0, 0, 1)),
    "universal about skew axes": kt.joints.Universal(SKEW, (0.5, 1, 0)),
    "planar": kt.joints.Planar(),
    "planar across x": kt.joints.Planar((1, 0, 0)),
    "planar across a skew normal": kt.joints.Planar(SKEW, along=(2, 1, 0)),
    "translation": kt.joints.Translation(),
    "reversed planar": kt.joints.Reversed(kt.joints.Planar(SKEW)),
    "reversed universal": kt.joints.Reversed(kt.joints.Universal((1, 0, 0), (0, 1, 0))),
    "custom": kt.joints.MultiDof.angular_first([[0.5, 0, 0, 0.1, 1, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1]]),
}
each = pytest.mark.parametrize("name", KINDS)


def state(kind: JointKind) -> tuple[list[float], list[float]]:
    """Coordinates and rates with nothing special about them."""
    rng = np.random.default_rng(3)
    return rng.uniform(-2.0, 2.0, kind.nq).tolist(), rng.uniform(-2.0, 2.0, kind.nv).tolist()


def matrix(X: Transform) -> Array:
    """The placement of X, (4, 4)."""
    return np.array(X.homogeneous(), dtype=float).reshape(4, 4)


@each
def test_the_subspace_is_the_velocity_of_the_placement_and_the_bias_its_rate(name: str) -> None:
    check_motion(KINDS[name], *state(KINDS[name]))


@each
def test_both_sides_coincide_at_zero(name: str) -> None:
    np.testing.assert_array_equal(homogeneous(KINDS[name], KINDS[name].neutral()), np.eye(4))


@each
def test_the_reversed_joint_has_the_inverse_placement_at_the_same_coordinates(name: str) -> None:
    kind = KINDS[name]
    back = kind.reversed()
    assert back is not None
    q, v = state(kind)
    np.testing.assert_allclose(homogeneous(back, q) @ homogeneous(kind, q), np.eye(4), atol=1e-14)
    assert (back.q_names, back.q_units) == (kind.q_names, kind.q_units)
    assert back.reversed() == kind
    check_motion(back, q, v)


@each
@pytest.mark.parametrize("normal", range(3))
def test_the_mirrored_joint_has_the_mirrored_placement_at_the_same_coordinates(name: str, normal: int) -> None:
    kind = KINDS[name]
    image = kind.mirrored(normal)
    assert image is not None
    M = np.diag([-1.0 if k == normal else 1.0 for k in range(4)])
    q, v = state(kind)
    np.testing.assert_allclose(homogeneous(image, q), M @ homogeneous(kind, q) @ M, atol=1e-14)
    assert image.q_units == kind.q_units
    check_motion(image, q, v)


@each
def test_the_scaled_joint_leads_further_by_the_factor(name: str) -> None:
    kind, factor = KINDS[name], 2.5
    larger = kind.scaled(factor)
    assert larger is not None
    q, v = state(kind)
    expected = homogeneous(kind, q)
    expected[:3, 3] *= factor
    longer = [x * factor if unit == "m" else x for x, unit in zip(q, kind.q_units, strict=True)]
    np.testing.assert_allclose(homogeneous(larger, longer), expected, atol=1e-14)
    check_motion(larger, longer, v)


@each
def test_the_aligned_joint_is_the_same_in_other_axes(name: str) -> None:
    kind = KINDS[name]
    aligned, T = kind.aligned()
    q, v = state(kind)
    turned = matrix(T.inverse) @ homogeneous(kind, q) @ matrix(T)
    np.testing.assert_allclose(homogeneous(aligned, q), turned, atol=1e-14)
    check_motion(aligned, q, v)


@each
def test_what_is_unseen_is_felt_by_no_motion_and_changed_by_no_position(name: str) -> None:
    kind = KINDS[name]
    inertia = Inertia.from_com(2.0, Vec3(0.1, 0.2, -0.3), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    part = kind.unseen(inertia)
    X_J, S, _, _ = kind.calc(*state(kind))
    for column in S.columns:
        np.testing.assert_allclose((part @ column).linear_first(), np.zeros(6), atol=1e-15)
    back = X_J.back(part)
    np.testing.assert_allclose((back.mass, *back.h.components(), *back.I.components()),
                               (part.mass, *part.h.components(), *part.I.components()), atol=1e-15)  # fmt: skip


@pytest.mark.parametrize("name", [n for n in KINDS if not n.startswith("reversed")])
def test_as_much_is_unseen_as_a_trial_finds(name: str) -> None:
    kind = KINDS[name].aligned()[0]
    inertia = Inertia.from_com(2.0, Vec3(0.1, 0.2, -0.3), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    assert kind.unseen(inertia) == unseen_by_trial(kind, inertia)


UNSEEN = {
    "helical": Inertia(0.0, Vec3.zero(), Sym3(0.4, 0.4, 0.0, 0.0, 0.0, 0.0)),
    "cylindrical": Inertia(0.0, Vec3.zero(), Sym3(0.4, 0.4, 0.0, 0.0, 0.0, 0.0)),
    "universal": Inertia(2.0, Vec3.zero(), Sym3.zero()),
    "planar": Inertia(0.0, Vec3.zero(), Sym3(0.4, 0.4, 0.0, 0.0, 0.0, 0.0)),
    "translation": Inertia(0.0, Vec3.zero(), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03)),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_the_unseen_part_is_the_one_expected(name: str) -> None:
    inertia = Inertia(2.0, Vec3(0.1, 0.2, -0.3), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    assert KINDS[name].aligned()[0].unseen(inertia) == UNSEEN[name]


@each
def test_regrouped_inertias_leave_forces_and_accelerations_as_they_are(name: str) -> None:
    """The public functions run on regrouped inertias in aligned axes; the algorithms here on the tree as given."""
    robot = with_joint(KINDS[name])
    rng = np.random.default_rng(5)
    q = robot.random(rng)
    v, x = rng.normal(size=(2, robot.nv))
    pieces = [robot.tree.split(part.tolist(), size) for part, size in ((q, "nq"), (v, "nv"), (x, "nv"))]
    forces = robot.tree.joined(algorithms.rnea(robot.tree, *pieces), "forces")
    accelerations = robot.tree.joined(algorithms.aba(robot.tree, *pieces), "nv")
    H = np.array(algorithms.crba(robot.tree, pieces[0]).flat()).reshape(robot.nv, robot.nv)
    for actual, expected in (
        (kt.rnea(robot, q, v, x), forces),
        (kt.aba(robot, q, v, x), accelerations),
        (kt.crba(robot, q), H),
        (reference(kt.rnea, robot, q, v, x), forces),
        (reference(kt.aba, robot, q, v, x), accelerations),
        (reference(kt.crba, robot, q), H),
    ):
        np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-11 * max(1.0, np.abs(expected).max()))


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
PLANE = kt.joints.Planar(SKEW)
CHAINS: dict[str, tuple[JointKind, list[JointKind]]] = {
    "cylindrical": (kt.joints.Cylindrical(SKEW), [kt.Revolute(SKEW), kt.Prismatic(SKEW)]),
    "universal": (kt.joints.Universal(SKEW, Y), [kt.Revolute(SKEW), kt.Revolute(Y)]),
    "planar": (kt.joints.Planar(), [kt.Prismatic(X), kt.Prismatic(Y), kt.Revolute(Z)]),
    "planar across y": (kt.joints.Planar(Y), [kt.Prismatic(Z), kt.Prismatic(X), kt.Revolute(Y)]),
    "planar across a skew normal": (
        PLANE,
        [kt.Prismatic(PLANE.along), kt.Prismatic(PLANE.normal.cross(PLANE.along)), kt.Revolute(SKEW)],
    ),
    "translation": (kt.joints.Translation(), [kt.Prismatic(X), kt.Prismatic(Y), kt.Prismatic(Z)]),
    "custom planar": (
        kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]]),
        [kt.Prismatic(X), kt.Prismatic(Y), kt.Revolute(Z)],
    ),
    "screw without turn": (kt.joints.Screw(angular=(0, 0, 0), linear=Y), [kt.Prismatic(Y)]),
    "screw without advance": (kt.joints.Screw(angular=(0, -1, 0), linear=(0, 0, 0)), [kt.Revolute((0, -1, 0))]),
    "helical without pitch": (kt.joints.Helical(SKEW, 0.0), [kt.Revolute(SKEW)]),
    "screw along its axis": (kt.joints.Screw(angular=Z, linear=(0, 0, 0.2)), [kt.joints.Helical(Z, 0.2)]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_joint_is_the_chain_of_its_motions(name: str) -> None:
    kind, chain = CHAINS[name]
    one, many = with_joint(kind, armature=0.1), with_joint(*chain, armature=0.1)
    rng = np.random.default_rng(1)
    q, v, x = rng.normal(size=(3, one.nv))
    for function, arguments in ((kt.aba, (q, v, x)), (kt.rnea, (q, v, x)), (kt.crba, (q,))):
        expected = reference(function, many, *arguments)
        np.testing.assert_allclose(
            reference(function, one, *arguments), expected, rtol=0.0, atol=1e-11 * max(1.0, np.abs(expected).max())
        )
    for frame in ("body", "tip"):
        actual, expected = (reference(kt.frame_placement, robot, q, frame=frame) for robot in (one, many))
        np.testing.assert_allclose(actual, expected, atol=1e-13)


def exponential(a: Array) -> Array:
    """Of a matrix, by its series at a 1024th of it, squared ten times."""
    term = total = np.eye(len(a))
    for k in range(1, 12):
        term = term @ a / (1024.0 * k)
        total = total + term
    for _ in range(10):
        total = total @ total
    return total


@given(vectors(2.0), vectors(2.0), numbers(3.0))
@law(50)
def test_a_screw_moves_by_the_exponential_of_its_motion(angular: Vec3, linear: Vec3, q: float) -> None:
    if not any((*angular.components(), *linear.components())):
        return
    x, y, z = angular.components()
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    twist[:3, 3] = linear.components()
    screw = kt.joints.Screw(angular=angular, linear=linear)
    np.testing.assert_allclose(homogeneous(screw, [q]), exponential(q * twist), atol=2e-12)
    assert screw.calc([q], [1.0]).S.columns == (Motion(angular, linear),)


def test_a_screw_about_a_line_far_away_is_exact() -> None:
    """With ω = 1e-6 the line passes a thousand kilometres away; the path is v (sin ωq, 1 - cos ωq) / ω."""
    w, q = 1e-6, 3.0
    screw = kt.joints.Screw(angular=(0, 0, w), linear=(1, 0, 0))
    x, y, _ = screw.calc([q], [0.0]).X_J.r.components()
    assert x == pytest.approx(q, rel=1e-11)
    assert y == pytest.approx(w * q * q / 2.0, rel=1e-11)


@given(axes(), numbers(1.0), numbers(4.0))
@law(25)
def test_helical_joints_are_screws(axis: Sequence[float], pitch: float, q: float) -> None:
    kind = kt.joints.Helical(axis, pitch)
    screw = kt.joints.Screw(angular=kind.axis, linear=kind.axis * pitch)
    np.testing.assert_allclose(homogeneous(kind, [q]), homogeneous(screw, [q]), atol=1e-14)


@given(axes())
@law(50)
def test_a_planar_joint_has_right_handed_axes_and_the_stated_ones_at_coordinate_normals(axis: Sequence[float]) -> None:
    kind = kt.joints.Planar(axis)
    place = homogeneous(kind, [1.0, 0.0, 0.0])[:3, 3], homogeneous(kind, [0.0, 1.0, 0.0])[:3, 3]
    # The normal is off by 3 roundings, each axis by 5 more; a product and a difference add 2.
    np.testing.assert_allclose(np.cross(*place), kind.normal.components(), atol=roundings(3 + 2 * 8 + 2))
    if sorted(map(abs, axis)) == [0.0, 0.0, 1.0]:
        k = [abs(a) for a in axis].index(1.0)
        assert place[0].tolist() == [float(n == (k + 1) % 3) for n in range(3)]
        assert place[1].tolist() == [axis[k] * float(n == (k + 2) % 3) for n in range(3)]


NAMES = {
    "helical": [""],
    "screw": [""],
    "cylindrical": ["angle", "displacement"],
    "universal": ["angle1", "angle2"],
    "planar": ["x", "y", "angle"],
    "translation": ["x", "y", "z"],
    "reversed planar": ["x", "y", "angle"],
    "custom": ["1", "2", "3"],
}
UNITS = {
    "helical": ["rad"],
    "screw": ["rad"],
    "screw along": ["m"],
    "cylindrical": ["rad", "m"],
    "universal": ["rad", "rad"],
    "planar": ["m", "m", "rad"],
    "translation": ["m", "m", "m"],
    "reversed planar": ["m", "m", "rad"],
    "custom": ["rad", "rad", "m"],
}


@pytest.mark.parametrize("name", NAMES)
def test_coordinates_have_names(name: str) -> None:
    assert KINDS[name].q_names == KINDS[name].v_names == tuple(NAMES[name])


@pytest.mark.parametrize("name", UNITS)
def test_coordinates_have_units(name: str) -> None:
    assert KINDS[name].q_units == tuple(UNITS[name])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("screw along", "screw along x"),
        ("screw about a line", "screw about -y through (-0.4, 0, 0.2)"),
        ("screw through the origin", "screw about y, 0.15 m/rad"),
        ("helical about -x", "helical about -x, -0.2 m/rad"),
        ("cylindrical about y", "cylindrical about y"),
        ("universal", "universal about x, then z"),
        ("planar across x", "planar across x"),
        ("translation", "translation"),
        ("reversed planar", "reversed planar across (0.3333, -0.6667, 0.6667)"),
    ],
)
def test_kinds_describe_themselves(name: str, words: str) -> None:
    assert KINDS[name].description == words


@each
def test_a_kind_prints_as_what_makes_it(name: str) -> None:
    kind = KINDS[name]
    namespace = {k: getattr(kt.joints, k) for k in kt.joints.__all__}
    assert eval(repr(kind), namespace) == kind


NAN = math.nan
REFUSED: dict[str, tuple[Callable[[], JointKind], str]] = {
    "a screw that does not move": (lambda: kt.joints.Screw(angular=(0, 0, 0), linear=(0, 0, 0)), "both zero"),
    "a screw of two numbers": (lambda: kt.joints.Screw(angular=(0, 1), linear=(0, 0, 0)),
        "angular must be three numbers"),
    "a screw of words": (lambda: kt.joints.Screw(angular=Z, linear=("a", 0, 0)), "linear must be three numbers"),
    "an infinite screw": (lambda: kt.joints.Screw(angular=Z, linear=(math.inf, 0, 0)), "three finite numbers"),
    "a line out of reach": (lambda: kt.joints.Screw(angular=(0, 0, 1e-200), linear=X),
        "make it zero for a displacement"),
    "a pitch that is NaN": (lambda: kt.joints.Helical(Z, NAN), "the pitch must be a finite number"),
    "a pitch that is not a number": (lambda: kt.joints.Helical(Z, "1"), "the pitch must be a finite number"),
    "a helix about nothing": (lambda: kt.joints.Helical((0, 0, 0), 1.0), "not all zero"),
    "a cylinder about nothing": (lambda: kt.joints.Cylindrical((0, 0, 0)), "not all zero"),
    "parallel axes": (lambda: kt.joints.Universal(SKEW, (-2.0, 4.0, -4.0)), "are parallel, so both would turn alike"),
    "a direction off the plane": (lambda: kt.joints.Planar(Z, along=(1, 0, 0.1)), "does not lie in the plane"),
    "no normal": (lambda: kt.joints.Planar((0, 0, 0)), "not all zero"),
    "nothing to reverse": (lambda: kt.joints.Reversed("planar"), "give it a joint kind"),
    "no subspaces": (lambda: kt.joints.MultiDof.angular_first([]), "there are no subspaces"),
    "no list": (lambda: kt.joints.MultiDof.linear_first(3), "its subspaces must be a list"),
    "a row of five": (lambda: kt.joints.MultiDof.linear_first([[1, 0, 0, 0, 0, 0], [0] * 5]), "row 2 has 5 numbers"),
    "a row of zeros": (lambda: kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0] * 6]), "row 2 is all zero"),
    "a row of words": (lambda: kt.joints.MultiDof.angular_first([["x"] * 6]), "row 1 must be six numbers"),
    "a row that is no row": (lambda: kt.joints.MultiDof.angular_first([7]), "row 1 must be six numbers, not 7"),
    "a row with NaN": (lambda: kt.joints.MultiDof.linear_first([[NAN, 0, 0, 0, 0, 0]]),
        "row 1 has numbers that are not fin"),
    "rows for motions": (lambda: kt.joints.MultiDof([[0, 0, 0, 1, 0, 0]]), "subspace 1 must be a Motion"),
    "a motion out of reach": (
        lambda: kt.joints.MultiDof.linear_first([[1, 0, 0, 0, 0, 0], [0, 1, 0, 1e-200, 0, 0]]),
        "subspace 2 is not a motion",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_joint_is_refused(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(kt.errors.ModelError, match=message):
        make()


def test_joints_with_dependent_motions_are_refused_by_name() -> None:
    twice = kt.joints.MultiDof.linear_first([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
    with pytest.raises(
        kt.errors.ModelError, match="joint 'joint0': the 3 columns of its motion subspace are dependent"
    ):
        with_joint(twice)


def test_joints_of_more_than_six_degrees_of_freedom_are_refused_by_name() -> None:
    rows = [*np.eye(6).tolist(), [1, 0, 0, 1, 0, 0]]
    with pytest.raises(kt.errors.ModelError, match="joint 'joint0': its nv must be a whole number from 0 to 6, not 7"):
        with_joint(kt.joints.MultiDof.linear_first(rows))


def test_the_orders_of_components_are_those_they_are_called_by() -> None:
    row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert kt.joints.MultiDof.angular_first([row]).subspaces == (Motion(Vec3(1.0, 2.0, 3.0), Vec3(4.0, 5.0, 6.0)),)
    assert kt.joints.MultiDof.linear_first([row]).subspaces == (Motion(Vec3(4.0, 5.0, 6.0), Vec3(1.0, 2.0, 3.0)),)


def operations(kind: JointKind, function: Callable[..., Array]) -> int:
    """Left in the compiled function of a robot with the joint."""
    total: int = compiled_late(with_joint(kind, tail=False), function).__self__.program.operation_counts().total()
    return total


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.crba])
def test_a_planar_joint_of_coordinate_motions_costs_what_planar_costs(function: Callable[..., Array]) -> None:
    custom, planar = CHAINS["custom planar"][0], kt.joints.Planar()
    assert operations(custom, function) == operations(planar, function)


@pytest.mark.parametrize(
    "kind", [kt.joints.Helical, lambda axis, _: kt.joints.Cylindrical(axis), lambda axis, _: kt.joints.Planar(axis)]
)
def test_a_skew_axis_costs_little_more_than_z(kind: Callable[[Sequence[float], float], JointKind]) -> None:
    """Between bodies with skew placements, as the axes can be turned."""
    assert operations(kind(SKEW, 0.1), kt.aba) <= 1.02 * operations(kind(Z, 0.1), kt.aba)


@pytest.mark.parametrize("name", ["cylindrical", "universal", "translation"])
def test_one_joint_costs_no_more_than_its_chain(name: str) -> None:
    kind, chain = CHAINS[name]
    many = compiled_late(with_joint(*chain, tail=False), kt.aba).__self__.program.operation_counts().total()
    assert operations(kind, kt.aba) <= many


def test_loops_over_bodies_take_these_joints() -> None:
    """The programs with loops agree with the straight ones."""
    rng = np.random.default_rng(8)
    builder = kt.ModelBuilder("row")
    builder.add_body("b0")
    inertia = Inertia.from_com(2.0, Vec3(0.1, 0.2, -0.3), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    for k, name in enumerate(("universal", "planar across x", "helical", "screw", "custom", "translation"), 1):
        builder.add_body(f"b{k}", inertia)
        builder.add_joint(f"j{k}", KINDS[name], f"b{k - 1}", f"b{k}", kt.lie.placement((0.1, 0.2, 0.3)))
    robot = builder.build()
    q, v, x = rng.normal(size=(3, robot.nv))
    for function, arguments in ((kt.aba, (q, v, x)), (kt.rnea, (q, v, x)), (kt.crba, (q,))):
        expected = reference(function, robot, *arguments)
        rolled = compiled_late(robot, function, unroll=False)(*arguments)
        np.testing.assert_allclose(rolled, expected, rtol=0.0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def test_every_part_of_a_mirrored_chain_stays_a_joint_of_its_own() -> None:
    """What leaves its kind when mirrored is a composite of simpler ones, so a second mirror gives the first motion."""
    for kind in (kt.joints.Cylindrical(SKEW), kt.joints.Translation()):
        q, _ = state(kind)
        image = kind.mirrored(1)
        assert image is not None
        again = image.mirrored(1)
        assert again is not None
        np.testing.assert_allclose(homogeneous(again, q), homogeneous(kind, q), atol=1e-15)


@given(st.lists(st.tuples(vectors(1.0), vectors(1.0)), min_size=1, max_size=3))
@law(25)
def test_custom_joints_give_the_chain_that_they_emulate(motions: list[tuple[Vec3, Vec3]]) -> None:
    if any(not any((*a.components(), *b.components())) for a, b in motions):
        return
    kind = kt.joints.MultiDof([Motion(a, b) for a, b in motions])
    q, v = state(kind)
    placed = np.eye(4)
    for screw, x in zip(kind.chain(), q, strict=True):
        placed = placed @ homogeneous(screw, [x])
    np.testing.assert_allclose(homogeneous(kind, q), placed, atol=1e-12)
    check_motion(kind, q, v, tolerance=1e-11)
