"""Calls: a function is looked up among those compiled for a robot, or compiled."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree.codegen.optimization import Optimization, optimization
from kinetree.compiler.arguments import LeftOut
from kinetree.compiler.compiled import BareFunction, CompiledFunction
from kinetree.compiler.definition import Array, Definition, public_function
from kinetree.compiler.differentiation import specialized
from kinetree.compiler.foreign import dtype_abroad, is_single
from kinetree.compiler.hooks import HERE, DeviceFunction, on_device
from kinetree.compiler.requests import default_options, definition_of, function_and_options, resolved_options
from kinetree.compiler.specialization import Specialization
from kinetree.compiler.tracing import dtype_in_trace
from kinetree.compiler.usual_calls import usual
from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.inputs import plain
from kinetree.locks import compiling
from kinetree.model import Model, check_robot
from kinetree.model.by_identity import ByIdentity
from kinetree.model.external_forces import ExternalForces, ForceKey, acting, is_force_key

__all__ = ["compile", "compile_function", "compiled_for", "dtype_name", "requested", "run"]

_F64 = np.dtype(np.float64)


@overload
def compile(
    robot: Model,
    function: Callable[..., Any],
    *,
    dtype: str | np.dtype[Any] = "float64",
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    device: Literal["cpu"] = HERE,
    optimize: Optimization | None = None,
    **options: Any,
) -> BareFunction: ...


@overload
def compile(
    robot: Model,
    function: Callable[..., Any],
    *,
    dtype: str | np.dtype[Any] = "float64",
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    device: str,
    optimize: Optimization | None = None,
    **options: Any,
) -> DeviceFunction: ...


def compile(
    robot: Model,
    function: Callable[..., Any],
    *,
    dtype: str | np.dtype[Any] = "float64",
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    device: str = HERE,
    optimize: Optimization | None = None,
    **options: Any,
) -> BareFunction | DeviceFunction:
    """Compile one of kinetree's functions for a robot now, and return it as a builtin, for loops that must be fast.

    The result takes the public function's arrays, then the numbers of constraints (see below), then external forces,
    then parameters, all by position, and `out=` and `threads=`. For one sample in contiguous arrays of the dtype, the
    overhead of a call is well under a microsecond; everything else works as in the public function. Code for batches
    is compiled with the first batch. The builtin's `__self__` is a `CompiledFunction`, whose `program` can be read. It
    can be pickled, with the robot; where it is unpickled, its code is compiled, or loaded from the disk.

    Numbers of constraints are arguments: one (…, 3) or (…, 4, 4) for each place `at=`, in the order of the list, then
    (…, n) for the lengths of all rods, then (…, n) for the gains: the position gain and then the velocity gain of each
    constraint that has them. Pass the values that the function uses: a Jacobian uses none, errors use no gains. If
    you pass none, those of `constraints` are used. The same holds for weights.

    Args:
        robot: the robot.
        function: `kt.aba`, `kt.rnea`, …
        dtype: "float64" or "float32".
        f_ext: the frames on which external forces act, each by its name, `kt.dynamics.WrenchOn` or
            `kt.dynamics.ForceOn`; each becomes an argument (…, 6) after the others.
        parameters: the robot's parameters that are given with each call, such as `["gravity", "body.hand.mass"]`;
            each becomes an argument after those of f_ext. See `kinetree docs parameters`.
        unroll: True writes out every body's arithmetic, which is fastest, but slow to compile for robots of more than
            a hundred joints; False loops over the bodies; by default the size decides.
        device: "cpu", or "cuda" (or "cuda:1", the second one) for a graphics processor of NVIDIA: the function then
            takes arrays of CuPy, PyTorch, JAX or Numba on that device, or NumPy's. See `kinetree docs gpu`.
        optimize: "background": the code runs as soon as it is compiled without optimisation, and optimised code, with
            the same bits, replaces it later; "now": the code is optimised first; "quick": it is not optimised. By
            default the environment variable KINETREE_OPTIMIZE decides, or else "background". `f.__self__.optimized`
            says whether the code is optimised. See `kinetree docs compiling`.
        options: the function's own options, such as `frame="tool"` and `expressed_in="world"`.

    Raises:
        OptionError: `function` is not one of kinetree's, or an option, a dtype or the value of `optimize` is unknown.
        NameNotFoundError: the robot has no such frame or parameter.
        DeviceError: this machine has no such device.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> f = kt.compile(robot, kt.aba)
    >>> f([0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).shape
    (2,)
    """
    when = optimization(optimize)
    compiled, numbers = requested(robot, function, dtype, f_ext, parameters, unroll, options)
    if device != HERE:
        return on_device(device, compiled, numbers)
    assert compiled.asked is not None
    compiled.asked = (*compiled.asked[:-1], optimize)
    compiled.optimize(when)
    return WithNumbers(compiled, numbers) if numbers else compiled.prepare()


def requested(
    robot: Model,
    function: Callable[..., Any],
    dtype: str | np.dtype[Any],
    f_ext: Sequence[ForceKey],
    parameters: Sequence[str],
    unroll: bool | None,
    options: Mapping[str, Any],
) -> tuple[CompiledFunction, tuple[Array, ...]]:
    """The function that a request to `compile` is for, and the numbers of its constraints and weights; nothing is
    compiled yet."""
    function, options = function_and_options(function, options)
    definition = definition_of(robot, function)
    name = dtype_name(dtype)
    if name not in ("float64", "float32"):
        raise OptionError(f"dtype must be float64 or float32, not {name}")
    forces, given = _forces(f_ext), _names("parameters", "names", parameters)
    if unroll is not None and not isinstance(unroll, bool):
        raise OptionError(f"unroll must be True, False or None, not {unroll!r:.60}")
    asked = {**default_options(function), **options}
    compiled = _checked(definition, robot, asked, forces, given, name, unroll)
    return compiled, tuple(definition.arrays_of_numbers(asked))


compile_function = compile
"""`compile`, for modules in which that name is Python's own."""


def _compiled_again(robot: Model, *request: Any) -> CompiledFunction:
    """Compile the function that a pickle describes."""
    function, dtype, f_ext, parameters, unroll, options, optimize = request
    made: BareFunction = compile_function(
        robot, function, dtype=dtype, f_ext=f_ext, parameters=parameters, unroll=unroll, optimize=optimize, **options
    )
    return made.__self__


def _forces(f_ext: Any) -> tuple[ForceKey, ...]:
    if is_force_key(f_ext) and not isinstance(f_ext, str):
        raise OptionError(f"f_ext must be a list, such as [{f_ext!r}], not one force")
    return _names("f_ext", "frame names", f_ext, is_force_key)


def _is_name(x: object) -> bool:
    return isinstance(x, str)


def _names(argument: str, what: str, given: Any, is_one: Callable[[object], bool] = _is_name) -> tuple[Any, ...]:
    if isinstance(given, str):
        raise OptionError(f"{argument} must be a list of {what}, such as [{given!r}], not one name")
    try:
        names = tuple(given)
    except TypeError:
        names = (None,)
    if not all(map(is_one, names)):
        raise OptionError(f"{argument} must be a list of {what}, not {given!r:.60}")
    return names


def dtype_name(dtype: Any) -> str:
    """The name of a dtype; for anything else, its text for a message."""
    try:
        return "none" if dtype is None else np.dtype(dtype).name
    except TypeError:
        return f"{dtype!r:.60}"


def run(
    definition: Definition,
    robot: Model,
    arguments: Sequence[ArrayLike],
    *,
    f_ext: ExternalForces | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    numbers: Sequence[Array] = (),
    out: Array | None = None,
    threads: int | None = None,
    **options: Any,
) -> Array:
    """Call a definition on arrays, compiling it first if this robot has not seen it.

    `numbers` are those of the options, from which they have been taken out (`OptionNumbers`); their dtype does not
    count.
    """
    first = arguments[0]
    is_double = type(first) is np.ndarray and first.dtype is _F64
    if is_double and f_ext is None and parameters is None and threads is None and not options:  # the usual call
        kernel = usual[definition].get(id(robot))
        if kernel is not None:
            return kernel.call(*arguments, out=out)
    typed, arguments = [*arguments], [*arguments, *numbers]
    forces: tuple[ForceKey, ...] = ()
    if f_ext is not None:
        if not isinstance(f_ext, Mapping):
            raise DTypeError(
                f"{definition.name}: f_ext must be a dict from frame names to arrays (…, 6), not {type(f_ext).__name__}"
            )
        forces = tuple(f_ext)
        typed += f_ext.values()
        arguments += f_ext.values()
    given: tuple[str, ...] = ()
    if parameters is not None:
        if not isinstance(parameters, Mapping):
            raise DTypeError(
                f"{definition.name}: parameters must be a dict from names such as 'body.hand.mass' to arrays, "
                f"not {type(parameters).__name__}"
            )
        given = tuple(parameters)
        typed += parameters.values()
        arguments += parameters.values()
    dtype = "float64"
    if not is_double:
        dtypes = [getattr(x, "dtype", None) for x in typed if not isinstance(x, int | float)]
        all_single = bool(dtypes) and all(map(is_single, dtypes))
        dtype = dtype_abroad(definition.name, typed) or ("float32" if all_single else "float64")
    if (traced := dtype_in_trace(arguments)) is not None:
        dtype = traced.name
    compiled = compiled_for(definition, robot, options, forces, given, dtype)
    if threads is not None:
        return compiled(*arguments, out=out, threads=threads)
    return compiled.call(*arguments, out=out)


_kernels: dict[int, dict[tuple[Hashable, ...], CompiledFunction]] = {}
"""Compiled functions by the model's id, as long as it lives, and by everything that determines them: as it was
resolved, and as calls request it, so that a request is checked once."""
_stand_ins: ByIdentity[Model] = ByIdentity()


def compiled_for(
    definition: Definition,
    robot: object,
    options: Mapping[str, Any],
    forced: tuple[ForceKey, ...],
    parameters: tuple[str, ...],
    dtype: str = "float64",
) -> CompiledFunction:
    """The compiled function of a request, as a call makes it."""
    # As keys of a dict 1 and True are equal, so the types of the options belong to the key.
    request = definition, tuple(options.items()), *map(type, options.values()), forced, parameters, dtype
    try:
        return _kernels[id(robot)][request]
    except (KeyError, TypeError):  # a new request, or an option that cannot be a key
        compiled = _checked(definition, robot, options, forced, parameters, dtype, None)
    with suppress(TypeError):
        _kernels[id(robot)][request] = compiled
    if not options and not forced and not parameters and dtype == "float64":
        usual[definition][id(robot)] = compiled
    return compiled


def _checked(
    definition: Definition,
    robot: object,
    options: Mapping[str, Any],
    forced: tuple[ForceKey, ...],
    parameters: tuple[str, ...],
    dtype: str,
    unroll: bool | None,
) -> CompiledFunction:
    """Validate, then look up or compile."""
    model, parameters = check_robot(robot), tuple(map(plain, parameters))
    resolved = resolved_options(definition, model, options)
    if dtype == "float32":
        resolved |= {name: x for name, x in definition.in_single.items() if options.get(name) is None}
    forces = tuple(acting(model.frames, key) for key in forced)
    key = (definition, tuple(resolved.items()), forced, parameters, dtype, unroll)
    with compiling:
        if id(model) not in _kernels:
            weakref.finalize(model, _forget, id(model)).atexit = False
            _kernels[id(model)] = {}
        kernels = _kernels[id(model)]
        if key not in kernels:
            stand_in = _stand_in(model)
            source = specialized(definition, stand_in, resolved, forces, parameters, unroll)
            kernels[key] = made = CompiledFunction(source, dtype)
            if (function := public_function(definition)) is not None:
                asked = stand_in, function, dtype, forced, parameters, unroll, options, None
                made.asked = (_compiled_again, *asked)
        return kernels[key]


def _forget(model_id: int) -> None:
    del _kernels[model_id]
    for kernels in [*usual.values()]:
        kernels.pop(model_id, None)


def _stand_in(model: Model) -> Model:
    """An equal model made of the same parts, which a compiled function may hold.

    `_kernels` keeps the functions as long as the model lives; if they held the model itself, it would live forever.
    """
    if model not in _stand_ins:
        _stand_ins[model] = replace(model)
    return _stand_ins[model]


class WithNumbers:
    """A function as `kinetree.compile` returns it, with the numbers of the constraints or weights that it was given."""

    def __init__(self, compiled: CompiledFunction, numbers: Sequence[Array]) -> None:
        source = compiled.source
        assert isinstance(source, Specialization)
        for array, port in zip(numbers, source.numbers, strict=True):
            if array.shape[array.ndim - len(port.shape) :] != port.shape:
                raise ShapeError(
                    f"{compiled.name}: {port.name} has shape {array.shape}, but "
                    f"(…, {', '.join(map(str, port.shape))}) is needed"
                )
        self.__self__ = compiled
        self.numbers: tuple[Array, ...] = tuple(array.astype(compiled.dtype, order="C") for array in numbers)
        """The numbers that are used where a call leaves them out."""
        self._left_out = LeftOut(source, compiled.dtype, self.numbers).by_count
        self._call = compiled.prepare()

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """As the compiled function; the numbers may be left out, all together, and other optional arguments."""
        place = self._left_out.get(len(arguments))
        if place is None:
            return self._call(*arguments, **more)
        at, values = place  # as `LeftOut.filled`, without another call
        if at == len(arguments):
            return self._call(*arguments, *values, **more)
        return self._call(*arguments[:at], *values, *arguments[at:], **more)

    def __repr__(self) -> str:
        return repr(self.__self__)

    def __reduce__(self) -> tuple[Any, ...]:
        return WithNumbers, (self.__self__, self.numbers)
