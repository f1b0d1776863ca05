"""Programs of a user's own: a Python function over robots that becomes one compiled function."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree.announcement import announced, because, learn, phase
from kinetree.codegen.optimization import Optimization, optimization
from kinetree.compiler.arguments import bound
from kinetree.compiler.calls import dtype_name
from kinetree.compiler.compiled import BareFunction, CompiledFunction
from kinetree.compiler.definition import Mode
from kinetree.compiler.foreign import dtype_abroad, is_single, is_whole
from kinetree.compiler.hooks import HERE, DeviceFunction, on_device
from kinetree.compiler.tracing import INTO_LOOPS, is_symbolic
from kinetree.errors import OptionError, nearest_names
from kinetree.locks import compiling
from kinetree.programs.argument import Argument, checked_argument

if TYPE_CHECKING:
    from kinetree.programs.profile import Profile
    from kinetree.programs.results import Results
    from kinetree.programs.trace import Traced

__all__ = ["Program", "dtype_of", "program"]

_F64 = np.dtype(np.float64)
_TAKEN = ("out", "threads")


class Program:
    """A function of arrays that is compiled as kinetree's own are; `kt.program` makes it of a Python function.

    Call it with arrays (…, *shape), whose leading axes broadcast, in order or by name, and with `out=` and `threads=`.
    Its result has the form that the Python function returned: an array, or several in a tuple, list, dict, named tuple
    or dataclass, each with the leading axes of the batch. It runs in single precision if all arrays are float32. For
    several results `out=` is one array (…, n) for all numbers, in order, and the results are views of it.

    The Python function runs when the program is first called, once or a few times, on symbolic arrays: its operations
    on them become the program. So its other effects happen then, and only then: it prints then, draws random numbers
    then, and reads lists and arrays of numbers then, which are constants of the program from then on. It does not run
    if an earlier process has left the machine code on disk, and nothing that the function depends on has changed.
    """

    DETERMINED_BY = ("function", "name", "arguments")
    """The attributes that determine its computation (`kinetree.programs.content`)."""

    def __new__(cls, *_: Any, **__: Any) -> Program:
        # Each program has a class of its own, so that its machine code can be what a call of it calls.
        own = type(cls.__name__, (cls,), {"__module__": cls.__module__, "__doc__": cls.__doc__})
        return object.__new__(own)

    def __init__(self, function: Callable[..., Any], declared: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        """The Python function. It takes plain arrays of one sample too, to debug it."""
        named = function.func if isinstance(function, functools.partial) else function
        self.name: str = getattr(named, "__name__", type(named).__name__).strip("<>")
        self.arguments: Mapping[str, Argument] = _checked_declaration(self.name, function, declared)
        """Descriptions of the arguments, in order."""
        self.defaults: Mapping[str, Any] = _defaults(function, self.arguments)
        """Values of arguments that may be left out."""
        self.__signature__: inspect.Signature = _signature(function, self.arguments)
        self._traced: dict[str, Traced] = {}
        self._functions: dict[tuple[Any, ...], CompiledFunction] = {}

    def __call__(self, /, *given: ArrayLike, out: Any = None, threads: int | None = None, **named: ArrayLike) -> Any:
        """The results for arrays of one sample, or of many.

        Args:
            given: the arguments in order, (…, *shape) with the shape that was declared; leading axes broadcast.
            out: an array to write to: that of the result or, for several, one array (…, n) for all numbers in order.
            threads: how many threads a batch may take; by default as many as are worth it.
            named: arguments by name.

        Returns:
            The result of the Python function, in the same form, each array with the leading axes (…, *its shape).
        """
        from kinetree.programs.inside import inside

        arguments = self.bound(given, named)
        if is_symbolic(arguments):
            return inside(self.function, self.name, self.arguments, arguments, out)
        dtype = dtype_of(self.name, arguments)
        compiled = self.compiled(dtype)
        numbers = self.numbers(arguments)
        if threads is None and (named or not self._is_bare(dtype)):
            whole = compiled.call(*numbers) if out is None else compiled.call(*numbers, out=out)
        else:  # machine code declined it, or is not there yet
            whole = compiled(*numbers, out=out, threads=threads)
            self._quicken(dtype)
        return self._traced[dtype].results.apart(whole)

    @overload
    def compile(  # type: ignore[overload-overlap] # of `str` and "cpu": a device that has a name is another one
        self,
        *,
        dtype: str | np.dtype[Any] = "float64",
        device: Literal["cpu"] = HERE,
        optimize: Optimization | None = None,
    ) -> BareFunction: ...

    @overload
    def compile(
        self, *, dtype: str | np.dtype[Any] = "float64", device: str, optimize: Optimization | None = None
    ) -> DeviceFunction: ...

    def compile(
        self, *, dtype: str | np.dtype[Any] = "float64", device: str = HERE, optimize: Optimization | None = None
    ) -> BareFunction | DeviceFunction:
        """Compile it now, and return it bare: a builtin that takes its arrays by position, as `kt.compile` does.

        One sample in ordinary arrays of the dtype takes about a tenth of a microsecond in addition to the arithmetic.
        Several results come as one array (…, n), in order; booleans and whole numbers are not checked.

        Args:
            dtype: "float64" or "float32".
            device: "cpu", or "cuda", as in `kinetree.compile`.
            optimize: "background", "now" or "quick", as in `kinetree.compile`.

        Raises:
            OptionError: the dtype is neither, or `optimize` none of these.
            ProgramError: the function cannot become a program.
            DeviceError: this machine has no such device.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("double_pendulum")
        >>> @kt.program(q=robot.nq, gain=())
        ... def spring(q, gain):
        ...     return -gain * q
        >>> f = spring.compile()
        >>> f(np.array([0.1, 0.2]), 10.0)
        array([-1., -2.])
        """
        name = dtype_name(dtype)
        if name not in ("float64", "float32"):
            raise OptionError(f"{self.name}: dtype must be float64 or float32, not {name}")
        when = optimization(optimize)
        compiled = self.compiled(name)
        if device != HERE:
            return on_device(device, compiled)
        assert compiled.asked is not None
        compiled.asked = (*compiled.asked[:-1], optimize)
        compiled.optimize(when)
        bare = compiled.prepare()
        self._quicken(name)
        return bare

    def compiled(
        self, dtype: str, mode: Mode | None = None, wrt: tuple[str, ...] = (), along: tuple[str, ...] = ()
    ) -> CompiledFunction:
        """The compiled function of a dtype; or, with a mode, that of a derivative of all results by these arguments."""
        key = dtype, mode, wrt, along
        function = self._functions.get(key)
        if function is not None:
            return function
        from kinetree.programs.trace import users_part

        try:
            with compiling:
                if key not in self._functions:
                    self._functions[key] = self._derived(dtype, mode, wrt, along) if mode else self._made(dtype)
                return self._functions[key]
        except Exception as error:  # the traceback of the user's function begins there
            error.__traceback__ = users_part(error.__traceback__)
            raise

    def numbers(self, arguments: Sequence[Any]) -> list[Any]:
        """Arguments as the compiled function takes them: truth values and whole numbers are checked."""
        pairs = zip(self.arguments.items(), arguments, strict=True)
        return [
            x if argument.dtype is float or is_symbolic([x]) else argument.numbers(self.name, name, x)
            for (name, argument), x in pairs
        ]

    def traced(self, dtype: str = "float64") -> Traced:
        """Its statements, and the form of its results, in a dtype."""
        from kinetree.programs.trace import traced, users_part

        known = self._traced.get(dtype)
        if known is not None:
            return known
        try:
            with compiling:
                if dtype not in self._traced:
                    with announced(self.name), phase("recording"):
                        learn(optimized=optimization() == "now")
                        because("steps that are written out", 0, INTO_LOOPS)
                        self._traced[dtype] = traced(self.function, self.name, self.arguments, np.dtype(dtype))
                return self._traced[dtype]
        except Exception as error:  # as above
            error.__traceback__ = users_part(error.__traceback__)
            raise

    def operation_counts(self) -> Counter[str]:
        """How many of each operation one sample takes; `add`, `mul`, `fma`, `sin`, …

        >>> import kinetree as kt
        >>> @kt.program(x=2)
        ... def squares(x):
        ...     return x * x
        >>> squares.operation_counts()
        Counter({'mul': 2})
        """
        return self.traced().program.operation_counts()

    def profile(self) -> Profile:
        """Where the operations come from: one row per line of the function's text, and of functions that it calls.

        The Python function is run once more for this. Operations that lines share count for the line that ran first.

        Returns:
            A sequence of rows with `file`, `line`, `text` and `operations`; printed, it is a table.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("arm7")
        >>> @kt.program(q=robot, v=robot.nv)
        ... def energy(q, v):
        ...     M = kt.crba(robot, q)
        ...     return 0.5 * v @ M @ v
        >>> [row.operations.total() for row in energy.profile()]  # the line of M, and the one that returns
        [188, 61]
        """
        from kinetree.programs.profile import profiled

        return profiled(self.function, self.name, self.arguments, self.traced(), _F64)

    def __repr__(self) -> str:
        ports = ", ".join(f"{name}{list(argument.shape)}" for name, argument in self.arguments.items())
        return f"<program {self.name}({ports})>"

    def __str__(self) -> str:
        from kinetree.programs.description import description

        return description(self.name, self.arguments, self.traced())

    def __reduce__(self) -> str:
        """Its name in its module, where it is found again."""
        module, name = getattr(self, "__module__", ""), str(vars(self).get("__qualname__", self.name))
        value: Any = sys.modules.get(module)
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not self:
            raise TypeError(
                f"{self!r} cannot be pickled, because it is not {module}.{name}: a program is pickled by the name of "
                "its function, so define it with @kt.program in a module, outside functions and classes"
            )
        return name

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: object) -> Program:
        return self

    def _quicken(self, dtype: str) -> None:
        """From now on calls go to the machine code that there is, if that is all they need."""
        made = self.compiled(dtype)
        if self._is_bare(dtype) and made.call != made.__call__:
            type(self).__call__ = made.call  # type: ignore[method-assign, assignment]

    def _is_bare(self, dtype: str) -> bool:
        """Whether calls go straight to machine code, and come here only where that declines them."""
        is_plain = all(a.dtype is float for a in self.arguments.values())
        return dtype == "float64" and is_plain and self.traced(dtype).results.is_one

    def _made(self, dtype: str) -> CompiledFunction:
        from kinetree.programs.source import ProgramSource

        source = ProgramSource(self.name, self.arguments, self.traced(dtype), function=self.function)
        is_plain = self._is_bare(dtype)
        made = CompiledFunction(source, dtype, general=self._general if is_plain else None)
        made.asked = (_compiled_again, self, dtype, None)
        if not is_plain and dtype == "float64" and all(a.dtype is float for a in self.arguments.values()):
            type(self).__call__ = _quick_call(made, self.traced(dtype).results, len(self.arguments))  # type: ignore[method-assign]
        return made

    def _derived(self, dtype: str, mode: Mode, wrt: tuple[str, ...], along: tuple[str, ...]) -> CompiledFunction:
        from kinetree.compiler.derived_source import DerivedSource

        source = DerivedSource(f"{mode} of {self.name}", self.compiled(dtype).source, mode, wrt, along)
        return CompiledFunction(source, dtype)

    def _general(self, /, *given: Any, **named: Any) -> Any:
        """A call that machine code declined."""
        return Program.__call__(self, *given, **named)

    def _defaults_beside(self, given: Sequence[Any]) -> Mapping[str, Any]:
        """The defaults, in single precision if the arrays are: omitted arguments do not decide the dtype."""
        if not self.defaults or dtype_of(self.name, given) == "float64":
            return self.defaults
        is_float = {name for name, argument in self.arguments.items() if argument.dtype is float}
        return {name: np.asarray(x, np.float32) if name in is_float else x for name, x in self.defaults.items()}

    def bound(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments in order."""
        names = list(self.arguments)
        return bound(self.name, names, given, named, lambda: self._defaults_beside([*given, *named.values()]))


