"""The locks that a fork waits for: a child has its parent's locks, but not the thread that would open them.

A fork takes them in the order `compiling`, `preparing`, `restoring`, `importing`, `replacing`, `collecting`, and so
does a thread that takes several. They are all made when kinetree is imported, because a lock registered while a fork
waits for another one is released without having been taken. For the same reason the standard library's modules with
such locks that kinetree uses later are imported here.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
import threading

__all__ = ["collecting", "compiling", "importing", "preparing", "replacing", "restoring"]

compiling: threading.RLock = threading.RLock()
"""Held while a program is traced and compiled, and around imports meanwhile, which have locks of their own."""
preparing: threading.RLock = threading.RLock()
"""Held while a function of `codegen/loops/` is compiled."""
restoring: threading.RLock = threading.RLock()
"""Held while a robot is restored from a pickle, or assembled from the things in its world."""
importing: threading.RLock = threading.RLock()
"""Held while a module is imported for a name (`lazy_names.py`): Python locks a module for as long."""
replacing: threading.RLock = threading.RLock()
"""Held while optimised machine code takes the place of other code (`codegen/cpu/jit.py`), and around the list of code
that waits for it."""
collecting: threading.RLock = threading.RLock()
"""Held while the imports of lazy names are noted, in place of Python's own import function (`lazy_names.py`)."""

if hasattr(os, "register_at_fork"):
    for _lock in (
        collecting,
        replacing,
        importing,
        restoring,
        preparing,
        compiling,
    ):  # the lock registered last is taken first
        os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
