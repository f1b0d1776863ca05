"""A spoiled file becomes a robot or a `ModelError`, never anything else."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from tests.io.arm import ARM
from tests.strategies import law

PIECES = sorted({*ARM.split('"'), *ARM.split(), *ARM.splitlines(keepends=True)})
NASTY = [
    *(
        "",
        "-",
        "0 0 0",
        "1e308",
        "-1e308 1e308 1e308",
        "1e-320",
        "nan",
        "1_0",
        "&amp;",
        "<!--",
        "]]>",
        "\ufffe",
        "\x00",
    ),
    *("<link/>", "<mimic joint='elbow'/>", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "base", "elbow", "floating", "fixed"),
]


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """The arm after a few changes: pieces exchanged, doubled, removed or made nasty."""
    text = ARM
    for _ in range(draw(st.integers(1, 4))):
        old = draw(st.sampled_from(PIECES))
        places = text.count(old) if old else 0
        if not places:
            continue
        start = -1
        for _ in range(draw(st.integers(1, places))):
            start = text.index(old, start + 1)
        new = draw(st.sampled_from(PIECES) | st.sampled_from(NASTY) | st.text(max_size=5) | st.just(old + old))
        text = text[:start] + new + text[start + len(old) :]
    return text


def _load(data: bytes) -> kt.Model | None:
    """The robot, or None if it was refused as it should be."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        path = Path(folder) / "fuzz.urdf"
        path.write_bytes(data)
        try:
            return kt.load(path)
        except kt.errors.ModelError as error:
            if str(path) not in str(error):
                raise
            return None


@law(600)
@given(spoiled())
def test_a_spoiled_file_is_a_sound_robot_or_a_model_error(text: str) -> None:
    model = _load(text.encode("utf-8", "surrogatepass"))
    if model is None:
        return
    assert repr(model)
    assert np.isfinite(model.neutral()).all()
    assert all(np.isfinite(float(x)) for X in model.tree.X_T for x in X.homogeneous())
    assert all(np.isfinite(float(x)) for I in model.tree.I for x in (I.mass, *I.h.components(), *I.I.components()))


@law(300)
@given(st.binary(max_size=200), st.integers(0, len(ARM)), st.integers(0, 20))
def test_bytes_in_the_middle_of_a_file_never_get_past_model_error(noise: bytes, at: int, gone: int) -> None:
    data = ARM.encode()
    _load(data[:at] + noise + data[at + gone :])


@law(120)
@given(spoiled())
def test_a_check_of_a_spoiled_file_finds_what_loading_it_is_stopped_by(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        path = Path(folder) / "fuzz.urdf"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        report = kt.check(path)
        stopped, unmended = _problems(path, repair=False), _problems(path, repair=True)
    assert report.ok == (not stopped)
    assert set(stopped) <= {problem._replace(repair="") for problem in report.errors}
    assert set(unmended) == {problem for problem in report.errors if not problem.repair}


def _problems(path: Path, *, repair: bool) -> list[kt.checking.Problem]:
    """What keeps a file from being loaded."""
    try:
        assert repr(kt.load(path, repair=True).robot if repair else kt.load(path))
    except kt.errors.ModelError as error:
        return [problem._replace(repair="") for problem in error.problems]
    return []
