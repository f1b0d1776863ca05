"""Structures that XLA passes to the functions it calls: its foreign-function interface, xla/ffi/api/c_api.h.

Fields and offsets have been the same from version 0.1 (jaxlib 0.4.35) on; structures grow at their ends. A test
compares them with the header of the jaxlib that is installed.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

from kinetree.codegen.cpu.c_function import fields

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
_HEAD = (("struct_size", c_size_t), ("extension_start", c_void_p))


class Extension(ctypes.Structure):
    """The head of a frame's extension, and the following fields in that for metadata."""

    _fields_ = (("struct_size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", c_void_p))


class ApiVersion(ctypes.Structure):
    """A version of the interface."""

    _fields_ = (*_HEAD, *fields(c_int, "major minor"))


class Metadata(ctypes.Structure):
    """The answer of a handler about itself."""

    _fields_ = (("struct_size", c_size_t), ("api_version", ApiVersion), ("traits", c_uint32))


class Api(ctypes.Structure):
    """XLA's own functions; more follow."""

    _fields_ = (
        *_HEAD,
        ("api_version", ApiVersion),
        *fields(
            c_void_p,
            "internal_api error_create error_message error_destroy handler_register stream type_register "
            "execution_context state_set state_get memory_allocate memory_free pool_schedule pool_threads",
        ),
    )


class ErrorRequest(ctypes.Structure):
    """The argument of `error_create`."""

    _fields_ = (*_HEAD, ("message", c_char_p), ("code", c_int))


class ErrorRelease(ctypes.Structure):
    """The argument of `error_destroy`."""

    _fields_ = (*_HEAD, ("error", c_void_p))


class TaskRequest(ctypes.Structure):
    """The argument of `pool_schedule`: a function of `data` to be run in another thread."""

    _fields_ = (*_HEAD, *fields(c_void_p, "context task data"))


class PoolRequest(ctypes.Structure):
    """The argument of `pool_threads`, which stores how many threads there are."""

    _fields_ = (*_HEAD, *fields(c_void_p, "context threads"))


class Buffer(ctypes.Structure):
    """An array in row-major order, without gaps."""

    _fields_ = (*_HEAD, ("dtype", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", c_void_p))


class Values(ctypes.Structure):
    """The arguments, or the results, of a call."""

    _fields_ = (*_HEAD, ("size", c_int64), *fields(c_void_p, "types values"))


class _Attributes(ctypes.Structure):
    _fields_ = (*_HEAD, ("size", c_int64), *fields(c_void_p, "types names attributes"))


class CallFrame(ctypes.Structure):
    """A call."""

    _fields_ = (
        *_HEAD,
        *fields(c_void_p, "api context"),
        ("stage", c_int),
        *fields(Values, "arguments results"),
        ("attributes", _Attributes),
    )
