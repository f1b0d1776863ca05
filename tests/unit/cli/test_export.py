"""`kinetree export`."""

from __future__ import annotations

from pathlib import Path

import kinetree as kt

from .conftest import Command


def test_a_function_as_c(kinetree: Command) -> None:
    result = kinetree("export", "arm6", "--function", "rnea", "--dtype", "float32", "--out", "src")
    assert (result.code, result.err) == (0, "")
    paths = [Path("src") / name for name in ("arm6_rnea.c", "arm6_rnea.h", "arm6_rnea_test.c")]
    *lines, last = result.out.splitlines()
    assert lines == [str(path) for path in paths]
    assert last.startswith("C function arm6_rnea(q[6], v[6], qdd[6]) -> rnea[6]: float, ")
    made = kt.interop.to_c(kt.zoo.load("arm6"), kt.rnea, dtype="float32")
    assert [path.read_text() for path in paths] == [made.source, made.header, made.test]


def test_options_forces_parameters_and_derivatives(kinetree: Command) -> None:
    options = ("--option", "frame=tool", "--option", "expressed_in=world", "--name", "jacobian", "--loops")
    result = kinetree("export", "arm6", "-f", "frame_jacobian", *options)
    assert (result.code, result.err) == (0, "")
    assert "jacobian(q[6]) -> frame_jacobian[6, 6]: double" in result.out
    more = ("--f-ext", "tool", "--parameter", "gravity", "--derivative", "reverse", "--by", "tau")
    result = kinetree("export", "arm6", *more)
    assert "arm6_bar_aba(q[6], v[6], tau[6], f_ext_tool[6], gravity[3], bar_aba[6]) -> bar_tau[6]" in result.out
    second = ("--derivative", "reverse", "--derivative", "forward", "--by", "q", "--name", "curvature")
    result = kinetree("export", "cart_pole", *second)
    made = kt.interop.to_c(
        kt.zoo.load("cart_pole"), kt.aba, derivative=("reverse", "forward"), by="q", name="curvature"
    )
    assert Path("curvature.h").read_text() == made.header
    result = kinetree("export", "cart_pole", "-f", "rollout", "--option", "steps=2", "--interface", "casadi")
    assert "cart_pole_rollout(q[2], v[2], tau[2, 2], dt[])" in result.out


def test_wrong_usage(kinetree: Command) -> None:
    for wrong, sentence in (
        (("--function", "abba"), "did you mean 'aba'"),
        (("--dtype", "half"), "dtype must be float64 or float32, not"),
        (("--option", "frame"), "'frame' is not an option of the form name=value"),
        (("--option", "dtype=float32"), "dtype is given by an option of its own"),
        (("--option", "frame=tool"), "aba"),
        (("--name", "int"), "'int' cannot be the name of a C function"),
        (("--by", "q"), "by= is for derivatives"),
        (("--derivative", "backward"), 'derivative must be "forward" or "reverse", or a sequence of these'),
        (("--derivative", "reverse,forward"), "or a sequence of these, not ['reverse,forward']"),
    ):
        result = kinetree("export", "arm6", *wrong)
        assert result.code == 2, result.err
        assert sentence in " ".join(result.err.replace("│", "").split())
    result = kinetree("export", "arm6", "--out", "missing/folder")
    assert result.code == 1
    assert "missing/folder" in result.err
