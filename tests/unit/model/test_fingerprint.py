"""Fingerprints: equal robots share one, and any number that differs in its last bit makes another."""

from __future__ import annotations

import copy
import gc
import math
import subprocess
import sys
import weakref
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.functions import dynamics
from kinetree.joints import JointKind, JointMotion
from kinetree.model import Body, Model, Named
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.spatial import Inertia, Subspace, Sym3, Turn, Vec3
from tests.functions import PUBLIC
from tests.strategies import Blueprint, blueprints, law

from .bodies import ball, chain, shift

IRRELEVANT = {Model: {"name", "notes", "parts", "source"}, Body: {"geometry"}}


def test_equal_robots_share_one_whatever_they_are_called_and_wherever_they_come_from() -> None:
    one, other = kt.zoo.load("humanoid"), kt.zoo.load("humanoid")
    assert fingerprint(one) == fingerprint(other) == fingerprint(copy.deepcopy(one))
    assert fingerprint(replace(one, name="x", source="y", notes=("z",))) == fingerprint(one)
    assert len(fingerprint(one) or b"") == 32


def test_robots_that_differ_do_not_share_one() -> None:
    prints = {fingerprint(kt.zoo.load(name, floating_base=base)) for name in kt.zoo.names() for base in (False, True)}
    assert len(prints) == 2 * len(kt.zoo.names())


def test_it_is_the_same_in_every_process() -> None:
    code = (
        "import kinetree as kt\n"
        "from kinetree.model.fingerprint import fingerprint\n"
        "print(fingerprint(kt.zoo.load('quadruped')).hex())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert bytes.fromhex(done.stdout) == fingerprint(kt.zoo.load("quadruped"))


@law(25)
@given(blueprints(max_joints=4), st.data())
def test_any_number_or_name_that_differs_makes_another(plan: Blueprint, data: st.DataObject) -> None:
    robot = plan.build()
    assert fingerprint(plan.build()) == fingerprint(robot)
    count = [10**9]
    changed(robot, count)
    for _ in range(20):
        place = data.draw(st.integers(0, 10**9 - count[0] - 1))
        assert fingerprint(changed(robot, [place])) not in (None, fingerprint(robot))


def changed(x: Any, left: list[int]) -> Any:
    """x with its leaf number `left` changed a little: a number by one unit in the last place. Counts `left` down."""
    if isinstance(x, float | int | str):
        left[0] -= 1
        if left[0] != -1:
            return x
        if isinstance(x, float):
            return math.nextafter(x, math.inf) if math.isfinite(x) else 0.0
        return x + "'" if isinstance(x, str) else (not x if isinstance(x, bool) else x + 1)
    if isinstance(x, tuple):
        return tuple(changed(item, left) for item in x)
    if isinstance(x, Named):
        return Named("part", {name: changed(part, left) for name, part in x.items()})
    if isinstance(x, JointKind):
        twin = copy.copy(x)
        vars(twin).update({name: changed(part, left) for name, part in vars(x).items()})
        return twin
    if is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in fields(x) if f.name not in IRRELEVANT.get(type(x), ())]
        return replace(x, **{name: changed(getattr(x, name), left) for name in names})
    assert x is None
    return x


def test_the_sign_of_zero_and_the_sort_of_a_number_count() -> None:
    assert digest(0.0) != digest(-0.0)
    assert (
        len({digest(x) for x in (1, 1.0, True, "1", b"1", (1,), (1.0,), [1.0], None, np.float32(1), np.int8(1))}) == 11
    )
    assert digest(math.nan) == digest(math.nan)
    assert digest(Vec3(1.0, 2.0, 3.0)) != digest(Vec3(1, 2.0, 3.0)) != digest((1.0, 2.0, 3.0))


def test_what_is_grouped_in_another_way_is_another() -> None:
    rows: list[tuple[object, ...]] = [
        ("ab", "c"), ("a", "bc"), ("abc",), (("ab", "c"),), ("ab", ("c",)), ("'ab', 'c'",), ("ab\n'c'",),
        (1.0, 2.0), ((1.0, 2.0),), ((1.0,), 2.0), ((1.0,), (2.0,)), (1.0, (2.0,)), (), ((),), ({},), ({1: 2},),
    ]  # fmt: skip
    assert len({digest(*row) for row in rows}) == len(rows)


