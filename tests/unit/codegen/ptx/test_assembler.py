"""NVIDIA's assembler takes the kernels of real robots, and gives them enough registers.

Its release is one of PyPI's (nvidia-cuda-nvcc-cu12). What a driver does with PTX is the same assembler's work.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.interop.subject import Subject
from tests.robots import load_robot

BOUNDS = [  # bytes that a thread stores to and loads from memory for want of registers, at most
    ("ur5_robot", False, "float32", 128, 0),
    ("ur5_robot", False, "float64", 192, 0),
    ("panda", False, "float32", 192, 0),
    ("panda", False, "float64", 255, 1_500),
    ("anymal_b_simple_description/robots/anymal.urdf", True, "float32", 255, 1_000),
    ("anymal_b_simple_description/robots/anymal.urdf", True, "float64", 255, 9_000),
    pytest.param("talos_reduced", True, "float32", 255, 12_500, marks=pytest.mark.deep),
    pytest.param("talos_reduced", True, "float64", 255, 45_000, marks=pytest.mark.deep),
]


def assembler() -> str:
    """The assembler of PyPI's package, or the machine's own."""
    try:
        for file in files("nvidia-cuda-nvcc-cu12") or ():
            if file.name in ("ptxas", "ptxas.exe"):
                return str(file.locate())
    except PackageNotFoundError:
        pass
    if (own := shutil.which("ptxas")) is None:
        pytest.skip("there is no ptxas: pip install nvidia-cuda-nvcc-cu12")
    return own


@pytest.mark.parametrize(("name", "floating", "dtype", "registers", "spilled"), BOUNDS)
def test_registers_and_spills(
    name: str, floating: bool, dtype: str, registers: int, spilled: int, tmp_path: Path
) -> None:
    robot = load_robot(name, floating_base=floating)
    source = tmp_path / "kernel.ptx"
    source.write_text(Subject(robot, kt.aba).node(dtype).ptx.text())
    command = [assembler(), "-arch=sm_90", "-O1", "-v", str(source), "-o", str(tmp_path / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    own = output[output.index("Function properties for kinetree_aba") :]
    found = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", own)
    used = re.search(r"Used (\d+) registers", output)
    assert found is not None
    assert used is not None
    assert int(used[1]) <= registers
    assert int(found[1]) + int(found[2]) <= spilled
