"""Compilers for other languages and processors take the same files, and their programs pass the self-test."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.llvm.target import host
from tests.c_code import STRICT, built, called, library, needs, ran

ROBOT = kt.zoo.load("arm6")


def saved(folder: Path, **options: object) -> list[Path]:
    """The .c files of a function in single precision, in loops or written out."""
    made = kt.interop.to_c(ROBOT, kt.aba, name="arm", **{"dtype": "float32", **options})  # type: ignore[arg-type]
    return [path for path in made.save(folder) if path.suffix == ".c"]


@needs("g++", "gcc")
def test_cpp_calls_it(tmp_path: Path) -> None:
    source, _ = saved(tmp_path)
    (tmp_path / "main.cpp").write_text(
        '#include "arm.h"\n#include <array>\n#include <cmath>\n'
        "int main() {\n    std::array<float, 6> q{}, v{}, tau{}, qdd{};\n"
        "    arm(q.data(), v.data(), tau.data(), qdd.data());\n    return std::isfinite(qdd[1]) ? 0 : 1;\n}\n"
    )
    compiled = built(tmp_path, "gcc", [source], *STRICT, "-c", name="arm.o")
    flags = ("-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror")
    assert ran(built(tmp_path, "g++", [tmp_path / "main.cpp", compiled], *flags)) == 0


@needs("gcc")
@pytest.mark.parametrize("unroll", [True, False])
def test_it_has_no_state_and_calls_nothing_but_mathematics(unroll: bool, tmp_path: Path) -> None:
    source, _ = saved(tmp_path, unroll=unroll)
    compiled = built(tmp_path, "gcc", [source], *STRICT, "-O1", "-fno-builtin", "-c", name="arm.o")
    symbols = subprocess.run(["nm", str(compiled)], capture_output=True, text=True, check=True).stdout.split("\n")
    kinds = {line.split()[-1]: line.split()[-2] for line in symbols if line}
    assert {name for name, kind in kinds.items() if kind == "T"} == {"arm"}
    assert {name for name, kind in kinds.items() if kind == "U"} <= {"sinf", "cosf", "fabsf", "_GLOBAL_OFFSET_TABLE_"}
    assert not {name for name, kind in kinds.items() if kind in "dDbBC"}


@needs("gcc")
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    made = kt.interop.to_c(kt.zoo.load("double_pendulum"), kt.aba, unroll=False)
    sources = [path for path in made.save(tmp_path) if path.suffix == ".c"]
    flags = ("-O0", "-fsanitize=address,undefined,float-divide-by-zero", "-fno-sanitize-recover=all")
    assert ran(built(tmp_path, "gcc", sources, *STRICT, *flags)) == 0


@needs("gcc")
def test_every_warning_that_matters_is_on(tmp_path: Path) -> None:
    """Those of embedded projects, too: implicit conversions, promotions to double, shadowed names."""
    more = ("-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Wundef", "-Wvla", "-Wswitch-default", "-Wcast-qual")
    for unroll in (True, False):
        built(tmp_path, "gcc", saved(tmp_path, unroll=unroll), *STRICT, *more, "-O1")


@needs("gcc")
def test_the_functions_of_the_library_can_be_others(tmp_path: Path) -> None:
    source, _ = saved(tmp_path)
    flags = ("-DKT_SINF(x)=table_sine(x)", "-DKT_COSF(x)=table_cosine(x)", "-include", str(tmp_path / "own.h"))
    (tmp_path / "own.h").write_text("float table_sine(float x);\nfloat table_cosine(float x);\n")
    compiled = built(tmp_path, "gcc", [source], *STRICT, *flags, "-c", name="arm.o")
    symbols = subprocess.run(["nm", str(compiled)], capture_output=True, text=True, check=True).stdout
    assert "U table_sine" in symbols
    assert "U sinf" not in symbols


@needs("gcc")
@pytest.mark.skipif(not (host().fma and host().triple.startswith("x86_64")), reason="this is no x86-64 with FMA")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("function", "options"),
    [(kt.aba, {"unroll": True}), (kt.rnea, {"unroll": False}), (kt.frame_placement, {"frame": "tool"})],
)
def test_with_fused_multiply_adds_results_are_equal_to_the_last_bit(
    function: Any, options: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    made = kt.interop.to_c(ROBOT, function, dtype=dtype, **options)
    source = next(path for path in made.save(tmp_path) if path.suffix == ".c")
    loaded = library(tmp_path, "gcc", [source], *STRICT, "-O1", "-mfma")
    rng, compiled = np.random.default_rng(3), kt.compile(ROBOT, function, dtype=dtype, **options)
    for turns in (1.0, 100.0):
        for _ in range(10):
            given = [turns * rng.normal(size=port.size).astype(dtype) for port in made.inputs]
            (found,) = called(getattr(loaded, made.name), given, [made.outputs[0].size], made.workspace, dtype)
            np.testing.assert_array_equal(found, compiled(*given).ravel())


@needs("gcc")
@pytest.mark.parametrize("flags", [(), ("-mfma",)], ids=["library", "own"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sine_and_cosine(dtype: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    """Every quadrant, small and huge angles, zeros of both signs, infinities and NaN."""
    if flags and not (host().fma and host().triple.startswith("x86_64")):
        pytest.skip("this is no x86-64 with FMA")

    @kt.program(x=(), y=(), z=())
    def both(x, y, z):
        return np.stack([np.sin(x), np.cos(x), np.sin(y), np.cos(z)])

    made = kt.interop.to_c(both, dtype=dtype)
    assert "kt_sincos" in made.source
    source = next(path for path in made.save(tmp_path) if path.suffix == ".c")
    loaded = library(tmp_path, "gcc", [source], *STRICT, "-O1", *flags)
    for x in (*np.linspace(-7, 7, 57), 0.0, -0.0, 1e-30, 9e3, -9.9e5, 1.1e6, 1e20, np.inf, -np.inf, np.nan):
        x = np.array(x, dtype)
        (found,) = called(loaded.both, [x, x, x], [4], 0, dtype)
        wide = float(x)
        expected = 2 * ([np.sin(wide), np.cos(wide)] if np.isfinite(wide) else [np.nan, np.nan])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1.5 * np.finfo(dtype).eps, err_msg=str(x))
        np.testing.assert_array_equal(found[:2], found[2:])
        if x == 0.0:
            assert np.signbit(found[0]) == np.signbit(x)


@needs("aarch64-linux-gnu-gcc", "qemu-aarch64")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_aarch64(dtype: str, tmp_path: Path) -> None:
    program = built(tmp_path, "aarch64-linux-gnu-gcc", saved(tmp_path, dtype=dtype), *STRICT, "-O1", "-static")
    assert ran(program, "qemu-aarch64") == 0


CORTEX = {
    "M4F": ("mps2-an386", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "M3": ("mps2-an385", "-mcpu=cortex-m3", "-mfloat-abi=soft"),
}
START = Path(__file__).parents[4] / "examples" / "c" / "cortex_m"


@needs("arm-none-eabi-gcc", "qemu-system-arm")
@pytest.mark.parametrize(("core", "unroll"), [("M4F", True), ("M4F", False), ("M3", True)])
def test_cortex_m(core: str, unroll: bool, tmp_path: Path) -> None:
    """A board without an operating system; the program's exit code comes out of the emulator."""
    machine, *flags = CORTEX[core]
    sources = [*saved(tmp_path, unroll=unroll), START / "start.c"]
    link = ("-T", str(START / "mps2.ld"), "-nostartfiles", "--specs=nano.specs", "--specs=rdimon.specs", "-mthumb")
    program = built(tmp_path, "arm-none-eabi-gcc", sources, *STRICT, "-O1", *flags, *link)
    emulator = ("qemu-system-arm", "-machine", machine, "-nographic", "-semihosting", "-kernel")
    assert ran(program, *emulator) == 0
