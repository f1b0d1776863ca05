"""Options whose value may be left out, which the command-line library does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["with_optional_values"]


def with_optional_values(
    options: Mapping[str, Sequence[str]], is_argument: Callable[[str, Sequence[str]], bool]
) -> type[TyperCommand]:
    """A class of commands in which these options stand alone for the first of their values.

    What comes after such an option is its value only if it is one of them, so `--contact robot.urdf` names a robot.
    `is_argument(word, words)` says whether a word among all words may be an argument there; what is neither is refused.
    """

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            completed: list[str] = []
            for k, word in enumerate(args):
                completed.append(word)
                values = options.get(word)
                if values and (k + 1 == len(args) or (after := args[k + 1]) not in values):
                    completed.append(values[0])
                    if k + 1 < len(args) and not after.startswith("-") and not is_argument(after, args):
                        raise typer.BadParameter(
                            f"{after!r} is none of {', '.join(values)}, and no robot", ctx, param_hint=word
                        )
            return super().parse_args(ctx, completed)

    return Command
