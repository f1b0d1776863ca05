"""The requested contents of a picture: words, patterns of joints, samples."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import NameNotFoundError, OptionError, listed, nearest_names
from kinetree.records import record
from kinetree.sim.folder import TrajectoryFolder
from kinetree.sim.picking import Samples, sample_numbers
from kinetree.sim.trajectory import Trajectory

__all__ = ["WORDS", "Choice", "choice_of", "matches"]

WORDS = ("positions", "velocities", "accelerations", "torques", "energies", "balance", "contacts")
_USUAL = ("positions", "energies", "balance")


@record(frozen=True, slots=True, eq=False)
class Choice:
    """The drawn quantities, joints and motions."""

    words: tuple[str, ...]
    """Some of `WORDS`, and names of arrays in `recorded`."""
    joints: tuple[str, ...] | None
    """Patterns, or None for all joints that move."""
    samples: NDArray[np.intp] | None
    """Numbers of motions in the batch, or None for all."""
    is_usual: bool
    """Whether nothing was requested in particular, so that missing quantities are skipped."""


def choice_of(motion: Trajectory | TrajectoryFolder, what: Any, joints: Any, samples: Samples | None) -> Choice:
    """The options of `plot`, checked. Raises OptionError, NameNotFoundError."""
    words: dict[str, None] = {}
    for word in _USUAL if what is None else _texts("what", what):
        if word in WORDS:
            words[word] = None
            continue
        matching = [name for name in motion.recorded if matches(name, word)]
        if not matching:
            known = [*WORDS, *motion.recorded]
            raise NameNotFoundError(f"plot: there is nothing called {word!r:.60} to draw: {nearest_names(word, known)}")
        words |= dict.fromkeys(matching)
    patterns = None if joints is None else _texts("joints", joints)
    names = dict.fromkeys((*motion.q_joints, *motion.q_names, *motion.v_names))
    for pattern in patterns or ():
        if not any(matches(name, pattern) for name in names):
            own = list(dict.fromkeys(motion.q_joints))
            raise NameNotFoundError(
                f"plot: no joint of {motion.robot!r} matches {pattern!r:.60}: {nearest_names(pattern, own)}"
            )
    numbers = None if samples is None else sample_numbers("plot", samples, motion.shape)
    if numbers is not None and not numbers.size:
        raise OptionError("plot: samples is empty; leave it out to draw all motions")
    return Choice(tuple(words), patterns, numbers, what is None)


def matches(name: str, pattern: str) -> bool:
    """Whether a name matches, by the rules of `robot.joints.matching`.

    >>> matches("left_knee", "knee"), matches("left_knee", "left*"), matches("left_knee", "kn?")
    (True, True, False)
    """
    sought = pattern.lower()
    if not any(sign in sought for sign in "*?["):
        return sought in name.lower()
    return fnmatchcase(name.lower(), sought)


def _texts(option: str, given: Any) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise OptionError(f"plot: {option} must be a text or a list of texts, not {given!r:.60}")
    if not texts:
        known = f" ({listed(WORDS, most=9)})" if option == "what" else ""
        raise OptionError(f"plot: {option} is empty; leave it out for the usual, or name something{known}")
    return texts
