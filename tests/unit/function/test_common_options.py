"""Every function takes what docs/which_function.md says that all functions take, and it has an effect."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.functions import EVERY, FIXED, PUBLIC, gives_one_array, options_of, samples

PAGE = (Path(__file__).parents[3] / "docs" / "which_function.md").read_text()
SENTENCES = " ".join(PAGE.split("\n\n")[1].split())
BEFORE, _, AFTER = SENTENCES.partition("Functions that call")
WITHOUT_PARAMETERS = set(re.findall(r"`(\w+)`", BEFORE.partition("or gravity:")[2]))
CALLING = set(re.findall(r"`(?:kt\.)?(\w+)`", AFTER.partition("return new")[0]))
ALL: dict[str, Callable[..., Any]] = {
    **EVERY, "rollout": kt.rollout, "nearest_configuration": kt.constraints.nearest_configuration,
}  # fmt: skip
ROBOT = kt.zoo.load("double_pendulum")
OTHER_GRAVITY = np.array([0.5, 0.0, -3.0])


@pytest.mark.parametrize("name", ALL)
def test_a_function_has_the_options_that_the_page_names(name: str) -> None:
    options = set(inspect.signature(ALL[name]).parameters)
    assert {"out", "threads"} <= options
    assert ("parameters" in options) == (name not in WITHOUT_PARAMETERS)
    if name != "nearest_configuration":
        assert ("f_ext" in options) == ALL[name].definition.takes_forces  # type: ignore[attr-defined]


def test_those_that_call_others_have_no_out() -> None:
    assert {"jvp", "vjp", "hvp", "jacobian", "simulate"} == CALLING
    for name in CALLING:
        options = set(inspect.signature(PUBLIC[name]).parameters)
        assert "out" not in options
        assert {"parameters", "f_ext"} <= options
        assert ("threads" in options) == (name != "simulate")


@pytest.mark.parametrize("name", sorted(FIXED))
def test_out_threads_and_parameters_work(name: str) -> None:
    function, rng = EVERY[name], np.random.default_rng(0)
    options = options_of(function, list(ROBOT.bodies)[-1])
    definition = function.definition  # type: ignore[attr-defined]
    for (argument, _), x in zip(definition.inputs, samples(ROBOT, function, 1, rng), strict=True):
        if argument not in definition.optional:
            options[argument] = x[0]
    value = function(ROBOT, **options)
    if gives_one_array(function):
        out = np.empty_like(value)
        result = function(ROBOT, **options, out=out, threads=1)
        assert result is out or np.shares_memory(result, out)
        np.testing.assert_array_equal(out, value)
    else:
        function(ROBOT, **options, threads=1)
    if name not in WITHOUT_PARAMETERS:
        given = {"gravity": np.array(ROBOT.gravity, dtype=np.float64)}
        same = function(ROBOT, **options, parameters=given)
        for a, b in zip(same, value, strict=True) if isinstance(value, tuple) else [(same, value)]:
            np.testing.assert_allclose(a, b, atol=1e-12)
        function(ROBOT, **options, parameters={"gravity": OTHER_GRAVITY})
