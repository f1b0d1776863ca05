"""The table of pairs that may touch, beside the rules written for one pair at a time; and scenes of many bodies."""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import crba
from kinetree.collision.shapes import KINDS
from kinetree.contact_model import InverseWeights, inverse_weights, pairs, touches
from kinetree.contact_model.mixing import mixed, of_pair, softness
from kinetree.contact_model.pairs import WORLD, Groups, touching_pairs
from kinetree.contact_model.shapes import Surface, kind_of, surfaces
from kinetree.contact_model.touches import kinds_of
from kinetree.functions.contact_options import contact_option
from kinetree.model import Geometry
from kinetree.model.extras import (
    BodySettings,
    CollisionPair,
    ContactExclusion,
    ContactPair,
    ContactParameters,
    Extras,
    SimulationFlags,
    SimulationOptions,
    UncheckedBody,
)
from kinetree.model.reference import with_tendon_armature
from kinetree.spatial import Transform
from tests.calls import calls_of

BALL = Geometry("collision", "sphere", (0.1,), Transform.identity())
SIZES = {"sphere": (0.1,), "box": (0.1, 0.2, 0.3), "capsule": (0.1, 0.2), "plane": (np.inf, np.inf)}
Pair = tuple[str, str, int]


def random_scene(seed: int) -> kt.Model:
    """Bodies on free, hinged and fixed joints, with shapes of all sorts, and all sorts of rules for them."""
    rng = np.random.default_rng(seed)
    count, is_plain = int(rng.integers(4, 12)), bool(rng.integers(2))
    builder = kt.ModelBuilder("scene")
    number = 0

    def shape() -> Geometry:
        nonlocal number
        number += 1
        contact: ContactParameters | None
        kind = str(rng.choice([*SIZES]))
        bits = [int(x) for x in rng.integers(0, 4, size=2)]
        contact = ContactParameters(
            *bits, priority=int(rng.integers(2)), solmix=float(rng.random()), margin=float(rng.random()), gap=0.01,
            solref=(float(rng.random()), 1.0), condim=int(rng.choice([1, 3, 4])),
        )  # fmt: skip
        if is_plain and rng.random() < 0.8:
            contact = None
        name = "" if rng.random() < 0.2 else f"shape{number}"
        return Geometry("collision", kind, SIZES[kind], Transform.identity(), name, contact=contact)

    for k in range(count):
        # A body without shapes or mass may be part of a joint.
        bare = 0 < k < count - 1 and rng.random() < 0.2
        inertia = None if bare or not k else kt.solids.sphere(0.1, mass=1.0 + k)
        builder.add_body(f"b{k}", inertia, geometry=[] if bare else [shape() for _ in range(int(rng.integers(0, 4)))])
        if k:
            kinds: list[kt.joints.JointKind] = [kt.Free(), kt.Revolute([0, 0, 1]), kt.Fixed()]
            parent = f"b{int(rng.integers(0, k))}"
            place = kt.lie.placement(tuple(rng.normal(size=3)))
            builder.add_joint(f"j{k}", kinds[int(rng.choice(3, p=[0.3, 0.5, 0.2]))], parent, f"b{k}", place)
    bodies = [f"b{k}" for k in range(count)] + ["nobody"]

    def some(most: int) -> list[list[str]]:
        return [[str(x) for x in rng.choice(bodies, 2)] for _ in range(int(rng.integers(0, most)))]

    names = [f"shape{k}" for k in range(1, number + 2)]
    chosen = [[str(x) for x in rng.choice(names, 2)] for _ in range(int(rng.integers(0, 8)))]
    flags = SimulationFlags(filterparent=bool(rng.integers(2)), override=bool(rng.integers(2)))
    builder.extras = Extras(
        contact_exclusions=tuple(ContactExclusion(a, b) for a, b in some(4)),
        collision_pairs=tuple(CollisionPair(a, b, checked=bool(rng.integers(2))) for a, b in some(4)),
        unchecked_bodies=tuple(UncheckedBody(a) for a, _ in some(3)),
        contact_pairs=tuple(ContactPair(a, b, friction=(0.3,) * 5) for a, b in chosen),
        options=None if rng.integers(2) else SimulationOptions(flags=flags),
        bodies=tuple(BodySettings(a, mocap=True) for a, _ in some(2) if a == "b1"),
    )
    return builder.build(floating_base=bool(rng.integers(2)))