@overload
def program(function: Callable[..., Any], /, **arguments: Any) -> Program: ...


@overload
def program(function: None = None, /, **arguments: Any) -> Callable[[Callable[..., Any]], Program]: ...


def program(
    function: Callable[..., Any] | None = None, /, **arguments: Any
) -> Program | Callable[[Callable[..., Any]], Program]:
    """Make a program of a function: one compiled function of everything in it, kinetree's functions included.

    The function is written for one sample, in plain NumPy; it may call any of kinetree's functions, on any robots, and
    other programs. It is traced at the first call and compiled to one kernel, in which calls share common parts. The
    program then takes batches, threads, float32 and `out=` as kinetree's functions do, and is differentiated by
    `kt.jvp`, `kt.vjp`, `kt.jacobian` and `kt.hvp`. Its machine code is kept on disk. See `kinetree docs programs`.

    Args:
        function: the function, if this is not used as a decorator.
        arguments: for each argument the shape of one sample: a length, a tuple, or () for one number; or a robot, for a
            configuration of it; or `bool` or `int`; or a `kt.programs.Argument`. Arguments with defaults need not be
            named: they are constants then.

    Returns:
        The `Program`; without a function, a decorator that makes it.

    Raises:
        OptionError: an argument is not one of the function's, has no such shape, or is missing.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> @kt.program(q=robot.nq, v=robot.nv, target=robot.nq, stiffness=())
    ... def gravity_and_springs(q, v, target, stiffness):
    ...     return stiffness * (target - q) - 2.0 * np.sqrt(stiffness) * v + kt.gravity_forces(robot, q)
    >>> gravity_and_springs(np.zeros((1000, 2)), [0.0, 0.1], [0.5, 0.5], 100.0).shape
    (1000, 2)
    """
    if function is None:
        return lambda function: program(function, **arguments)
    if isinstance(function, Program):
        function = function.function
    if not callable(function):
        raise OptionError(
            f"kt.program takes a function, and the shapes of its arguments by name, not {function!r:.60}: "
            "@kt.program(q=7, gain=())"
        )
    return Program(function, arguments)


