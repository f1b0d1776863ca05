"""The table of docs/frameworks.md, from the cells that are tested.

python -m tests.unit.interop.table.page
"""

from __future__ import annotations

from pathlib import Path

from tests.unit.interop.table.cases import NAMES, PROGRAM
from tests.unit.interop.table.cells import FRAMEWORKS, KINDS, missing

__all__ = ["PAGE", "table", "written"]

PAGE = Path(__file__).parents[4] / "docs" / "frameworks.md"
BEGIN, END = "<!-- the table: python -m tests.unit.interop.table.page -->\n", "<!-- end of the table -->\n"


def table() -> str:
    """The table, with a note for each reason why something is missing."""
    notes: dict[str, str] = {}
    """The mark of each reason."""
    lines = [f"| function | {' | '.join(FRAMEWORKS)} |", "| --- " * (len(FRAMEWORKS) + 1) + "|"]
    for name in NAMES:
        cells = [_cell(framework, name, notes) for framework in FRAMEWORKS]
        lines.append(f"| {name if name == PROGRAM else f'`{name}`'} | {' | '.join(cells)} |")
    legend = ", ".join(f"{letter} {kind}" for kind, letter in KINDS.items())
    reasons = "\n".join(f"- {mark}: {reason}" for reason, mark in notes.items())
    return f"{legend}.\n\n" + "\n".join(lines) + f"\n\n{reasons}\n"


def _cell(framework: str, name: str, notes: dict[str, str]) -> str:
    """The letters of what is possible, and marks for what is not."""
    why = missing(framework, name)
    letters = "".join(letter for kind, letter in KINDS.items() if kind not in why)
    marks = [notes.setdefault(reason, chr(ord("a") + len(notes))) for reason in why.values()]
    return f"{letters} {','.join(marks)}".rstrip()


def written(page: str) -> str:
    """The page with the table in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
