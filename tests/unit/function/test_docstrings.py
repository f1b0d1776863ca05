"""Docstrings of public functions are completed with what all of them have in common."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import dedent

import pytest

import kinetree as kt
from kinetree.compiler.docstrings import IN_UNITS, completed


def spin(robot: object, q: object, v: object, rate: float, *, frame: str, out: object = None) -> None:
    """Spin it.

    Args:
        q, rate: how it is, and how
            fast it turns.

    Returns:
        Nothing.

    Raises:
        OptionError: the rate is negative.

    Source: nobody.

    >>> spin
    """


SPIN = dedent("""
    Args:
        robot: the robot.
        q, rate: how it is, and how
            fast it turns.
        v: velocity (…, nv).
        frame: a name in `robot.frames`.
        out: where to put the result, of the result's dtype.

    Returns:
        Nothing.

    Raises:
        NameNotFoundError: the robot has no such frame.
        OptionError: the rate is negative.
        ShapeError, DTypeError, ConfigurationError: as for `aba`.

    Source: nobody.
""")
"""Without indentation, as Python has docstrings from 3.13 on."""


def test_what_a_docstring_does_not_describe_is_added_in_its_order() -> None:
    assert SPIN in cleandoc(completed(spin) or "")
    assert SPIN.replace("(…, nv).", "(…, nv); rad/s, m/s.") in cleandoc(completed(spin, IN_UNITS) or "")


def test_a_complete_docstring_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin, "__doc__", completed(spin))
    assert completed(spin) == spin.__doc__


def test_docstrings_without_indentation_are_completed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin, "__doc__", cleandoc(spin.__doc__ or ""))
    assert SPIN in (completed(spin) or "")


def test_sections_that_would_be_empty_need_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    text = cleandoc(spin.__doc__ or "")
    own = (text[text.index("Args") : text.index("Returns")], text[text.index("Raises") : text.index("Source")])
    monkeypatch.setattr(spin, "__doc__", text.replace(own[0], "").replace(own[1], ""))
    text = completed(spin) or ""
    assert "\n\nArgs:\n    robot: the robot.\n    q: configuration (…, nq).\n    v: " in text
    assert "dtype.\n\nReturns:\n    Nothing.\n\nRaises:\n    NameNotFoundError: " in text
    assert "as for `aba`.\n\nSource: nobody.\n\n>>> spin" in text


@pytest.mark.parametrize("text", [None, "A function that is not public."])
def test_other_docstrings_are_left_alone(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin, "__doc__", text)
    assert completed(spin) == text


def test_help_shows_the_whole_docstring() -> None:
    text = cleandoc(kt.gravity_forces.__doc__ or "")
    assert "\n    robot: the robot.\n    q: configuration (…, nq).\n    parameters: values" in text
    assert '\n        {"gravity": (…, 3), ' in text
