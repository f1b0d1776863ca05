"""Everything that the trace of a Python function depends on, as bytes: equal bytes, equal traces.

A function is its code with all that the code can reach: the values in its closure and defaults, the globals that it
names, and the same of functions and classes among these. Arrays, robots and records count by their contents.
Definitions of kinetree, NumPy and a few modules of the standard library count by name, for the versions of these are in
the key as well. Anything else is unknown, and functions that reach it have no content: those that read a file, the
clock, the environment or random numbers, a function written in C by somebody else, names that are only known when they
are used.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import inspect
import os
import struct
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, fields
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    NotImplementedType,
    SimpleNamespace,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

import numpy as np

from kinetree.compiler.compiled import CompiledFunction
from kinetree.model import Model
from kinetree.model.fingerprint import content as content_of_robot
from kinetree.source_code import takes_part

__all__ = ["content"]

_MOST = 100_000
"""Values that are looked at; a function that reaches more is traced as quickly."""
_OURS = f"{Path(__file__).parents[1]}{os.sep}"
_NUMPY = f"{Path(np.__file__).parent}{os.sep}"
_STANDARD = frozenset({
    "_collections", "_collections_abc", "_functools", "_operator", "abc", "cmath", "collections", "collections.abc",
    "dataclasses", "enum", "fractions", "functools", "itertools", "math", "numbers", "operator", "reprlib",
    "typing",
})  # fmt: skip
"""Modules of the standard library whose functions depend on their arguments alone."""
_NOT_NUMPY = ("numpy.random", "numpy.testing", "numpy.ctypeslib", "numpy.f2py", "numpy.distutils", "numpy.ma")
_READS = frozenset({
    "DataSource", "array2string", "array_repr", "array_str", "datetime64", "fromfile", "fromregex", "genfromtxt",
    "geterr", "geterrcall", "get_printoptions", "info", "load", "loadtxt", "memmap", "open_memmap", "save", "savetxt",
    "savez", "savez_compressed", "set_printoptions", "seterr", "seterrcall", "show_config", "show_runtime",
})  # fmt: skip
"""Functions of NumPy that read or write more than their arguments."""
_BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "callable", "chr", "classmethod", "complex", "dict", "divmod", "enumerate",
    "filter", "float", "format", "hasattr", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max",
    "min", "next", "object", "ord", "pow", "property", "range", "repr", "reversed", "round", "slice", "sorted",
    "staticmethod", "str", "sum", "super", "tuple", "type", "zip",
})  # fmt: skip
"""Built-in functions that depend on their arguments alone, apart from errors. `print` is not: it is to print again."""
_UNKNOWN_NAMES = frozenset({
    "__annotations__", "__builtins__", "__closure__", "__code__", "__defaults__", "__dict__", "__doc__", "__file__",
    "__getattr__", "__getattribute__", "__globals__", "__loader__", "__self__", "__spec__", "__subclasses__",
    "cr_frame", "f_back", "f_globals", "f_locals", "gi_frame", "notes", "parts", "source", "tb_frame",
})  # fmt: skip
"""Attributes through which code can reach unnamed values, or values left out of the content of a robot."""
_UNKNOWN_STEPS = frozenset(
    dis.opmap[name]
    for name in (
        "IMPORT_NAME",
        "IMPORT_FROM",
        "BUILD_SET",
        "SET_ADD",
        "DELETE_GLOBAL",
        "LOAD_BUILD_CLASS",
        "MATCH_CLASS",
    )
    if name in dis.opmap
)
"""Imports, and sets, whose order differs from process to process."""
_NOT_OF_CLASSES = frozenset({
    "__abstractmethods__", "__annotations__", "__classcell__", "__dict__", "__doc__", "__firstlineno__", "__module__",
    "__orig_bases__", "__parameters__", "__qualname__", "__static_attributes__", "__weakref__", "_abc_impl",
    "__annotate__", "__annotate_func__", "__annotations_cache__",
})  # fmt: skip
_CONTAINERS: dict[type, Callable[[Any], Any]] = {
    tuple: lambda x: [*tuple.__iter__(x)],
    list: lambda x: [*list.__iter__(x)],
    dict: lambda x: [*dict.items(x)],
    str: str.__str__,
    bytes: lambda x: bytes(memoryview(x)),
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
}
"""Built-in classes that users' classes extend, and how to get their own content, regardless of overrides."""
_NAMED = (FunctionType, BuiltinFunctionType, type, np.ufunc, type(np.dot), type(functools.lru_cache(int)))
_DISPATCHER = type(np.mean)
_MISSING = object()


