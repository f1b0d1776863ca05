"""Robots restored from pickles: one object for all pickles of one robot, so that its functions are made only once.

Work distributed over processes sends the robot with every task, and machine code is kept by a robot's identity. So a
robot that is restored again is the same object as before, if everything about it is the same to the last bit,
including notes, places in files and shapes. The few most recently restored stay alive between tasks; all others live
as long as they are in use.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from kinetree.locks import restoring
from kinetree.model.by_identity import ByIdentity
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.model.robot import Robot
from kinetree.model.specs import Parts

__all__ = ["key_of", "restored"]

_STAY = 8
_alive: weakref.WeakValueDictionary[bytes, Robot] = weakref.WeakValueDictionary()
_last: deque[Robot] = deque(maxlen=_STAY)
_keys: ByIdentity[bytes | None] = ByIdentity()


def key_of(model: Robot, parts: Parts) -> bytes | None:
    """32 bytes that only an identical robot shares; None for one that is restored again each time.

    The latter has a joint of a user's kind, which may depend on more than its instances hold. The key is computed once,
    and travels in the pickle. `parts` are those of the pickle, whose places are text.
    """
    if model not in _keys:
        own = fingerprint(model)
        _keys[model] = None if own is None else digest(own, model.name, model.notes, model.source, parts)
    return _keys[model]


def restored(kind: type[Robot], key: bytes | None, values: dict[str, Any]) -> Robot:
    """The robot with these fields: the existing object if it is identical."""
    if key is None:
        return kind(**values)
    with restoring:
        model = _alive.get(key)
        if model is None:
            _alive[key] = model = kind(**values)
            _keys[model] = key
        if not any(known is model for known in _last):
            _last.append(model)
        return model
