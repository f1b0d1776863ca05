"""Every error that kinetree raises on purpose, in one hierarchy.

    KinetreeError
    ├── ModelError (ValueError)           an impossible robot: a bad file, a bad builder call
    │   └── SingularModelError            forward dynamics of a model with a massless moving subtree
    ├── ShapeError (ValueError)           an argument whose shape does not fit the robot
    ├── DTypeError (TypeError)            an argument that is not real numbers
    ├── FrozenError (AttributeError)      an attempt to set what does not change, such as a robot's mass
    ├── NameNotFoundError (KeyError)      a body, joint or frame the robot does not have
    ├── ConfigurationError (ValueError)   a q that is not a configuration: NaN, or a quaternion of zero length
    ├── ActuationError (ValueError)       a force at a degree of freedom that has no motor
    ├── ProgramError (TypeError)          a program of a user's that cannot be traced
    ├── OptionError (ValueError)          an option outside its list of values
    ├── SimulationError (ArithmeticError) a motion that cannot be continued
    │   └── StiffFrictionError            friction too stiff for the integrator
    ├── TrajectoryFileError (ValueError)  a file that does not contain a trajectory
    ├── PolicyFileError (ValueError)      a file or state dict that does not contain a policy
    ├── LogError (ValueError)             a robot's log that cannot be used as it is
    ├── SaveError (OSError)               a file that cannot be written
    ├── MissingPackageError (ImportError) an optional package that is not installed
    └── DeviceError (RuntimeError)        a device to compute on that is missing, or that failed

Each also derives from the built-in error in parentheses, so `except ValueError` keeps working. `ModelWarning`, a
UserWarning, marks input that is suspicious but possible; it is loaded as written. `SimulationWarning`, a UserWarning
too, marks a motion that is computed as asked, but hardly meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import FrozenInstanceError
from typing import Any

from kinetree.problems import Problem

__all__ = [
    "ActuationError",
    "ConfigurationError",
    "DTypeError",
    "DeviceError",
    "FrozenError",
    "KinetreeError",
    "LogError",
    "MissingPackageError",
    "ModelError",
    "ModelWarning",
    "NameNotFoundError",
    "OptionError",
    "PolicyFileError",
    "ProgramError",
    "SaveError",
    "ShapeError",
    "SimulationError",
    "SimulationWarning",
    "SingularModelError",
    "StiffFrictionError",
    "TrajectoryFileError",
    "brief",
    "listed",
    "nearest_names",
    "quoted",
    "visible",
]


def brief(message: str) -> str:
    """Shorten quoted names and other words in a message that would not fit on a few lines.

    Names in a file may have thousands of letters. This is the one place that shortens them, for every error.

    >>> len(brief(f"there is no joint {'x' * 5000!r}"))
    218
    """
    if len(message) <= _LONG:
        return message
    return _WORD.sub(_shortened, _QUOTED.sub(_shortened, message))


_LONG = 200
_QUOTED = re.compile(r"""(?<![\w'])'[^'\n]*'(?!\w)|(?<![\w"])"[^"\n]*"(?!\w)""")
_WORD = re.compile(rf"\S{{{2 * _LONG},}}")


def _shortened(found: re.Match[str]) -> str:
    text = found[0]
    return text if len(text) <= _LONG else f"{text[: _LONG - 50]}…{text[-49:]}"


_HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except line feeds, other ends of lines, changes of the direction of writing, halves of pairs."""


def visible(text: str) -> str:
    """A text for a terminal, whose control characters are written out instead of being obeyed.

    Names and sentences from files may hold sequences that move the cursor, change colours or turn the direction of
    writing. This is the one place that writes them out: for errors and warnings, for the output of commands, for `repr`
    of robots and motions, and for pages.

    >>> print(visible("elbow" + chr(27) + "[2J"))
    elbow\\x1b[2J
    """
    if text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _message(x: object) -> object:
    return visible(brief(x)) if isinstance(x, str) else x


class KinetreeError(Exception):
    """Root of all errors raised by kinetree."""

    def __init__(self, *args: object) -> None:
        super().__init__(*map(_message, args))


class ModelError(KinetreeError, ValueError):
    """An impossible robot."""

    def __init__(self, *args: object, problems: Iterable[Problem] = ()) -> None:
        super().__init__(*args)
        self.problems: tuple[Problem, ...] = tuple(problems)
        """The problems, as records with their places, as far as they are known."""


class SingularModelError(ModelError):
    """Forward dynamics of a model in which something massless can move."""


class ShapeError(KinetreeError, ValueError):
    """An argument whose shape does not fit."""


class DTypeError(KinetreeError, TypeError):
    """An argument that is not an array of real numbers."""


class FrozenError(KinetreeError, FrozenInstanceError):
    """An attempt to set or delete an attribute of something that does not change."""


class NameNotFoundError(KinetreeError, KeyError):
    """A name that the robot does not have."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return str(self.args[0]) if self.args else ""


class ConfigurationError(KinetreeError, ValueError):
    """A q that is not a configuration of this robot."""


class ActuationError(KinetreeError, ValueError):
    """A force at a degree of freedom that has no motor."""


class ProgramError(KinetreeError, TypeError):
    """A program that cannot be traced: it branches on a value, or uses a function without a rule."""


class OptionError(KinetreeError, ValueError):
    """An option outside its list of values."""


class SimulationError(KinetreeError, ArithmeticError):
    """A motion that cannot be continued."""

    trajectory: Any = None
    """The motion until then, if `simulate` has one."""


class StiffFrictionError(SimulationError):
    """Friction too stiff for the integrator at this step."""


class TrajectoryFileError(KinetreeError, ValueError):
    """A file that does not contain a trajectory."""


class LogError(KinetreeError, ValueError):
    """A robot's log that cannot be used as it is: gaps, NaN, unsorted times, missing columns."""


class PolicyFileError(KinetreeError, ValueError):
    """A file or state dict that does not contain a policy."""


class SaveError(KinetreeError, OSError):
    """A file that cannot be written."""


class MissingPackageError(KinetreeError, ImportError):
    """An optional package that is not installed."""


class DeviceError(KinetreeError, RuntimeError):
    """A device to compute on that is missing, or that failed."""


class ModelWarning(UserWarning):
    """Something in a robot file that is suspicious but possible; it is loaded as written."""

    def __init__(self, *args: object, problems: Iterable[Problem] = ()) -> None:
        super().__init__(*map(_message, args))
        self.problems: tuple[Problem, ...] = tuple(problems)
        """The suspicious values, as records with their places, as far as they are known."""


class SimulationWarning(UserWarning):
    """A motion through a joint's stop, far down, from far outside the limits, with very many pairs of shapes that may
    touch, or with contacts that were not solved; it is computed as asked."""

    def __init__(self, *args: object) -> None:
        super().__init__(*map(_message, args))


def listed(texts: Iterable[str], most: int = 6, separator: str = ", ") -> str:
    """The first few texts, and how many more there are.

    >>> listed(["shoulder", "elbow", "wrist"], most=2)
    'shoulder, elbow and 1 more'
    """
    texts = list(texts)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more


def quoted(name: object) -> str:
    """A name in quotation marks; of anything else that was given for one, such as a robot, only the beginning.

    >>> quoted("elbow")
    "'elbow'"
    """
    return repr(name) if isinstance(name, str) else f"{name!r:.60}"


def _short(name: str) -> str:
    """A name as shown in a message; comparing names of thousands of letters would also be slow."""
    name = str(name)
    return name if len(name) <= 80 else name[:79] + "…"


def nearest_names(name: str, known: Iterable[str], count: int = 3, cutoff: float = 0.5) -> str:
    """The end of an error message: the known names nearest to a wrong one.

    >>> nearest_names("elbov", ["shoulder", "elbow"])
    "did you mean 'elbow'?"
    """
    import difflib  # a process without mistakes has no use for it

    known = [_short(k) for k in known]
    name = _short(name)
    near = (
        [k for k in known if k.lower() == name.lower()][:count]
        or difflib.get_close_matches(name, known, n=count, cutoff=cutoff)
        or [k for k in known if name and name in k][:count]
    )
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"available: {listed(map(repr, known), most=10)}" if known else "there are none"
