"""A robot given where something else belongs is described in a line, not in full."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kinetree as kt
from tests.functions import PUBLIC

ROBOT = kt.zoo.load("cart_pole").with_contacts([])  # contacts of its shapes would take long to compile
Q = [0.1, 0.2]
USUAL: dict[str, Any] = {
    "robot": ROBOT, "q": Q, "v": Q, "tau": Q, "qdd": Q, "q0": Q, "q1": Q, "expressed_in": "world", "wrt": "q",
    "function": kt.rnea, "arguments": (Q, Q, Q), "frame": "pole",
}  # fmt: skip
FUNCTIONS = {
    name: function
    for name, function in PUBLIC.items()
    if inspect.isfunction(function) and name not in ("save", "simulate", "rollout")
}
METHODS = {
    name: getattr(ROBOT, name)
    for name in dir(ROBOT)
    if not name.startswith("_") and inspect.ismethod(getattr(ROBOT, name))
}


def calls(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A call per argument, with a robot for that one and something usual for the others that are needed."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind not in (2, 4)]
    for wrong in parameters:
        named = {p.name: USUAL.get(p.name, "pole") for p in parameters if p.default is p.empty}
        for what, thing in ({"a robot": ROBOT, "a list of one": [ROBOT], "a dict by one": {ROBOT: 1.0}}).items():
            given = named | {wrong.name: thing}
            before = [given.pop(p.name) for p in parameters if p.kind == 0]
            yield f"{wrong.name} = {what}", lambda before=before, given=given: function(*before, **given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", (FUNCTIONS | METHODS).values(), ids=FUNCTIONS | METHODS)
def test_no_message_holds_the_tree_of_a_robot(function: Callable[..., Any]) -> None:
    messages = {}
    for what, call in calls(function):
        try:
            call()
        except Exception as error:
            messages[what] = str(error)
    assert {what: text for what, text in messages.items() if "└" in text} == {}


def test_names_of_parts() -> None:
    for parts in (ROBOT.frames, ROBOT.joints, ROBOT.bodies):
        with pytest.raises(kt.errors.NameNotFoundError) as caught:
            parts[ROBOT]  # type: ignore[index]
        assert "\n" not in str(caught.value)
    with pytest.raises(kt.errors.NameNotFoundError) as caught:
        kt.zoo.load(ROBOT)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
