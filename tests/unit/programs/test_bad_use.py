"""What programs refuse, and in which words."""

from __future__ import annotations

import functools
import math
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ARM = kt.zoo.load("double_pendulum")
Q = np.array([0.1, 0.2])
HERE = r"test_bad_use.py:\d+: "


def assigned(q: Any) -> Any:
    x = np.zeros(2)
    x[0] = q[0]
    return x


def added_in_place(q: Any) -> Any:
    x = np.zeros(2)
    x += q
    return x


def changed(q: Any) -> Any:
    q[0] = 1.0
    return q


def repeated(q: Any) -> Any:
    for _ in range(q[0]):
        q = q + q
    return q


TRACED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no result": (lambda q: None, kt.errors.ProgramError, "returned None; it must return arrays or numbers"),
    "a string": (lambda q: "q", kt.errors.ProgramError, "returned str; it must return arrays"),
    "a robot": (lambda q: ARM, kt.errors.ProgramError, "returned Model; it must return arrays"),
    "nothing in a tuple": (lambda q: (q, None), kt.errors.ProgramError, r"returned None in its result\[1\]"),
    "text in a dict": (lambda q: {"q": q, "x": "y"}, kt.errors.ProgramError, r"returned str in its result\['x'\]"),
    "complex numbers": (lambda q: q * 1j, kt.errors.ProgramError, "complex"),
    "a branch": (lambda q: q if q[0] > 0 else -q, kt.errors.ProgramError, "cannot decide an `if`: use np.where"),
    "a loop to a value": (repeated, TypeError, "integer"),
    "float": (lambda q: float(q[0]), kt.errors.ProgramError, r"float\(x\), math.sin\(x\) .* use np.sin\(x\)"),
    "math": (lambda q: math.sin(q[0]), kt.errors.ProgramError, r"float\(x\), math.sin\(x\) .* use np.sin\(x\)"),
    "int": (lambda q: int(q[0]) * q, kt.errors.ProgramError, "round with np.floor or np.trunc"),
    "an index": (lambda q: Q[np.argmax(q)], kt.errors.ProgramError, "an index, .*, may not depend on arguments"),
    "a written argument": (changed, kt.errors.ProgramError, "symbolic arrays do not change"),
    "a written array": (assigned, kt.errors.ProgramError, "an assignment into a plain array cannot take it"),
    "a plain array that grows": (added_in_place, kt.errors.ProgramError, r"write x = x \+ y instead of x \+= y"),
    "out": (lambda q: np.add(q, q, out=q), kt.errors.ProgramError, "leave out= away"),
    "out of a function": (lambda q: kt.crba(ARM, q, out=np.zeros((2, 2))), kt.errors.ProgramError,
        "out= is not possible"),
    "a function without a rule": (lambda q: np.linalg.svd(q[None]), kt.errors.ProgramError,
        "np.linalg.svd has no rule"),
    "shapes": (lambda q: q + np.ones(3), kt.errors.ShapeError, r"np.add of shapes \(2,\) and \(3,\)"),
    "shapes of a product": (lambda q: np.ones((3, 3)) @ q, kt.errors.ShapeError, r"\(3, 3\) and \(2,\)"),
    "shapes of functions": (lambda q: kt.crba(ARM, np.ones(3) * q[0]), kt.errors.ShapeError,
        r"crba: q has shape \(3,\)"),
    "leading axes": (
        lambda q: kt.rnea(ARM, np.ones((3, 2)), np.ones((4, 2)), q), kt.errors.ShapeError,
            "leading axes do not broadcast",
    ),
    "a kind of number": (lambda q: kt.rnea(ARM, q, Q * 1j, q), kt.errors.DTypeError,
        "v must be an array of real numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "error", "words"), TRACED.values(), ids=TRACED)
def test_errors_while_tracing_say_where_and_what_to_do(
    function: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    where = "" if error is TypeError else HERE + ".*"
    for _ in range(2):
        with pytest.raises(error, match=f"{where}{words}"):
            kt.program(function, q=2)(Q)


def test_options_that_are_symbolic_are_refused_as_other_wrong_values() -> None:
    wrong: list[Callable[[Any], Any]] = [
        lambda q: kt.frame_placement(ARM, q, q),
        lambda q: kt.frame_jacobian(ARM, q, ARM.root, expressed_in=q),
        lambda q: kt.crba(ARM, q, threads=q[0]),
        lambda q: kt.constraints.nearest_velocity(ARM, q, q, [kt.constraints.Contact(ARM.root)], tolerance=q[0]),
    ]
    for function in wrong:
        with pytest.raises(kt.errors.OptionError, match="SymbolicArray"):
            kt.program(function, q=2)(Q)


def test_symbols_of_an_earlier_run() -> None:
    kept: list[Any] = []

    @kt.program(q=2)
    def keeps(q: Any) -> Any:
        kept.append(2.0 * q)
        return q

    keeps(Q)
    uses: list[Callable[[Any], Any]] = [lambda q: q + kept[0], lambda q: q + np.sin(kept[0]), lambda q: kept[0]]
    uses += [lambda q: kt.crba(ARM, kept[0]), lambda q: keeps(kept[0]) + q, lambda q: np.stack([kept[0], q])]
    for use in uses:
        with pytest.raises(kt.errors.ProgramError, match=r"an array of an earlier run.* arrays of a program live only"):
            kt.program(use, q=2)(Q)
    for outside in (lambda: kt.crba(ARM, kept[0]), lambda: keeps(kept[0])):
        with pytest.raises(kt.errors.ProgramError, match=HERE + "a symbolic array is used while no program is traced"):
            outside()
    with pytest.raises(ValueError, match="is used after its run: it lives only while"):
        kept[0] + 1.0
    with pytest.raises(kt.errors.ProgramError, match="cannot become a plain array"):
        np.asarray(kept[0])


def test_a_program_that_calls_itself() -> None:
    @kt.program(x=())
    def itself(x: Any) -> Any:
        return itself(x) + 1.0

    @kt.program(x=())
    def of_a_constant(x: Any) -> Any:
        return of_a_constant(1.0) + x

    @kt.program(x=())
    def first(x: Any) -> Any:
        return second(x)

    @kt.program(x=())
    def second(x: Any) -> Any:
        return first(2.0 * x)

    for program, name in ((itself, "itself"), (of_a_constant, "of_a_constant"), (first, "first"), (second, "second")):
        with pytest.raises(
            kt.errors.ProgramError, match=f"{HERE}the program '{name}' calls itself, which would never end"
        ):
            program(1.0)
    with pytest.raises(kt.errors.ProgramError, match="calls itself"):  # nothing is left behind by the first time
        itself(1.0)
    assert kt.program(lambda x: 2.0 * x, x=())(1.0) == 2.0


def generator(q: Any) -> Any:
    yield q


async def coroutine(q: Any) -> Any:
    return q


def two(q: Any, v: Any) -> Any:
    return q + v


class Controller:
    gain = 3.0

    def torque(self, q: Any) -> Any:
        return -self.gain * q

    def __call__(self, q: Any) -> Any:
        return self.gain + q


DECLARED: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: kt.program(two), r"name the shape of each, as in kt.program\(q=\(…\), v="),
    "one missing": (lambda: kt.program(two, q=2), r"the shape of argument 'v' is missing, as in kt.program\(v=…\)"),
    "an unknown one": (lambda: kt.program(two, q=2, v=2, tau=2), "'two' has no argument 'tau': available: 'q', 'v'"),
    "out": (lambda: kt.program(lambda out: out, out=2), "'out' means something else in calls"),
    "threads": (lambda: kt.program(lambda threads: threads, threads=()), "'threads' means something else in calls"),
    "a shape in text": (lambda: kt.program(two, q="2", v=2), r"argument 'q' .* by the shape of one sample.*not by '2'"),
    "a fraction": (lambda: kt.program(two, q=2.5, v=2), "by the shape of one sample, such as 7, .*not by 2.5"),
    "a negative length": (lambda: kt.program(two, q=-2, v=2), "by the shape of one sample, such as 7, .*not by -2"),
    "a truth value": (lambda: kt.program(two, q=True, v=2), "not by True"),
    "an array": (lambda: kt.program(two, q=np.zeros(2), v=2), r"not by array\(\[0"),
    "another type": (lambda: kt.program(two, q=complex, v=2), "by bool or int, .* not by <class 'complex'>"),
    "a dtype": (lambda: kt.programs.Argument(3, np.float32), "is float, int or bool, not <class 'numpy.float32'>"),  # type: ignore[arg-type]
    "no robot": (lambda: kt.programs.Argument(robot="arm"), "must be the robot of a configuration, not 'arm'"),  # type: ignore[arg-type]
    "any number of arguments": (lambda: kt.program(lambda *q: q, q=2), r"every argument has a name .*'\*q'"),
    "any names": (lambda: kt.program(lambda **q: q, q=2), r"every argument has a name .*'\*\*q'"),
    "no function": (lambda: kt.program(3, q=2), r"kt.program takes a function, .* not 3: @kt.program\(q=7"),  # type: ignore[call-overload]
    "a builtin": (lambda: kt.program(max, q=2), "make a program of a Python function that calls it"),
    "a generator": (lambda: kt.program(generator, q=2), "must return its results"),
    "a coroutine": (lambda: kt.program(coroutine, q=2), "must return its results"),
    "a method without its object": (
        lambda: kt.program(Controller.torque, q=2), r"make a program of the bound method, as in kt.program\(con",
    ),
    "a program to kt.compile": (
        lambda: kt.compile(ARM, kt.program(two, q=2, v=2)), "is a program, not one of kinetree's functions; comp",
    ),
    "a dtype of compile": (lambda: kt.program(two, q=2, v=2).compile(dtype="double complex"), "must be float64 or"),
    "more than can be": (
        lambda: kt.program(functools.partial(two, v=1.0), q=2) and kt.program(
            eval("lambda " + ",".join(f"x{k}" for k in range(70)) + ": x0"), **{f"x{k}": () for k in range(70)}
        )(*range(70)), "takes 70 arrays; a compiled function takes at most",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("declare", "words"), DECLARED.values(), ids=DECLARED)
def test_wrong_declarations(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=words):
        declare()


@kt.program(q=2, gain=())
def scaled(q: Any, gain: Any) -> Any:
    return gain * q


@kt.program(q=2, on=bool, count=int)
def counted(q: Any, on: Any, count: Any = 2) -> Any:
    return np.where(on, q, 0.0) * count


CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "too many": (lambda: scaled(Q, 1.0, 2.0), kt.errors.DTypeError, r"scaled takes 2 arrays \(q, gain\), not 3"),
    "too few": (lambda: scaled(Q), kt.errors.DTypeError, r"scaled takes 2 arrays \(q, gain\); gain is missing"),
    "an unknown name": (lambda: scaled(Q, gian=1.0), kt.errors.DTypeError, "no argument 'gian': did you mean 'gain'"),
    "twice": (lambda: scaled(Q, 1.0, q=Q), kt.errors.DTypeError, "scaled: q is given twice, by position and by name"),
    "a shape": (lambda: scaled(np.zeros(3), 1.0), kt.errors.ShapeError,
        r"q has shape \(3,\), but the program needs \(…, 2\)"),
    "no array": (lambda: scaled(None, 1.0), kt.errors.DTypeError, "q must be an array of real numbers"),
    "text": (lambda: scaled("ab", 1.0), kt.errors.DTypeError, "q must be an array of real numbers"),
    "complex numbers": (lambda: scaled(Q * 1j, 1.0), kt.errors.DTypeError, "not of dtype complex128"),
    "a mask": (lambda: scaled(np.ma.array(Q), 1.0), kt.errors.DTypeError, r"give x.filled\(number\)"),
    "batches": (
        lambda: scaled(np.zeros((3, 2)), np.ones(4)), kt.errors.ShapeError,
            r"do not broadcast together: q \(3, 2\), gain \(",
    ),
    "the shape of out": (lambda: scaled(Q, 1.0, out=np.zeros(3)), kt.errors.ShapeError, r"out has shape \(3,\)"),
    "the dtype of out": (lambda: scaled(Q, 1.0, out=np.zeros(2, "f")), kt.errors.DTypeError, "out has dtype float32"),
    "threads": (lambda: scaled(Q, 1.0, threads=0), kt.errors.OptionError, "threads must be a whole number"),
    "half true": (lambda: counted(Q, 0.5), kt.errors.DTypeError, "counted: on holds booleans, and 0.5 is none"),
    "maybe": (lambda: counted(Q, "yes"), kt.errors.DTypeError, "on must be an array of real numbers"),
    "not a number": (lambda: counted(Q, np.nan), kt.errors.DTypeError, "counted: on holds booleans, and nan is none"),
    "a fraction": (lambda: counted(Q, True, 2.5), kt.errors.DTypeError, "count holds whole numbers, and 2.5 is none"),
    "infinitely many": (lambda: counted(Q, True, np.inf), kt.errors.DTypeError,
        "count holds whole numbers, and inf is none"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), CALLS.values(), ids=CALLS)
