"""Studies and motions on disk, and studies as TOML, whose contents are wrong: an error says what and where."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import kinetree as kt
from kinetree.sweeps.study_file import read_study_file

ROBOT = kt.zoo.load("double_pendulum")
NASTY = ('"x"', "[]", "{}", "true", '[1.0, "a"]', "nan", "[[1.0]]", "-1", "[1.0, 2.0, 3.0]", "1979-05-27")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kt.sweep(
        ROBOT, tmp_path / "study", samples=3, chunk=2, duration=0.01, vary={"q.elbow": kt.sweeps.Uniform(0.0, 1.0)}
    )
    return tmp_path / "study"


def changed(path: Path, **changes: Any) -> None:
    """Change fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"samples": -5}, "samples must be a whole number from 1 on, not -5"),
        ({"samples": 1.5}, "samples must be a whole number from 1 on"),
        ({"samples": 10**30}, "samples must be a whole number from 1 on"),
        ({"chunk": 0}, "chunk must be a whole number from 1 on, not 0"),
        ({"grid": {"q": "many"}}, "grid must be numbers of values by name"),
        ({"grid": []}, "grid must be numbers of values by name"),
        ({"settings": {"robot": 3}}, "its settings are not texts by name"),
        ({"settings": {}}, "its settings lack robot, varied"),
        ({"format": 2}, "its format is 2, which this kinetree does not read"),
        ({"motion": {"options": {"nonsense": 1}, "missing": []}}, "its motion is not the options of simulate"),
        ({"motion": 3}, "its motion is not the options of simulate"),
    ],
)
def test_a_wrong_description_of_a_study_is_reported(changes: dict[str, Any], sentence: str, folder: Path) -> None:
    changed(folder / "study.json", **changes)
    with pytest.raises(kt.errors.TrajectoryFileError, match=rf"study\.json cannot be read: {sentence}"):
        kt.sweeps.load_study(folder)


@pytest.mark.parametrize("text", ["[]", "3", "[" * 5000, "{", '{"format": 1}', "\u00e9", ""])
def test_invalid_descriptions_are_reported(text: str, folder: Path) -> None:
    (folder / "study.json").write_text(text, encoding="latin-1")
    with pytest.raises(kt.errors.TrajectoryFileError, match=r"study\.json cannot be read"):
        kt.sweeps.load_study(folder)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"shape": [10**9, 10**9]}, "its chunks .* are not rows of its shape"),
        ({"shape": [-1, 2]}, "are not the lengths of up to 32 axes"),
        ({"shape": 3}, "are not the lengths of up to 32 axes"),
        ({"shape": [1] * 40}, "are not the lengths of up to 32 axes"),
        ({"chunk_grid": {"configuration": {"chunk_shape": [0, 2]}}}, "are not the lengths of up to 32 axes"),
        ({"chunk_grid": []}, "describes none"),
        ({"data_type": "object"}, "holds no array that can be read"),
        ({"attributes": 3}, "describes none"),
    ],
)
def test_a_wrong_description_of_an_array_is_reported(changes: dict[str, Any], sentence: str, folder: Path) -> None:
    changed(folder / "results" / "q" / "zarr.json", **changes)
    with pytest.raises(kt.errors.TrajectoryFileError, match=sentence):
        kt.sweeps.load_study(folder).results["q"]


@pytest.mark.parametrize("name", ["q", "status"])
@pytest.mark.parametrize("changes", [{"chunk": 1}, {"shape": [2]}, {"data_type": "int32"}])
def test_a_study_does_not_go_on_with_other_arrays(name: str, changes: dict[str, Any], folder: Path) -> None:
    """Its chunks would be other samples than those of study.json."""
    if "chunk" in changes:
        changed(folder / "study.json", **changes)
    else:
        known = json.loads((folder / "results" / name / "zarr.json").read_text())["shape"]
        shape = {"shape": [*changes["shape"], *known[1:]]} if "shape" in changes else {}
        changed(folder / "results" / name / "zarr.json", **changes | shape)
    for file in (folder / "results" / "status" / "c").iterdir():
        file.unlink()
    with pytest.raises(
        kt.errors.TrajectoryFileError, match=r"holds an array .* where one .* is to be written; take a new folder"
    ):
        kt.sweep(ROBOT, folder, samples=3, chunk=2, duration=0.01, vary={"q.elbow": kt.sweeps.Uniform(0.0, 1.0)})


