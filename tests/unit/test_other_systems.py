"""Code for Windows and macOS, as far as it can be tried elsewhere: names of libraries, object files, open files."""

from __future__ import annotations

import ctypes
import errno
import io
import ntpath
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kinetree as kt
from kinetree import own_process
from kinetree.cli.output import output_console
from kinetree.codegen.cpu import jit
from kinetree.codegen.cpu.jit import assemble, compile_module
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.kept import identity
from kinetree.codegen.kept.cache import Cache
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import Target
from kinetree.errors import OptionError, SaveError
from kinetree.expr import Program
from kinetree.files import create_locked, remove_abandoned, write_file
from kinetree.io import meshes
from kinetree.viewer import server

APPLE = Target("arm64-apple-darwin23.0.0", "apple-m1", "", 128, True)
WINDOWS = Target("x86_64-pc-windows-msvc", "haswell", "", 256, True)
OLD_WINDOWS = Target("x86_64-pc-windows-msvc", "x86-64", "", 128, False)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows' rule of open files: they can be neither removed nor replaced."""

    def closed_only(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*paths: Any) -> Any:
            for name in os.listdir("/proc/self/fd"):
                if (there := Path(f"/proc/self/fd/{name}")).exists() and any(
                    there.samefile(p) for p in map(Path, paths) if p.exists()
                ):
                    raise PermissionError(errno.EACCES, "the file is used by another process", *paths)
            return function(*paths)

        return call

    monkeypatch.setattr(os, "unlink", closed_only(os.unlink))
    monkeypatch.setattr(os, "replace", closed_only(os.replace))
    monkeypatch.setattr(sys, "platform", "win32")


linux = pytest.mark.skipif(sys.platform != "linux", reason="sees the open files as Linux lists them")


# -- functions that machine code calls


def test_functions_are_found_in_the_libraries_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: name)
    names = ("fma", "log", "malloc", "memset", "__chkstk", "PyErr_NoMemory", "system")
    ucrt = "ucrtbase"
    assert [*map(jit._library_of, names)] == [ucrt, ucrt, ucrt, ucrt, "ntdll", ctypes.pythonapi, None]


def undefined(coff: bytes) -> set[str]:
    """The external symbols of an object file of Windows."""
    table, count = struct.unpack_from("<II", coff, 8)
    names, k = set(), 0
    while k < count:
        name, _, section, _, kind, more = struct.unpack_from("<8sIhHBB", coff, table + 18 * k)
        if name[:4] == bytes(4):
            start = table + 18 * count + struct.unpack_from("<I", name, 4)[0]
            name = coff[start : coff.index(0, start)]
        if section == 0 and kind == 2:
            names.add(name.rstrip(b"\0").decode())
        k += 1 + more
    return names


def programs() -> list[Program]:
    """One that keeps much on the stack, and one whose memory is from the heap."""
    arm, chain = kt.zoo.load("arm7"), kt.zoo.load("arm6")
    return [kt.compile(arm, kt.aba).__self__.program, kt.compile(chain, kt.dynamics.aba_derivatives).__self__.program]


@pytest.mark.parametrize("target", [WINDOWS, OLD_WINDOWS], ids=["with fma", "without"])
def test_code_for_windows_calls_only_functions_with_a_known_place(target: Target) -> None:
    needed = set()
    for program in programs():
        code = compile_module(emit(program, F64, target), target, optimized=False)
        assert b".pdata" not in code  # LLVM's linker can place a table of unwinding where it ends the process
        needed |= undefined(code)
    assert "__chkstk" in needed  # the test sees them
    # The last is the mark of code with floating-point numbers, which nothing refers to.
    assert needed <= {*jit._FROM_LIBM, *jit._FROM_C, *jit._FROM_PYTHON, *jit._FROM_WINDOWS, "_fltused"}


def test_code_for_windows_has_whole_addresses() -> None:
    for program in programs():
        assert "rip" not in assemble(emit(program, F64, WINDOWS), WINDOWS)


def test_code_for_macos_reaches_functions_however_far_away_they_are() -> None:
    text = f'target triple = "{APPLE.triple}"\ndeclare ptr @malloc(i64)\ndefine ptr @f() {{\n'
    text += "  %x = call ptr @malloc(i64 8)\n  %y = call ptr @malloc(i64 9)\n  ret ptr %x\n}\n"
    assembly = assemble(text, APPLE)
    assert "_malloc@GOTPAGE" in assembly
    assert "bl\t_malloc" not in assembly
    linux = Target("aarch64-unknown-linux-gnu", "generic", "", 128, True)
    assert "bl\tmalloc" in assemble(text.replace(APPLE.triple, linux.triple), linux)  # LLVM's linker adds jumps there


# -- open files


def test_source_is_known_where_open_files_have_another_time_of_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "source.py", os.fstat
    path.write_text("x = 1")

    def fstat(file: int) -> Any:  # as CPython 3.12 has it on Windows
        return SimpleNamespace(st_size=real(file).st_size, st_mtime=real(file).st_mtime, st_ctime=time.time() + 9.0)

    monkeypatch.setattr(os, "fstat", fstat)
    monkeypatch.setattr(sys, "platform", "win32")
    assert identity._read(str(path)) == (b"x = 1", identity._state(os.stat(path)))


@linux
@pytest.mark.usefixtures("windows")
def test_files_are_replaced_after_they_were_closed(tmp_path: Path) -> None:
    path = tmp_path / "motion.npz"
    for content in (b"one", b"two"):
        write_file(path, lambda file, content=content: file.write(content))
    assert path.read_bytes() == b"two"
    with path.open("rb"), pytest.raises(SaveError, match="used by another process"):
        write_file(path, lambda file: file.write(b"three"))
    assert os.listdir(tmp_path) == [path.name]