def _checked_declaration(name: str, function: Callable[..., Any], declared: Mapping[str, Any]) -> dict[str, Argument]:
    """The arguments, in the order of the function's signature."""
    try:
        signature = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise OptionError(
            f"the names of the arguments of {function!r:.80} are not known: make a program of a Python function that "
            "calls it"
        ) from None
    if any(check(function) for check in _SEVERAL_STEPS):
        raise OptionError(f"the program {name!r} is a generator or async: it must return its results, with `return`")
    if not declared:
        example = ", ".join(f"{p}=(…)" for p in signature) or "x=3"
        raise OptionError(f"the program {name!r} has no arguments: name the shape of each, as in kt.program({example})")
    for argument in declared:
        if argument not in signature:
            raise OptionError(
                f"the program {name!r} has no argument {argument!r:.60}: {nearest_names(argument, list(signature))}"
            )
        if argument in _TAKEN:
            raise OptionError(f"the program {name!r}: {argument!r} means something else in calls; choose another name")
    for parameter in signature.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise OptionError(
                f"the program {name!r}: every argument has a name and a shape, so {str(parameter)!r} is not possible"
            )
        if parameter.name not in declared and parameter.name in ("self", "cls"):
            raise OptionError(
                f"the program {name!r} is a method without its object, {parameter.name}: make a program of the bound "
                f"method, as in kt.program(controller.{name}, …), or of a function outside the class"
            )
        if parameter.name not in declared and parameter.default is parameter.empty:
            raise OptionError(
                f"the program {name!r}: the shape of argument {parameter.name!r} is missing, as in "
                f"kt.program({parameter.name}=…)"
            )
    return {p: checked_argument(p, declared[p]) for p in signature if p in declared}


