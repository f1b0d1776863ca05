"""Records behave as the dataclasses they replace."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import weakref
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest

from kinetree.records import record

BOTH = pytest.mark.parametrize("decorator", [dataclass, record], ids=["dataclass", "record"])


@record(frozen=True, slots=True)
class Point:
    """A point."""

    x: float
    y: float = 2.0
    tags: list[str] = field(default_factory=list, compare=False)
    hidden: int = field(default=0, repr=False)


@record(frozen=True, slots=True)
class Ball(Point):
    """With one more number."""

    radius: float = 1.0


@BOTH
def test_equality_hash_and_text(decorator: Callable[..., Any]) -> None:
    @decorator(frozen=True, slots=True)
    class Pair:
        a: Any
        b: Any = 1
        c: int = field(default=0, compare=False)
        d: int = field(default=0, repr=False)

    assert Pair(1) == Pair(1, 1, c=5)
    assert Pair(1) != Pair(1, 2)
    assert Pair(1) != (1, 1, 0, 0)
    assert hash(Pair(1)) == hash(Pair(1, c=3)) == hash((1, 1, 0))
    assert repr(Pair("x", Pair(2))).replace(Pair.__qualname__, "Pair") == "Pair(a='x', b=Pair(a=2, b=1, c=0), c=0)"
    assert Pair.__match_args__ == ("a", "b", "c", "d")
    assert [f.name for f in dataclasses.fields(Pair)] == ["a", "b", "c", "d"]
    assert dataclasses.replace(Pair(1, 2, 3), a=7) == Pair(7, 2)
    assert [*inspect.signature(Pair).parameters] == ["a", "b", "c", "d"]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        Pair()
    with pytest.raises(TypeError, match="unexpected keyword argument 'e'"):
        Pair(1, e=2)


@BOTH
def test_one_field_and_none(decorator: Callable[..., Any]) -> None:
    @decorator(frozen=True)
    class One:
        a: int

    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    assert One(1) == One(1) != One(2)
    assert hash(One(1)) == hash((1,))
    assert Empty() == Empty()
    assert hash(Empty()) == hash(())


@BOTH
def test_methods_of_the_class_win(decorator: Callable[..., Any]) -> None:
    @decorator(frozen=True, slots=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "mine"

        def __post_init__(self) -> None:
            object.__setattr__(self, "a", self.a + 1)

    assert Own(1) == Own(2)
    assert repr(Own(1)) == "mine"
    assert hash(Own(1)) == hash((2,))


@BOTH
def test_what_may_change(decorator: Callable[..., Any]) -> None:
    @decorator(slots=True)
    class Changing:
        a: int
        b: dict[str, int] = field(default_factory=dict)

    one = Changing(1)
    one.a = 2
    assert one == Changing(2)
    assert Changing(1).b is not Changing(1).b
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    with pytest.raises(AttributeError):
        one.c = 1


@BOTH
def test_by_identity_by_name_and_weakly(decorator: Callable[..., Any]) -> None:
    @decorator(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True, kw_only=True)
    class Robot:
        name: str
        mass: float = 1.0

    one = Robot(name="one")
    assert one != Robot(name="one")
    assert hash(one) != hash(Robot(name="one"))
    assert weakref.ref(one)() is one
    with pytest.raises(TypeError, match="positional"):
        Robot("one")


def test_a_frozen_one_says_that_it_does_not_change() -> None:
    point = Point(1.0)
    with pytest.raises(FrozenInstanceError, match="cannot assign to 'x': a Point does not change"):
        point.x = 2.0  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete 'x'"):
        del point.x  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Ball(1.0).y = 2.0  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        point.z = 2.0  # type: ignore[attr-defined]


def test_pickles_and_copies() -> None:
    ball = Ball(1.0, 3.0, ["red"], 4, radius=2.0)
    for other in (pickle.loads(pickle.dumps(ball)), copy.copy(ball), copy.deepcopy(ball)):
        assert other == ball
        assert (other.tags, other.hidden, other.radius) == (["red"], 4, 2.0)


def test_inherited_fields_come_first() -> None:
    assert repr(Ball(1.0)) == "Ball(x=1.0, y=2.0, tags=[], radius=1.0)"
    assert Point(1.0) != Ball(1.0)
    assert dataclasses.is_dataclass(Ball)
    assert [f.name for f in dataclasses.fields(Ball)] == ["x", "y", "tags", "hidden", "radius"]


def test_a_dataclass_may_inherit_from_a_frozen_one() -> None:
    @dataclass(frozen=True)
    class Marked(Point):
        mark: str = ""

    assert Marked(1.0, mark="a") != Marked(1.0, mark="b")
    with pytest.raises(TypeError, match="non-frozen"):

        @dataclass
        class Loose(Point):
            mark: str = ""