def by_rules(robot: kt.Model, options: SimulationOptions) -> list[Pair]:
    """The names of all pairs in their order, and the numbers of the file's own, one pair after the other."""
    shapes, groups, extras = surfaces(robot), Groups(robot), robot.extras
    slot = {name: body.slot for name, body in robot.bodies.items()}
    rules = [(frozenset((x.body1, x.body2)), x.checked) for x in extras.collision_pairs]
    checked = {both for both, is_checked in rules if is_checked}
    excluded = {both for both, is_checked in rules if not is_checked}
    excluded |= {frozenset((x.body1, x.body2)) for x in extras.contact_exclusions}
    unchecked = {x.body for x in extras.unchecked_bodies}
    grounds = ("plane", "heightfield")

    def can_move(a: Surface, b: Surface) -> bool:
        return slot[a.body] != slot[b.body] and not (a.geometry.shape in grounds and b.geometry.shape in grounds)

    def neighbours(a: Surface, b: Surface) -> bool:
        if WORLD not in (groups.of(a.body), groups.of(b.body)):
            return groups.above(a.body) == groups.of(b.body) or groups.above(b.body) == groups.of(a.body)
        fixed, moving = (a, b) if groups.of(a.body) == WORLD else (b, a)
        joined = groups.joined_to_root(moving.body) == fixed.body
        return a.is_plain and b.is_plain and fixed.geometry.shape not in grounds and joined

    def allowed(a: Surface, b: Surface) -> bool:
        bodies, p, q = frozenset((a.body, b.body)), a.contact, b.contact
        if not (p.contype & q.conaffinity or q.contype & p.conaffinity) or not can_move(a, b) or bodies in excluded:
            return False
        return bodies in checked or not (bodies & unchecked or (options.flags.filterparent and neighbours(a, b)))

    def ordered(a: Surface, b: Surface) -> tuple[Surface, Surface]:
        return (b, a) if KINDS.index(kind_of(a.geometry)) > KINDS.index(kind_of(b.geometry)) else (a, b)

    named = {one.geometry.name: one for one in reversed(shapes)}
    found: list[tuple[tuple[int, ...], Pair]] = []
    of_file = set()
    for k, pair in enumerate(extras.contact_pairs):
        if pair.shape1 in named and pair.shape2 in named:
            a, b = sorted((named[pair.shape1], named[pair.shape2]), key=lambda one: one.place)
            of_file.add((a.place, b.place))
            if can_move(a, b):
                one, other = ordered(a, b)
                found.append(((a.place[0], b.place[0], 0, k), (one.name, other.name, k)))
    for n, a in enumerate(shapes):
        for b in shapes[n + 1 :]:
            if allowed(a, b) and (a.place, b.place) not in of_file:
                one, other = ordered(a, b)
                found.append(((a.place[0], b.place[0], 1, *one.place, *other.place), (one.name, other.name, -1)))
    return [pair for _, pair in sorted(found)]


def test_the_table_has_the_pairs_of_the_rules_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(60):
        monkeypatch.setattr(pairs, "_TOGETHER", seed % 7)  # as in scenes of so many shapes that they come in parts
        robot = random_scene(seed)
        options = robot.extras.options or SimulationOptions()
        assert names_of(touching_pairs(robot, options)) == by_rules(robot, options), seed


def names_of(table: pairs.Pairs) -> list[Pair]:
    columns = (table.first.tolist(), table.second.tolist(), table.number.tolist())
    return [(table.shapes[i].name, table.shapes[j].name, number) for i, j, number in zip(*columns, strict=True)]


def test_the_files_own_pairs_come_first_among_those_of_two_bodies() -> None:
    builder = kt.ModelBuilder("two")
    builder.add_body("a", geometry=[replace(BALL, name="p"), replace(BALL, name="q")])
    builder.add_body("b", kt.solids.sphere(0.1, mass=1.0), geometry=[replace(BALL, name="r")])
    builder.add_joint("j", kt.Free(), "a", "b")
    builder.extras = Extras(contact_pairs=(ContactPair("r", "q"),) * 9)
    table = touching_pairs(builder.build(), SimulationOptions())
    assert names_of(table) == [*(("q", "r", k) for k in range(9)), ("p", "r", -1)]


def test_random_scenes_have_all_sorts_of_pairs() -> None:
    """Otherwise the test above would notice little."""
    found: Counter[str] = Counter()
    for seed in range(60):
        robot = random_scene(seed)
        table = touching_pairs(robot, robot.extras.options or SimulationOptions())
        found["own"] += np.count_nonzero(table.number >= 0)
        found["swapped"] += np.count_nonzero(table.first > table.second)
        found["others"] += len(table.number)
    assert found["own"] > 20
    assert found["swapped"] > 100
    assert found["others"] > 800


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_a_pair_has_the_mixed_parameters_of_its_shapes_or_the_files() -> None:
    given: list[dict[str, Any]] = [{}, {"friction": 0.2}, {"setting": "rigid", "reach": 0.5}]
    for seed in range(0, 60, 2):
        assert_parameters(random_scene(seed), given[seed % 3])


