"""Our loader and LLVM's give the same bits; what ours does not know is refused, and never taken for something else."""

from __future__ import annotations

import ctypes
import functools
import gc
import mmap
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu import backend, jit, loader, modules
from kinetree.codegen.cpu.elf import R_PC32, R_PLT32, ObjectFile, Relocations, read_object
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.loader import Image, UnknownObjectError, _relocate, has_loader, load
from kinetree.codegen.llvm.target import Target

pytestmark = pytest.mark.skipif(not has_loader(), reason="the loader is for Linux on x86-64")


def loaded(text: str) -> MachineCode:
    """A module, loaded by our loader and no other."""
    code = MachineCode(compile_module(text))
    assert isinstance(code._engine, Image)
    return code


def number(code: MachineCode, name: str, *arguments: float) -> float:
    kinds = [ctypes.c_double] * len(arguments)
    return float(ctypes.CFUNCTYPE(ctypes.c_double, *kinds)(code.address(name))(*arguments))


# -- kernels


def results(robot: kt.Model, dtype: str) -> dict[str, Any]:
    """Of one call of each kind of kernel."""
    rng = np.random.default_rng(7)
    q = robot.integrate(np.tile(robot.neutral(), (13, 1)), rng.normal(size=(13, robot.nv))).astype(dtype)
    v, tau = rng.normal(size=(2, 13, robot.nv)).astype(dtype)
    in_loops = kt.compile(robot, kt.aba, unroll=False, dtype=dtype)
    return {
        "batch": kt.aba(robot, q, v, tau),
        "one sample": kt.aba(robot, q[0], v[0], tau[0]),
        "distances": kt.difference(robot, q, q[::-1]),
        "a matrix": kt.crba(robot, q[0]),
        "in loops": in_loops(q, v, tau),
        "one sample in loops": in_loops(q[0], v[0], tau[0]),
        "many steps": kt.rollout(robot, q, v, np.stack([tau] * 3, axis=1), np.dtype(dtype).type(1e-3)),
    }


def check_both_loaders(name: str, dtype: str) -> None:
    """Kernels of a robot have the same bits as loaded by our loader and by LLVM's."""
    objects: list[bytes] = []

    def loaded(code: bytes, *, optimized: bool) -> jit.MachineCode:
        objects.append(code)
        return jit.MachineCode(code, optimized=optimized)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, "MachineCode", loaded)
        for file, source in ((modules, "assembler"), (backend, "toolchain")):  # one that is edited meanwhile is no
            patch.setattr(file, source, lambda *_: b"both loaders".ljust(32))  # reason to fail
        with patch.context() as without:
            without.setattr(jit, "_llvm_engine", None)  # to call it is an error
            ours = results(kt.zoo.load(name), dtype)
        files = [read_object(code) for code in objects]
        kinds = {kind for file in files for table in file.relocations for kind in table.kind.tolist()}
        assert len(files) == len(ours)
        assert R_PC32 in kinds <= {R_PC32, R_PLT32}
        if name == "humanoid":
            assert {"malloc", "free"} <= {needed for file in files for needed in file.needed.values()}
        asked: list[bytes] = []
        patch.setattr(loader, "load", refuse(asked))
        reference = results(kt.zoo.load(name), dtype)
        assert asked == objects[len(files) :] == objects[: len(files)]
    for what, expected in reference.items():
        np.testing.assert_array_equal(ours[what], expected, err_msg=what, strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["arm7", "cart_pole", "humanoid"])
def test_every_kernel_gives_the_same_bits_as_loaded_by_llvm(name: str, dtype: str) -> None:
    """In a process of its own: in one that has mapped gigabytes LLVM's loader may find no room within the reach of 32
    bits, and aborts."""
    check = f"from {__name__} import check_both_loaders; check_both_loaders({name!r}, {dtype!r})"
    root = str(Path(__file__).parents[3])
    process = subprocess.run([sys.executable, "-c", check], cwd=root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


def refuse(asked: list[bytes]) -> Callable[..., Image]:
    """A loader that knows nothing, and writes down what it was asked for."""

    def load(code: bytes, _: object) -> Image:
        asked.append(code)
        raise UnknownObjectError("not today")

    return load


# -- what is in a file

COUNTER = """
@count = global i64 5
@zeros = global [1000 x i64] zeroinitializer
@table = constant [3 x double] [double 1.0, double 2.0, double 4.0]
define i64 @next() {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret i64 %new
}
define double @entry(i64 %k) {
  %at = getelementptr double, ptr @table, i64 %k
  %x = load double, ptr %at
  ret double %x
}
"""


def next_of(code: MachineCode) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("next"))())


