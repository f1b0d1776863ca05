"""Robots that come out of pickles: one object for all pickles of one robot, so that its functions are made once.

Work that is shared out over processes sends the robot along with every task, and machine code is kept by a robot's
identity. So a robot that is restored again is the one that was restored before, if everything about it is the same to
the last bit: notes, places in files and shapes too. A few that were restored last stay alive between tasks; all others
live as long as somebody uses them.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from kinetree.model.equality import ByIdentity
from kinetree.model.fingerprint import digest, fingerprint

if TYPE_CHECKING:
    from kinetree.model.model import Model
    from kinetree.model.specs import Parts

__all__ = ["key_of", "restored"]

_STAY = 8
_alive: weakref.WeakValueDictionary[bytes, Model] = weakref.WeakValueDictionary()
_last: deque[Model] = deque(maxlen=_STAY)
_keys: ByIdentity[bytes | None] = ByIdentity()
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):  # a child has its parent's lock, but not the thread that would open it
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def key_of(model: Model, parts: Parts) -> bytes | None:
    """32 bytes that only the very same robot shares; None for one that is restored anew each time.

    That is one with a joint of a user's kind, because what its instances hold may not be all there is to them. The key
    is computed once, and travels in the pickle. `parts` are those of the pickle, whose places are text.
    """
    if model not in _keys:
        own = fingerprint(model)
        _keys[model] = None if own is None else digest(own, model.name, model.notes, model.source, parts)
    return _keys[model]


def restored(kind: type[Model], key: bytes | None, values: dict[str, Any]) -> Model:
    """The robot with these fields: the one that is there already if it is the very same."""
    if key is None:
        return kind(**values)
    with _lock:
        model = _alive.get(key)
        if model is None:
            _alive[key] = model = kind(**values)
            _keys[model] = key
        if not any(known is model for known in _last):
            _last.append(model)
        return model
