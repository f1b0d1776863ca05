"""Structures that the code of a builtin for tensors (tensor_call.py) reads: functions to call, and tensors expected."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_void_p

__all__ = ["Expected", "Task"]


class Expected(ctypes.Structure):
    """One sample of an argument or of the result, in C order, as it must be."""

    _fields_ = (
        ("rank", c_int64),
        ("bytes", c_int64),
        ("shape", c_void_p),
        ("steps", c_void_p),  # in bytes
    )


class Task(ctypes.Structure):
    """The functions that the code calls, and the tensors it expects: the arguments, then the result."""

    _fields_ = (
        ("one", c_void_p),  # for one sample (single.py); null: none yet
        ("kernel", c_void_p),  # for a batch (batch.py); null: none yet
        ("inputs", c_int64),
        ("arrays", c_void_p),
        ("step_bytes", c_int64),  # of all that a kernel needs
        ("bytes", c_int64),  # of a number
        ("dtype", c_int64),  # the four bytes of a tensor's
        ("most", c_int64),  # samples that are worth computing on one thread
        ("release_from", c_int64),  # samples from which Python's lock is released
        # The library's
        ("first_type", c_void_p),
        ("second_type", c_void_p),
        ("read", c_void_p),
        ("allocate", c_void_p),
        ("wrap", c_void_p),
        ("tracked", c_void_p),
        ("recording", c_void_p),
        ("altered", c_void_p),
        # Python's
        ("number", c_void_p),
        ("false", c_void_p),
        ("general", c_void_p),
        ("next", c_void_p),  # C function of a builtin for another dtype, tried before the general one; or null
        ("vectorcall", c_void_p),
        ("attribute", c_void_p),
        ("release", c_void_p),
        ("clear", c_void_p),
        ("exception", c_void_p),
        ("release_lock", c_void_p),
        ("take_lock", c_void_p),
    )