def test_variables_begin_as_they_should_and_belong_to_one_loaded_file() -> None:
    one, other = loaded(COUNTER), loaded(COUNTER)
    assert [next_of(one), next_of(one), next_of(other)] == [6, 7, 6]
    assert ctypes.c_int64.from_address(one.data_address("count")).value == 7
    assert not any((ctypes.c_int64 * 1000).from_address(one.data_address("zeros")))
    entry = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(one.address("entry"))
    assert [entry(k) for k in range(3)] == [1.0, 2.0, 4.0]


def test_what_a_module_has_not_stands_at_zero() -> None:
    code = loaded(COUNTER)
    assert code.address("last") == code.data_address("last") == 0
    assert code.address("count") == code.data_address("next") == code.data_address("table") == 0


def test_functions_of_the_c_library_are_reached_however_far_they_are() -> None:
    code = loaded("""
declare double @log(double)
declare double @fma(double, double, double)
define double @all(double %x) {
  %a = call double @log(double %x)
  %b = call double @fma(double %a, double %a, double %x)
  ret double %b
}
""")
    libm = ctypes.CDLL("libm.so.6")
    far = ctypes.cast(libm.log, ctypes.c_void_p).value or 0
    expected = np.log(0.7) ** 2 + 0.7
    assert number(code, "all", 0.7) == pytest.approx(expected, rel=1e-15)
    assert abs(far - code.address("all")) > 0


def test_addresses_of_functions_here_and_elsewhere_can_be_taken() -> None:
    """These relocations are not in our kernels today: pointers in data, and addresses read from the table."""
    code = loaded("""
declare double @log(double)
define internal double @half(double %x) noinline {
  %y = fmul double %x, 0.5
  ret double %y
}
@pointers = global [2 x ptr] [ptr @half, ptr @log]
define double @through(i64 %k, double %x) {
  %at = getelementptr ptr, ptr @pointers, i64 %k
  %f = load ptr, ptr %at
  %y = call double %f(double %x)
  ret double %y
}
define i1 @is_log(ptr %f) {
  %same = icmp eq ptr %f, @log
  ret i1 %same
}
""")
    through = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)(code.address("through"))
    assert through(0, 3.0) == 1.5
    assert through(1, np.e) == pytest.approx(1.0, rel=1e-15)
    is_log = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(code.address("is_log"))
    assert is_log(jit._address_of("log"))
    assert not is_log(jit._address_of("fma"))


def test_no_page_can_be_both_written_and_run() -> None:
    code = loaded(COUNTER)

    def rights(address: int) -> str:
        for line in Path("/proc/self/maps").read_text().splitlines():
            start, end, kinds = re.match(r"(\w+)-(\w+) (\S+)", line).groups()  # type: ignore[union-attr]
            if int(start, 16) <= address < int(end, 16):
                return kinds
        raise AssertionError("it is not in memory")

    assert rights(code.address("next")) == "r-xp"
    assert rights(code.data_address("count")) == "rw-p"
    assert rights(code.data_address("zeros") + 7999) == "rw-p"


# -- what it does not know

ASKS_C = """
declare i64 @strlen(ptr)
define i64 @length(ptr %text) {
  %n = call i64 @strlen(ptr %text)
  ret i64 %n
}
"""


def test_what_asks_for_another_function_is_left_to_llvm() -> None:
    object_code = compile_module(ASKS_C)
    with pytest.raises(UnknownObjectError, match="strlen is not known"):
        load(object_code, jit._address_of)
    code = MachineCode(object_code)
    assert not isinstance(code._engine, Image)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(code.address("length"))(b"seven") == 5


