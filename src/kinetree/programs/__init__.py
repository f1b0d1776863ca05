"""Programs of a user's own: functions over robots that are traced, compiled and differentiated as kinetree's are."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.compiler.compiled import BareFunction
    from kinetree.compiler.hooks import DeviceFunction
    from kinetree.programs.argument import Argument
    from kinetree.programs.loops import fori, scan, when
    from kinetree.programs.program import Program, program

__all__ = ["Argument", "BareFunction", "DeviceFunction", "Program", "fori", "program", "scan", "when"]
