"""Robots as text: versioned, readable line by line, and exact; docs/model_text.md describes it."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import DTypeError, ModelError
from kinetree.io.native.reading import read_text
from kinetree.io.native.writing import write_text
from kinetree.joints import JointKind
from kinetree.model import Model

__all__ = ["from_text", "native_text"]


def native_text(robot: Model) -> str:
    """The robot as JSON text that `from_text` takes back.

    Raises `ModelError` if a joint's kind holds something that has no text form, such as a function.
    """
    return write_text(robot)


def from_text(text: str, *, kinds: Sequence[type[JointKind]] = ()) -> Model:
    """The robot of a text that `to_text` made, or a person.

    Args:
        text: the text form, of version 1.
        kinds: the classes of joints in it that are not kinetree's own; the text names them by their `__name__`.

    Returns:
        The robot. It is checked as one from a file is: `ModelWarning` says what is suspicious.

    Raises:
        ModelError: it is not JSON, of a newer version, or not a robot; the message names the place, such as
            `joints[3].placement`.
        OptionError: something in `kinds` is not a class of joints, or two have one name.
        DTypeError: `text` is not a string.

    >>> import kinetree as kt
    >>> kt.from_text(kt.to_text(kt.zoo.load("arm6"))).nq
    6
    """
    if not isinstance(text, str):
        raise DTypeError(f"from_text takes a string, not {type(text).__name__}; kinetree.load reads files")
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise ModelError("from_text takes kinetree's own text form, and this is XML; write it to a file and load that")
    return read_text(text, kinds=kinds)
