"""Options whose value may be left out, which the command-line library does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

__all__ = ["with_optional_values"]


def with_optional_values(options: Mapping[str, Sequence[str]]) -> type[TyperCommand]:
    """A class of commands in which these options stand alone for the first of their values.

    What comes after such an option is its value only if it is one of them, so `--contact robot.urdf` names a robot.
    """

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            completed: list[str] = []
            for k, word in enumerate(args):
                completed.append(word)
                values = options.get(word)
                if values and (k + 1 == len(args) or args[k + 1] not in values):
                    completed.append(values[0])
            return super().parse_args(ctx, completed)

    return Command