class _UnknownError(Exception):
    """Something whose content cannot be determined."""


def content(*values: object) -> bytes | None:
    """32 bytes that are equal only for values of equal content; None if some of it is unknown.

    >>> content(lambda x: x + 1.0) == content(lambda x: x + 1.0) != content(lambda x: x + 2.0)
    True
    >>> content(lambda x: x + np.random.random()) is None
    True
    """
    writer = _Writer()
    try:
        for value in values:
            writer.put(value)
        writer.put_attributes_of_modules()
    except Exception:  # of objects whose attributes cannot even be read, among others
        return None
    return writer.total.digest()


class _Writer:
    """Values in the order in which they are reached; values reached again are named by their number."""

    def __init__(self) -> None:
        self.total = hashlib.sha256()
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []
        self._modules: dict[str, ModuleType] = {}
        self._names: set[str] = set()
        """All names in the code of functions that are not known by their own."""
        self._count = 0

    def _word(self, *parts: object) -> None:
        self.total.update(repr(parts).encode("utf-8", "surrogatepass") + b"\n")

    def put(self, x: Any) -> None:
        """Write a value. Raises `_UnknownError` if it is of no known sort."""
        self._count += 1
        if self._count > _MOST:
            raise _UnknownError
        kind = type(x)
        if kind in _LITERALS:
            self._word(kind.__name__, x)
        elif kind is float or kind is complex:
            numbers = (x,) if kind is float else (x.real, x.imag)
            self._word(kind.__name__, struct.pack(f"<{len(numbers)}d", *numbers))
        elif kind is tuple:
            self._word("tuple", len(x))
            self._all(x)
        elif kind is CodeType:
            self._code(x)
        elif isinstance(x, np.generic):
            self._word("number", x.dtype.str)
            self._plain_array(np.asarray(x))
        elif isinstance(x, ModuleType):
            self._module(x)
        elif (number := self._numbers.get(id(x))) is not None:
            self._word("again", number)
        else:
            self._numbers[id(x)] = len(self._numbers)
            self._alive.append(x)
            if not (isinstance(x, _NAMED) and self._named(x)):
                self._object(kind, x)

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.put(value)

    def _object(self, kind: type, x: Any) -> None:
        for known, write in _SORTS:
            if kind is known:
                write(self, x)
                return
        if isinstance(x, Model):
            self._key("robot", content_of_robot(x))
        elif isinstance(x, type):
            self._class(x)
        elif isinstance(x, CompiledFunction):
            self._key("compiled", x.source.key(x.dtype.name))
        elif isinstance(x, np.dtype):
            self._word("dtype", np.lib.format.dtype_to_descr(x))
        else:
            self._instance(x)

    def _key(self, word: str, key: bytes | None) -> None:
        if key is None:
            raise _UnknownError
        self._word(word, key)

    # -- numbers and containers

    def _array(self, x: Any) -> None:
        self._word("array", x.shape)
        if x.dtype.kind == "O":
            self._all(x.ravel().tolist())
        else:
            self._word(x.dtype.str)
            self._plain_array(x)

    def _plain_array(self, x: Any) -> None:
        if x.dtype.kind not in "biufcUS":
            raise _UnknownError
        self.total.update(np.ascontiguousarray(x).tobytes())

    def _list(self, x: Iterable[Any]) -> None:
        values = list(x)
        self._word("items", type(x).__name__, len(values))
        self._all(values)

    def _dict(self, x: Mapping[Any, Any]) -> None:
        self._word("mapping", type(x).__name__, len(x))
        for key, value in x.items():
            self.put(key)
            self.put(value)
        if isinstance(x, defaultdict):
            self.put(x.default_factory)

    def _set(self, x: Iterable[Any]) -> None:
        values = list(x)
        if len(values) > 1 and not all(type(value) in (int, float, bool) for value in values):
            raise _UnknownError  # whose order differs from process to process
        self._word("set", type(x).__name__, len(values))
        self._all(values)

    def _slice(self, x: Any) -> None:
        self._word(type(x).__name__)
        self._all((x.start, x.stop, x.step))

    # -- functions

    def _named(self, x: Any) -> bool:
        """Write a value known by its name; False if it is not."""
        name = getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
        module = "numpy" if isinstance(x, np.ufunc) else getattr(x, "__module__", None)
        if not isinstance(module, str) or not isinstance(name, str):
            return False
        if module == "builtins":
            is_static = isinstance(x, type) and not x.__flags__ & (1 << 9)
            if getattr(builtins, name, None) is x:
                if name not in _BUILTINS and not (isinstance(x, type) and issubclass(x, BaseException)):
                    raise _UnknownError
            elif not is_static:
                return False
        else:
            value: Any = sys.modules.get(module)
            for part in name.split("."):
                value = getattr(value, part, None)
            if value is not x or not _is_known(module, x):
                return False
            if module.partition(".")[0] == "numpy" and (name in _READS or module.startswith(_NOT_NUMPY)):
                raise _UnknownError
            if name in ("attrgetter", "methodcaller"):
                raise _UnknownError
        self._word("named", module, name)
        return True

    def _function(self, x: FunctionType) -> None:
        file, module = x.__code__.co_filename, str(x.__globals__.get("__name__"))
        self._word("function", x.__qualname__)
        if file.startswith(_OURS):
            if not takes_part(file[len(_OURS) :].replace(os.sep, "/")):
                raise _UnknownError
            self._code(x.__code__)
        elif file.startswith(_NUMPY) or module in _STANDARD:
            self._word(module)
            self._code(x.__code__)
        else:
            self._users_code(x)
        self._word("cells", x.__code__.co_freevars)
        for cell in x.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                self._word("empty")
                continue
            self.put(held)
        self._all((x.__defaults__, x.__kwdefaults__))
        self._dict({name: value for name, value in vars(x).items() if name not in ("__doc__", "__annotations__")})

    def _code(self, x: CodeType) -> None:
        self._word(
            "code", x.co_code, x.co_exceptiontable, x.co_flags, x.co_argcount, x.co_posonlyargcount,
            x.co_kwonlyargcount, x.co_names, x.co_varnames, x.co_freevars, x.co_cellvars, len(x.co_consts),
        )  # fmt: skip
        self._all(x.co_consts)

    def _users_code(self, x: FunctionType) -> None:
        """The code of a function that is not known by its name, and the meanings of its names."""
        codes = [*_nested(x.__code__)]
        for code in codes:
            if _UNKNOWN_STEPS.intersection(code.co_code[::2]):
                raise _UnknownError
        self._code(x.__code__)
        names = sorted({name for code in codes for name in code.co_names})
        if _UNKNOWN_NAMES.intersection(names):
            raise _UnknownError
        self._names.update(names)
        known: Mapping[str, Any] = getattr(x, "__builtins__", {})
        for name in names:
            value = x.__globals__.get(name, known.get(name, _MISSING))
            if value is not _MISSING:
                self._word("name", name)
                self.put(value)

    def _module(self, x: ModuleType) -> None:
        if x.__name__.startswith(_NOT_NUMPY) or sys.modules.get(x.__name__) is not x:
            raise _UnknownError
        self._word("module", x.__name__)
        self._modules[x.__name__] = x

    def put_attributes_of_modules(self) -> None:
        """Write the meanings of all names in all reached modules: a module may have been passed to a function."""
        written: set[tuple[str, str]] = set()
        while pairs := [
            pair for module in self._modules for name in sorted(self._names) if (pair := (module, name)) not in written
        ]:
            for module, name in pairs:
                written.add((module, name))
                value = _attribute(self._modules[module], name)
                if value is not _MISSING:
                    self._word("name", module, name)
                    self.put(value)

    def _builtin(self, x: Any) -> None:
        """A method of an object, written in C; functions are known by name or not at all."""
        if x.__self__ is None or isinstance(x.__self__, ModuleType):
            raise _UnknownError
        self._word("method", x.__name__)
        self.put(x.__self__)

    def _method(self, x: MethodType) -> None:
        self._word("method")
        self._all((x.__self__, x.__func__))

    def _partial(self, x: Any) -> None:
        self._word("partial")
        self._all((x.func, x.args, x.keywords, vars(x)))

    def _descriptor(self, x: Any) -> None:
        self._word("descriptor", x.__objclass__.__qualname__, x.__name__)
        if type(x) not in (MemberDescriptorType, GetSetDescriptorType):
            self.put(x.__objclass__)

    def _property(self, x: property) -> None:
        self._word("property")
        self._all((x.fget, x.fset, x.fdel))

    def _wrapped(self, x: Any) -> None:
        self._word(type(x).__name__)
        self.put(x.func if isinstance(x, functools.cached_property) else x.__func__)

    def _signature(self, x: inspect.Signature) -> None:
        self._word("signature")
        for one in x.parameters.values():
            self._word(one.name, int(one.kind))
            self.put(None if one.default is one.empty else (one.default,))

    def _field(self, x: Any) -> None:
        self._word("field", x.name, x.init, x.repr, x.hash, x.compare, x.kw_only)
        self._all((x.default, x.default_factory))

    def _place_in_tuple(self, x: Any) -> None:
        self._word("field", x.__reduce__()[1][0])

    def _text(self, x: Any) -> None:
        self._word("type", repr(x))

    # -- classes and their objects

    def _class(self, x: type) -> None:
        """A class that is not known by its name: its bases and definitions."""
        if x.__module__.partition(".")[0] == "numpy" or not x.__flags__ & (1 << 9):
            raise _UnknownError
        self._word("class", x.__module__, x.__qualname__)
        self._all((type(x), x.__bases__))
        for name, value in vars(x).items():
            if name not in _NOT_OF_CLASSES:
                self._word("has", name)
                self.put(value)

    def _instance(self, x: Any) -> None:
        """An object of a class written in Python: its class and its attributes."""
        kind = type(x)
        self._word("object")
        if isinstance(x, Enum):
            self.put(kind)
            self._word(x.name)
            return
        without = {"__weakref__", "__dict__", "_hash"}
        for base in kind.__mro__:
            if base is object or base in _CONTAINERS:
                continue
            if not _is_python(base):
                raise _UnknownError
            if base.__module__.startswith("kinetree."):
                without |= {name for name, value in vars(base).items() if isinstance(value, functools.cached_property)}
        self.put(_class_of(x))
        if kind.__module__.startswith("kinetree.") and (names := _determined_by(kind)) is not None:
            self._all(getattr(x, name) for name in names)
            return
        for base, plain in _CONTAINERS.items():
            if isinstance(x, base):
                self.put(plain(x))
        for name in [name for base in kind.__mro__ for name in _slots(base)]:
            if name not in without and (value := getattr(x, name, _MISSING)) is not _MISSING:
                self._word("slot", name)
                self.put(value)
        for name, value in getattr(x, "__dict__", {}).items():
            if name not in without:
                self._word("attribute", name)
                self.put(value)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _attribute(module: ModuleType, name: str) -> Any:
    """The meaning of a name in a module; those of kinetree and NumPy import some on first use."""
    value = vars(module).get(name, _MISSING)
    if value is not _MISSING or "__getattr__" not in vars(module):
        return value
    package = module.__name__.partition(".")[0]
    if package == "kinetree":
        places = (os.path.join(folder, name) for folder in getattr(module, "__path__", ()))
        is_public = name in getattr(module, "__all__", ())
        is_there = is_public or any(os.path.isdir(place) or os.path.exists(f"{place}.py") for place in places)
        return getattr(module, name, _MISSING) if is_there else _MISSING
    if package == "numpy":
        return getattr(module, name) if name in ("fft", "linalg", "random") else _MISSING
    raise _UnknownError


