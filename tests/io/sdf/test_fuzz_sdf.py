"""A spoiled SDF file becomes a robot or a `ModelError`, never anything else."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from tests.io.sdf.robots import BESIDE, ROBOTS
from tests.io.sdf.written import written
from tests.strategies import law

TEXTS = sorted({*ROBOTS.values(), *(text for name, text in BESIDE.items() if name.endswith(".sdf"))})
_ELEMENT = re.compile(r"<(\w+)[^<>]*?(?:/>|>(?:[^<]*</\1>)?)")
_WORD = re.compile(r"[\w.:\-]+")
ELEMENTS = sorted({found[0] for text in TEXTS for found in _ELEMENT.finditer(text)})
WORDS = sorted({word for text in TEXTS for word in _WORD.findall(text)})
NASTY = [
    *("", "0", "-1", "1e308", "1e-320", "nan", "inf", "-inf", "1e16", "0 0 0", "1 2 3 4 5 6 7", "true", "world"),
    *("__model__", "__root__", "a::b", "::", "<pose/>", "<static>1</static>", "<model name='m'/>", "<frame name='w'/>"),
    *("<!--", "]]>", "&amp;", "\ufffe", "1.4", "1.12", "ball", "gearbox", "universal", "fixed", "robot.sdf", "arms"),
]


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """A file after a few changes: words or elements exchanged, doubled, removed or made nasty."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        whole = draw(st.booleans())
        places = list((_ELEMENT if whole else _WORD).finditer(text))
        if not places:
            continue
        place = places[draw(st.integers(0, len(places) - 1))]
        new = draw(
            st.sampled_from(ELEMENTS if whole else WORDS)
            | st.sampled_from(NASTY)
            | st.just(place[0] * 2)
            | st.just(draw(st.sampled_from(places))[0])
        )
        text = text[: place.start()] + new + text[place.end() :]
    return text


@law(500)
@given(spoiled(), st.sampled_from([None, True, False]), st.booleans())
def test_a_spoiled_file_is_a_sound_robot_or_a_model_error(text: str, floating: bool | None, mimic: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        path = written(Path(folder), text)
        try:
            robot = kt.load(path, floating_base=floating, mimic=mimic)
        except kt.errors.ModelError as error:
            if folder not in str(error):
                raise
            return
    assert repr(robot)
    assert np.isfinite(robot.neutral()).all()
    assert all(np.isfinite(float(x)) for X in robot.tree.X_T for x in X.homogeneous())
    assert all(np.isfinite(float(x)) for I in robot.tree.I for x in (I.mass, *I.h.components(), *I.I.components()))
