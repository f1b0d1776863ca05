"""Structures that XLA passes to the functions it calls: its foreign-function interface, xla/ffi/api/c_api.h.

Fields and offsets have been the same from version 0.1 (jaxlib 0.4.35) on; structures grow at their ends. A test
compares them with the header of the jaxlib that is installed.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

__all__ = [
    "DATA_TYPES",
    "EXECUTE",
    "INVALID_ARGUMENT",
    "METADATA",
    "OLDEST",
    "RESOURCE_EXHAUSTED",
    "Api",
    "ApiVersion",
    "Buffer",
    "CallFrame",
    "ErrorRelease",
    "ErrorRequest",
    "Extension",
    "Metadata",
    "PoolRequest",
    "TaskRequest",
    "Values",
]

OLDEST = (0, 1)
"""The first version of the interface; it names none when it asks for a handler's."""
METADATA = 1
"""The kind of extension by which XLA asks for a handler's version, in place of a call."""
EXECUTE = 3
"""The stage in which results are computed."""
INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 3, 8
DATA_TYPES = {"float32": 11, "float64": 12}


class Extension(ctypes.Structure):
    """The head of a frame's extension, and what follows it in that for metadata."""

    _fields_ = (("struct_size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", c_void_p))


class ApiVersion(ctypes.Structure):
    """A version of the interface."""

    _fields_ = (("struct_size", c_size_t), ("extension_start", c_void_p), ("major", c_int), ("minor", c_int))


class Metadata(ctypes.Structure):
    """The answer of a handler about itself."""

    _fields_ = (("struct_size", c_size_t), ("api_version", ApiVersion), ("traits", c_uint32))


class Api(ctypes.Structure):
    """XLA's own functions; more follow."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("api_version", ApiVersion),
        ("internal_api", c_void_p),
        ("error_create", c_void_p),
        ("error_message", c_void_p),
        ("error_destroy", c_void_p),
        ("handler_register", c_void_p),
        ("stream", c_void_p),
        ("type_register", c_void_p),
        ("execution_context", c_void_p),
        ("state_set", c_void_p),
        ("state_get", c_void_p),
        ("memory_allocate", c_void_p),
        ("memory_free", c_void_p),
        ("pool_schedule", c_void_p),
        ("pool_threads", c_void_p),
    )


class ErrorRequest(ctypes.Structure):
    """The argument of `error_create`."""

    _fields_ = (("struct_size", c_size_t), ("extension_start", c_void_p), ("message", c_char_p), ("code", c_int))


class ErrorRelease(ctypes.Structure):
    """The argument of `error_destroy`."""

    _fields_ = (("struct_size", c_size_t), ("extension_start", c_void_p), ("error", c_void_p))


class TaskRequest(ctypes.Structure):
    """The argument of `pool_schedule`: a function of `data` to be run in another thread."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("context", c_void_p),
        ("task", c_void_p),
        ("data", c_void_p),
    )


class PoolRequest(ctypes.Structure):
    """The argument of `pool_threads`, which stores how many threads there are."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("context", c_void_p),
        ("threads", c_void_p),
    )


class Buffer(ctypes.Structure):
    """An array in row-major order, without gaps."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", c_void_p),
    )


class Values(ctypes.Structure):
    """The arguments, or the results, of a call."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("values", c_void_p),
    )


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("names", c_void_p),
        ("attributes", c_void_p),
    )


class CallFrame(ctypes.Structure):
    """A call."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("api", c_void_p),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Values),
        ("results", Values),
        ("attributes", _Attributes),
    )
