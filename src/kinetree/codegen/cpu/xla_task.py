"""The task of a handler of XLA's calls (xla.py), and the arrays that it expects, as structures that its code reads."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int64, c_void_p

__all__ = ["Expected", "Task"]


class Expected(ctypes.Structure):
    """An argument or a result as it must be."""

    _fields_ = (
        ("rank", c_int64),
        ("bytes", c_int64),  # of one sample
        ("shape", c_void_p),
        ("other_array", c_char_p),
        ("other_batch", c_char_p),
    )


class Task(ctypes.Structure):
    """The kernel that a handler calls, and the arrays it expects: the arguments, then the results."""

    _fields_ = (
        ("kernel", c_void_p),
        ("failures", c_void_p),  # the kernel's count of those for want of memory; null if it needs none
        ("inputs", c_int64),
        ("outputs", c_int64),
        ("dtype", c_int64),
        ("steps", c_void_p),  # those of one sample; the first are replaced by those from sample to sample
        ("step_bytes", c_int64),
        ("arrays", c_void_p),
        ("most", c_int64),  # samples that are worth computing on one thread
        ("piece", c_int64),  # samples that a thread computes at a time, if there are more
        ("helpers", c_int64),  # threads besides that of the call
        ("other_frame", c_char_p),
        ("other_count", c_char_p),
        ("no_memory", c_char_p),
    )