def test_a_file_below_a_file_is_reported_where_the_system_only_misses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misses(path: Path) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    (tmp_path / "file").touch()
    monkeypatch.setattr("kinetree.files._stat", misses)
    with pytest.raises(SaveError, match="Not a directory"):
        write_file(tmp_path / "file" / "x", lambda file: file.write(b"one"))


def test_a_reader_that_has_left_is_noticed_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "stdout", Left())
    with pytest.raises(BrokenPipeError):
        output_console().print("text")


@linux
@pytest.mark.usefixtures("windows")
def test_files_of_dead_writers_are_removed_and_open_ones_are_not(tmp_path: Path) -> None:
    path = str(tmp_path / "writing.lock")
    file = create_locked(path, 0o600)
    os.utime(path, (0, 0))
    assert not remove_abandoned(path)
    os.close(file)
    assert remove_abandoned(path)
    os.close(create_locked(path, 0o600))
    assert not remove_abandoned(path)  # a writer may have closed it just now, to rename it
    os.utime(path, (time.time() - 5,) * 2)
    assert remove_abandoned(path)


@linux
@pytest.mark.usefixtures("windows")
def test_a_claim_ends_when_it_is_released(tmp_path: Path) -> None:
    cache, key = Cache(tmp_path / "cache"), bytes(32)
    claim = cache.claim(key)
    assert claim is not None
    assert cache.claim(key) is None
    claim.release()
    again = cache.claim(key)
    assert again is not None
    again.leave()
    assert [path.suffix for path in cache.directory.iterdir()] == [".claim"]
    cache.write(key, b"code")
    cache.write(key, b"code")
    assert cache.read(key) == b"code"


# -- processes, ports, drives


def test_a_process_of_windows_ends_with_the_one_that_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[Any] = []

    def opened(*given: int) -> str:
        number = given[-1]
        if number == 8:
            raise OSError("no such process")
        return f"process {number}"

    api = SimpleNamespace(
        OpenProcess=opened, WaitForSingleObject=lambda *given: waited.append(given), SYNCHRONIZE=1, INFINITE=-1
    )
    monkeypatch.setitem(sys.modules, "_winapi", api)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "_exit", lambda code: waited.append(code))
    own_process._end_with(7)
    own_process._end_with(8)
    assert waited == [("process 7", -1), 1, 1]


def test_a_port_that_windows_keeps_for_itself_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reserved(server.socket.socket):
        def bind(self, place: Any) -> None:
            if place[1] == 8080:
                raise PermissionError(errno.EACCES, "an attempt was made to access a socket in a forbidden way")
            super().bind(place)

    monkeypatch.setattr(server.socket, "socket", Reserved)
    assert server._free_port("127.0.0.1", None) > 8080
    with pytest.raises(OptionError, match=r"port 8080 of 127\.0\.0\.1 is in use"):
        server._free_port("127.0.0.1", 8080)


def test_addresses_of_files_on_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "path", ntpath)
    assert meshes._local("/C:/robots/hand.stl") == "C:/robots/hand.stl"
    assert meshes._local("/robots/hand.stl") == "/robots/hand.stl"
    assert r"package_roots=['C:\\robots', 'D:\\parts']" in meshes.remedy(
        r"C:\robots\arm.urdf", "file:///D:/parts/x.stl"
    )


# -- everything together


WITHOUT_UNIX = """
import ctypes, importlib, os, pkgutil, signal, sys
from types import SimpleNamespace
import llvmlite.binding, matplotlib.pyplot, multiprocessing, numpy, rich.console, typer.rich_utils
for name in ("fork", "register_at_fork", "geteuid", "getuid", "O_NOFOLLOW", "O_NONBLOCK", "sched_getaffinity", "uname",
             "nice", "fchmod", "fchown", "mkfifo", "killpg", "sysconf", "process_cpu_count"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGALRM", "SIGUSR1", "SIGPIPE"):
    delattr(signal, name)
for name in (no_modules := ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix")):
    sys.modules[name] = None
for name in ("torch", "jax", "casadi", "dask", "distributed", "viser", "gymnasium", "mujoco", "pinocchio", "scipy"):
    sys.modules[name] = None  # they look for libraries of Windows
own, everything = ctypes.CDLL("libm.so.6"), ctypes.CDLL(None)
libraries = {"ntdll": SimpleNamespace(__chkstk=everything.malloc), "ucrtbase": SimpleNamespace(
    **{name: getattr(own, name) for name in ("log", "fma", "fmaf")},
    **{name: getattr(everything, name) for name in ("malloc", "free", "memset", "memcpy", "memmove")})}
ctypes.CDLL = libraries.__getitem__
sys.platform = "win32"

import kinetree as kt
robot = kt.zoo.load("cart_pole")
motion = kt.simulate(robot, q=[0.0, 0.1], duration=0.1)
for _ in range(2):  # the second one is replaced
    motion.save("motion.npz")
kt.save(robot, "robot.urdf")
assert kt.load("robot.urdf").nv == 2
assert os.listdir(os.environ["KINETREE_CACHE_DIR"])
for module in pkgutil.walk_packages(kt.__path__, "kinetree."):
    try:
        importlib.import_module(module.name) if not module.name.endswith("__main__") else None
    except ImportError as error:
        assert error.name not in no_modules, (module.name, error)
from kinetree.cli import main
main(["info", "robot.urdf"])
"""


@linux
def test_kinetree_works_without_the_names_of_unix(tmp_path: Path) -> None:
    environment = {**os.environ, "KINETREE_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_UNIX], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-4000:]
    assert "cart_pole" in run.stdout
