"""<option>: settings of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.values import many, same, solimp, solref
from kinetree.model.extras import SimulationFlags, SimulationOptions

__all__ = ["read_options"]

_MOST_GROUPS = 31
_DEFAULT = SimulationOptions()
_SWITCH = {"enable": True, "disable": False}


def read_options(sections: Sequence[Element]) -> SimulationOptions | None:
    """The options of all sections together, the last that has an attribute deciding; None if there are none."""
    if not sections:
        return None
    a = Attributes(sections[-1], sections[:-1])
    own: dict[str, Any] = {
        entry.name: _value(a, entry.name, getattr(_DEFAULT, entry.name))
        for entry in fields(SimulationOptions)
        if entry.name in _PLAIN
    }
    if own["timestep"] <= 0.0:
        a.fail(f"timestep is {own['timestep']:g} s, but it must be positive", "bad-number")
    return SimulationOptions(
        **own,
        integrator=a.word("integrator", same("Euler", "RK4", "implicit", "implicitfast", "discrete"), "Euler"),
        cone=a.word("cone", same("pyramidal", "elliptic"), "pyramidal"),
        jacobian=a.word("jacobian", same("dense", "sparse", "auto"), "auto"),
        solver=a.word("solver", same("PGS", "CG", "Newton"), "Newton"),
        override_margin=a.number("o_margin"),
        override_solref=solref(a, "o_solref"),
        override_solimp=solimp(a, "o_solimp"),
        override_friction=a.numbers("o_friction", _DEFAULT.override_friction, least=1),
        disabled_actuator_groups=_groups(sections),
        flags=_flags(sections),
    )


_PLAIN = frozenset({
    "timestep", "gravity", "wind", "magnetic", "density", "viscosity", "iterations", "tolerance", "ls_iterations",
    "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_iterations",
    "sdf_initpoints", "sleep_tolerance", "impratio",
})  # fmt: skip
"""Options that are numbers under MuJoCo's names."""


def _value(a: Attributes, name: str, default: Any) -> Any:
    if isinstance(default, tuple):
        return a.numbers(name, default)
    return a.whole(name, default) if isinstance(default, int) else a.number(name, default)


def _groups(sections: Sequence[Element]) -> tuple[int, ...]:
    groups: set[int] = set()
    for section in sections:
        for group in many(section, "actuatorgroupdisable"):
            if group != int(group) or not 0 <= group < _MOST_GROUPS:
                section.fail(
                    f"actuatorgroupdisable holds {group:g}, but groups are whole numbers from 0 to 30", "bad-number"
                )
            groups.add(int(group))
    return tuple(sorted(groups))


def _flags(sections: Sequence[Element]) -> SimulationFlags:
    found = [flag for section in sections for flag in section.all("flag")]
    a = Attributes(found[-1], found[:-1]) if found else Attributes(Element("flag", {}, 0, None, ""))
    flags: dict[str, Any] = {
        entry.name: a.word(entry.name, _SWITCH, entry.default) for entry in fields(SimulationFlags)
    }
    return SimulationFlags(**flags)
