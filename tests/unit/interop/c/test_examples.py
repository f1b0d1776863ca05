"""The examples in C build and do what they say: with CMake, for a Cortex-M without an operating system, for Arduino."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kinetree as kt
from tests.c_code import STRICT, built, needs, ran

EXAMPLES = Path(__file__).parents[4] / "examples" / "c"
ROBOT = kt.zoo.load("double_pendulum")


@needs("cmake", "gcc")
def test_cmake_builds_the_controller_and_its_robot(tmp_path: Path) -> None:
    command = tmp_path / "kinetree"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kinetree "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "CC": "gcc"}
    for step in (
        ["cmake", "-S", str(EXAMPLES), "-B", "build", f"-DKINETREE={command}"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--no-tests=error"],
    ):
        done = subprocess.run(step, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "100% tests passed, 0 tests failed out of 3" in done.stdout


@needs("arm-none-eabi-gcc", "qemu-system-arm")
def test_the_controller_runs_on_a_microcontroller(tmp_path: Path) -> None:
    sources = [EXAMPLES / "computed_torque.c", EXAMPLES / "cortex_m" / "start.c"]
    for function in (kt.aba, kt.rnea):
        name = f"robot_{function.__name__}"
        kt.interop.to_c(ROBOT, function, dtype="float32", name=name).save(tmp_path)
        sources.append(tmp_path / f"{name}.c")
    page = (EXAMPLES.parents[1] / "docs" / "c.md").read_text()
    (line,) = (line for line in page.splitlines() if line.startswith("arm-none-eabi-gcc "))
    flags = line.split()[1:]
    flags = flags[: flags.index("computed_torque.c")]
    flags[flags.index("-T") + 1] = str(EXAMPLES / flags[flags.index("-T") + 1])
    program = built(tmp_path, "arm-none-eabi-gcc", sources, *STRICT, *flags, f"-I{tmp_path}")
    (line,) = (line for line in page.splitlines() if line.startswith("qemu-system-arm "))
    assert ran(program, *line.split()[:-1]) == 0


@needs("g++", "gcc")
def test_the_sketch_compiles(tmp_path: Path) -> None:
    kt.interop.to_c(ROBOT, kt.gravity_forces, dtype="float32", name="gravity").save(tmp_path)
    (tmp_path / "Arduino.h").write_text(
        "enum { A0, A1, OUTPUT };\nvoid pinMode(int, int);\nint analogRead(int);\nvoid analogWrite(int, int);\n"
        "unsigned long micros();\n"
    )
    sketch = EXAMPLES / "arduino" / "gravity_compensation" / "gravity_compensation.ino"
    flags = ("-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-include", str(tmp_path / "Arduino.h"))
    built(tmp_path, "g++", [sketch], *flags, f"-I{tmp_path}", "-c", name="sketch.o")
