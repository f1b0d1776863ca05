"""Arrays on disk are what the package zarr, and xarray, read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.store.arrays import StoredArray, write_group
from kinetree.sweeps.folder import StudyFolder


def test_the_package_zarr_reads_what_is_written(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    for dtype in (np.float64, np.float32, np.int64, np.uint8, np.bool_):
        x = (10 * np.random.default_rng(0).random((7, 2, 3))).astype(dtype)
        array = StoredArray.made(tmp_path / np.dtype(dtype).name, x.shape, 3, dtype, ("sample", "a", "b"), "m")
        for k in (0, 2):
            array.write(k, x[3 * k : 3 * k + 3])
        x[3:6] = np.nan if dtype in (np.float64, np.float32) else 0
        np.testing.assert_array_equal(array.read(0, 7), x)
        np.testing.assert_array_equal(array.read(2, 7), x[2:])
        assert (array.read(4, 4).shape, array.has(1), array.has(2), array.unit) == ((0, 2, 3), False, True, "m")
    write_group(tmp_path, {"robot": "arm"})
    group = zarr.open_group(tmp_path, mode="r")
    assert sorted(group.array_keys()) == ["bool", "float32", "float64", "int64", "uint8"]
    for name, array in group.arrays():
        np.testing.assert_array_equal(array[:], StoredArray(tmp_path / name).read(0, 7))
        assert array.metadata.dimension_names == ("sample", "a", "b")


def test_xarray_reads_a_study(tmp_path: Path) -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("zarr", reason="zarr is not installed")
    robot = kt.zoo.load("double_pendulum")
    vary: dict[Any, Any] = {"q": kt.sweeps.Uniform(-1.0, 1.0)}
    study = kt.sweep(robot, tmp_path / "study", samples=5, vary=vary, duration=0.04, dt=0.01, every=2, chunk=2)
    data = study.to_xarray()
    assert (data["q"].dims, data["q"].shape) == (("sample", "time", "q_0"), (5, 3, 2))
    np.testing.assert_array_equal(data["q"], study.results["q"])
    np.testing.assert_array_equal(data["varied.q"], study.inputs["q"])
    np.testing.assert_allclose(data["time"], [0.0, 0.02, 0.04])


def test_names_of_arrays_stay_inside_their_folder(tmp_path: Path) -> None:
    folder = StudyFolder(tmp_path)
    names = ["..", ".hidden", "a/b", "rest.", "a:b ", "frame.hand [left], 1", "ärm"]
    for name in names:
        place = folder.place("results", name)
        assert place.resolve().parent == tmp_path / "results"
        assert not set(place.name) & set('\\/:*?"<>|')  # these Windows refuses
        assert not place.name.endswith((".", " "))  # and these it drops
        StoredArray.made(place, (1,), 1, np.float64, ("sample",))
    assert folder.names("results") == sorted(names)


def test_damaged_descriptions_are_reported(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.TrajectoryFileError, match="holds no array"):
        StoredArray(tmp_path)
    (tmp_path / "zarr.json").write_text('{"shape": [1], "data_type": "complex128"}')
    with pytest.raises(kt.errors.TrajectoryFileError, match="holds no array that can be read"):
        StoredArray(tmp_path)
