"""Every function of kinetree as C has the values of the textbook's loops, and its own self-test finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from kinetree.compiler.requests import default_options
from tests import functions
from tests.c_code import STRICT, built, called, library, needs, ran

ROBOT = kt.zoo.load("double_pendulum")


def sources(made: kt.interop.CSource, folder: Path) -> list[Path]:
    return [path for path in made.save(folder) if path.suffix == ".c"]


@needs("gcc")
def test_every_public_function(tmp_path: Path) -> None:
    """One library of all of them, on floats as well; compilers see operations, not joints, so one robot will do."""
    robot = ROBOT
    made: dict[str, tuple[kt.interop.CSource, Any, dict[str, Any]]] = {}
    for name, function in functions.FIXED.items():
        options = functions.options_of(function, list(robot.bodies)[-1], "local_world_aligned", "classical")
        if name in ("difference_jacobian", "integrate_jacobian"):
            options["wrt"] = function.definition.inputs[-1][0]
        one = kt.interop.to_c(robot, function, name=f"function_{len(made)}", **options)
        made[name] = one, function, options
    text = "".join(f'#include "{sources(one, tmp_path)[0].name}"\n' for one, _, _ in made.values())
    (tmp_path / "all.c").write_text(text)
    loaded = library(tmp_path, "gcc", [tmp_path / "all.c"], *STRICT, "-O0")
    for name, (one, function, options) in made.items():
        given = [x[0] for x in functions.samples(robot, function, 1, np.random.default_rng(4))]
        numbers = functions.numbers_of(function, options)
        sizes = [port.size for port in one.outputs]
        (found,) = called(getattr(loaded, one.name), [*given, *numbers], sizes, one.workspace)
        known = {**default_options(function), **options}
        expected = on_numbers(function.definition, robot, [x.ravel().tolist() for x in given], **known)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale, err_msg=name)


@pytest.mark.parametrize(
    ("compiler", "level", "dtype", "unroll"),
    [
        pytest.param("gcc", "-O0", "float64", True, marks=needs("gcc")),
        pytest.param("gcc", "-O2", "float32", False, marks=needs("gcc")),
        pytest.param("clang", "-O0", "float32", True, marks=needs("clang")),
        pytest.param("clang", "-O2", "float64", False, marks=needs("clang")),
    ],
)
def test_the_self_test_passes(compiler: str, level: str, dtype: str, unroll: bool, tmp_path: Path) -> None:
    made = kt.interop.to_c(ROBOT, kt.aba, dtype=dtype, unroll=unroll)
    assert (made.workspace > 0) is not unroll
    assert ran(built(tmp_path, compiler, sources(made, tmp_path), *STRICT, level)) == 0


@needs("gcc")
def test_results_that_are_computed_after_a_loop_are_those(tmp_path: Path) -> None:
    @kt.program(x=3)
    def after_a_loop(x: Any) -> Any:
        return 1.0 + kt.programs.fori(4, lambda _, y: 0.5 * (y + x / y), x)

    made = kt.interop.to_c(after_a_loop)
    assert ran(built(tmp_path, "gcc", sources(made, tmp_path), *STRICT)) == 0


@needs("gcc")
def test_the_self_test_finds_a_fault(tmp_path: Path) -> None:
    made = kt.interop.to_c(ROBOT, kt.crba)
    paths = sources(made, tmp_path)
    text = paths[0].read_text()
    assert text.count("crba[3] = 0.3334333;") == 1
    paths[0].write_text(text.replace("crba[3] = 0.3334333;", "crba[3] = 0.3334334;"))
    assert ran(built(tmp_path, "gcc", paths)) == 1
