"""What a motion and its continuation must have in common, as texts by name."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.contact_model import SoftConstraints
from kinetree.functions.constraint_options import ALL
from kinetree.model.fingerprint import fingerprint
from kinetree.programs import Program
from kinetree.sim.setting import Setting

__all__ = ["digest_of", "identity_of"]


def identity_of(setting: Setting, period: int | None, program: Program | None) -> dict[str, str]:
    """The settings of a motion. Torques, external forces and events may change at a pause."""
    robot = setting.robot
    known = fingerprint(robot)
    found = {
        "robot": robot.name,
        "model": "of its own kinds of joints" if known is None else known.hex()[:16],
        "dt": repr(setting.dt),
        "integrator": setting.integrator,
        "passive": ", ".join(setting.passive) or "none",
        "limits": str(setting.limits),
        "contact": "none" if setting.contact is None else _digest_of_contact(setting.contact),
        "commands": "given" if setting.actuation is not None else "none",
        "constraints": "none" if not setting.held else digest_of(repr(ALL.without(setting.held))),
        "control_dt": "stages" if period is None else repr(period * setting.dt),
        "controller": "none" if program is None else program.name,
        "batch": str(setting.shape),
    }
    if setting.tolerances is not None:
        found |= {"rtol": repr(setting.tolerances.rtol), "atol": repr(setting.tolerances.atol)}
    parameters = {f"parameters[{name!r}]": digest_of(x) for name, x in setting.parameters.items()}
    return found | {"parameters": ", ".join(setting.parameters) or "none"} | parameters


@lru_cache(maxsize=16)
def _digest_of_contact(contact: SoftConstraints) -> str:
    """Each is told once: hundreds of pairs make a long text."""
    return digest_of(repr(contact))


def digest_of(x: Any) -> str:
    """Some letters for a text or an array; others for another one."""
    if isinstance(x, np.ndarray):
        array: NDArray[Any] = np.ascontiguousarray(x)
        content = f"{array.dtype.str} {array.shape} ".encode() + array.tobytes()
    else:
        content = str(x).encode()
    return hashlib.sha256(content).hexdigest()[:16]