_SEVERAL_STEPS = inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction


def _signature(function: Callable[..., Any], arguments: Mapping[str, Argument]) -> inspect.Signature:
    """The signature of calls."""
    own = [p for p in inspect.signature(function).parameters.values() if p.name in arguments]
    more = [inspect.Parameter(x, inspect.Parameter.KEYWORD_ONLY, default=None) for x in _TAKEN]
    return inspect.Signature([*own, *more])


def _defaults(function: Callable[..., Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    signature = inspect.signature(function).parameters
    return {p: signature[p].default for p in arguments if signature[p].default is not inspect.Parameter.empty}


def dtype_of(name: str, arguments: Sequence[Any]) -> str:
    """The dtype of a call of this name: float32 if all arrays are; Python's numbers do not count."""
    if (abroad := dtype_abroad(name, arguments)) is not None:
        return abroad
    dtypes = [
        getattr(x, "dtype", None) for x in arguments if not isinstance(x, int | float) or isinstance(x, np.generic)
    ]
    floats = [dtype for dtype in dtypes if not is_whole(dtype)]
    return "float32" if floats and all(map(is_single, floats)) else "float64"


def _quick_call(made: CompiledFunction, results: Results, count: int) -> Callable[..., Any]:
    """A program's call with several results: usual calls go straight to the machine code, others the long way."""
    array, double, apart = np.ndarray, _F64, results.apart

    def call(self: Program, *given: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        if len(given) == count and not named and threads is None:
            first = given[0]
            if type(first) is array and first.dtype is double:
                return apart(made.call(*given) if out is None else made.call(*given, out=out))
        return Program.__call__(self, *given, out=out, threads=threads, **named)

    return call


def _compiled_again(program: Program, dtype: str, optimize: Optimization | None) -> CompiledFunction:
    """Compile the program that a pickle names."""
    return program.compile(dtype=dtype, optimize=optimize).__self__
