"""What can be written as C: functions with options, forces and parameters, programs, derivatives; what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.c.names import LONGEST
from tests.c_code import STRICT, built, called, library, needs, ran

ROBOT = kt.zoo.load("double_pendulum")
gcc = needs("gcc")


def results(made: kt.interop.CSource, folder: Path, *arguments: object) -> list[np.ndarray]:
    """What the C function gives, each result in its shape."""
    sources = [path for path in made.save(folder) if path.name == f"{made.name}.c"]
    loaded = library(folder, "gcc", sources, *STRICT, "-O0")
    sizes = [port.size for port in made.outputs]
    found = called(getattr(loaded, made.name), arguments, sizes, made.workspace, made.dtype)
    return [x.reshape(port.shape) for x, port in zip(found, made.outputs, strict=True)]


@gcc
def test_forces_and_parameters_are_arguments(tmp_path: Path) -> None:
    made = kt.interop.to_c(ROBOT, kt.aba, f_ext=["tip"], parameters=["gravity", "body.lower_rod.mass"])
    assert [port.name for port in made.inputs] == ["q", "v", "tau", "f_ext_tip", "gravity", "body_lower_rod_mass"]
    q, v, tau, f = [0.3, -0.4], [1.0, 2.0], [0.1, 0.2], np.arange(6.0)
    (found,) = results(made, tmp_path, q, v, tau, f, [0.0, 0.0, -1.6], 2.0)
    assert "body_lower_rod_mass[1]: body.lower_rod.mass, as given 1.0" in made.header
    given = {"gravity": [0.0, 0.0, -1.6], "body.lower_rod.mass": 2.0}
    np.testing.assert_allclose(found, kt.aba(ROBOT, q, v, tau, f_ext={"tip": f}, parameters=given), rtol=1e-12)


@gcc
def test_a_program_with_several_results_and_kinds_of_arguments(tmp_path: Path) -> None:
    @kt.program(q=ROBOT, gains=(2, 2), on=bool)
    def control(q, gains, on):
        return {"tau": np.where(on, -gains @ q, 0.0), "energy": kt.potential_energy(ROBOT, q)}

    made = kt.interop.to_c(control)
    assert made.name == "control"
    assert " *     from 0: result['tau'], shape (2,)\n *     from 2: result['energy'], shape ()\n" in made.header
    q, gains = np.array([0.3, -0.4]), np.array([[2.0, 1.0], [0.0, 3.0]])
    for on in (True, False):
        expected = control(q, gains, on)
        (found,) = results(made, tmp_path, q, gains, on)
        np.testing.assert_allclose(found, [*expected["tau"], expected["energy"]], rtol=1e-13)


@gcc
def test_loops_and_calls_of_a_program(tmp_path: Path) -> None:
    @kt.program(q=ROBOT, v=ROBOT.nv, dt=())
    def simulated(q, v, dt):
        def step(_, state):
            q, v = state
            v = v + dt * kt.aba(ROBOT, q, v, np.zeros(2))
            return kt.integrate(ROBOT, q, dt * v), v

        return kt.programs.fori(20, step, (q, v))

    made = kt.interop.to_c(simulated)
    assert "for (int32_t" in made.source
    (found,) = results(made, tmp_path, [0.3, -0.4], [0.0, 1.0], 0.01)
    np.testing.assert_allclose(found, np.ravel(simulated([0.3, -0.4], [0.0, 1.0], 0.01)), rtol=1e-11)


@gcc
def test_a_rollout_and_derivatives(tmp_path: Path) -> None:
    q, v, tau = [0.3, -0.4], [0.0, 1.0], np.full((5, 2), 0.1)
    (found,) = results(kt.interop.to_c(ROBOT, kt.rollout, steps=5), tmp_path, q, v, tau, 0.01)
    states = kt.rollout(ROBOT, q, v, tau, dt=0.01)
    np.testing.assert_allclose(found, np.concatenate(states, axis=-1).reshape(5, 4), rtol=1e-12)

    weights, along = [0.3, -0.7], [1.0, 0.5]
    given = (q, v, tau[0])
    made = kt.interop.to_c(ROBOT, kt.aba, derivative="reverse", by=["q", "tau"])
    assert (made.name, [port.name for port in made.outputs]) == ("double_pendulum_bar_aba", ["bar_q", "bar_tau"])
    _, expected = kt.vjp(ROBOT, kt.aba, given, weights, wrt=["q", "tau"])
    for x, name in zip(results(made, tmp_path, *given, weights), expected, strict=True):
        np.testing.assert_allclose(x, expected[name], rtol=1e-11)
    (found,) = results(kt.interop.to_c(ROBOT, kt.aba, derivative="forward", by="v"), tmp_path, *given, along)
    _, expected = kt.jvp(ROBOT, kt.aba, given, {"v": along})
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@gcc
def test_a_robot_without_joints(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.sphere(0.1, mass=2.0))
    rock = builder.build()
    with pytest.raises(kt.errors.OptionError, match="aba of 'rock' has no numbers as a result"):
        kt.interop.to_c(rock, kt.aba)
    made = kt.interop.to_c(rock, kt.center_of_mass)
    assert "void rock_center_of_mass(double center_of_mass[3]);" in made.header
    (found,) = results(made, tmp_path)
    np.testing.assert_array_equal(found, kt.center_of_mass(rock, []))


def test_large_functions_loop_and_small_ones_are_written_out() -> None:
    assert kt.interop.to_c(kt.zoo.load("arm7"), kt.aba).workspace == 0
    assert kt.interop.to_c(kt.zoo.load("arm7"), kt.aba, unroll=False).workspace > 0
    large = kt.interop.to_c(kt.zoo.load("humanoid"), kt.aba)
    assert large.workspace > 0
    assert len(large.source) < 120_000


@pytest.mark.parametrize("text", ["double", "*/ int main(void) {", "ロボット", "a" * 80, "7 dof", "sin"])
def test_every_name_of_a_robot_is_possible(text: str) -> None:
    made = kt.interop.to_c(
        kt.from_text(kt.to_text(ROBOT).replace('"double_pendulum"', f'"{text}"', 1)), kt.center_of_mass
    )
    assert re.fullmatch(r"[A-Za-z]\w*", made.name)
    assert made.source.isascii()
    assert made.source.count("*/") == made.source.count("/*")
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", made.source + made.header, flags=re.S))
    assert max(map(len, words)) <= LONGEST


def test_what_is_refused() -> None:
    for wrong, sentence in (
        ({"dtype": "float16"}, "dtype must be float64 or float32, not float16"),
        ({"name": "for"}, "'for' cannot be the name of a C function and its files.* such as 'for_'"),
        ({"name": "a b"}, "'a b' cannot be the name"),
        ({"name": "a" * 24}, "is longer than 23 characters"),
        ({"derivative": "both"}, 'derivative must be "forward" or "reverse", or a sequence of these, not'),
        ({"derivative": "forward", "by": "x"}, "aba has no argument 'x'"),
        ({"by": "q"}, "by= is for derivatives"),
        ({"derivative": "forward", "by": 3}, r"by must be names of arguments, such as \['q', 'v', 'tau'\], not 3"),
        ({"derivative": "forward", "by": []}, r"by must be names of arguments, .* not \[\]"),
        ({"fraem": "tool"}, "fraem"),
    ):
        with pytest.raises(kt.errors.OptionError, match=sentence):
            kt.interop.to_c(ROBOT, kt.aba, **wrong)
    with pytest.raises(kt.errors.OptionError, match="steps must be a whole number from 1"):
        kt.interop.to_c(ROBOT, kt.rollout)
    with pytest.raises(kt.errors.OptionError, match=r"kt\.interop\.to_c takes a robot and one of kinetree's functions"):
        kt.interop.to_c(kt.aba)


def test_files_are_written_into_a_folder(tmp_path: Path) -> None:
    made = kt.interop.to_c(ROBOT, kt.crba)
    assert made.save(tmp_path / "src") == [tmp_path / "src" / f"{made.name}{end}" for end in (".c", ".h", "_test.c")]
    with pytest.raises(kt.errors.SaveError, match="name a folder, in one that exists"):
        made.save(tmp_path / "no" / "folder")
    with pytest.raises(kt.errors.DTypeError, match="takes the path of a folder, not int"):
        made.save(1)
    assert kt.interop.to_c(ROBOT, kt.crba) == made
    assert made.fingerprint in made.header
    assert kt.interop.to_c(kt.zoo.load("arm6"), kt.crba).fingerprint != made.fingerprint


@needs("gcc")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_defaults_of_a_program_are_in_the_header(tmp_path: Path, dtype: str) -> None:
    """A caller in C who passes them has what a caller in Python has who leaves them out."""

    @kt.program(q=2, gain=2, most=(), count=int)
    def law(q, gain=(2.5, -1.0 / 3.0), most=np.inf, count=3):  # type: ignore[no-untyped-def]
        return np.minimum(gain * q * count, most)

    made = kt.interop.to_c(law, dtype=dtype)
    real = "double" if dtype == "float64" else "float"
    caller = f"""
