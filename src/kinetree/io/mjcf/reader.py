"""Builds a model from an MJCF file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kinetree.errors import OptionError
from kinetree.io.document import Element
from kinetree.io.meshes import MeshFinder
from kinetree.io.mjcf.assembly import Assembly
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import body_tree
from kinetree.io.mjcf.extras import ExtrasReader
from kinetree.io.mjcf.scopes import read_scope
from kinetree.io.notes import Notes
from kinetree.model import Model, ModelBuilder
from kinetree.model.problems import STRICT, Problems

__all__ = ["read_file"]

_GRAVITY = (0.0, 0.0, -9.81)


def read_file(
    data: bytes,
    path: Path,
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    problems: Problems = STRICT,
) -> Model:
    """The model of a file's contents, with the meaning that MuJoCo's compiler gives them.

    The root is the world, a body called "world". Joints have MuJoCo's coordinates. `mimic` has no meaning for MJCF,
    whose equality constraints leave every joint its coordinate.
    """
    del mimic
    if floating_base is not None:
        raise OptionError(
            f"{path}: an MJCF file says by its joints which bodies float, so leave floating_base out; robot.rerooted "
            "and kt.ModelBuilder change a robot that was loaded"
        )
    finder = MeshFinder(path, package_roots, ros_packages=ros_packages)
    scope = read_scope(path, data, finder, problems)
    world = body_tree(scope, problems)
    notes = Notes()
    name = scope.tree.root.attributes.get("model", "").strip() or path.stem
    builder = ModelBuilder(name, gravity=_gravity(scope.sections("option"), notes), source=str(path), problems=problems)
    reader = ExtrasReader(scope, world, notes, problems)
    assembly = Assembly(builder, world, notes, scale_to=scope.settings.total_mass, motors=reader.motors)
    builder.extras = reader.extras(assembly)
    for where, sentence, code in notes.suspicions:
        builder.suspect(where, sentence, code)
    for sentence in (*notes.sentences(), *filter(None, [finder.note()])):
        builder.note(sentence)
    return builder.build(floating_base=False)


def _gravity(options: Sequence[Element], notes: Notes) -> tuple[float, ...]:
    """The acceleration of free fall; zero if a flag disables it."""
    if not options:
        return _GRAVITY
    flags = [flag for option in options for flag in option.all("flag")]
    is_on = True
    if flags:
        is_on = Attributes(flags[-1], flags[:-1]).word("gravity", {"enable": True, "disable": False}, True)
    if not is_on:
        notes.add("gravity is zero", '<flag gravity="disable">')
        return (0.0, 0.0, 0.0)
    return Attributes(options[-1], options[:-1]).numbers("gravity", _GRAVITY)
