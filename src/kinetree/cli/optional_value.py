"""Options whose value may be left out, which the command-line library does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["with_optional_values"]

_UsageError: Any = typer.BadParameter.__base__
"""What the command-line library raises for too many arguments; it has no public name there."""


def with_optional_values(options: Mapping[str, Sequence[str]]) -> type[TyperCommand]:
    """A class of commands in which these options stand alone for the first of their values.

    What comes after such an option is its value only if it is one of them, so `--contact robot.urdf` names a robot. If
    there are too many arguments, the message says so.
    """

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            completed: list[str] = []
            no_values: list[str] = []
            for word, following in zip(args, [*args[1:], "-"], strict=True):
                completed.append(word)
                values = options.get(word)
                if values and following not in values:
                    completed.append(values[0])
                    if not following.startswith("-"):
                        no_values.append(f"{following!r} is not a value of {word}; those are {', '.join(values)}")
            try:
                return super().parse_args(ctx, completed)
            except typer.BadParameter:
                raise
            except _UsageError as error:
                error.message = "; ".join([error.message, *no_values])
                raise

    return Command