#include "law.h"
void called(const {real} q[2], {real} result[2])
{{
    const {real} gain[2] = LAW_DEFAULT_gain, most[1] = LAW_DEFAULT_most, count[1] = LAW_DEFAULT_count;
    law(q, gain, most, count, result);
}}
"""
    made.save(tmp_path)
    (tmp_path / "caller.c").write_text(caller, encoding="ascii")
    assert ran(built(tmp_path, "gcc", [tmp_path / "law.c", tmp_path / "law_test.c"], *STRICT)) == 0
    loaded = library(tmp_path, "gcc", [tmp_path / "caller.c", tmp_path / "law.c"], *STRICT)
    q = np.array([0.3, 0.7], dtype)
    (result,) = called(loaded.called, [q], [2], 0, dtype)
    assert (result == law(q)).all()


def test_own_numbers_of_a_robot_are_in_the_header_as_well() -> None:
    made = kt.interop.to_c(kt.zoo.load("double_pendulum"), kt.aba, parameters=["gravity"])
    assert "#define DOUBLE_PENDULUM_ABA_DEFAULT_gravity {0.0, 0.0, -9.81}\n" in made.header
    assert "DEFAULT" not in kt.interop.to_c(kt.zoo.load("double_pendulum"), kt.aba).header


def test_no_argument_has_the_name_of_the_function() -> None:
    @kt.program(result=2)
    def twice(result):  # type: ignore[no-untyped-def]
        return 2.0 * result

    made = kt.interop.to_c(twice, name="result")
    names = [port.name for port in (*made.inputs, *made.outputs)]
    assert len({"result", *names}) == 3


def test_arguments_without_numbers_are_not_described() -> None:
    @kt.program(x=2, nothing=0)
    def both(x, nothing):  # type: ignore[no-untyped-def]
        return np.concatenate([x, nothing])

    made = kt.interop.to_c(both)
    assert "x[2]" in made.header
    assert "nothing" not in made.header