def test_wrong_calls(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    for _ in range(2):  # the second time by machine code, if the first has made it
        with pytest.raises(error, match=words):
            call()
        scaled(Q, 1.0)
        counted(Q, True)


def raises(q: Any) -> Any:
    return deeper(2.0 * q)


def deeper(q: Any) -> Any:
    raise KeyError(f"mine: {q.shape}")


def test_errors_of_the_users_function_pass_with_its_own_frames() -> None:
    program = kt.program(raises, q=2)
    for call in (lambda: program(Q), lambda: program.compile(), lambda: str(program)):
        with pytest.raises(KeyError, match="mine") as raised:
            call()
        names = [frame.name for frame in traceback.extract_tb(raised.tb)]
        assert names[-2:] == ["raises", "deeper"]
        assert len(names) <= 6
    for error in (ZeroDivisionError, AssertionError, AttributeError, KeyboardInterrupt):

        def fails(q: Any, error: type[BaseException] = error) -> Any:
            raise error(q.shape)

        with pytest.raises(error):
            kt.program(fails, q=2)(Q)
    with pytest.raises(AttributeError, match="foo"):
        kt.program(lambda q: q.foo, q=2)(Q)


def test_a_program_whose_function_failed_can_be_tried_again() -> None:
    ready: list[bool] = []

    @kt.program(q=2)
    def late(q: Any) -> Any:
        if not ready:
            raise RuntimeError("not yet")
        return 2.0 * q

    with pytest.raises(RuntimeError, match="not yet"):
        late(Q)
    ready.append(True)
    assert (late(Q) == 2.0 * Q).all()


def test_arrays_that_a_function_reads_are_constants_from_its_first_run_on() -> None:
    numbers, controller, rng = np.array([1.0, 2.0]), Controller(), np.random.default_rng(0)

    @kt.program(q=2)
    def read(q: Any) -> Any:
        return numbers * q + controller.gain + rng.normal(size=2)

    before = read(Q)
    numbers[:] = 100.0
    controller.gain = 200.0
    assert (read(Q) == before).all()