def assert_parameters(robot: kt.Model, given: dict[str, Any]) -> None:
    try:
        soft = kt.contact.soft_constraints(robot, **given)
    except kt.errors.ModelError:  # without inertia
        return
    options, weights = robot.extras.options or SimulationOptions(), InverseWeights(robot)
    shapes = {one.name: one for one in surfaces(robot)}
    for touch in soft.touches:
        a, b = sorted((shapes[touch.first.name], shapes[touch.second.name]), key=lambda one: one.place)
        names = {touch.first.name, touch.second.name}
        own = [pair for pair in robot.extras.contact_pairs if {pair.shape1, pair.shape2} == names]
        expected = of_pair(own[0], options) if own else mixed(a.contact, b.contact, options)
        assert touch.pair is None or (own and touch.pair.startswith("pair["))
        sliding = given.get("friction", expected.friction[0])
        assert touch.friction == (sliding, sliding, *expected.friction[2:])
        assert (touch.dimension, touch.margin) == (expected.condim, expected.margin)
        assert touch.selection == expected.margin + expected.gap + given.get("reach", 0.0)
        both = (touch.first.body, touch.second.body)
        one, other = (weights.of_body(body).translation for body in both)
        assert touch.softness == softness(expected.solref, expected.solimp, one + other, 2.0 * options.timestep)
        if touch.sides is not None:
            assert touch.sides == (shapes[touch.first.name].contact, shapes[touch.second.name].contact)


# -- many bodies


def scene_file(count: int, bits: str = "", floor: str = "") -> str:
    bodies = "".join(
        f'<body pos="{0.3 * k} 0 1"><freejoint/><geom name="g{k}" size="0.05" mass="1" {bits}/></body>'
        for k in range(count)
    )
    return f'<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1" {floor}/>{bodies}</worldbody></mujoco>'


def scene(count: int, bits: str = "", floor: str = "") -> kt.Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.xml"
        path.write_text(scene_file(count, bits, floor))
        return kt.load(path)


