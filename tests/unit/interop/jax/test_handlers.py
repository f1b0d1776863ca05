"""XLA's interface is as the handlers assume, its errors are the handlers', and its cache on disk finds them again."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu import xla_frame
from tests.unit.interop.jax.test_values import PENDULUM, state

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy

NAMES = {
    "Extension_Base": (xla_frame.Extension, 3),
    "Api_Version": (xla_frame.ApiVersion, 4),
    "Metadata": (xla_frame.Metadata, 3),
    "Api": (xla_frame.Api, 17),
    "Error_Create_Args": (xla_frame.ErrorRequest, 4),
    "Error_Destroy_Args": (xla_frame.ErrorRelease, 3),
    "ThreadPool_Schedule_Args": (xla_frame.TaskRequest, 5),
    "ThreadPool_NumThreads_Args": (xla_frame.PoolRequest, 4),
    "Buffer": (xla_frame.Buffer, 6),
    "Args": (xla_frame.Values, 5),
    "Rets": (xla_frame.Values, 5),
    "CallFrame": (xla_frame.CallFrame, 8),
}
"""Structures of the header, and how many of our first fields are theirs."""


@pytest.fixture(scope="module")
def header() -> str:
    path = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_structures_are_those_of_the_installed_header(header: str, name: str) -> None:
    text = re.search(rf"struct XLA_FFI_{name} {{(.*?)}}", header, re.S)
    assert text is not None
    structure, count = NAMES[name]
    fields = [" ".join(line.split()) for line in text[1].split(";") if line.strip()]
    for (_, own), theirs in zip(structure._fields_[:count], fields[:count], strict=True):
        assert _kind(own) == _kind_of(theirs), theirs


def _kind(t: Any) -> str:
    if t in (ctypes.c_void_p, ctypes.c_char_p):
        return "pointer"
    if issubclass(t, ctypes.Structure):
        return "structure"
    return {ctypes.c_size_t: "size", ctypes.c_int64: "i64", ctypes.c_int: "i32", ctypes.c_uint32: "i32"}[t]


def _kind_of(field: str) -> str:
    t = field.rsplit(" ", 1)[0].removeprefix("const ").removeprefix("struct ")
    if t.endswith("*") or field.startswith("_XLA_FFI_API_STRUCT_FIELD"):
        return "pointer"
    if t.endswith(("ExecutionStage", "DataType", "Error_Code", "Extension_Type", "Handler_Traits")) or t == "int":
        return "i32"  # enumerations
    return {"size_t": "size", "int64_t": "i64"}.get(t, "structure")


def test_functions_of_xla_have_their_places(header: str) -> None:
    text = re.search(r"struct XLA_FFI_Api {(.*?)}", header, re.S)
    assert text is not None
    names = re.findall(r"_XLA_FFI_API_STRUCT_FIELD\(XLA_FFI_(\w+)\)", text[1])
    fields = [name for name, _ in xla_frame.Api._fields_]
    for own, theirs in {
        "error_create": "Error_Create",
        "error_destroy": "Error_Destroy",
        "pool_schedule": "ThreadPool_Schedule",
        "pool_threads": "ThreadPool_NumThreads",
    }.items():
        assert fields.index(own) - fields.index("error_create") == names.index(theirs)


def test_large_batches_are_computed_on_threads_of_xla() -> None:
    given = state(PENDULUM, 60_000)
    compiled = jax.jit(kt.interop.to_jax(PENDULUM, kt.aba))
    np.testing.assert_array_equal(compiled(*given), kt.aba(PENDULUM, *given))


def test_numbers_are_those_of_the_installed_header(header: str) -> None:
    numbers = dict(re.findall(r"XLA_FFI_(\w+) = (\d+)", header))
    assert int(numbers["DataType_F32"]) == xla_frame.DATA_TYPES["float32"]
    assert int(numbers["DataType_F64"]) == xla_frame.DATA_TYPES["float64"]
    assert int(numbers["ExecutionStage_EXECUTE"]) == xla_frame.EXECUTE
    assert int(numbers["Error_Code_INVALID_ARGUMENT"]) == xla_frame.INVALID_ARGUMENT
    assert int(numbers["Error_Code_RESOURCE_EXHAUSTED"]) == xla_frame.RESOURCE_EXHAUSTED
    assert int(numbers["Extension_Metadata"]) == xla_frame.METADATA


def test_a_call_with_wrong_shapes_is_an_error_of_jax() -> None:
    from kinetree.interop.jax.calls import Call
    from kinetree.interop.jax.lowering import registered
    from kinetree.interop.subject import Subject

    target = registered(Call(Subject(PENDULUM, kt.aba).node("float64")))
    result = jax.ShapeDtypeStruct((2,), jnp.float64)
    errors = getattr(jax.errors, "JaxRuntimeError", Exception)
    with pytest.raises(errors, match=r"aba: v must be an array \(…, 2\) of float64"):
        jax.ffi.ffi_call(target, result)(jnp.zeros(2), jnp.zeros(3), jnp.zeros(2))
    with pytest.raises(errors, match=r"aba takes 3 arrays and gives 1; this call has others"):
        jax.ffi.ffi_call(target, result)(jnp.zeros(2), jnp.zeros(2))


SCRIPT = """
import logging, sys
import jax
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name))
import kinetree as kt
robot = kt.zoo.load("double_pendulum")
f = kt.interop.to_jax(robot, kt.aba)
slope = jax.jit(jax.grad(lambda q, v, tau: f(q, v, tau).sum()))
print(slope(*jax.numpy.ones((3, 5, 2))).tolist())
print(hits.count("/jax/compilation_cache/cache_misses"))
"""


def test_the_cache_of_jax_finds_compiled_functions_again(tmp_path: Path) -> None:
    environment = {**os.environ, "KINETREE_CACHE_DIR": str(tmp_path / "kinetree"), "XLA_FLAGS": ""}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "jax")]
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    )
    assert first[0] == second[0]
    assert int(first[1]) > 0
    assert int(second[1]) == 0


UNFINISHED = """
import jax, kinetree as kt
aba = jax.jit(kt.interop.to_jax(kt.zoo.load("double_pendulum"), kt.aba))
given = jax.numpy.ones((3, 50_000, 2))
for _ in range(50):
    aba(*given)