@pytest.mark.parametrize("chunk", [1, 10**9])
def test_an_array_that_would_take_very_much_memory_is_refused(chunk: int, folder: Path) -> None:
    grid = {"name": "regular", "configuration": {"chunk_shape": [chunk, 10**9]}}
    changed(folder / "results" / "q" / "zarr.json", shape=[10**9, 10**9], chunk_grid=grid)
    with pytest.raises(kt.errors.TrajectoryFileError, match="of which less than a hundredth is computed yet"):
        kt.sweeps.load_study(folder).results["q"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": 7}, "its format is 7"),
        ({"settings": {"robot": "r", "dt": "0.001"}}, "its settings lack steps, integrator"),
        ({"settings": {"robot": "r", "dt": "nan", "steps": "3", "integrator": "rk4"}}, "dt is nan s"),
        ({"settings": {"robot": "r", "dt": "0.1", "steps": "many", "integrator": "rk4"}}, "invalid literal"),
        ({"settings": {"robot": 3}}, "its settings are not texts by name"),
        ({"format": 1}, "its format is 1, which this kinetree does not read"),
        ({"q_names": "shoulder"}, "q_names must be a list of texts"),
        ({"v_names": [1, 2]}, "v_names must be a list of texts"),
        ({"shape": [-1]}, "shape must be the lengths of axes"),
        ({"shape": 3}, "shape must be the lengths of axes"),
        ({"rows": 0}, "rows must be a whole number from 1 on, not 0"),
        ({"chunk": 1.5}, "chunk must be a whole number from 1 on, not 1.5"),
    ],
)
def test_a_wrong_description_of_a_motion_is_reported(changes: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    kt.simulate(ROBOT, duration=0.01, record=kt.sim.Recording(stream=tmp_path / "run"))
    changed(tmp_path / "run" / "motion.json", **changes)
    with pytest.raises(kt.errors.TrajectoryFileError, match=rf"motion\.json cannot be read: {sentence}"):
        kt.load_trajectory(tmp_path / "run")


@pytest.mark.parametrize("name", ["q", "v", "tau", "f_ext", "parameters", "f_ext.lower_rod", "parameters.mass"])
def test_wrong_values_in_a_study_as_toml_are_reported(name: str, tmp_path: Path) -> None:
    """What varies relative to a nominal value reads that first."""
    key, varied, relative = {
        "f_ext": ("f_ext", '"f_ext.lower_rod"', ""),
        "f_ext.lower_rod": ("f_ext.lower_rod", '"f_ext.lower_rod"', ""),
        "parameters": ("parameters", '"body.lower_rod.mass"', ", relative = true"),
        "parameters.mass": ('parameters."body.lower_rod.mass"', '"body.lower_rod.mass"', ", relative = true"),
    }.get(name, (name, name, ", relative = true"))
    for k, value in enumerate(NASTY):
        path = tmp_path / f"{k}.toml"
        path.write_text(
            f'robot = "double_pendulum"\nsamples = 1\nmotion.duration = 0.002\nmotion.{key} = {value}\n'
            f"vary.{varied} = {{uniform = [0.5, 1.0]{relative}}}\n"
        )
        with suppress(kt.KinetreeError):  # some values are possible
            kt.sweep(ROBOT, tmp_path / str(k), **read_study_file(path).options)


@pytest.mark.parametrize("values", [["x", 1.0], [[1.0], 2.0], [None], [True, "a"], [1j]])
def test_wrong_values_of_samples_are_reported(values: list[Any], tmp_path: Path) -> None:
    with pytest.raises(kt.errors.DTypeError, match=r"vary: q\.elbow must be an array of real numbers"):
        kt.sweep(ROBOT, tmp_path / "study", duration=0.01, vary={"q.elbow": values})
