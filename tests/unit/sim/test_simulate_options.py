"""The options of `simulate`: records, their short forms, and the keywords that were before them."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sim import RK45, Recording, Viewing
from kinetree.sim.simulate import _IN_RECORDS, _Options

ROBOT = kt.zoo.load("double_pendulum")
START: dict[str, Any] = {"q": [1.0, 0.5], "duration": 0.03}
SAME: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "every": ({"every": 5}, {"record": Recording(every=5)}, "write record=kt.sim.Recording(every=…) instead of every="),
    "every and quantities": (
        {"every": 5, "record": ["frames"]},
        {"record": Recording(["frames"], every=5)},
        "write record=kt.sim.Recording(…, every=…) instead of every=",
    ),
    "both tolerances": (
        {"integrator": "rk45", "atol": 1e-4, "rtol": 1e-3},
        {"integrator": RK45(1e-3, 1e-4)},
        "write integrator=kt.sim.RK45(rtol=…, atol=…) instead of rtol=, atol=",
    ),
    "a tolerance that is the default": (
        {"integrator": "rk4", "rtol": None},
        {"integrator": "rk4"},
        "write integrator=kt.sim.RK45(rtol=…) instead of rtol=",
    ),
    "a pace": (
        {"speed": math.inf},
        {"view": Viewing(page=False, speed=math.inf)},
        "write view=kt.sim.Viewing(page=False, speed=…) instead of speed=",
    ),
    "short forms": ({"record": {"frames": ["tip"]}}, {"record": Recording({"frames": ["tip"]})}, ""),
    "defaults": ({"integrator": "rk45"}, {"record": Recording(), "integrator": RK45(), "view": Viewing(False)}, ""),
}


@pytest.mark.parametrize("case", SAME)
def test_short_forms_and_old_keywords_give_the_same_motion_as_records(case: str) -> None:
    old, new, text = SAME[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one = kt.simulate(ROBOT, **START, **old)
    assert [str(one.message) for one in caught] == ([f"simulate: {text}"] if text else [])
    assert [(one.category, one.filename) for one in caught] == [(DeprecationWarning, __file__)] * bool(text)
    other = kt.simulate(ROBOT, **START, **new)
    for name in ("time", "q", "v", "qdd", "kinetic"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.recorded.keys() == other.recorded.keys()


def test_a_folder_and_progress_by_their_old_keywords(tmp_path: Path) -> None:
    counts: list[int] = []
    with pytest.warns(DeprecationWarning, match="^simulate: write ") as caught:
        folder = kt.simulate(  # type: ignore[call-overload]
            ROBOT, stream=tmp_path / "run", every=3, progress=lambda done, _: counts.append(done), **START
        )
    assert [str(one.message) for one in caught] == [
        "simulate: write record=kt.sim.Recording(every=…, stream=…) instead of every=, stream=",
        "simulate: write view=kt.sim.Viewing(page=False, progress=…) instead of progress=",
    ]
    assert isinstance(folder, kt.sim.TrajectoryFolder)
    np.testing.assert_array_equal(folder.read().q, kt.simulate(ROBOT, record=Recording(every=3), **START).q)
    assert counts[-1] == 30


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"every": 5, "record": Recording()}, "every= and record= exclude each other; give every= to Recording"),
        ({"atol": 1e-9, "integrator": RK45()}, "atol= and integrator= exclude each other; give atol= to RK45"),
        ({"speed": 1.0, "view": Viewing()}, "speed= and view= exclude each other; give speed= to Viewing"),
        ({"rtol": 1e-6, "integrator": "rk4"}, "rtol= is for the integrator 'rk45'"),
        ({"atol": 1e-6}, "atol= is for the integrator 'rk45'"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_old_keyword_that_does_not_fit_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=text):
        kt.simulate(ROBOT, **START, **options)


@pytest.mark.parametrize(("name", "near"), [("intergator", "integrator"), ("Every", None), ("dts", "dt")])
def test_an_unknown_keyword_is_a_type_error_that_names_the_nearest(name: str, near: str | None) -> None:
    text = rf"^simulate\(\) got an unexpected keyword argument '{name}': "
    with pytest.raises(TypeError, match=text + (rf"did you mean '{near}'" if near else "")):
        kt.simulate(ROBOT, **{name: 1})


@pytest.mark.parametrize("kind", [RK45, Recording, Viewing])
def test_a_record_does_not_change(kind: Any) -> None:
    record = kind()
    assert record == kind()
    with pytest.raises(kt.errors.FrozenError):
        setattr(record, next(name for name, (_, own) in _IN_RECORDS.items() if own is kind), 1)


def test_the_types_for_checkers_are_those_of_the_signature() -> None:
    others = ("robot", "record", "deprecated", "return")
    own = {name: text for name, text in kt.simulate.__annotations__.items() if name not in others}
    assert {name: hint.__forward_arg__ for name, hint in _Options.__annotations__.items()} == own