LEAVES = st.sampled_from([0.0, -0.0, 1.0, 1, True, None, "", "1", "a\nb", b"1", Vec3(0.0, 1.0, 0.0)])
NESTED = st.recursive(
    LEAVES,
    lambda part: (
        st.lists(part, max_size=3)
        | st.lists(part, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("ab"), part, max_size=2)
    ),
    max_leaves=6,
)


@law(300)
@given(NESTED, NESTED)
def test_two_values_share_a_digest_exactly_if_they_are_written_alike(one: object, other: object) -> None:
    assert (digest(one) == digest(other)) == (repr(one) == repr(other))
    assert digest(one) == digest(copy.deepcopy(one)) is not None


def test_the_order_of_values_of_several_kinds_counts() -> None:
    rows = [(1.0, "a", 2.0), (1.0, 2.0, "a"), ("a", 1.0, 2.0), ((1.0, 2.0), (3.0,)), ((1.0,), (2.0, 3.0))]
    assert len({digest(row) for row in rows}) == len(rows)


def test_kinds_of_joints_with_other_attributes_are_distinguished() -> None:
    plain, more, other = (kt.Revolute([0, 0, 1]) for _ in range(3))
    vars(more)["lead"] = 1.0
    vars(other)["pitch"] = 1.0
    rows = [(plain, more), (more, plain), (plain, plain), (more, other), (other, more), (more, more)]
    prints = {digest(row) for row in rows}
    assert len(prints) == len(rows)
    assert None not in prints


def test_a_turn_that_a_transform_knows_counts() -> None:
    """It does not change the transform, but the code that is made of it."""
    X = shift(1.0)
    known = replace(X, turns=(Turn(0, 0.0, 1.0),), before=X.E)
    assert digest(known) != digest(X)


def test_integers_among_the_numbers_are_distinguished_from_floats() -> None:
    whole, floats = (
        Inertia(1, Vec3(0, 0, 0), Sym3(1, 1, 1, 0, 0, 0)),
        Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(1.0)),
    )
    assert whole == floats
    assert digest(whole) != digest(floats)


def test_a_robot_keeps_floats_whatever_it_is_given() -> None:
    whole, floats = (
        Inertia(1, Vec3(0, 0, 0), Sym3(1, 1, 1, 0, 0, 0)),
        Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(1.0)),
    )
    of_whole, of_floats = (fingerprint(chain([(kt.Revolute([0, 0, 1]), body)])) for body in (whole, floats))
    assert of_whole == of_floats is not None


class Foreign(kt.Revolute):
    """Nobody knows what its methods read."""

    def calc(self, q: Sequence[Any], v: Sequence[Any]) -> Any:
        X_J, S, v_J, c_J = super().calc([q[0] * FACTOR], [v[0] * FACTOR])
        return JointMotion(X_J, Subspace(tuple(s * FACTOR for s in S.columns)), v_J, c_J)


FACTOR = 2.0


def test_a_robot_with_a_kind_of_joint_that_is_not_ours_has_none() -> None:
    assert fingerprint(chain([(Foreign([0, 0, 1]), ball())])) is None


@pytest.mark.parametrize("value", [object(), {1.0, 2.0}, lambda q: q, len, np.zeros(3), 1j, kt, Foreign])
def test_what_is_not_known_has_none(value: object) -> None:
    assert digest(value) is None
    assert digest(("a", [value])) is None


def test_what_contains_itself_has_none() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert digest(endless) is None
    doubled: list[object] = []
    doubled += [(doubled, doubled), {"itself": doubled}]
    assert digest(doubled, (doubled, doubled)) is None


def test_functions_of_ours_are_distinguished_by_their_contents() -> None:
    def bound(*values: object) -> Any:
        return partial(dynamics._aba, *values)

    things = [dynamics._aba, dynamics._rnea, bound(), bound(1.0), bound(2.0), partial(dynamics._rnea)]
    assert len({digest(thing) for thing in things}) == len(things)
    assert digest(bound(1.0)) == digest(bound(1.0)) is not None
    assert digest(partial(len)) is None


def test_definitions_are_distinguished() -> None:
    definitions = [x.definition for x in PUBLIC.values() if hasattr(x, "definition")]
    distinct = {id(d): d for d in definitions}.values()
    prints = {digest(d) for d in distinct}
    assert None not in prints
    assert len(prints) == len(distinct)


def test_a_fingerprint_does_not_keep_a_robot_alive() -> None:
    robot = kt.zoo.load("cart_pole")
    fingerprint(robot)
    gone = weakref.ref(robot)
    del robot
    gc.collect()
    assert gone() is None
