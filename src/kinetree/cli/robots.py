"""The robot that a command was given, and how it is loaded: one set of options for all commands.

A robot is a file, a name of the zoo, or a name in an installed package.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from kinetree.cli import options
from kinetree.cli.output import warnings_as_lines
from kinetree.errors import ModelError, nearest_names
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["Loading", "load_robot", "robot_file", "takes_loading_options"]


@record(frozen=True, slots=True)
class Loading:
    """How robots are loaded."""

    floating_base: options.FloatingBase = None
    mimic: options.Mimic = True
    package_root: options.PackageRoots = None
    ros_packages: options.RosPackages = False
    source: options.Source = None
    srdf: options.Srdf = None
    xacro: options.Xacro = False
    xacro_arg: options.XacroArgs = None

    def settings(self) -> dict[str, Any]:
        """The same as options of `kt.load`, without the source. Raises a usage error for a wrong argument of xacro."""
        return {
            "floating_base": self.floating_base, "mimic": self.mimic, "package_roots": tuple(self.package_root or ()),
            "ros_packages": self.ros_packages, "srdf": self.srdf,
            "xacro": self.xacro, "xacro_args": _xacro_arguments(self.xacro_arg or []) or None,
        }  # fmt: skip


def takes_loading_options(*, mimic: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of loading; it gets them as its argument `loading`, a `Loading`.

    With `mimic` False the command has no option for joints that mimic others, and always lets them move independently.
    """
    types = get_type_hints(Loading, include_extras=True)
    added = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
        for one in fields(Loading)
        if mimic or one.name != "mimic"
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def taking(**arguments: Any) -> None:
            loading = {"mimic": mimic, **{one.name: arguments.pop(one.name) for one in added}}
            command(**arguments, loading=Loading(**loading))

        own = inspect.signature(command, eval_str=True).parameters
        parameters = [*(parameter for name, parameter in own.items() if name != "loading"), *added]
        # The command-line library reads both.
        taking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return taking

    return decorated


def robot_file(model: str, source: str | None = None) -> tuple[str, str | None]:
    """The argument of `kt.load` for it: a path, or a name and its source.

    A file on disk takes precedence over a name of the zoo.
    """
    from kinetree import zoo
    from kinetree.io.arguments import check_path
    from kinetree.io.near_files import near_files
    from kinetree.io.sources import is_name, known_beside

    if not model:
        raise ModelError("the name of the robot is empty; name a file or a robot of the zoo, or leave it out")
    path = Path(model)
    if source is not None or path.is_file():
        return model, source
    if model in zoo.names():
        return model, "zoo"
    if path.is_dir():
        raise ModelError(f"{model}: this is a folder; name the robot file in it")
    if path.exists():
        raise ModelError(f"{model}: this is not a regular file; name a robot file")
    if is_name(model) and model.endswith("_description"):
        return model, "robot_descriptions"
    if not is_name(model):
        check_path("kinetree", model)
        raise ModelError(f"{model}: there is no such file{near_files(model)}")
    sources = known_beside(model)
    if sources:
        choices = " or ".join(f"--source {one}" for one in sources)
        raise ModelError(f"{model}: there is no such file; a robot of this name is loaded with {choices}")
    raise ModelError(
        f"{model}: there is no such file, and the zoo has no robot of that name: {nearest_names(model, zoo.names())}"
    )


def load_robot(model: str, loading: Loading, *, shows_notes: bool = False) -> Model:
    """Load the robot, printing anything suspicious in the file as warnings, unless it is in notes that are shown."""
    from kinetree.io.load import load
    from kinetree.model.building import warning_of
    from kinetree.model.text import MAX_NOTES

    name, source = robot_file(model, loading.source)
    printed: set[str] = set()
    with warnings_as_lines(printed.__contains__):
        robot: Model = load(name, source=source, **loading.settings())
        if shows_notes:
            printed.update(map(warning_of, robot.notes[:MAX_NOTES]))
    return robot


def _xacro_arguments(items: list[str]) -> dict[str, str]:
    """The arguments of a xacro file. Raises a usage error for one that is not of the form name=value."""
    arguments = {}
    for text in items:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise typer.BadParameter(f"{text!r} is not an argument of the form name=value", param_hint="--xacro-arg")
        arguments[name.strip()] = value
    return arguments
