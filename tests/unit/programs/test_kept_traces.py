"""Traces of programs are kept on disk: whatever they depend on is in their key, and what is unknown is traced."""

from __future__ import annotations

import array
import contextvars
import functools
import itertools
import math
import operator
import os
import random
import re
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import kinetree as kt
from kinetree.programs import trace as module
from kinetree.programs.content import content

ARM = kt.zoo.load("double_pendulum")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache. That a file of kinetree is being edited meanwhile is no reason for a test to fail."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "kept"))
    for name in ("codegen.cpu.modules.assembler", "codegen.cpu.backend.toolchain", "programs.trace.toolchain"):
        monkeypatch.setattr(f"kinetree.{name}", lambda *_: bytes(32))
    return tmp_path / "kept"


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs that are traced from now on."""
    names: list[str] = []
    real = module.with_choices

    def with_choices(function: Any, name: str, *more: Any) -> Any:
        names.append(name)
        return real(function, name, *more)

    monkeypatch.setattr(module, "with_choices", with_choices)
    return names


class Gains(NamedTuple):
    stiffness: Any
    damping: Any


@dataclass
class Mutable:
    gain: float
    table: Any = None


class Slotted:
    __slots__ = ("gain",)

    def __init__(self, gain: float) -> None:
        self.gain = gain


class Law:
    sign = -1.0

    def __init__(self, gain: float) -> None:
        self.gain = gain

    def law(self, q: Any) -> Any:
        return self.sign * self.gain * q


class Side(Enum):
    LEFT = 1.0
    RIGHT = 2.0


def holding(value: Any) -> Callable[..., Any]:
    """A function that has this value in its closure."""

    def function(q: Any) -> Any:
        return q, value

    return function


# -- what is equal, and what is not

ALL_DIFFERENT: list[Callable[[], Any]] = [
    lambda: 1.0,
    lambda: 1,
    lambda: True,
    lambda: "1.0",
    lambda: b"1.0",
    lambda: "value",
    lambda: None,
    lambda: 0.0,
    lambda: -0.0,
    lambda: math.nan,
    lambda: -math.nan,
    lambda: 1j,
    lambda: complex(-0.0, 1.0),
    lambda: np.float64(1.0),
    lambda: np.float32(1.0),
    lambda: np.int64(1),
    lambda: np.bool_(True),
    lambda: np.array(1.0),
    lambda: np.array([1.0]),
    lambda: np.array([[1.0]]),
    lambda: np.array([1]),
    lambda: np.array([1.0], np.float32),
    lambda: np.array([1.0], object),
    lambda: np.array([-1.0]),
    lambda: [1.0],
    lambda: (1.0,),
    lambda: {"a": 1.0},
    lambda: {"a": 1.0, "b": 2.0},
    lambda: {"b": 2.0, "a": 1.0},
    lambda: OrderedDict(a=1.0),
    lambda: defaultdict(list, a=1.0),
    lambda: defaultdict(dict, a=1.0),
    lambda: Counter(a=1),
    lambda: deque([1.0]),
    lambda: {1, 2},
    lambda: frozenset({1, 2}),
    lambda: slice(1),
    lambda: slice(1, None),
    lambda: range(1),
    lambda: ...,
    lambda: [[1.0], [1.0]],
    lambda: [[1.0]] * 2,
    lambda: Gains(1.0, 2.0),
    lambda: Gains(2.0, 1.0),
    lambda: Mutable(1.0),
    lambda: Mutable(2.0),
    lambda: Mutable(1.0, np.ones(2)),
    lambda: Mutable(1.0, np.zeros(2)),
    lambda: Slotted(1.0),
    lambda: Slotted(2.0),
    lambda: Law(1.0),
    lambda: Law(2.0),
    lambda: Law(1.0).law,
    lambda: Law(2.0).law,
    lambda: Side.LEFT,
    lambda: Side.RIGHT,
    lambda: math.sin,
    lambda: math.cos,
    lambda: np.sin,
    lambda: np.cos,
    lambda: np.clip,
    lambda: np.concatenate,
    lambda: np.array,
    lambda: np.linalg.norm,
    lambda: operator.add,
    lambda: functools.partial(np.clip, a_min=0.0),
    lambda: functools.partial(np.clip, a_min=1.0),
    lambda: functools.partial(np.sum, axis=0),
    lambda: [lambda x: x + 1.0],
    lambda: [lambda x: x + 2.0],
    lambda: [lambda x: x - 1.0],
    lambda: [lambda x, y=1.0: x + y],
    lambda: [lambda x, y=2.0: x + y],
    lambda: [lambda x, *, y=1.0: x + y],
    lambda: [lambda x: x.real],
    lambda: [lambda x: x.imag],
    lambda: [lambda x: (lambda: x + 1.0)()],
    lambda: [lambda x: (lambda: x + 2.0)()],
    lambda: kt.aba,
    lambda: kt.rnea,
    lambda: kt.control.Position("tip"),
    lambda: kt.control.Position("tip", weight=2.0),
    lambda: ARM,
    lambda: ARM.with_gravity((0.0, 0.0, -1.0)),
    lambda: ARM.scaled(1.0, mass=2.0),
    lambda: kt.zoo.load("arm6"),
    lambda: ARM.bodies,
    lambda: kt.program(holding(1.0), q=2),
    lambda: kt.program(holding(2.0), q=2),
    lambda: kt.program(holding(1.0), q=3),
    lambda: kt.program(holding(1.0), q=ARM),
    lambda: kt.compile(ARM, kt.aba),
    lambda: kt.compile(ARM, kt.aba, dtype="float32"),
    lambda: kt.compile(ARM, kt.rnea),
    lambda: np,
    lambda: math,
    lambda: float,
    lambda: np.float64,
    lambda: Law,
    lambda: Side,
]


def test_different_values_are_distinguished_and_equal_ones_are_not() -> None:
    first = [content(holding(make())) for make in ALL_DIFFERENT]
    assert [k for k, one in enumerate(first) if one is None] == []
    assert len(set(first)) == len(first)
    assert [content(holding(make())) for make in ALL_DIFFERENT] == first
    for places in (lambda x: [x], lambda x: {"x": (x, x)}, functools.partial, Mutable):
        values = [
            content(places(make())) for make in ALL_DIFFERENT if places is not functools.partial or callable(make())
        ]
        assert len(set(values)) == len(values)


SOURCE = """
import math
import numpy as np
import kinetree as kt
GAIN, TABLE, ROBOT = 2.0, [1.0, 2.0], "robot"
class Base:
    offset = 1.0
    def shifted(self, x):
        return x + self.offset