"""


def test_a_process_may_end_while_xla_computes() -> None:
    subprocess.run([sys.executable, "-c", UNFINISHED], env={**os.environ, "XLA_FLAGS": ""}, check=True, timeout=300)


def test_without_handlers_python_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetree.interop.jax import lowering

    monkeypatch.setattr(lowering, "has_handlers", lambda: False)
    rnea, given = kt.interop.to_jax(PENDULUM, kt.rnea), state(PENDULUM, 5)
    jax.clear_caches()
    compiled = jax.jit(rnea).lower(*given).compile()
    assert "callback" in compiled.as_text()
    np.testing.assert_array_equal(compiled(*given), kt.rnea(PENDULUM, *given))
    found = jax.jit(jax.vmap(jax.jacrev(rnea)))(*given)
    np.testing.assert_allclose(found, kt.jacobian(PENDULUM, kt.rnea, given, wrt="q"), rtol=1e-12, atol=1e-12)
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.box(1.0, 1.0, 1.0, mass=2.0))
    center = kt.interop.to_jax(builder.build(), kt.center_of_mass)
    assert center(np.zeros((3, 0))).tolist() == [[0.0, 0.0, 0.0]] * 3
    jax.clear_caches()


def test_unknown_versions_have_no_handlers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetree.interop.jax.lowering import has_handlers

    folder = tmp_path / "xla" / "ffi" / "api"
    folder.mkdir(parents=True)
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    for text, known in [
        ("#define XLA_FFI_API_MAJOR 0\n#define XLA_FFI_API_MINOR 5\n", True),
        ("#define XLA_FFI_API_MAJOR 0\n#define XLA_FFI_API_MINOR 0\n", False),
        ("#define XLA_FFI_API_MAJOR 1\n#define XLA_FFI_API_MINOR 0\n", False),
        ("", False),
    ]:
        (folder / "c_api.h").write_text(text)
        assert has_handlers.__wrapped__() is known
    (folder / "c_api.h").unlink()
    assert not has_handlers.__wrapped__()


def test_calls_that_are_linear_in_other_inputs_are_other_calls() -> None:
    """JAX keeps what it traced and compiled by them, transposes included."""
    from kinetree.interop.jax.calls import Call
    from kinetree.interop.subject import Subject

    node = Subject(PENDULUM, kt.aba).node("float64")
    assert Call(node, [0]) == Call(node, [0])
    assert hash(Call(node, [0])) == hash(Call(node, [0]))
    assert len({Call(node), Call(node, [0]), Call(node, [1]), Call(node, [1])}) == 3