@pytest.fixture(scope="module")
def many() -> kt.Model:
    return scene(1000)


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_a_thousand_bodies_have_half_a_million_pairs_none_of_which_is_made(
    many: kt.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    spec = touches.TouchSpec
    monkeypatch.setattr(touches, "TouchSpec", lambda *numbers: made.append(numbers) or spec(*numbers))
    soft = kt.contact.soft_constraints(many)
    assert len(soft.touches) == 1000 + 1000 * 999 // 2
    assert kinds_of(soft.touches) == {"sphere and sphere": 499_500, "plane and sphere": 1000}
    assert "500500 pairs of shapes" in str(soft)
    assert hash(soft) == hash(replace(soft))
    assert not made
    one, last = soft.touches[0], soft.touches[-1]
    assert (one.first.name, one.second.name) == ("floor", "g0")
    assert (last.first.name, last.second.name) == ("g998", "g999")
    assert last.softness.inverse_inertia == pytest.approx(2.0)
    assert len(made) == 2
    with pytest.raises(kt.errors.ModelError, match=r"more than 100,000 pairs .* its shapes are 1,000 sphere, 1 plane"):
        contact_option(many, soft)


def test_pairs_are_made_once_and_equal_a_tuple_of_them() -> None:
    soft = kt.contact.soft_constraints(scene(5))
    lazy, eager = soft.touches, tuple(soft.touches)
    assert isinstance(lazy, touches.Touches)
    assert (lazy == eager, eager == lazy, lazy == eager[1:], lazy == [*eager]) == (True, True, False, False)
    assert (hash(lazy), repr(lazy), len(lazy)) == (hash(eager), repr(eager), 15)
    assert all(a is b for a, b in zip(lazy, lazy, strict=True))
    assert 3 * calls_of(lambda: repr(lazy)) < 2 * calls_of(lambda: repr(eager))  # the text of a shape is made once
    one = kt.contact.soft_constraints(scene(1)).touches
    assert (len(one), repr(one)) == (1, repr(tuple(one)))
    assert (lazy[2:-1:3], lazy[-1], lazy[np.int64(3)]) == (eager[2:-1:3], eager[-1], eager[3])
    assert list(reversed(lazy)) == list(reversed(eager))
    assert lazy.index(eager[4]) == 4
    with pytest.raises(IndexError):
        lazy[15]
    assert replace(soft, touches=eager) == soft
    again = pickle.loads(pickle.dumps(soft))
    assert (again, type(again.touches)) == (soft, tuple)
    assert str(again) == str(soft)
    assert kt.contact.soft_constraints(scene(5)) == soft
    assert kt.contact.soft_constraints(scene(5), friction=0.3) != soft


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_calls_are_proportional_to_the_number_of_bodies() -> None:
    kt.contact.soft_constraints(scene(30))
    counts = [calls_of(lambda n=n: kt.contact.soft_constraints(scene(n))) for n in (50, 100, 200)]  # type: ignore[misc]
    assert counts[2] - counts[1] < 2.1 * (counts[1] - counts[0])


def test_shapes_whose_bits_do_not_agree_are_not_paired() -> None:
    robot = scene(200, 'contype="0" conaffinity="1"', 'contype="1" conaffinity="0"')
    assert kinds_of(kt.contact.soft_constraints(robot).touches) == {"plane and sphere": 200}


def test_more_than_a_million_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PAIRS", 5)
    with pytest.raises(kt.errors.ModelError, match=r"more than 5 pairs of shapes .* its shapes are 3 sphere, 1 plane"):
        kt.contact.soft_constraints(scene(3))


# -- inverse inertias of many bodies

COUPLED = """<mujoco><worldbody>
  <body name="a"><joint name="ja" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/>
    <body name="a2" pos="0.4 0 0"><joint name="ja2" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></body>
  <body name="b" pos="0 1 0"><joint name="jb" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body>
  <body name="c" pos="0 2 0"><freejoint/><geom size="0.1"/></body>
  <body name="d" pos="0 3 0"><joint name="jd" type="ball"/><geom size="0.1" pos="0 0 0.3"/></body>
  </worldbody>
  <tendon><fixed name="t" armature="0.7"><joint joint="ja2" coef="2"/><joint joint="jb" coef="-1"/></fixed></tendon>
  </mujoco>"""


def robot_of(name: str, folder: Path) -> kt.Model:
    """A robot with several trees on its root; of the first and the last, something couples two of them."""
    if name == "tendon":
        (folder / "tendon.xml").write_text(COUPLED)
        return kt.load(folder / "tendon.xml")
    if name != "followers":
        other = kt.zoo.load("cart_pole")
        return kt.zoo.load(name).beside(other, prefix="other_").with_free_body("sphere", 0.1, mass=2.0)
    builder = kt.ModelBuilder("followers")
    builder.add_body("world")
    for k in range(4):
        builder.add_body(f"b{k}", kt.solids.box(0.1, 0.2, 0.3, mass=1.0 + k))
        follows = kt.model.Mimic("j3", 0.5, 0.1) if k == 2 else None
        place = kt.lie.placement((0.1 * k, 0.3, 0.0))
        builder.add_joint(f"j{k}", kt.Revolute([0, 0, 1]), "world", f"b{k}", place, mimic=follows)
    builder.add_body("tip", kt.solids.sphere(0.1, mass=0.5))
    builder.add_joint("wrist", kt.Revolute([0, 0, 1]), "b2", "tip", kt.lie.placement((0.2, 0.0, 0.0)))
    builder.add_coupling("pair", ["j1", "wrist"], [[1, 1], [1, -1]], coordinates=["x", "y"])
    return builder.build()


@pytest.mark.filterwarnings("ignore:.*this tendon has armature:kinetree.errors.ModelWarning")
def test_blocks_of_the_mass_matrix_are_inverted_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tendon", "arm6", "quadruped", "followers"):
        robot = robot_of(name, tmp_path)
        whole, tree = InverseWeights(robot), robot.tree
        M = np.array(crba(tree, tree.split(robot.neutral().tolist(), "nq")).flat()).reshape(robot.nv, robot.nv)
        diagonal = np.diag(np.linalg.inv(with_tendon_armature(robot, M)))
        for together in (1, 7):
            monkeypatch.setattr(inverse_weights, "_AT_ONCE", together)
            blocks = InverseWeights(robot)
            for body in robot.bodies:
                np.testing.assert_allclose(blocks.of_body(body), whole.of_body(body), rtol=1e-11, err_msg=body)
            for joint in robot.joints.values():
                ours, theirs = ([x.of_joint(joint.name, k) for k in range(joint.kind.nv)] for x in (blocks, whole))
                np.testing.assert_allclose(ours, theirs, rtol=1e-11, err_msg=joint.name)
                if joint.has_coordinates and joint.kind.nv == 1:
                    np.testing.assert_allclose(ours, diagonal[joint.v_slice], rtol=1e-11, err_msg=joint.name)
        monkeypatch.undo()