class Helper(Base):
    scale = 3.0
    def __init__(self, more):
        self.more = more
    @property
    def twice(self):
        return 2.0 * self.more
    @staticmethod
    def half(x):
        return 0.5 * x
    def __call__(self, x):
        return self.shifted(self.half(x)) * self.scale + self.twice
helper = Helper(4.0)
def inner(x, power=2):
    return x**power
def middle(x):
    def deeper(y):
        return inner(y) - 5.0
    return [deeper(z) for z in x]
middle.gain = 6.0
def law(q, v=7.0, *, w=8.0):
    first = np.array(middle(q)) * GAIN + helper(q)
    second = np.sum([t * q[0] for t in TABLE]) + math.sin(9.0)
    return first + second * middle.gain + v + w + np.linalg.norm(np.ones(3)) + (lambda z: z * 10.0)(q[1])
"""
CHANGES = [
    ("2.0, [1.0", "2.5, [1.0"),
    ("[1.0, 2.0]", "[1.0, 2.5]"),
    ("offset = 1.0", "offset = 1.5"),
    ("x + self.offset", "x - self.offset"),
    ("scale = 3.0", "scale = 3.5"),
    ("Helper(4.0)", "Helper(4.5)"),
    ("2.0 * self.more", "2.5 * self.more"),
    ("0.5 * x", "0.25 * x"),
    ("power=2", "power=3"),
    ("x**power", "x*power"),
    ("- 5.0", "- 5.5"),
    ("gain = 6.0", "gain = 6.5"),
    ("v=7.0", "v=7.5"),
    ("w=8.0", "w=8.5"),
    ("math.sin(9.0)", "math.sin(9.5)"),
    ("math.sin", "math.cos"),
    ("np.ones(3)", "np.zeros(3)"),
    ("z * 10.0", "z * 10.5"),
    ("np.sum([", "np.prod(["),
    ("q[1]", "q[0]"),
]


def namespace(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "a_module_of_the_users"}
    exec(compile(source, "users.py", "exec"), names)
    return names


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_an_edit_of_anything_that_is_reached_makes_another_key(old: str, new: str) -> None:
    assert SOURCE.count(old) == 1
    before = content(namespace(SOURCE)["law"])
    assert before is not None
    assert content(namespace(SOURCE.replace(old, new))["law"]) not in (None, before)
    assert content(namespace("# moved\n\n" + SOURCE)["law"]) == before


def test_changes_while_a_process_runs_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    names = namespace(SOURCE)
    seen = [content(names["law"])]
    names["TABLE"].append(3.0)
    seen.append(content(names["law"]))
    names["helper"].more = 5.0
    seen.append(content(names["law"]))
    names["Helper"].scale = 5.0
    seen.append(content(names["law"]))
    names["law"].__defaults__ = (5.0,)
    seen.append(content(names["law"]))
    names["GAIN"] = np.ones(2)
    seen.append(content(names["law"]))
    names["GAIN"][1] = 2.0
    seen.append(content(names["law"]))
    names["inner"] = lambda x: x
    seen.append(content(names["law"]))
    with monkeypatch.context() as patch:
        patch.setattr(np, "sum", np.prod)
        seen.append(content(names["law"]))

    @functools.wraps(np.sum)
    def other_sum(x: Any) -> Any:
        return 2.0 * np.prod(x)

    with monkeypatch.context() as patch:
        patch.setattr(np, "sum", other_sum)
        assert content(names["law"]) is None  # it holds a function that NumPy does not know by its name any more
    with monkeypatch.context() as patch:
        patch.setattr(np.linalg, "norm", lambda x: 1.0)
        seen.append(content(names["law"]))
    with monkeypatch.context() as patch:
        patch.setattr(math, "sin", math.cos)
        seen.append(content(names["law"]))
    names["np"] = math
    seen.append(content(names["law"]))
    assert None not in seen[:-1]
    assert len(set(seen)) == len(seen)


NUMBERS = st.floats() | st.integers() | st.booleans() | st.complex_numbers() | st.text(max_size=3) | st.none()
VALUES = st.recursive(
    NUMBERS | arrays.arrays(arrays.scalar_dtypes().filter(lambda x: x.kind in "biuf"), st.integers(0, 3)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_equal_keys_are_of_equal_values(one: Any, other: Any) -> None:
    assert (content(holding(one)) == content(holding(other))) == (exactly(one) == exactly(other))


def exactly(x: Any) -> Any:
    """A text that only values of the same bits share."""
    if isinstance(x, np.ndarray):
        return f"array {x.dtype.str} {x.shape} {x.tobytes()!r}"
    if isinstance(x, list | tuple):
        return f"{type(x).__name__} {[exactly(y) for y in x]}"
    if isinstance(x, dict):
        return f"dict {[(key, exactly(y)) for key, y in x.items()]}"
    if isinstance(x, float | complex):
        return f"{type(x).__name__} {np.array(x).tobytes()!r}"
    return f"{type(x).__name__} {x!r}"


# -- what is unknown

COUNTER = itertools.count()
GENERATOR = np.random.default_rng(0)
CACHED = functools.lru_cache(lambda: 1.0)
UNKNOWN_VALUES: list[Callable[[], Any]] = [
    lambda: iter([1.0]),
    lambda: (x for x in [1.0]),
    lambda: itertools.count(),
    lambda: zip([1.0], [2.0], strict=True),
    lambda: sys.__stderr__,
    lambda: threading.Lock(),
    lambda: threading.local(),
    lambda: random.Random(1),
    lambda: np.random.default_rng(0),
    lambda: np.random.RandomState(0),
    lambda: os.environ,
    lambda: re.compile("x"),
    lambda: Decimal(1),
    lambda: array.array("d", [1.0]),
    lambda: contextvars.ContextVar("x", default=1.0),
    lambda: weakref.ref(ARM),
    lambda: {"a", "b"},
    lambda: frozenset({None, "a"}),
    lambda: np.ma.array([1.0]),
    lambda: np.array([1.0]).view(np.recarray),
    lambda: np.array([np.datetime64("2020-01-01")]),
    lambda: np.array([(1.0,)], [("x", "f8")]),
    lambda: memoryview(b"x"),
    lambda: CACHED,
    lambda: time.time,
    lambda: os.getcwd,
    lambda: random.random,
    lambda: eval,
    lambda: print,
    lambda: open,
    lambda: np.load,
    lambda: np.random.normal,
    lambda: kt.load,
    lambda: kt.zoo.load,
    lambda: ctypes_function(),
    lambda: Path("x").read_text,
]


def ctypes_function() -> Any:
    import ctypes

    return ctypes.CFUNCTYPE(ctypes.c_double)(lambda: 1.0)


@pytest.mark.parametrize("make", UNKNOWN_VALUES, ids=lambda make: str(make.__code__.co_firstlineno))
def test_what_may_differ_next_time_has_no_key(make: Callable[[], Any]) -> None:
    value = make()
    assert content(holding(value)) is None
    assert content(holding([value])) is None
    assert content(holding(Mutable(1.0, value))) is None
    assert content(functools.partial(holding(1.0), value)) is None


MODULES = {"random": random}


def called_with(module: Any, q: Any) -> Any:
    return module.random.random() * q


UNKNOWN_FUNCTIONS: list[Callable[..., Any]] = [
    lambda q: q * random.random(),
    lambda q: q * time.time(),
    lambda q: q * float(os.environ.get("GAIN", "1")),
    lambda q: q * np.random.random(),  # noqa: NPY002
    lambda q: q * GENERATOR.random(),
    lambda q: q * next(COUNTER),
    lambda q: q * np.load("gains.npy"),
    lambda q: q * np.loadtxt("gains.txt"),
    lambda q: q * float(Path("gain").read_text()),
    lambda q: q * eval("1.0"),
    lambda q: q * globals()["COUNTER"],
    lambda q: q * vars()["q"],
    lambda q: getattr(np, "sq" + "rt")(q),
    lambda q: __import__("math").pi * q,
    lambda q: q * id(q),
    lambda q: q * hash("a"),
    lambda q: print(q),
    lambda q: sum(q[k] for k in {len("a"), 2}),
    lambda q: q * len([x for x in {"a", "b"}]),  # noqa: C416
    lambda q: q * np.__dict__["pi"],
    lambda q: kt.zoo.load("arm6").nv * q,
    lambda q: len(ARM.notes) * q,
    lambda q: q * len((lambda: 0).__globals__),
    lambda q: q * (lambda: time.perf_counter())(),
    lambda q: np.vectorize(lambda x: x * random.random())(q),
    lambda q: operator.attrgetter("pi")(math) * q,
    lambda q: operator.methodcaller("random")(random) * q,
    lambda q: object.__getattribute__(math, "pi") * q,
    lambda q: called_with(np, q),
    lambda q: MODULES["random"].uniform(0.0, 1.0) * q,
]


@pytest.mark.parametrize("function", UNKNOWN_FUNCTIONS, ids=lambda f: str(f.__code__.co_firstlineno))
def test_a_function_that_reaches_the_unknown_has_no_key(function: Callable[..., Any]) -> None:
    assert content(function) is None
    assert content(lambda q: function(q)) is None
    assert content(kt.program(function, q=2)) is None


def test_imports_in_functions_have_no_key() -> None:
    def function(q: Any) -> Any:
        import math

        return q * math.pi

    assert content(function) is None


def test_functions_of_modules_count_however_the_module_is_reached() -> None:
    """A module may be an argument, or in a container, of a function that does not name it."""
    library = ModuleType("library_of_a_user")
    library.gain = lambda q: 2.0 * q  # type: ignore[attr-defined]
    sys.modules[library.__name__] = library
    try:
        tools = {"library": library}

        def helper(module: Any, q: Any) -> Any:
            return module.gain(q)

        functions: list[Callable[..., Any]] = [
            lambda q: helper(library, q),
            lambda q: tools["library"].gain(q),
            lambda q, module=library: module.gain(q),
        ]
        before = [content(function) for function in functions]
        library.gain = lambda q: 3.0 * q  # type: ignore[attr-defined]
        after = [content(function) for function in functions]
        assert None not in before + after
        assert len({*before, *after}) == 6
    finally:
        del sys.modules[library.__name__]


class Odd(tuple[Any, ...]):
    """A tuple that hides what it holds."""

    def __iter__(self) -> Any:
        return iter(())


class OddList(list[Any]):
    def __iter__(self) -> Any:
        return iter(())


class OddText(str):
    def __str__(self) -> str:
        return ""


class OddNumber(float):
    def __float__(self) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("kind", "one", "other"), [(Odd, [1], [2]), (OddList, [1], [2]), (OddText, "1", "2"), (OddNumber, 1.0, 2.0)]
)
def test_classes_that_extend_built_in_ones_count_by_what_they_hold(kind: type, one: Any, other: Any) -> None:
    assert None is not content(kind(one)) == content(kind(one)) != content(kind(other))


def test_what_contains_itself_has_a_key() -> None:
    first: list[Any] = [1.0]
    first.append(first)
    second: list[Any] = [1.0]
    second.append(second)
    third: list[Any] = [1.0, [1.0]]
    assert content(first) == content(second) != content(third)


def test_what_is_endless_has_no_key() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert content(deep) is None
    assert content([[float(x)] for x in range(200_000)]) is None


def test_a_mesh_for_collisions_counts_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    mesh = tmp_path / "bob.stl"
    mesh.write_bytes(bytes(84))
    shape = '<collision><geometry><mesh filename="bob.stl"/></geometry></collision>'
    file.write_text(f'<robot name="r"><link name="base">{shape}</link></robot>')
    robot = kt.load(file, floating_base=False)
    before = content(holding(robot))
    assert content(holding(kt.load(file, floating_base=False))) == before is not None
    mesh.write_bytes(bytes(90))
    assert content(holding(robot)) != before


# -- traces


def test_a_trace_is_kept_with_its_form(kept: Path, traces: list[str]) -> None:
    def law(q: Any, v: Any) -> Any:
        return {"gains": Gains(q + 1.0, [np.sum(v), q > v]), "one": kt.rnea(ARM, q, v, v)}

    q, v = np.array([0.1, 0.2]), np.array([0.3, -0.4])
    first = kt.program(law, q=ARM, v=2)
    expected = first(q, v)
    first(q[None], v)
    count = len(traces)
    second = kt.program(law, q=ARM, v=2)
    for found in (second(q, v), second(q[None], v)):
        assert list(found) == ["gains", "one"]
        assert type(found["gains"]) is Gains
        assert found["gains"].damping[1].dtype == bool
        np.testing.assert_array_equal(np.ravel(found["one"]), expected["one"])
        np.testing.assert_array_equal(np.ravel(found["gains"].stiffness), expected["gains"].stiffness)
    assert second.compile()(q, v).shape == (7,)
    assert len(traces) == count
    assert second.operation_counts() == first.operation_counts()
    assert len(traces) == count + 1  # the statements are there when somebody reads them
    assert str(second) == str(first)


@pytest.mark.parametrize("mode", ["jacobian", "jvp", "vjp", "hvp"])
def test_derivatives_need_no_trace(kept: Path, traces: list[str], mode: str) -> None:
    def law(q: Any, v: Any) -> Any:
        return 0.5 * v @ kt.crba(ARM, q) @ v

    q, v = np.array([0.1, 0.2]), np.array([0.3, -0.4])

    def derivative() -> Any:
        law_of = kt.program(law, q=ARM, v=2)
        calls: dict[str, Callable[[], Any]] = {
            "jacobian": lambda: kt.jacobian(law_of, (q, v), wrt="q"),
            "jvp": lambda: kt.jvp(law_of, (q, v), {"q": v})[1],
            "vjp": lambda: kt.vjp(law_of, (q, v), 1.0, wrt="q")[1]["q"],
            "hvp": lambda: kt.hvp(law_of, (q, v), 1.0, {"q": v}, wrt="q")["q"],
        }
        return calls[mode]()

    expected = derivative()
    count = len(traces)
    np.testing.assert_array_equal(derivative(), expected)
    assert len(traces) == count > 0


def test_a_dtype_a_declaration_and_a_robot_have_traces_of_their_own(kept: Path, traces: list[str]) -> None:
    def law(q: Any) -> Any:
        return 2.0 * q

    for k, make in enumerate(
        [
            lambda: kt.program(law, q=2)(np.ones(2)),
            lambda: kt.program(law, q=2)(np.ones(2, np.float32)),
            lambda: kt.program(law, q=3)(np.ones(3)),
            lambda: kt.program(law, q=kt.programs.Argument(2, int))(np.ones(2)),
            lambda: kt.program(law, q=ARM)(np.ones(2)),
            lambda: kt.program(law, q=ARM.with_gravity((0.0, 0.0, 0.0)))(np.ones(2)),
        ]
    ):
        make()
        make()
        assert len(traces) == k + 1


def test_a_function_that_changes_what_it_depends_on_is_traced_each_time(kept: Path, traces: list[str]) -> None:
    names: list[str] = []

    def law(q: Any) -> Any:
        names.append("law")
        return q * 2.0

    for k in range(3):
        names.clear()
        kt.program(law, q=2)(np.ones(2))
        assert names
        assert len(traces) == k + 1


def test_arrays_that_change_between_calls_are_read_again(kept: Path) -> None:
    gains = np.array([1.0, 2.0])

    def law(q: Any) -> Any:
        return gains * q

    for factor in (1.0, 2.0, 1.0):
        gains[:] = [factor, 2.0 * factor]
        assert kt.program(law, q=2)(np.ones(2)).tolist() == [factor, 2.0 * factor]


def test_what_was_found_on_disk_is_not_traced_after_a_change(kept: Path) -> None:
    """Code for batches of the new constants would answer to the key of the old ones."""
    gains = np.array([1.0, 2.0])

    def law(q: Any) -> Any:
        return gains * q

    kt.program(law, q=2)(np.ones(2))
    found = kt.program(law, q=2)
    assert found(np.ones(2)).tolist() == [1.0, 2.0]
    gains[:] = 3.0
    assert found(np.ones(2)).tolist() == [1.0, 2.0]
    for call in (
        lambda: found(np.ones((2, 2))),
        lambda: kt.jacobian(found, (np.ones(2),), wrt="q"),
        found.operation_counts,
    ):
        with pytest.raises(kt.errors.ProgramError, match=r"'law' was found on disk .* has changed since"):
            call()
    gains[:] = [1.0, 2.0]
    assert found(np.ones((1, 2))).tolist() == [[1.0, 2.0]]


def test_laws_of_the_clock_are_traced_each_time(kept: Path, traces: list[str]) -> None:
    def law(q: Any) -> Any:
        return q * random.random()

    found = {float(kt.program(law, q=1)(np.ones(1))[0]) for _ in range(3)}
    assert len(found) == len(traces) == 3


def test_damaged_traces_are_made_again(kept: Path, traces: list[str]) -> None:
    def law(q: Any) -> Any:
        return q * 2.0, q

    kt.program(law, q=2)(np.ones(2))
    (path,) = kept.glob("*.trace")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert kt.program(law, q=2)(np.ones(2))[0].tolist() == [2.0, 2.0]
    assert len(traces) == 2


def test_results_of_a_class_without_a_name_are_traced(kept: Path, traces: list[str]) -> None:
    @dataclass
    class Local:
        x: Any

    def law(q: Any) -> Any:
        return Local(q)

    for _ in range(2):
        assert type(kt.program(law, q=2)(np.ones(2))) is Local
    assert len(traces) == 2


PROCESS = """
import sys
import numpy as np
import kinetree as kt
from kinetree.codegen.cpu import backend, modules
from kinetree.programs import trace
modules.assembler = backend.toolchain = trace.toolchain = lambda *_: bytes(32)
traced, real = [], trace.with_choices
trace.with_choices = lambda *given: traced.append(given[1]) or real(*given)
arm = kt.zoo.load("arm6")
q = arm.neutral()
found = kt.control.inverse_kinematics(arm, kt.control.Position("tool"), [0.3, 0.2, 0.4])
law = kt.control.computed_torque(arm)
tau = law(q, q, q + 0.1, np.ones(6), np.ones(6))
impedance = kt.control.cartesian_impedance(arm, "tool")
@kt.program(q=arm, v=arm.nv)
def controller(q, v):
    return -v - q
motion = kt.simulate(arm, q=q, v=q, tau=controller, dt=1e-3, duration=3e-3)
slopes = kt.jacobian(controller, (q, q), wrt="q")
print(len(traced), *found.q, *tau, *motion.q[-1], *np.ravel(slopes))
"""


def test_a_new_process_traces_none_of_kinetrees_own_programs(kept: Path) -> None:
    def run(seed: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PROCESS], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return done.stdout.split()

    count, *first = run("1")
    assert int(count) > 2
    assert run("2") == ["0", *first]


def test_a_controller_whose_trace_was_found_is_traced_for_other_shapes(kept: Path) -> None:
    """Single motions in a process, then in another one also a batch, whose machine code is not there yet."""
    for shape in ((), (2,)):
        code = f"""
import numpy as np
import kinetree as kt
arm, law = kt.zoo.load("arm6"), kt.program(lambda t, q, v: -10.0 * q - v, t=(), q=6, v=6)
one = kt.simulate(arm, tau=law, duration=0.01)
many = kt.simulate(arm, q=np.zeros(({shape} or ()) + (6,)), tau=law, duration=0.01)
assert np.array_equal(many.q[0] if many.q.ndim == 3 else many.q, one.q)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