def _is_known(module: str, x: Any) -> bool:
    """Whether a module's definitions are known by name, because the module's version or code is in the key."""
    file = x.__code__.co_filename if isinstance(x, FunctionType) else None
    if module.startswith("kinetree."):
        name = module.partition(".")[2].replace(".", "/")
        return takes_part(name) and (file is None or file.startswith(_OURS))
    if module.partition(".")[0] == "numpy":
        if isinstance(x, _DISPATCHER):
            code = getattr(getattr(x, "_implementation", None), "__code__", None)
            file = None if code is None else code.co_filename
        return file is None or file.startswith(_NUMPY)
    return module in _STANDARD and (file is None or x.__globals__ is vars(sys.modules[module]))


def _is_python(kind: type) -> bool:
    """Whether objects of a class hold nothing but their attributes."""
    module = kind.__module__
    if kind.__flags__ & (1 << 9) == 0:
        return False
    if module in ("abc", "dataclasses", "numbers", "typing", "enum", "collections.abc", "_collections_abc"):
        return True
    if module.partition(".")[0] in sys.stdlib_module_names | {"numpy"}:
        return False
    slots = _slots(kind)
    for name, value in vars(kind).items():
        if isinstance(value, MethodDescriptorType | WrapperDescriptorType) and value.__objclass__ is kind:
            return False
        if isinstance(value, GetSetDescriptorType) and name not in ("__dict__", "__weakref__"):
            return False
        if isinstance(value, MemberDescriptorType) and value.__objclass__ is kind and name not in slots:
            return False
        if name == "__new__" and isinstance(value, BuiltinFunctionType):
            return False
    return True