@pytest.mark.parametrize(
    ("triple", "reason"),
    [
        ("aarch64-unknown-linux-gnu", "not a relocatable file for x86-64"),
        ("i686-unknown-linux-gnu", "another system"),
        ("x86_64-apple-darwin", "not ELF"),
        ("x86_64-pc-windows-msvc", "not ELF"),
    ],
)
def test_files_for_other_machines_and_systems_are_refused(triple: str, reason: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    object_code = compile_module("define i64 @one() { ret i64 1 }", Target(triple, "", "", 128, False))
    with pytest.raises(UnknownObjectError, match=reason):
        load(object_code, jit._address_of)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("@x = thread_local global i64 1", "no known kind"),
        ("@x = common global i64 0\ndefine i64 @f() {\n %v = load i64, ptr @x\n ret i64 %v\n}", "stands nowhere"),
        ("@x = global i64 1, align 65536", "alignment"),
        ("define void @f() { ret void }\n@g = ifunc void (), ptr @f", "another system"),
    ],
)
def test_what_needs_more_than_memory_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UnknownObjectError, match=reason):
        load(compile_module(text), jit._address_of)


def test_a_system_that_runs_nothing_from_memory_is_left_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.codegen.cpu.loader._mprotect", lambda: lambda *_: -1)
    with pytest.raises(UnknownObjectError, match="memory cannot be made executable"):
        load(compile_module(COUNTER), jit._address_of)
    assert next_of(MachineCode(compile_module(COUNTER))) == 6


DAMAGE = """
import random, struct, sys
from pathlib import Path
from kinetree.codegen.cpu import jit
from kinetree.codegen.cpu.loader import UnknownObjectError, load

good = Path(sys.argv[1]).read_bytes()
start, = struct.unpack_from("<Q", good, 40)
count, = struct.unpack_from("<H", good, 60)
sections = [struct.unpack_from("<IIQQQQIIQQ", good, start + 64 * k) for k in range(count)]
places = [*range(64), *range(start, start + 64 * count)]
for _, kind, _, _, offset, size, *_ in sections:
    if kind in (2, 3, 4):  # symbols, names, relocations
        places += range(offset, offset + size)
seen = {"loaded": 0, "refused": 0}

def attempt(code):
    try:
        load(code, jit._address_of)
    except UnknownObjectError:
        seen["refused"] += 1
    else:
        seen["loaded"] += 1

for place in places:
    for bit in range(8):
        bad = bytearray(good)
        bad[place] ^= 1 << bit
        attempt(bytes(bad))
for size in range(len(good)):
    attempt(good[:size])
chance = random.Random(0)
for _ in range(4000):
    bad = bytearray(good)
    for _ in range(chance.choice([2, 3, 8])):
        bad[chance.choice(places)] = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
    attempt(bytes(bad))
print(seen["loaded"], seen["refused"])
"""


