"""Where algorithms meet the compiler: functions of NumPy arrays, compiled on first use for one robot.

An algorithm sees one sample, slot by slot; a caller sees arrays of shape (…, nq) whose leading axes broadcast. One
sample goes through a builtin made of the one-lane kernel, a batch through a generalised ufunc, a large one in pieces
on several threads.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.arguments import Arguments, check_robot
from kinetree.definition import Array, Definition, Slots, defined_by
from kinetree.differentiation import DerivedSpecialization
from kinetree.errors import DTypeError, OptionError
from kinetree.expr import Program
from kinetree.model import Frame, Model
from kinetree.model.equality import ByIdentity
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.specialization import Specialization, too_large_to_write_out
from kinetree.threads import call_in_pieces, thread_count, worth_splitting

if TYPE_CHECKING:
    from kinetree.codegen import Precision, Target

__all__ = [
    "Array",
    "CompiledFunction",
    "Definition",
    "Slots",
    "check_robot",
    "compile_function",
    "defined_by",
    "run",
]

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_SECONDS_A_NUMBER = 2e-9  # of a sample's arguments and result, on one thread; a guess is enough to cut a batch
_IMPORTED = time.time()
_DOUBTFUL, _UNCHECKED = 0, 1  # the flags of a kernel that looks at quaternions, codegen/batch.py


class CompiledFunction:
    """A definition compiled for one robot, one set of options and one dtype; call it with arrays.

    Its machine code is compiled, or taken from the disk, when it is first needed: for one sample and for batches by
    itself. `call` is the quickest way in.
    """

    def __init__(self, specialization: Specialization, dtype: str) -> None:
        specialization.check()
        model, self.definition = specialization.model, specialization.definition
        self.dtype = np.dtype(dtype)
        self._specialization = specialization
        self._output = specialization.output
        ports, core = specialization.inputs, self._output.shape
        self._arguments = Arguments(
            self.definition.name, model.name, ports, core, self.dtype, specialization.quaternions
        )
        self._sizes = [max(port.size, 1) for port in ports]
        self._has_kernel = self._output.size > 0 and all(port.size for port in ports)
        self._may_be_single = self._has_kernel
        self._seconds = _SECONDS_A_NUMBER * sum(port.size for port in (*ports, self._output))
        self._program: Program | None = None
        self._batch: Callable[..., Any] | None = None
        self._single: Callable[..., Any] | None = None
        self._quaternions = [(k, part.start) for k, found in specialization.quaternions for part in found.values()]
        self._flags: ctypes.Array[ctypes.c_int64] | None = None
        self._declined = threading.local()
        self.call: Callable[..., Any] = self.__call__

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self._arguments.ports)
        return f"<{self.definition.name}({ports}) compiled for {self._specialization.model.name!r}, {self.dtype}>"

    @property
    def __self__(self) -> CompiledFunction:
        """Itself, as for the builtin that stands for it."""
        return self

    @property
    def program(self) -> Program:
        """What is compiled, for reading and counting. It is traced when it is first read, if not before."""
        with _compiling:
            if self._program is None:
                self._program = self._specialization.program()
            return self._program

    def prepare(self) -> Callable[..., Any]:
        """Compile it now for one sample, or take its machine code from the disk; returns the quickest way in."""
        if not self._has_single():
            self._batch_function()
        return self.call

    def __call__(self, *arguments: ArrayLike, out: Array | None = None, threads: int | None = None) -> Array:
        """Arguments in the order of the public function, then external forces, then parameters; each (…, n)."""
        arrays = self._arguments.prepared(arguments, out)
        if threads is not None:
            thread_count(threads)  # says what is wrong with it
        if self._is_one_sample(arrays) and not hasattr(self._declined, "now") and self._has_single():
            assert self._single is not None
            self._arguments.check_quaternions(arrays)
            self._declined.now = True  # what it does not take comes here again
            try:
                result: Array = self._single(*(np.asarray(x, order="C") for x in arrays), out=out)
            finally:
                del self._declined.now
            return result
        if self._batch is None:
            self._batch_function()
        if self._flags is None:  # no quaternions, or no kernel that looks at them
            self._arguments.check_quaternions(arrays)
            return self._in_batch(arrays, out, threads)
        if out is not None:  # what a kernel leaves undone must still find its arguments
            arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
        if not self._flags[_DOUBTFUL]:
            result = self._in_batch(arrays, out, threads)
            if not self._flags[_DOUBTFUL]:
                return result
        # Some quaternion was doubtful, here or in an earlier call: all are judged from now on, and none on the way.
        self._arguments.check_quaternions(arrays)
        self._flags[_UNCHECKED] = 1
        return self._in_batch(arrays, out, threads)

    def _in_batch(self, arrays: Sequence[Array], out: Array | None, threads: int | None) -> Array:
        """By the function of a batch, on several threads if that is worth it."""
        batch = self._batch
        assert batch is not None
        samples = max((x.size // n for x, n in zip(arrays, self._sizes, strict=True)), default=1)
        result: Array
        try:
            if threads != 1 and self._has_kernel and worth_splitting(samples, self._seconds):
                ranks, core = self._arguments.ranks, self._arguments.core
                result = call_in_pieces(batch, arrays, out, ranks, core, self.dtype, self._seconds, threads)
            else:
                result = batch(*arrays, out=out)
        except ValueError:
            self._arguments.batch_shape(arrays)
            raise
        return result

    def _is_one_sample(self, arrays: Sequence[Array]) -> bool:
        return all(x.ndim == rank for x, rank in zip(arrays, self._arguments.ranks, strict=True))

    def _has_single(self) -> bool:
        """Whether there is a builtin for one sample; it is made if it can be."""
        if self._single is None and self._may_be_single:
            with _compiling:
                if self._single is None:
                    self._single = self._make_single()
                    self._may_be_single = self._single is not None
                    self.call = self._single or self.__call__
        return self._single is not None

    def _make_single(self) -> Callable[..., Any] | None:
        from kinetree.codegen import PRECISIONS, MachineCode, emit_single, layout_is_known, make_builtin

        if not layout_is_known():
            return None

        def emit(program: Program, precision: Precision, target: Target) -> str:
            return emit_single(program, precision, target, self._quaternions)

        code = MachineCode(self._object("single", emit))
        name, ports = self.definition.name, tuple(self._arguments.ports)
        about = f"{self!r}; see kinetree.{name}."
        return make_builtin(code, name, about, self, self.__call__, ports, PRECISIONS[self.dtype.name])

    def _batch_function(self) -> Callable[..., Any]:
        """The function of a batch: a gufunc, or what stands for one where nothing goes in or nothing comes out."""
        with _compiling:
            if self._batch is None:
                if not self._has_kernel:
                    self._batch = _without_motion(self.program, self.dtype)
                else:
                    from kinetree.codegen import PRECISIONS, MachineCode, emit, make_ufunc

                    def emit_batch(program: Program, precision: Precision, target: Target) -> str:
                        return emit(program, precision, target, self._quaternions)

                    flags = (ctypes.c_int64 * 2)() if self._quaternions else None
                    code = MachineCode(self._object("batch", emit_batch))
                    ports, precision = tuple(self._arguments.ports), PRECISIONS[self.dtype.name]
                    self._flags = flags
                    self._batch = make_ufunc(code, self.definition.name, ports, (self._output,), precision, flags)
            return self._batch

    def _object(self, variant: str, emit: Callable[[Program, Precision, Target], str]) -> bytes:
        """The object file of a module made from the program by `emit`: from the disk, or compiled and kept there.

        `variant` tells this function's modules apart. If the disk has it, nothing is traced.
        """
        from kinetree.codegen import PRECISIONS, compile_module, host
        from kinetree.codegen.cache import kept

        def compiled() -> bytes:
            return compile_module(emit(self.program, PRECISIONS[self.dtype.name], host()), host())

        return kept(self._key(variant), compiled)

    def _key(self, variant: str) -> bytes | None:
        """What the code of a variant is kept under: all that it depends on. None if that is not known."""
        from kinetree.codegen.identity import toolchain
        from kinetree.codegen.processor import processor

        tools, robot = toolchain(processor(), _IMPORTED), fingerprint(self._specialization.model)
        if tools is None or robot is None:
            return None
        return digest(tools, robot, *self._specialization.identity, self.dtype.name, variant)


def compile_function(
    robot: Model,
    function: Callable[..., Array],
    *,
    dtype: str | np.dtype[Any] = "float64",
    f_ext: Sequence[str] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """Compile one of kinetree's functions for a robot now, and return it bare: a builtin, for loops that count.

    It takes the public function's arrays, then those of f_ext, then those of parameters, all by position, and `out=`
    and `threads=`. One sample in ordinary arrays of the dtype takes well under a microsecond beside the arithmetic;
    everything else works as in the public function. Code for batches is compiled with the first batch. Its `__self__`
    is a `CompiledFunction`, whose `program` can be read.

    Args:
        robot: the robot.
        function: `kt.aba`, `kt.rnea`, …
        dtype: "float64" or "float32".
        f_ext: the frames on which external forces will act; each becomes an argument (…, 6) after the others.
        parameters: the robot's parameters that are given with each call, such as `["gravity", "body.hand.mass"]`;
            each becomes an argument after those of f_ext. See docs/parameters.md.
        unroll: True writes out every body's arithmetic, which is fastest, and slow to compile for robots of more than
            a hundred joints; False loops over the bodies; by default the size decides.
        options: the function's own options, such as `frame="tool"` and `expressed_in="world"`.

    Raises:
        OptionError: `function` is not kinetree's, or an option or dtype is none it has.
        NameNotFoundError: the robot has no such frame or parameter.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> f = kt.compile(robot, kt.aba)
    >>> f([0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).shape
    (2,)
    """
    definition = getattr(function, "definition", None)
    if not isinstance(definition, Definition):
        raise OptionError(f"{function!r} is not one of kinetree's functions; pass kt.aba, kt.rnea, …")
    name = _dtype_name(dtype)
    if name not in ("float64", "float32"):
        raise OptionError(f"dtype must be float64 or float32, not {name}")
    if isinstance(f_ext, str):
        raise OptionError(f"f_ext must be a list of frame names, such as [{f_ext!r}], not one name")
    if isinstance(parameters, str):
        raise OptionError(f"parameters must be a list of names, such as [{parameters!r}], not one name")
    if unroll is not None and not isinstance(unroll, bool):
        raise OptionError(f"unroll must be True, False or None, not {unroll!r}")
    signature = inspect.signature(function).parameters
    for option in definition.options:  # what is not given is as in the function's own signature
        if option in signature and signature[option].default is not inspect.Parameter.empty:
            options.setdefault(option, signature[option].default)
    ordered = {option: options.pop(option) for option in definition.options if option in options}
    forces, given = tuple(f_ext), tuple(parameters)
    return _checked(definition, robot, {**ordered, **options}, forces, given, name, unroll).prepare()


def _dtype_name(dtype: Any) -> str:
    try:
        return "none" if dtype is None else np.dtype(dtype).name
    except TypeError:
        return repr(dtype)


def run(
    definition: Definition,
    robot: Model,
    arguments: Sequence[ArrayLike],
    *,
    f_ext: Mapping[str, ArrayLike] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
    **options: Any,
) -> Array:
    """Call a definition on arrays, compiling it first if this robot has not seen it."""
    result: Array
    first = arguments[0]
    is_double = type(first) is np.ndarray and first.dtype is _F64
    if is_double and f_ext is None and parameters is None and threads is None and not options:  # the usual call
        plain = _kernels.get(id(robot), _NONE).get(definition)
        if plain is not None:
            result = plain.call(*arguments, out=out)
            return result
    forces: tuple[str, ...] = ()
    if f_ext is not None:
        if not isinstance(f_ext, Mapping):
            raise DTypeError(
                f"{definition.name}: f_ext must be a dict from frame names to arrays (…, 6), not {type(f_ext).__name__}"
            )
        forces = tuple(f_ext)
        arguments = [*arguments, *f_ext.values()]
    given: tuple[str, ...] = ()
    if parameters is not None:
        if not isinstance(parameters, Mapping):
            raise DTypeError(
                f"{definition.name}: parameters must be a dict from names such as 'body.hand.mass' to arrays, "
                f"not {type(parameters).__name__}"
            )
        given = tuple(parameters)
        arguments = [*arguments, *parameters.values()]
    dtype = "float64"
    if not is_double:
        dtypes = [getattr(x, "dtype", None) for x in arguments if not isinstance(x, int | float)]
        dtype = "float32" if dtypes and all(dtype == _F32 for dtype in dtypes) else "float64"
    compiled = _compiled(definition, robot, options, forces, given, dtype)
    if threads is not None:
        return compiled(*arguments, out=out, threads=threads)
    result = compiled.call(*arguments, out=out)
    return result


_Key = tuple[Definition, tuple[tuple[str, Hashable], ...], tuple[str, ...], tuple[str, ...], str, bool | None]
_kernels: dict[int, dict[_Key | Definition, CompiledFunction]] = {}
"""By the model's id, as long as the model lives; what was asked for without any options also by its definition."""
_NONE: dict[_Key | Definition, CompiledFunction] = {}
_compiling = threading.RLock()  # also around imports, which have locks of their own
if hasattr(os, "register_at_fork"):  # a child has its parent's locks, but not the thread that would open them
    os.register_at_fork(
        before=_compiling.acquire, after_in_parent=_compiling.release, after_in_child=_compiling.release
    )
_stand_ins: ByIdentity[Model] = ByIdentity()


def _compiled(
    definition: Definition,
    robot: object,
    options: Mapping[str, Any],
    forced: tuple[str, ...],
    parameters: tuple[str, ...],
    dtype: str,
) -> CompiledFunction:
    try:
        return _kernels[id(robot)][definition, tuple(options.items()), forced, parameters, dtype, None]
    except (KeyError, TypeError):  # not compiled yet, or an option that cannot be a key and will be refused
        return _checked(definition, robot, options, forced, parameters, dtype, None)


def _checked(
    definition: Definition,
    robot: object,
    options: Mapping[str, Any],
    forced: tuple[str, ...],
    parameters: tuple[str, ...],
    dtype: str,
    unroll: bool | None,
) -> CompiledFunction:
    """The same, once everything that was given is found right: a key does not tell 1 from True."""
    model = check_robot(robot)
    if unknown := set(options) - set(definition.options):
        known = ", ".join(definition.options) or "none"
        raise OptionError(f"{definition.name} has no option {sorted(unknown)[0]!r}; it has: {known}")
    resolved = {name: check(model, options.get(name)) for name, check in definition.options.items()}
    frames = tuple(model.frames[name] for name in forced)
    # By the names that were given; what resolves to nothing, a switch that is off, is as if it were not there.
    asked = tuple(
        (name, x if isinstance(x, str) else resolved[name])
        for name, x in options.items()
        if resolved[name] is not False and resolved[name] != ()
    )
    key = (definition, asked, forced, parameters, dtype, unroll)
    with _compiling:
        if id(model) not in _kernels:
            weakref.finalize(model, _kernels.pop, id(model)).atexit = False
        kernels = _kernels.setdefault(id(model), {})
        if key not in kernels:
            specialization = _specialized(definition, _stand_in(model), resolved, frames, parameters, unroll)
            kernels[key] = CompiledFunction(specialization, dtype)
            if key == (definition, (), (), (), "float64", None):
                kernels[definition] = kernels[key]
        return kernels[key]


def _specialized(
    definition: Definition,
    model: Model,
    options: Mapping[str, Hashable],
    frames: tuple[Frame, ...],
    parameters: tuple[str, ...],
    unroll: bool | None,
) -> Specialization:
    large = definition.when_large
    if large is not None and unroll is not True and (unroll is False or too_large_to_write_out(model, definition)):
        rest = {name: check(model, None) for name, check in large.options.items() if name not in options}
        definition, options = large, {**options, **rest}
    made = Specialization if definition.derivative is None else DerivedSpecialization
    return made(definition, model, options, frames, parameters, unroll)


def _stand_in(model: Model) -> Model:
    """An equal model made of the same parts, which a compiled function may hold.

    `_kernels` keeps the functions as long as the model lives; if they held the model itself, it would live forever.
    """
    if model not in _stand_ins:
        _stand_ins[model] = replace(model)
    return _stand_ins[model]


def _without_motion(program: Program, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """For a robot without degrees of freedom, which a gufunc cannot have: the program, sample by sample.

    What comes out depends on the parameters at most, and is the same for all samples without them.
    """
    from kinetree.expr import interpret

    (port,), inputs = program.outputs, program.inputs

    def function(*arrays: Array, out: Array | None = None) -> Array:
        leading = [a.shape[: a.ndim - len(p.shape)] for p, a in zip(inputs, arrays, strict=True)]
        shape = np.broadcast_shapes(*leading)
        if out is None:
            out = np.empty((*shape, *port.shape), dtype)
        if not out.size:
            return out
        varied = shape if program.input_size else ()
        whole = [
            np.broadcast_to(a, (*varied, *p.shape)) if p.size else np.zeros((*varied, 0), dtype)
            for p, a in zip(inputs, arrays, strict=True)
        ]
        result = np.empty((*varied, *port.shape), dtype)
        for index in np.ndindex(varied):
            (values,) = interpret(program, *(a[index].ravel().tolist() for a in whole))
            result[index] = np.reshape(values, port.shape)
        out[...] = result
        return out

    return function
