"""What errors have in common: they are short, whatever a file calls its parts."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree import errors
from kinetree.errors import brief, listed

LONG = "elbow" * 1000
ARM = kt.zoo.load("double_pendulum")
FAMILY = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]


def pendulum(name: str = LONG, mass: float = 1.0, **options: object) -> kt.Model:
    builder = kt.ModelBuilder(name)
    builder.add_body(name)
    ball = kt.solids.sphere(0.1, mass=1.0)
    builder.add_body(name + "2", replace(ball, mass=mass) if mass else kt.model.Inertia.zero())
    builder.add_joint(name, kt.Revolute([0, 0, 1]), name, name + "2", **options)  # type: ignore[arg-type]
    return builder.build()


def twice() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body(LONG)
    builder.add_body(LONG)


def circle() -> None:
    builder = kt.ModelBuilder("r")
    names = [f"{LONG}{k}" for k in range(3)]
    builder.add_body("base")
    for k, name in enumerate(names):
        builder.add_body(name)
        builder.add_joint(name, kt.Revolute([0, 0, 1]), "base", name, mimic=kt.model.Mimic(names[k - 1]))
    builder.build()


NAMED: dict[str, Callable[[], object]] = {
    "a body twice": twice,
    "a circle of followers": circle,
    "a parent that is not there": lambda: pendulum(mimic=kt.model.Mimic(LONG + "3")),
    "a negative mass": lambda: pendulum(mass=-1.0),
    "a joint without inertia": lambda: kt.aba(pendulum(mass=0.0), [0.0], [0.0], [0.0]),
    "a shape": lambda: kt.crba(pendulum(), np.zeros(3)),
    "a frame": lambda: kt.frame_placement(ARM, [0.0, 0.0], LONG),
    "a frame of many": lambda: ARM.frames[LONG],
    "an option's value": lambda: kt.frame_jacobian(ARM, [0.0, 0.0], next(iter(ARM.frames)), expressed_in=LONG),
    "an option's name": lambda: kt.compile(ARM, kt.aba, **{LONG: 1}),
    "a dtype": lambda: kt.compile(ARM, kt.aba, dtype=LONG),
    "a list's place": lambda: kt.compile(ARM, kt.aba, f_ext=LONG),
    "a parameter": lambda: kt.compile(ARM, kt.aba, parameters=[LONG]),
    "a direction": lambda: kt.jvp(ARM, kt.crba, ([0.0, 0.0],), {LONG: [0.0, 0.0]}),
    "an integrator": lambda: kt.simulate(ARM, integrator=LONG),
    "a robot of the zoo": lambda: kt.zoo.load(LONG),
    "a library": lambda: kt.interop.Layout(ARM, LONG),
    "a field of a text": lambda: kt.from_text('{"kinetree": "model", "version": 1, "' + LONG + '": 1}'),
    "a body to detach": lambda: ARM.detach(LONG),
    "a joint to lock": lambda: pendulum().lock(LONG + "4"),
    "a file": lambda: kt.load(LONG),
    "a quaternion": lambda: LONG_BALL().check_configuration([0.0] * 4),
}


def LONG_BALL() -> kt.Model:
    builder = kt.ModelBuilder("r")
    builder.add_body("a")
    builder.add_body("b", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint(LONG, kt.joints.Spherical(), "a", "b")
    return builder.build()


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
def test_a_name_of_thousands_of_letters_is_not_echoed_whole(make: Callable[[], object]) -> None:
    with pytest.raises(kt.KinetreeError) as raised:
        make()
    assert 20 < len(str(raised.value)) < 1500
    assert "elbowelbow" in str(raised.value)


def test_nor_is_it_in_a_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pendulum(damping=[-1.0])
    assert [len(str(w.message)) < 400 for w in caught] == [True]
    assert "elbow" in str(caught[0].message)


@pytest.mark.parametrize("kind", FAMILY)
def test_every_error_is_short_and_comes_through_a_pickle(kind: type[kt.KinetreeError]) -> None:
    error = kind(f"joint {LONG!r} is none", 3)
    assert len(str(error.args[0])) < 230
    assert error.args[1] == 3
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert again.args == error.args
    assert str(kind()) == ""


@pytest.mark.parametrize(
    "message",
    [
        "",
        "the robot's own " + "word " * 200 + "isn't it",
        "joint 'a-' " + "word " * 100 + "and the joints' names 'b'",
        f"{Path('/long') / ('folder/' * 30)}: cannot be read",
        "a" * 200,
        '"quoted" ' * 100,
        "it's 'x' " * 100,
    ],
)
def test_what_is_no_long_name_stays(message: str) -> None:
    assert brief(message) == message


def test_a_long_name_keeps_its_ends() -> None:
    for quote in "'\"":
        said = brief(f"joint {quote}left{'x' * 5000}tool{quote} of 'arm' has no {quote}short{quote}")
        assert said.startswith(f"joint {quote}leftxxx")
        assert said.endswith(f"xxxtool{quote} of 'arm' has no {quote}short{quote}")
        assert len(said) < 260
    assert brief(brief(LONG)) == brief(LONG)


def test_long_lists_are_cut() -> None:
    assert listed([]) == ""
    assert listed("abcdef") == "a, b, c, d, e, f"
    assert listed("abcdefg") == "a, b, c, d, e, f and 1 more"
    assert listed(map(repr, "abc"), 2, "; ") == "'a'; 'b' and 1 more"