def _determined_by(kind: type) -> tuple[str, ...] | None:
    """The attributes that determine an object of kinetree's: those that its class names, or the fields of a record."""
    named: tuple[str, ...] | None = getattr(kind, "DETERMINED_BY", None)
    if named is None and "__dataclass_fields__" in vars(kind):
        return tuple(field.name for field in fields(kind))
    return named


def _class_of(x: Any) -> type:
    """The class of an object; of a program, whose class is its own, the class of all programs."""
    kind = type(x)
    first = kind.__mro__[1]
    return first if first.__module__ == kind.__module__ and first.__qualname__ == kind.__qualname__ else kind


def _slots(kind: type) -> list[str]:
    names = vars(kind).get("__slots__", ())
    own = kind.__name__.lstrip("_")
    return [
        f"_{own}{name}" if name.startswith("__") and not name.endswith("__") else name
        for name in ((names,) if isinstance(names, str) else names)
    ]


class _OneField(NamedTuple):
    one: int


_LITERALS = frozenset({NoneType, bool, int, str, bytes, EllipsisType, NotImplementedType})
_SORTS: tuple[tuple[type, Callable[[_Writer, Any], None]], ...] = (
    (list, _Writer._list),
    (dict, _Writer._dict),
    (np.ndarray, _Writer._array),
    (FunctionType, _Writer._function),
    (MethodType, _Writer._method),
    (functools.partial, _Writer._partial),
    (BuiltinFunctionType, _Writer._builtin),
    (MethodWrapperType, _Writer._builtin),
    (set, _Writer._set),
    (frozenset, _Writer._set),
    (slice, _Writer._slice),
    (range, _Writer._slice),
    (deque, _Writer._list),
    (OrderedDict, _Writer._dict),
    (defaultdict, _Writer._dict),
    (Counter, _Writer._dict),
    (MappingProxyType, _Writer._dict),
    (Fraction, lambda writer, x: writer._word("fraction", x.numerator, x.denominator)),
    (SimpleNamespace, lambda writer, x: writer._dict(vars(x))),
    (property, _Writer._property),
    (staticmethod, _Writer._wrapped),
    (classmethod, _Writer._wrapped),
    (functools.cached_property, _Writer._wrapped),
    (MethodDescriptorType, _Writer._descriptor),
    (WrapperDescriptorType, _Writer._descriptor),
    (MemberDescriptorType, _Writer._descriptor),
    (GetSetDescriptorType, _Writer._descriptor),
    (inspect.Signature, _Writer._signature),
    (Field, _Writer._field),
    (type(vars(_OneField)["one"]), _Writer._place_in_tuple),
    (GenericAlias, _Writer._text),
    (UnionType, _Writer._text),
)
