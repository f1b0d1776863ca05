"""Where algorithms meet the compiler: functions of NumPy arrays, compiled on first use for one robot.

Shapes, dtypes, broadcasting and their errors live here, once. An algorithm sees one sample, slot by slot; a caller
sees arrays of shape (…, nq) whose leading axes broadcast.
"""

from __future__ import annotations

import inspect
import logging
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, OptionError, ShapeError, SingularModelError
from kinetree.expr import Port, Program, Scalar, trace
from kinetree.model import Frame, Model
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.model.model import refuse_zero_quaternions
from kinetree.spatial import Force, Vec3

if TYPE_CHECKING:
    from kinetree.codegen import Precision, Target

__all__ = ["Array", "CompiledFunction", "Definition", "Slots", "compile_function", "defined_by", "flat", "run"]

Array = NDArray[Any]
Slots = Sequence[Sequence[Scalar]]
"""A q or v as the algorithms take it: a piece a joint."""
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_log = logging.getLogger("kinetree")
_SECONDS_AT_TEN_THOUSAND = 1.5  # operations; LLVM takes a little less than the square of that
_WORTH_SAYING = 3.0  # seconds
_MANY = 200  # degrees of freedom: from here on even tracing takes seconds
_IMPORTED = time.time()


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A function of a robot's motion: what goes in, what comes out, and the algorithm between."""

    name: str
    inputs: tuple[tuple[str, str], ...]
    """(name, "nq" or "nv") each."""
    output: tuple[int | str, ...]
    """The shape of one sample's result: numbers, or "nq", "nv", "bodies"."""
    compute: Callable[..., Sequence[Scalar]]
    """compute(model, *inputs slot by slot, **options), flat numbers out."""
    options: Mapping[str, Callable[[Model, Any], Hashable]] = field(default_factory=dict)
    """How the value of each option is checked and resolved; it becomes part of the kernel."""
    takes_forces: bool = False
    """Whether external forces may act."""
    divides_by_inertia: bool = False
    """Whether it is undefined for a robot with a massless moving subtree."""


