"""`kinetree find`: which function does something, and which page is about it."""

from __future__ import annotations

from typing import Annotated

import typer

from kinetree.cli.output import complain, output_console

__all__ = ["find"]

_NOTHING = 1


def find(
    words: Annotated[
        list[str], typer.Argument(metavar="WORD…", help="What it is about, or a name in another library.")
    ],
    most: Annotated[int, typer.Option("--most", "-n", min=1, max=100, help="Rows of each kind.")] = 8,
) -> None:
    """Find functions and pages of the documentation by words: `kinetree find mass matrix`, `kinetree find mj_fullM`.

    Words also find longer ones, and names of Pinocchio, MuJoCo, Drake, DART and RBDL. Exit codes: 0 found, 1 nothing.
    """
    from kinetree.guide import find as found
    from kinetree.guide import pages_folder

    folder = pages_folder()
    functions, pages = found(" ".join(words), most)
    if not functions and not pages:
        reason = "the pages are not installed" if folder is None else "try one word, or its beginning"
        complain(f"nothing is about {' '.join(words)!r:.200}; {reason}")
        raise typer.Exit(_NOTHING)
    console = output_console()
    for answer in functions:
        console.print(f"{answer.here}  {answer.task}".rstrip(), markup=False, highlight=False, soft_wrap=True)
    if functions and pages:
        console.print()
    for page in pages:
        console.print(f"{page.place}  {page.heading}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"\nthe pages are in {folder}", markup=False, highlight=False, soft_wrap=True)
