"""External forces that programs compute: they run in the kernel of the steps, as parts of the controller."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey, acting
from kinetree.programs import Argument, Program

__all__ = ["GIVEN", "ActingForces", "computed_forces", "force_names", "with_forces"]

ActingForces = Mapping[Any, "ArrayLike | Callable[..., ArrayLike] | Program"]
"""Numbers (…, 6) by `ForceKey`, or functions and programs that return them."""

GIVEN = "given_{}"
"""The argument of joint forces, or of commands, that are known in addition to programs that compute forces."""


def computed_forces(robot: Model, f_ext: Any) -> tuple[Any, dict[ForceKey, Any]]:
    """The external forces that are arrays, and those that functions and programs compute.

    Raises NameNotFoundError for a frame that the robot does not have, DTypeError if they are not in a dict.
    """
    if callable(f_ext):
        raise DTypeError(
            "f_ext must be a dict from frame names (or kt.dynamics.WrenchOn, kt.dynamics.ForceOn) to arrays, "
            "functions or programs: f_ext={'frame': wind}"
        )
    if not isinstance(f_ext, Mapping):
        return f_ext, {}
    computed = {key: x for key, x in f_ext.items() if callable(x)}
    for key in computed:
        acting(robot.frames, key)
    return {key: x for key, x in f_ext.items() if key not in computed}, computed


def force_names(keys: Sequence[ForceKey]) -> dict[ForceKey, str]:
    """The names by which computed forces are recorded: by frame, or by key among others.

    >>> import kinetree as kt
    >>> force_names(["hand", kt.dynamics.WrenchOn("foot", "world")])
    {'hand': 'f_ext.hand', WrenchOn('foot', 'world'): 'f_ext.foot'}
    """
    frames = [key if isinstance(key, str) else key.frame for key in keys]
    is_alone = {key: isinstance(key, str) or frames.count(key.frame) == 1 for key in keys}
    return {key: f"f_ext.{frame if is_alone[key] else repr(key)}" for key, frame in zip(keys, frames, strict=True)}


def with_forces(
    controller: Program | None,
    forces: Mapping[ForceKey, Program],
    output: str = "tau",
    size: int = 0,
    *,
    is_given: bool = False,
) -> Program:
    """One controller that returns the results of another one, and forces by their `force_names`.

    Without another one it returns `size` zeros as its output, or its argument `GIVEN`. Arguments of one name are one
    argument. It is kept as long as the programs are, so that it is traced once.
    """
    programs = [*([] if controller is None else [controller]), *forces.values()]
    kept: dict[Any, Program] = vars(programs[0]).setdefault("_with_forces", {})
    key = tuple(programs), tuple(forces), output, size, is_given
    if key not in kept:
        kept[key] = _joined(controller, forces, output, size, is_given)
    return kept[key]


def _joined(
    controller: Program | None, forces: Mapping[ForceKey, Program], output: str, size: int, is_given: bool
) -> Program:
    from kinetree.programs.forms import parts_of

    names, given_name = force_names([*forces]), GIVEN.format(output)
    sources: list[tuple[str, str, Program]] = [(names[key], f"f_ext[{key!r:.80}]", x) for key, x in forces.items()]
    programs = [*([] if controller is None else [controller]), *(program for *_, program in sources)]
    declared: dict[str, Argument] = {given_name: Argument((size,))} if is_given else {}
    defaults: dict[str, Any] = {}
    for program in programs:
        for name, argument in program.arguments.items():
            known = declared.setdefault(name, argument)
            if (known.shape, known.dtype) != (argument.shape, argument.dtype):
                raise OptionError(
                    f"the programs of f_ext and {output} share the argument {name!r}, which is {known!r} in one and "
                    f"{argument!r} in another; rename one"
                )
        for name, value in program.defaults.items():
            if not np.array_equal(defaults.setdefault(name, value), value):
                raise OptionError(
                    f"the programs of f_ext and {output} share the argument {name!r}, whose defaults differ; give one "
                    "of them another name"
                )

    def run(**given: Any) -> dict[str, Any]:
        outputs: dict[str, Any] = {}
        if controller is None:
            outputs[output] = given[given_name] if is_given else np.zeros(size)
        else:
            returned = _called(controller, given)
            outputs |= {output: returned} if (parts := parts_of(returned)) is None else parts
        for name, key, program in sources:
            returned = _called(program, given)
            found = {"f_ext": returned} if (parts := parts_of(returned)) is None else dict(parts)
            if "f_ext" not in found:
                raise OptionError(
                    f"the program {program.name!r} of {key} returns {', '.join(map(repr, found))}; it must return the "
                    "wrench alone, or a dict, named tuple or dataclass that has it as 'f_ext'"
                )
            wrench = found.pop("f_ext")
            if np.shape(wrench) != (6,):
                raise ShapeError(
                    f"the program {program.name!r} of {key} returns a wrench of shape {np.shape(wrench)}, but "
                    "[f; n] has shape (6,)"
                )
            if common := outputs.keys() & found.keys():
                raise OptionError(
                    f"the program {program.name!r} of {key} returns {min(common)!r}, as another one does; rename one"
                )
            outputs |= {name: wrench, **found}
        return outputs

    run.__name__ = run.__qualname__ = " and ".join(dict.fromkeys(program.name for program in programs))
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name, inspect.Parameter.empty))
        for name in declared
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return Program(run, declared)


def _called(program: Program, given: Mapping[str, Any]) -> Any:
    return program(**{name: given[name] for name in program.arguments})