class CompiledFunction:
    """A definition compiled for one robot, one set of options and one dtype; call it with arrays.

    Its machine code is compiled, or taken from the disk, when it is first needed; `prepare` does it now.
    """

    def __init__(
        self, definition: Definition, model: Model, options: Mapping[str, Hashable], forced: tuple[str, ...], dtype: str
    ) -> None:
        _check_sense(definition, model, forced)
        self.definition = definition
        self.dtype = np.dtype(dtype)
        self._model = _stand_in(model)
        self._options = options
        self._frames = [model.frames[name] for name in forced]
        self._ports = _inputs(definition, model, self._frames)
        self._output = _output(definition, model)
        self._sizes = [port.size for port in self._ports]
        self._core = self._output.shape
        self._model_name = model.name
        self._quaternions = model.quaternions
        self._configurations = [k for k, (_, size) in enumerate(definition.inputs) if size == "nq"]
        self._program: Program | None = None
        self._batch: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self._ports)
        return f"<{self.definition.name}({ports}) compiled for {self._model_name!r}, {self.dtype}>"

    @property
    def program(self) -> Program:
        """What is compiled, for reading and counting. It is traced when it is first read, if not before."""
        with _compiling:
            if self._program is None:
                if self._model.nv > _MANY:
                    _log.warning(
                        "tracing %s for %r: with %d degrees of freedom this and compiling may take minutes",
                        self.definition.name, self._model_name, self._model.nv,
                    )  # fmt: skip
                self._program = _trace(self.definition, self._model, self._options, self._frames)
            return self._program

    def prepare(self) -> CompiledFunction:
        """Compile it now, or take its machine code from the disk; returns the function itself."""
        self._batch_function()
        return self

    def __call__(self, *arguments: ArrayLike, out: Array | None = None) -> Array:
        """Arguments in the order of the public function, external forces last; each (…, n)."""
        arrays: Sequence[Any] = arguments if self._fit(arguments, out) else self._prepared(arguments, out)
        if self._quaternions:
            for k in self._configurations:
                refuse_zero_quaternions(arrays[k], self._quaternions, self._ports[k].name)
        try:
            result: Array = (self._batch or self._batch_function())(*arrays, out=out)
        except ValueError:
            self._batch_shape(arrays)
            raise
        return result

    def _fit(self, arguments: Sequence[Any], out: Any) -> bool:
        """Whether everything is an array of the right dtype and size already: the usual case, told quickly."""
        if len(arguments) != len(self._sizes):
            return False
        dtype = self.dtype
        batch: tuple[int, ...] | None = None
        for x, n in zip(arguments, self._sizes, strict=True):
            if type(x) is not np.ndarray or x.dtype is not dtype or not x.shape or x.shape[-1] != n:
                return False
            if out is not None:
                if batch is not None and x.shape[:-1] != batch:
                    return False
                batch = x.shape[:-1]
        return out is None or (
            type(out) is np.ndarray
            and out.dtype is dtype
            and out.shape == (*(batch or ()), *self._core)
            and out.flags.writeable
        )

    def _prepared(self, arguments: Sequence[ArrayLike], out: Array | None) -> list[Array]:
        """The arguments as arrays that fit, or the error that says why not."""
        if len(arguments) != len(self._ports):
            expected = ", ".join(port.name for port in self._ports)
            raise DTypeError(
                f"{self.definition.name} takes {len(self._ports)} arrays ({expected}), not {len(arguments)}"
            )
        arrays = [self._checked(port, x) for port, x in zip(self._ports, arguments, strict=True)]
        if out is not None:
            self._check_out(arrays, out)
        return arrays

    def _checked(self, port: Port, x: ArrayLike) -> Array:
        (n,) = port.shape
        array = real_array(port.name, x, n)
        if array.dtype != self.dtype:
            array = array.astype(self.dtype)
        if array.ndim == 0 or array.shape[-1] != n:
            raise ShapeError(
                f"{self.definition.name}: {port.name} has shape {array.shape}, but {self._model_name!r} needs (…, {n})"
            )
        return array

    def _batch_shape(self, arrays: Sequence[Array]) -> tuple[int, ...]:
        shapes = {array.shape[:-1] for array in arrays}
        try:
            return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(f"{p.name} {a.shape}" for p, a in zip(self._ports, arrays, strict=True))
            raise ShapeError(
                f"{self.definition.name}: the leading axes do not broadcast together: {listed}; "
                "they must be equal, or 1, or absent"
            ) from None

    def _check_out(self, arrays: list[Array], out: Array) -> None:
        shape = (*self._batch_shape(arrays), *self._core)
        if not isinstance(out, np.ndarray):
            raise DTypeError(f"{self.definition.name}: out must be a NumPy array, not {type(out).__name__}")
        if out.dtype != self.dtype:
            raise DTypeError(f"{self.definition.name}: out has dtype {out.dtype}, but the result is {self.dtype}")
        if out.shape != shape:
            raise ShapeError(f"{self.definition.name}: out has shape {out.shape}, but the result has {shape}")
        if not out.flags.writeable:
            raise ShapeError(f"{self.definition.name}: out is read-only")

    def _batch_function(self) -> Callable[..., Any]:
        """The function of a batch: a gufunc, or what stands for one where nothing goes in or nothing comes out."""
        with _compiling:
            if self._batch is None:
                if sum(self._sizes) == 0 or self._output.size == 0:
                    self._batch = _constant_function(self.program, self.dtype)
                else:
                    from kinetree.codegen import PRECISIONS, MachineCode, emit, make_ufunc

                    code = MachineCode(self._object("batch", emit))
                    self._batch = make_ufunc(
                        code, self.definition.name, tuple(self._ports), (self._output,), PRECISIONS[self.dtype.name]
                    )
            return self._batch

    def _object(self, variant: str, emit: Callable[[Program, Precision, Target], str]) -> bytes:
        """The object file of a module made from the program by `emit`: from the disk, or compiled and kept there.

        `variant` tells this function's modules apart. If the disk has it, nothing is traced.
        """
        from kinetree.codegen import PRECISIONS, compile_module, host
        from kinetree.codegen.cache import kept

        def compiled() -> bytes:
            program = self.program
            _announce(program, self._model_name)
            return compile_module(emit(program, PRECISIONS[self.dtype.name], host()), host())

        return kept(self._key(variant), compiled)

    def _key(self, variant: str) -> bytes | None:
        """What the code of a variant is kept under: all that it depends on. None if that is not known."""
        from kinetree.codegen import host
        from kinetree.codegen.identity import toolchain

        tools, robot = toolchain(host(), _IMPORTED), fingerprint(self._model)
        if tools is None or robot is None:
            return None
        return digest(tools, robot, self.definition, dict(self._options), self._frames, self.dtype.name, variant)


