"""On which frame a force acts, in which axes: plain records, with errors in words."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ARM = kt.zoo.load("arm6")
Q, V, TAU = np.random.default_rng(1).normal(size=(3, 6))


def test_they_are_equal_if_they_say_the_same() -> None:
    key = kt.dynamics.WrenchOn("tool", "world")
    assert key == kt.dynamics.WrenchOn("tool", "world") == pickle.loads(pickle.dumps(key))
    assert (
        len(
            {
                key,
                kt.dynamics.WrenchOn("tool", "world"),
                kt.dynamics.WrenchOn("tool"),
                kt.dynamics.ForceOn("tool", "world"),
            }
        )
        == 3
    )
    assert repr(key) == "WrenchOn('tool', 'world')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kt.dynamics.WrenchOn(3), "WrenchOn: frame must be the name of a frame, not 3"),  # type: ignore[arg-type]
        (
            lambda: kt.dynamics.ForceOn("tool", "body"),
            "ForceOn: expressed_in must be 'local', 'world' or .*, not 'body'",
        ),
        (lambda: kt.dynamics.ForceOn("tool", ["world"]), r"not \['world'\]"),  # type: ignore[arg-type]
    ],
)
def test_wrong_ones_are_refused_in_words(make: Any, message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        make()


def test_one_that_is_not_in_a_list_is_refused_where_a_function_is_compiled() -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"f_ext must be a list, such as \[WrenchOn\('tool', 'world'\)\], not one"
    ):
        kt.compile(ARM, kt.aba, f_ext=kt.dynamics.WrenchOn("tool", "world"))  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="f_ext must be a list of frame names"):
        kt.compile(ARM, kt.aba, f_ext=[kt.dynamics.WrenchOn("tool"), 3])  # type: ignore[list-item]


def test_several_on_one_frame_add_up_and_compile_once() -> None:
    w = np.arange(6.0)
    both = kt.aba(ARM, Q, V, TAU, {"tool": w, kt.dynamics.WrenchOn("tool"): w})
    np.testing.assert_allclose(both, kt.aba(ARM, Q, V, TAU, {"tool": 2.0 * w}), rtol=1e-13)
    keys = [kt.dynamics.ForceOn("tool", "world"), "forearm"]
    f = kt.compile(ARM, kt.aba, f_ext=keys)
    assert f is kt.compile(ARM, kt.aba, f_ext=tuple(keys))
    assert (f(Q, V, TAU, w, 2.0 * w) == kt.aba(ARM, Q, V, TAU, {keys[0]: w, "forearm": 2.0 * w})).all()
    assert (pickle.loads(pickle.dumps(f))(Q, V, TAU, w, w) == f(Q, V, TAU, w, w)).all()
