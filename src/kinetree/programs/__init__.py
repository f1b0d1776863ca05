"""Programs of a user's own: functions over robots that are traced, compiled and differentiated as kinetree's are."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.programs.argument import Argument
    from kinetree.programs.loops import fori, scan
    from kinetree.programs.program import Program, program
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "argument": "Argument",
            "loops": "fori scan",
            "program": "Program program",
        },
    )

__all__ = ["Argument", "Program", "fori", "program", "scan"]
