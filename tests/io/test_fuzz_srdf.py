"""A spoiled SRDF file, or spoiled extras of a text form, become a robot or a `ModelError`, never anything else."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from tests.io.arm import ARM
from tests.io.test_fuzz import NASTY
from tests.io.test_srdf import SRDF
from tests.strategies import law
from tests.unit.model.test_extras import robot

TEXT = kt.to_text(robot())


@st.composite
def spoiled(draw: st.DrawFn, text: str, pieces: list[str]) -> str:
    """The text after a few changes: pieces exchanged, doubled, removed or made nasty."""
    for _ in range(draw(st.integers(1, 4))):
        old = draw(st.sampled_from(pieces))
        places = text.count(old) if old else 0
        if not places:
            continue
        start = -1
        for _ in range(draw(st.integers(1, places))):
            start = text.index(old, start + 1)
        new = draw(st.sampled_from(pieces) | st.sampled_from(NASTY) | st.text(max_size=5) | st.just(old + old))
        text = text[:start] + new + text[start + len(old) :]
    return text


def pieces(text: str) -> list[str]:
    return sorted({*text.split('"'), *text.split(), *text.splitlines(keepends=True)})


@law(200)
@given(spoiled(SRDF, pieces(SRDF)))
def test_a_spoiled_srdf_file_gives_sound_states_or_a_model_error(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        urdf, srdf = Path(folder) / "arm.urdf", Path(folder) / "arm.srdf"
        urdf.write_text(ARM)
        srdf.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            arm = kt.load(urdf, srdf=srdf)
        except kt.errors.ModelError as error:
            if "arm.srdf" not in str(error):
                raise
            return
    for state in arm.extras.named_states:
        assert np.isfinite(arm.named_configuration(state.name, group=state.group)).all()
    for group in arm.extras.groups:
        assert set(arm.group(group.name)) <= set(arm.joints)
    assert kt.from_text(kt.to_text(arm)) == arm


@law(200)
@given(spoiled(TEXT, pieces(TEXT[TEXT.index('"extras"') :])))
def test_spoiled_extras_of_a_text_are_read_or_a_model_error(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        try:
            found = kt.from_text(text)
        except kt.errors.ModelError:
            return
    assert kt.from_text(kt.to_text(found)) == found
    for change in (lambda one: one.scaled(2.0), lambda one: one.mirrored(), lambda one: one.lock("hinge")):
        try:
            change(found)
        except (kt.errors.ModelError, kt.errors.NameNotFoundError) as error:
            if "hinge" not in str(error):
                pytest.fail(str(error))