F = TypeVar("F", bound=Callable[..., Array])


def defined_by(definition: Definition) -> Callable[[F], F]:
    """Mark a public function with its definition, so that `compile_function` finds it."""

    def mark(function: F) -> F:
        function.definition = definition  # type: ignore[attr-defined]
        return function

    return mark


def compile_function(
    robot: Model,
    function: Callable[..., Array],
    *,
    dtype: str | np.dtype[Any] = "float64",
    f_ext: Sequence[str] = (),
    **options: Any,
) -> CompiledFunction:
    """Compile one of kinetree's functions for a robot now, and return it bare.

    Args:
        robot: the robot.
        function: `kt.aba`, `kt.rnea`, …
        dtype: "float64" or "float32".
        f_ext: the frames on which external forces will act; each becomes an argument (…, 6) after the others.
        options: the function's own options, such as `frame="tool"` and `expressed_in="world"`.

    Raises:
        OptionError: `function` is not kinetree's, or an option or dtype is none it has.

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
    parameters = inspect.signature(function).parameters
    for option in definition.options:  # what is not given is as in the function's own signature
        if parameters[option].default is not inspect.Parameter.empty:
            options.setdefault(option, parameters[option].default)
    ordered = {option: options.pop(option) for option in definition.options if option in options}
    return _compiled(definition, robot, {**ordered, **options}, tuple(f_ext), name).prepare()


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
    out: Array | None = None,
    **options: Any,
) -> Array:
    """Call a definition on arrays, compiling it first if this robot has not seen it."""
    forces: tuple[str, ...] = ()
    if f_ext is not None:
        if not isinstance(f_ext, Mapping):
            raise DTypeError(
                f"{definition.name}: f_ext must be a dict from frame names to arrays (…, 6), not {type(f_ext).__name__}"
            )
        forces = tuple(f_ext)
        arguments = [*arguments, *f_ext.values()]
    first = arguments[0]
    if type(first) is np.ndarray and first.dtype is _F64:
        dtype = "float64"
    else:
        dtype = "float32" if all(getattr(x, "dtype", None) == _F32 for x in arguments) else "float64"
    return _compiled(definition, robot, options, forces, dtype)(*arguments, out=out)


def flat(pieces: Slots) -> list[Scalar]:
    """The pieces of a q or v in one row; the opposite of `Tree.split`."""
    return [x for piece in pieces for x in piece]


def check_robot(robot: object) -> Model:
    """The robot, or an error for whatever else came first."""
    if not isinstance(robot, Model):
        raise DTypeError(f"the first argument must be a robot (from kt.load or kt.zoo), not {type(robot).__name__}")
    return robot


def real_array(name: str, x: ArrayLike, n: int) -> Array:
    """x as an array of real numbers."""
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise DTypeError(f"{name} must be an array of real numbers of shape (…, {n}): {error}") from None
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise DTypeError(f"{name} must be an array of real numbers of shape (…, {n}), not of dtype {array.dtype}")
    return array


_Key = tuple[Definition, tuple[tuple[str, Hashable], ...], tuple[str, ...], str]
_kernels: dict[int, dict[_Key, CompiledFunction]] = {}  # by the model's id, as long as the model lives
_compiling = threading.RLock()
_stand_ins: weakref.WeakKeyDictionary[Model, Model] = weakref.WeakKeyDictionary()


def _compiled(
    definition: Definition, robot: object, options: Mapping[str, Any], forced: tuple[str, ...], dtype: str
) -> CompiledFunction:
    key = (definition, tuple(options.items()), forced, dtype)
    try:
        return _kernels[id(robot)][key]
    except (KeyError, TypeError):  # not compiled yet, or an option that cannot be a key and will be refused
        pass
    model = check_robot(robot)
    if unknown := set(options) - set(definition.options):
        known = ", ".join(definition.options) or "none"
        raise OptionError(f"{definition.name} has no option {sorted(unknown)[0]!r}; it has: {known}")
    resolved = {name: check(model, options.get(name)) for name, check in definition.options.items()}
    with _compiling:
        if id(model) not in _kernels:
            weakref.finalize(model, _kernels.pop, id(model)).atexit = False
        kernels = _kernels.setdefault(id(model), {})
        if key not in kernels:
            kernels[key] = CompiledFunction(definition, model, resolved, forced, dtype)
        return kernels[key]


def _stand_in(model: Model) -> Model:
    """An equal model made of the same parts, which a compiled function may hold.

    `_kernels` keeps the functions as long as the model lives; if they held the model itself, it would live forever.
    """
    if model not in _stand_ins:
        _stand_ins[model] = replace(model)
    return _stand_ins[model]


def _check_sense(definition: Definition, model: Model, forced: Sequence[str]) -> None:
    """Raise if the robot has no such function, whether or not it was ever compiled."""
    if definition.divides_by_inertia and model.singular_joints:
        raise SingularModelError(
            f"{definition.name}: joint {model.singular_joints[0]!r} of {model.name!r} moves nothing that has mass or "
            "inertia, or only what another joint moves in the same way, so its acceleration is not defined; give the "
            "bodies behind it mass and inertia, or the joint an armature "
            "(kinematics and inverse dynamics work as they are)"
        )
    if forced and not definition.takes_forces:
        raise OptionError(f"{definition.name} takes no external forces")


def _inputs(definition: Definition, model: Model, frames: Sequence[Frame]) -> list[Port]:
    inputs = [Port(name, (getattr(model, size),)) for name, size in definition.inputs]
    return inputs + [Port(f"f_ext[{frame.name!r}]", (6,)) for frame in frames]


def _output(definition: Definition, model: Model) -> Port:
    sizes = {"nq": model.nq, "nv": model.nv, "bodies": len(model.bodies)}
    return Port(definition.name, tuple(sizes[n] if isinstance(n, str) else n for n in definition.output))


def _trace(definition: Definition, model: Model, options: Mapping[str, Hashable], frames: Sequence[Frame]) -> Program:
    def one_sample(*flat: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        arguments = [model.tree.split(x, size) for x, (_, size) in zip(flat, definition.inputs, strict=False)]
        extra: dict[str, Any] = dict(options)
        if definition.takes_forces:
            extra["f_ext"] = _forces(frames, flat[len(arguments) :])
        return [definition.compute(model, *arguments, **extra)]

    return trace(one_sample, _inputs(definition, model, frames), [_output(definition, model)], definition.name)


def _forces(frames: Sequence[Frame], wrenches: Sequence[Sequence[Scalar]]) -> dict[int, Force]:
    """What acts on each moving body, in its own coordinates; wrenches are [f; n] in their frames."""
    forces: dict[int, Force] = {}
    for frame, w in zip(frames, wrenches, strict=True):
        force = frame.placement.back(Force(Vec3(*w[3:]), Vec3(*w[:3])))
        forces[frame.slot] = forces[frame.slot] + force if frame.slot in forces else force
    return forces


def _announce(program: Program, robot: str) -> None:
    """Say so if compiling will take long."""
    operations = len(program.body.statements)
    seconds = _SECONDS_AT_TEN_THOUSAND * (operations / 1e4) ** 1.85
    if seconds > _WORTH_SAYING:
        _log.warning("compiling %s for %r: %d operations, about %.0f s …", program.name, robot, operations, seconds)


def _constant_function(program: Program, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """For a robot without degrees of freedom: a result that depends on nothing, or is empty."""
    (port,) = program.outputs
    sample = np.zeros(port.shape, dtype)

    if port.size:
        from kinetree.expr import interpret

        (values,) = interpret(program, *([] for _ in program.inputs))
        sample = np.reshape(np.array(values, dtype), port.shape)

    def function(*arrays: Array, out: Array | None = None) -> Array:
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        if out is None:
            out = np.empty((*shape, *port.shape), dtype)
        out[...] = sample
        return out

    return function
