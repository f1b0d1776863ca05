"""The parts of rolled trees: memory of quantities, tables of constants, cases by kind, axes that suit the joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.definition import Definition
from kinetree.compiler.forms.aligned import aligned
from kinetree.compiler.forms.rolled import RolledSource
from kinetree.compiler.specialization import Specialization
from kinetree.expr import Index, Port, Program, Range, Recorder, Scalar, Symbol, interpret
from kinetree.spatial import Force, Inertia, Motion, Transform, Turn, Vec3
from kinetree.tree.rolled import Knowledge, NotYetKnown
from kinetree.tree.rolled.memory import Bodies, QuantityMemory, numbers_of, rebuilt
from kinetree.tree.rolled.tables import Columns
from tests.kernels import compiled_late
from tests.unit.model.bodies import ball, chain, point, shift

HINGE, SLIDER = kt.Revolute([0, 1, 0]), kt.Prismatic([1, 0, 0])


def tree_of(parents: Sequence[int], seed: int = 0) -> kt.Model:
    """Hinges and sliders; the joints stand in the file in any order."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder("tree")
    builder.add_body("b0")
    for k in range(1, len(parents) + 1):
        builder.add_body(f"b{k}", ball(com=tuple(rng.normal(size=3))))
    for k in rng.permutation(len(parents)) + 1:
        builder.add_joint(f"j{k}", (HINGE, SLIDER)[int(rng.integers(2))], f"b{parents[k - 1]}", f"b{k}", shift(0.1 * k))
    return builder.build()


TREES = {
    "chain": [0, 1, 2, 3, 4],
    "star": [0, 0, 0, 0],
    "branches": [0, 1, 1, 2, 2, 0, 6, 3],
    "one": [0],
}


def in_both_ways(compute: Callable[..., Any], robot: kt.Model) -> tuple[list[float], list[float]]:
    """A function of q (nq,) with nv results: on floats, and as a program with loops over bodies."""
    definition = Definition("f", (("q", "nq"),), ("nv",), compute)
    q = np.random.default_rng(3).uniform(0.5, 1.5, robot.nq).tolist()
    (rolled,) = interpret(Specialization(definition, robot, {}, (), (), False).program(), q)
    return compute(robot, robot.tree.split(q, "nq")), rolled


def handed_around(model: Any, q: Any) -> Any:
    """Reads and writes at bodies that may be one and the same, in inner loops and around them."""
    tree = model.tree
    m = tree.pieces()
    m[0] = [1.0]
    for i, p in tree.outward:
        m[i] = [q[i][0] + 0.5 * m[p][0]]
    for i, p in tree.inward:
        before = m[i][0]
        for j, k in tree.toward_root(i):
            at_i = m[i][0]
            m[j] = [0.5 * m[j][0] + 0.25]
            m[k] = [m[k][0] + 0.125 * m[i][0] * at_i]
            m[j] = [m[j][0] - 0.125 * m[k][0]]
        m[p] = [m[p][0] + 0.25 * (m[i][0] - before)]
    return tree.joined(m[1:], "nv")


def summed_at_the_root(model: Any, q: Any) -> Any:
    """Everything adds to one place, which was a constant at first, and is read by all."""
    tree = model.tree
    m, n = tree.pieces(2)
    m[0] = [0.0]
    for i, _ in tree.inward:
        m[0] = [m[0][0] + q[i][0]]
        m[i] = [m[0][0]]
    for i, p in tree.outward:
        n[i] = [m[i][0] + 2.0 * m[p][0] + m[0][0]]
    return tree.joined(n[1:], "nv")


def constant_until_late(model: Any, q: Any) -> Any:
    """A value that is one constant for all bodies until, in the last pass, the parents' is not."""
    tree = model.tree
    m, n = tree.pieces(2)
    m[0] = [2.0]
    for i, p in tree.outward:
        m[i] = [2.0]
        n[i] = [m[i][0] + m[p][0]]
    for i, p in tree.inward:
        n[i] = [n[i][0] + m[i][0] * m[p][0]]
        m[p] = [m[p][0] * q[i][0]]
    for i, p in tree.outward:
        n[i] = [n[i][0] + m[p][0]]
    return tree.joined(n[1:], "nv")


