"""Shapes of arrays are where an editor shows them: in the docstring of each public function and property."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

import kinetree as kt
from tests.functions import PUBLIC

FUNCTIONS = [name for name, x in PUBLIC.items() if inspect.isfunction(x) and name not in ("plot", "simulate")]
"""`simulate` describes its arguments in prose."""
PROPERTIES = [
    (owner, name)
    for owner in (kt.Model, kt.Transform, kt.model.Inertia)
    for name, member in inspect.getmembers(owner, lambda member: isinstance(member, property))
    if "NDArray" in str(inspect.signature(member.fget).return_annotation)
]
SHAPE = re.compile(r"\([^()]*(?:…|n|\d|,)[^()]*\)|in its shape")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_array_that_is_taken_has_its_shape_in_the_docstring(name: str) -> None:
    function = PUBLIC[name]
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        if not str(parameter.annotation).startswith("ArrayLike"):
            continue
        entry = re.search(rf"^ +(?:\w+, )*{parameter.name}(?:, \w+)*: ((?:.+\n?)(?:^ {{8,}}.+\n?)*)", text, re.M)
        assert entry is not None, f"{parameter.name} is not among the arguments"
        assert SHAPE.search(entry[1]), f"{parameter.name} has no shape: {entry[1]}"


def test_every_parameter_of_a_function_of_motion_is_described_once() -> None:
    names = [module.name for module in pkgutil.iter_modules(kt.functions.__path__, "kinetree.functions.")]
    members = {k: x for name in names for k, x in vars(importlib.import_module(name)).items() if not k.startswith("_")}
    functions = {name: x for name, x in members.items() if hasattr(x, "definition") and "Source:" in (x.__doc__ or "")}
    assert len(functions) > 80
    for name, function in functions.items():
        section = re.search(r"^Args:\n(.*?)\n\n", inspect.getdoc(function) or "", re.M | re.S)
        assert section is not None, name
        heads = re.findall(r"^    (\w[\w, ]*):", section[1], re.M)
        described = [parameter for head in heads for parameter in head.split(", ")]
        assert sorted(described) == sorted(inspect.signature(function).parameters), name


@pytest.mark.parametrize(("owner", "name"), PROPERTIES, ids=[f"{owner.__name__}.{name}" for owner, name in PROPERTIES])
def test_every_property_that_is_an_array_has_its_shape_in_the_docstring(owner: type, name: str) -> None:
    assert SHAPE.search(inspect.getdoc(getattr(owner, name)) or "")