@pytest.mark.deep
def test_damage_anywhere_is_refused_or_harmless_and_the_loader_survives(tmp_path: Path) -> None:
    """Each bit of the loading instructions, each length, and many bytes at once. None of the code is run."""
    path = tmp_path / "object"
    path.write_bytes(compile_module(COUNTER + "declare double @log(double)\n@f = global ptr @log\n"))
    done = subprocess.run([sys.executable, "-c", DAMAGE, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    harmless, refused = map(int, done.stdout.split())
    assert refused > 5000
    assert harmless > 100


# -- lives

FREES = """
@place = global ptr null
define i64 @answer() { ret i64 42 }
define void @free_memory() {
  %at = load ptr, ptr @place
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  ret void
}
"""


def test_what_code_took_is_given_back_once_when_the_code_dies() -> None:
    code, freed = loaded(FREES), ctypes.c_int64(0)
    ctypes.c_void_p.from_address(code.data_address("place")).value = ctypes.addressof(freed)
    assert freed.value == 0
    del code
    gc.collect()
    assert freed.value == 1


def test_code_lives_until_the_last_of_a_cycle_is_gone() -> None:
    """What dies with it may still call it, whatever the collector finds first."""
    answers = []

    class Last:
        def __init__(self) -> None:
            self.code, freed = loaded(FREES), ctypes.c_int64(0)
            self.freed = freed
            ctypes.c_void_p.from_address(self.code.data_address("place")).value = ctypes.addressof(freed)
            self.answer = ctypes.CFUNCTYPE(ctypes.c_int64)(self.code.address("answer"))
            self.itself = self

        def __del__(self) -> None:
            answers.append(self.answer())

    for _ in range(20):
        Last()
    gc.collect()
    assert answers == [42] * 20


@pytest.mark.deep
def test_a_thousand_loaded_and_dropped_files_leave_no_memory_behind() -> None:
    object_code = compile_module(COUNTER)

    def maps() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    for k in range(2000):
        next_of(MachineCode(object_code))
        if k == 999:
            gc.collect()
            before = (maps(), resident())
    gc.collect()
    assert maps() - before[0] <= 4
    assert resident() - before[1] < 1_000_000


def test_threads_can_load_at_once() -> None:
    object_code, answers = compile_module(COUNTER), []
    together = threading.Barrier(8)

    def work() -> None:
        together.wait()
        for _ in range(50):
            code = MachineCode(object_code)
            answers.append((next_of(code), next_of(code)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [(6, 7)] * 400


FORK = """
import ctypes, os, sys, warnings
from pathlib import Path
from kinetree.codegen.cpu.jit import MachineCode
code = MachineCode(Path(sys.argv[1]).read_bytes())
step = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("next"))
step()
read, write = os.pipe()
if os.fork() == 0:
    step()
    os.write(write, b"%d" % step())
    del code
    os._exit(0)
os.wait()
print(os.read(read, 10).decode(), step())
"""


def test_a_child_has_variables_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "object"
    path.write_bytes(compile_module(COUNTER))
    done = subprocess.run([sys.executable, "-c", FORK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8", "7"]


# -- a new process

FIRST_CALL = """
import hashlib, sys
import numpy as np
import kinetree as kt
import kinetree.codegen.kept.identity as identity
identity.source_hash = lambda *_: bytes(32)
robot = kt.zoo.load("quadruped")
v = np.linspace(-1.0, 1.0, robot.nv)
one = kt.aba(robot, robot.neutral(), v, v)
many = kt.aba(robot, np.tile(robot.neutral(), (5, 1)), v, v)
loops = kt.compile(robot, kt.crba, unroll=False)(robot.neutral())
print("llvmlite" in sys.modules, hashlib.sha256(b"".join(x.tobytes() for x in (one, many, loops))).hexdigest())
"""


def test_a_first_call_whose_code_is_on_disk_imports_no_llvm(tmp_path: Path) -> None:
    env = {**os.environ, "KINETREE_CACHE_DIR": str(tmp_path / "kept")}

    def call() -> list[str]:
        done = subprocess.run([sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True, env=env)
        return done.stdout.split()

    (compiled, expected), (hit, found) = call(), call()
    assert (compiled, hit) == ("True", "False")
    assert found == expected
    assert len(list((tmp_path / "kept").glob("*.code"))) == 3


@pytest.mark.parametrize("kind", [R_PC32, R_PLT32])
@pytest.mark.parametrize(
    ("distance", "fits"),
    [(2**31 - 1, True), (2**31, False), (2**32 - 1, False), (-(2**31), True), (-(2**31) - 1, False), (2**40, False)],
)
def test_a_distance_of_32_bits_is_written_only_if_it_fits(distance: int, kind: int, *, fits: bool) -> None:
    image, start, at, symbol = np.zeros(64, np.uint8), 1 << 40, 24, 3
    numbers = (np.array([x], np.int64) for x in (at - 8, kind, symbol, distance))
    file = ObjectFile({}, [], [], {}, {}, [])
    addresses: list[int | None] = [None, None, None, start + at]
    write = functools.partial(_relocate, image, start, 8, Relocations(0, *numbers), file, addresses, {})
    if fits:
        write()
        assert image[at : at + 4].tobytes() == distance.to_bytes(4, "little", signed=True)
    else:
        with pytest.raises(UnknownObjectError, match="too far away"):
            write()
        assert not image.any()