def handed_to_all_behind(model: Any, q: Any) -> Any:
    """From each joint outward to the bodies that it carries, and along the ways between two bodies."""
    tree = model.tree
    m, n = tree.pieces(2)
    first, last = (model.frames[name].slot for name in (list(model.frames)[1], list(model.frames)[-1]))
    for i, _ in tree.outward:
        m[i] = [0.0]
    for j, _ in tree.outward:
        n[j] = [q[j][0]]
        for i, p in tree.behind(j):
            n[i] = [0.5 * n[p][0] + 1.0]
            m[j] = [m[j][0] + n[i][0]]
    meeting = tree.meeting(first, last)
    for end in (first, last):
        for i, _ in tree.toward_root(end, meeting):
            m[i] = [m[i][0] + 0.25 * q[i][0]]
        n[meeting] = [3.0]
        for i, p in tree.toward_tip(meeting, end):
            n[i] = [n[p][0] * q[i][0]]
            m[i] = [m[i][0] + n[i][0]]
    return tree.joined(m[1:], "nv")


@pytest.mark.parametrize(
    "compute", [handed_around, summed_at_the_root, constant_until_late, handed_to_all_behind], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("shape", TREES)
@pytest.mark.parametrize("seed", range(3))
def test_memory_is_a_list_also_where_bodies_may_be_the_same(compute: Any, shape: str, seed: int) -> None:
    on_floats, rolled = in_both_ways(compute, tree_of(TREES[shape], seed))
    np.testing.assert_allclose(rolled, on_floats, rtol=1e-13)


# -- what is known of memory


def traced(record: Callable[[QuantityMemory, Recorder, Index], None], kinds: Sequence[int] = (0, 1, 1, 1)) -> list[Any]:
    """Run `record` in a loop over three bodies until nothing new is learnt; what each trace knew at its end."""
    knowledge, found = Knowledge(), []
    while not found or knowledge.changed:
        recorder = Recorder([Port("x", (4,))], [Port("y", (4,))])
        knowledge.begin()
        memory = QuantityMemory(recorder, Bodies(kinds), knowledge)
        try:
            record(memory, recorder, Index(0))
        except NotYetKnown:
            assert knowledge.changed
        found.append([array.name for array in recorder.arrays])
    return found


def test_only_what_varies_is_read_from_memory_and_what_varies_later_takes_a_second_look() -> None:
    read = []

    def record(memory: QuantityMemory, recorder: Recorder, _: Index) -> None:
        x = recorder.inputs[0][0]
        memory[1] = Vec3(1.0, 0.0, x)
        memory[2] = Vec3(1.0, 2.0, x)
        read.extend(memory[2].components() for _ in recorder.inputs[0].rounds(0, 1))
        memory[3] = Vec3(1.0, 0.0, 5.0)

    assert len(traced(record)) == 1
    assert [isinstance(number, Symbol) for number in read[-1]] == [False, True, True]

    def record_and_more(memory: QuantityMemory, recorder: Recorder, _: Index) -> None:
        record(memory, recorder, _)
        memory[3] = Vec3(2.0, 0.0, 5.0)

    assert len(traced(record_and_more)) == 2
    assert [isinstance(number, Symbol) for number in read[-1]] == [True, True, True]


@pytest.mark.parametrize(
    ("compute", "traces"),
    [(handed_around, 1), (summed_at_the_root, 1), (handed_to_all_behind, 1), (constant_until_late, 2)],
)
def test_what_varies_within_a_loop_takes_no_second_look(compute: Any, traces: int, monkeypatch: Any) -> None:
    begin, begun = Knowledge.begin, []
    monkeypatch.setattr(Knowledge, "begin", lambda knowledge: (begun.append(knowledge), begin(knowledge)))
    in_both_ways(compute, tree_of(TREES["branches"]))
    assert len(begun) - 1 == traces  # it begins once where it is made


def test_transforms_that_know_different_factors_are_kept_without_them() -> None:
    turning = Transform.turning(Turn(2, 0.6, 0.8))
    read = []

    def record(memory: QuantityMemory, recorder: Recorder, _: Index) -> None:
        memory[1], memory[2], memory[3] = turning, Transform.identity(), shift(1.0)
        with recorder.loop(Range(Index(1), Index(4))):
            read.append(memory[1])

    traced(record)
    assert read[-1].before is None
    assert read[-1].turns == ()


def test_quantities_of_two_types_in_one_memory_are_refused() -> None:
    def record(memory: QuantityMemory, _: Recorder, __: Index) -> None:
        memory[1] = Motion.zero()
        memory[2] = Force.zero()

    with pytest.raises(TypeError, match="different types"):
        traced(record)


def test_what_nobody_stored_is_not_known() -> None:
    def record(memory: QuantityMemory, _: Recorder, __: Index) -> None:
        memory[1]

    with pytest.raises(AssertionError):  # nothing was learnt, so tracing again would not help
        traced(record)


# -- quantities as numbers


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        [1.0, 2.0],
        (Vec3(1.0, 2.0, 3.0), [Motion.zero()]),
        Transform.turning(Turn(1, 0.6, 0.8)),
        ball(2.0, com=(0.1, 0.2, 0.3)).articulated,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_quantity_taken_apart_and_put_together_is_itself(value: Any) -> None:
    numbers: list[Scalar] = []
    form = numbers_of(value, numbers)
    assert rebuilt(form, numbers) == value
    others: list[Scalar] = []
    assert form == numbers_of(rebuilt(form, [x + 1.0 for x in numbers]), others)
    assert others == [x + 1.0 for x in numbers]


def test_what_has_no_fields_cannot_be_kept() -> None:
    class Opaque:
        pass

    with pytest.raises(TypeError, match="Opaque cannot be kept in memory"):
        numbers_of(Opaque(), [])


def test_columns_contain_values_common_to_some_kinds() -> None:
    columns = Columns([Vec3(0.0, 0.0, 0.0), Vec3(1.0, 2.0, 3.0), Vec3(1.0, 5.0, 3.0), Vec3(1.0, 2.0, 4.0)])
    kind_of = [0, 1, 1, 2]
    assert columns.common(frozenset((1,)), kind_of)[1] == [1.0, None, 3.0]
    assert columns.common(frozenset((1, 2)), kind_of)[1] == [1.0, None, None]
    assert columns.common(frozenset((2,)), kind_of)[1] == [1.0, 2.0, 4.0]
    assert columns.quantity(2) == Vec3(1.0, 5.0, 3.0)


# -- the source of a rolled tree


def test_bodies_are_numbered_from_the_root_outward() -> None:
    robot = tree_of(TREES["branches"], 1)
    source = RolledSource(robot).tree
    assert all(p < i for i, p in enumerate(source.parent) if i)
    for name, body in robot.bodies.items():
        i = source.number[body.slot]
        assert source.starts("nv")[i] == sum(kind.nv for kind in robot.tree.joint[: body.slot]), name
    assert len(source.kinds) == 3
    assert {case for case, _ in source.cases} == {frozenset((1,)), frozenset((2,))}


def test_the_way_to_the_root_meets_the_kinds_that_stand_on_it() -> None:
    robot = chain([(kind, ball()) for kind in (HINGE, kt.Free(), SLIDER, SLIDER)])
    source = RolledSource(robot).tree
    free, slider, hinge = (
        frozenset((source.kinds.index(kind.aligned()[0]),)) for kind in (kt.Free(), SLIDER, HINGE)
    )  # fmt: skip
    root = frozenset((0,))
    assert source.pairs_above(hinge) == [(hinge, root)]
    assert source.pairs_above(free) == [(free, hinge), (hinge, root)]
    assert set(source.pairs_above(slider)) == {(slider, free), (slider, slider), (free, hinge), (hinge, root)}


def test_light_kinds_are_those_whose_bodies_all_need_what_they_carry() -> None:
    nothing = Inertia.zero()
    parts = [(HINGE, nothing), (SLIDER, nothing), (HINGE, point()), (SLIDER, point()), (kt.Free(), ball())]
    robot = chain(parts)
    source = RolledSource(robot).tree
    assert [source.kinds[k] for k in source.light] == [HINGE.aligned()[0]]
    assert RolledSource(chain(parts, armature=0.1)).tree.light == frozenset()


def test_axes_are_turned_to_z_and_the_robot_stays_as_it_is() -> None:
    robot = chain(
        [
            (kt.Revolute([1, 2, 2]), ball(com=(0.1, 0.2, 0.3))),
            (kt.joints.Continuous([0, -1, 0]), ball()),
            (SLIDER, ball()),
        ],
        offset=shift(0.1, 0.2, 0.3),
    )
    turned = aligned(robot)
    assert {kind.axis for kind in turned.tree.joint[1:]} == {Vec3(0.0, 0.0, 1.0)}
    assert len(set(turned.tree.joint[1:])) == 2
    q = robot.random(np.random.default_rng(0))
    for frame in robot.frames:
        np.testing.assert_allclose(
            kt.frame_placement(turned, q, frame), kt.frame_placement(robot, q, frame), rtol=0.0, atol=1e-14
        )
    np.testing.assert_allclose(kt.crba(turned, q), kt.crba(robot, q), rtol=0.0, atol=1e-13)


def test_the_program_of_a_longer_chain_is_not_longer() -> None:
    def lines(n: int) -> int:
        robot = chain([(HINGE, ball(1.0 + k, com=(0.1, 0.1 * k, 0.0))) for k in range(n)], offset=shift(0.1, 0.2))
        program: Program = compiled_late(robot, kt.aba, unroll=False).__self__.program
        return len(repr(program).splitlines())

    assert lines(40) == lines(10)
