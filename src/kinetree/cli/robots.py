"""The robot that a command was given: a file, a name of the zoo, or a name in an installed package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.output import warnings_as_lines
from kinetree.errors import ModelError, nearest_names

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = [
    "FloatingBase",
    "FollowLeaders",
    "PackageRoots",
    "RosPackages",
    "Source",
    "XacroArgs",
    "load_robot",
    "robot_file",
    "xacro_arguments",
]

FloatingBase = Annotated[
    bool | None,
    typer.Option(
        "--floating-base/--fixed-base",
        help="Let the root move freely, or fix it to the world. By default it is as the file says; a URDF file's is "
        "fixed, and that of a zoo robot as is natural.",
        show_default=False,
    ),
]
PackageRoots = Annotated[
    list[Path] | None,
    typer.Option(
        "--package-roots",
        "--package-root",
        help="A folder in which meshes may be looked up; may be repeated.",
        show_default=False,
    ),
]
RosPackages = Annotated[
    bool,
    typer.Option(
        "--ros-packages", help="Look meshes up in the packages of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, too."
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        help="Take MODEL as the name of a robot in an installed package, such as example-robot-data, gymnasium, "
        "robosuite or robot_descriptions.",
        show_default=False,
    ),
]
XacroArgs = Annotated[
    list[str] | None,
    typer.Option(
        "--xacro-arg", metavar="NAME=VALUE", help="An argument of a xacro file; may be repeated.", show_default=False
    ),
]
FollowLeaders = Annotated[
    bool, typer.Option("--mimic/--no-mimic", help="Joints that mimic others follow them, or move independently.")
]


def robot_file(model: str, source: str | None = None) -> tuple[Path, str | None]:
    """(the file, its name in the zoo if it is from there). A file on disk takes precedence over a name of the zoo.

    With a source, the name is of a robot in it.
    """
    from kinetree import zoo
    from kinetree.io.sources import find, is_name, known_beside

    if not model:
        raise ModelError("the name of the robot is empty; name a file or a robot of the zoo, or leave it out")
    if source is not None:
        found = find(model, source).path
        return found, model if source == "zoo" else None
    path = Path(model)
    if path.is_file():
        return path, None
    if model in zoo.names():
        return zoo.path(model), model
    if path.is_dir():
        raise ModelError(f"{model}: this is a folder; name the robot file in it")
    if path.exists():
        raise ModelError(f"{model}: this is not a regular file; name a robot file")
    if is_name(model) and model.endswith("_description"):
        return find(model, "robot_descriptions").path, None
    known = known_beside(model) if is_name(model) else []
    if known:
        told = " or ".join(f"--source {one}" for one in known)
        raise ModelError(f"{model}: there is no such file; a robot of this name is loaded with {told}")
    raise ModelError(
        f"{model}: there is no such file, and the zoo has no robot of that name: {nearest_names(model, zoo.names())}"
    )


def load_robot(
    model: str,
    floating_base: bool | None,
    package_roots: list[Path] | None,
    *,
    mimic: bool = True,
    ros_packages: bool = False,
    source: str | None = None,
    xacro_args: list[str] | None = None,
) -> Model:
    """Load the robot, printing anything suspicious in the file as warnings."""
    from kinetree import io, zoo

    path, name = robot_file(model, source)
    arguments = xacro_arguments(xacro_args or [])
    with warnings_as_lines():
        if name is not None:
            return zoo.load(name, floating_base=floating_base)
        roots = tuple(package_roots or ())
        return io.load(
            model if source is not None or not Path(model).exists() else path,
            source=source,
            xacro_args=arguments or None,
            floating_base=floating_base,
            mimic=mimic,
            package_roots=roots,
            ros_packages=ros_packages,
        )


def xacro_arguments(given: list[str]) -> dict[str, str]:
    """The arguments of a xacro file. Raises a usage error for one that is not of the form name=value."""
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise typer.BadParameter(f"{text!r} is not an argument of the form name=value", param_hint="--xacro-arg")
        found[name.strip()] = value
    return found
