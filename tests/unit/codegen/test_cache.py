"""Machine code on disk: what is read is what was written, whatever happens to the folder and its files."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import logging
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kinetree.codegen.cpu import jit
from kinetree.codegen.cpu.jit import compile_module
from kinetree.codegen.kept import cache as module
from kinetree.codegen.kept.cache import Cache, Contents, folder_problem, kept, kept_module, settings, user_cache
from kinetree.codegen.kept.identity import _read, source_hash, toolchain
from kinetree.codegen.llvm.target import Target, host
from kinetree.files import create_locked

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights, links, signals and limits")

KEY, OTHER = hashlib.sha256(b"one").digest(), hashlib.sha256(b"other").digest()
CODE = bytes(range(256)) * 40
HEADER = 84


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's cache, which nobody has complained about yet."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "users"))
    monkeypatch.setattr(module, "_said", False)
    return tmp_path / "users"


def entry(cache: Cache, key: bytes = KEY) -> Path:
    return cache.directory / f"{key.hex()}.code"


def never() -> bytes:
    raise AssertionError("it was made again")


# -- what is written is read


def test_what_is_written_is_read(cache: Cache) -> None:
    assert cache.read(KEY) is None
    cache.write(KEY, CODE)
    cache.write(OTHER, b"")
    assert cache.read(KEY) == CODE
    assert cache.read(OTHER) == b""
    assert Cache(cache.directory).read(KEY) == CODE
    assert [path.name for path in cache.directory.glob(".*")] == []


def test_a_later_entry_takes_the_place_of_an_earlier_one(cache: Cache) -> None:
    cache.write(KEY, CODE)
    cache.write(KEY, b"new")
    assert cache.read(KEY) == b"new"
    assert cache.contents() == Contents(1, HEADER + 3)


@posix
def test_only_the_user_can_look_into_it(cache: Cache) -> None:
    old = os.umask(0)
    try:
        cache.write(KEY, CODE)
    finally:
        os.umask(old)
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(cache).stat().st_mode) == 0o600


def test_code_is_made_once(users: Path) -> None:
    assert kept(KEY, lambda: CODE) == CODE
    assert kept(KEY, never) == CODE
    assert users.is_dir()


def test_a_module_is_kept_by_its_text_and_known_by_its_request(users: Path) -> None:
    """A request that is known needs no text, and a text that is known is not compiled again."""
    made: list[str] = []
    how = bytes(32)

    def make(text: str) -> bytes:
        made.append(text)
        return text.encode()

    def no_text() -> str:
        raise AssertionError

    first, second = b"1" * 32, b"2" * 32
    assert kept_module(first, how, lambda: "text", make) == b"text"
    assert kept_module(first, how, no_text, make) == b"text"
    assert kept_module(second, how, lambda: "text", make) == b"text"
    assert kept_module(second, how, no_text, make) == b"text"
    assert made == ["text"]
    assert kept_module(b"3" * 32, how, lambda: "other text", make) == b"other text"
    assert kept_module(b"4" * 32, b"o" * 32, lambda: "text", make) == b"text"
    assert made == ["text", "other text", "text"]
    assert user_cache().contents().entries == 3
    for path in users.glob("*.code"):
        path.unlink()
    assert kept_module(first, how, lambda: "text", make) == b"text"
    assert len(made) == 4
    assert kept_module(None, how, lambda: "text", make) == kept_module(first, None, lambda: "text", make) == b"text"
    assert len(made) == 6


def test_what_has_no_key_is_not_kept(users: Path) -> None:
    assert kept(None, lambda: CODE) == CODE
    assert not users.exists()


# -- entries that are not what they should be


@pytest.mark.parametrize("place", [*range(HEADER), HEADER, HEADER + 5000, HEADER + len(CODE) - 1])
@pytest.mark.parametrize("bit", [0, 7])
def test_a_bit_that_flipped_anywhere_is_seen(cache: Cache, place: int, bit: int) -> None:
    cache.write(KEY, CODE)
    damaged = bytearray(entry(cache).read_bytes())
    damaged[place] ^= 1 << bit
    entry(cache).write_bytes(damaged)
    assert cache.read(KEY) is None
    assert not entry(cache).exists()


@pytest.mark.parametrize("size", [0, 1, 8, HEADER - 1, HEADER, HEADER + 1, HEADER + len(CODE) - 1])
def test_an_entry_that_was_cut_off_is_seen(cache: Cache, size: int) -> None:
    cache.write(KEY, CODE)
    entry(cache).write_bytes(entry(cache).read_bytes()[:size])
    assert cache.read(KEY) is None
    assert not entry(cache).exists()


def test_an_entry_with_something_behind_it_is_seen(cache: Cache) -> None:
    cache.write(KEY, CODE)
    with entry(cache).open("ab") as file:
        file.write(b"x")
    assert cache.read(KEY) is None


def test_an_entry_under_the_name_of_another_is_seen(cache: Cache) -> None:
    cache.write(KEY, CODE)
    entry(cache, OTHER).write_bytes(entry(cache).read_bytes())
    entry(cache, OTHER).chmod(0o600)
    assert cache.read(OTHER) is None
    assert cache.read(KEY) == CODE


def test_an_entry_larger_than_everything_may_be_is_not_even_read(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write(KEY, CODE)
    with entry(cache).open("r+b") as file:
        file.truncate(10**12)
    monkeypatch.setattr(os, "read", never)
    assert cache.read(KEY) is None


def test_a_damaged_entry_is_made_again(users: Path) -> None:
    kept(KEY, lambda: CODE)
    entry(Cache(users)).write_bytes(b"something else")
    assert kept(KEY, lambda: b"good") == b"good"
    assert kept(KEY, never) == b"good"


def test_a_link_is_not_followed(cache: Cache, tmp_path: Path) -> None:
    cache.write(KEY, CODE)
    elsewhere = tmp_path / "elsewhere"
    entry(cache).rename(elsewhere)
    entry(cache).symlink_to(elsewhere)
    assert cache.read(KEY) is None
    cache.write(KEY, b"new")
    assert cache.read(KEY) == b"new"
    assert elsewhere.stat().st_size == HEADER + len(CODE)


@posix
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_no_entry(cache: Cache, kind: str) -> None:
    cache.directory.mkdir(mode=0o700)
    (os.mkdir if kind == "folder" else os.mkfifo)(entry(cache))
    assert cache.read(KEY) is None
    cache.write(KEY, CODE)
    assert cache.read(KEY) == (None if kind == "folder" else CODE)
    assert cache.contents().entries == (0 if kind == "folder" else 1)


@posix
@pytest.mark.parametrize("rights", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_not_trusted(cache: Cache, rights: int) -> None:
    cache.write(KEY, CODE)
    entry(cache).chmod(rights)
    assert cache.read(KEY) is None


@posix
def test_the_files_of_another_user_are_left_alone(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write(KEY, CODE)
    monkeypatch.setattr(os, "geteuid", lambda: cache.directory.stat().st_uid + 1)
    assert cache.read(KEY) is None
    assert cache.clear() == cache.contents() == Contents(0, 0)
    assert entry(cache).exists()


# -- folders that are not what they should be


def test_a_folder_that_is_not_there_yet_is_all_right(tmp_path: Path) -> None:
    assert folder_problem(tmp_path / "not" / "yet") == ""


@posix
@pytest.mark.parametrize("rights", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_to_is_not_used(
    users: Path, rights: int, caplog: pytest.LogCaptureFixture
) -> None:
    kept(KEY, lambda: CODE)
    users.chmod(rights)
    for _ in range(2):
        assert kept(KEY, lambda: b"made") == b"made"
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert f"others may write to {users}; take that right away (chmod go-w)" in caplog.text


@posix
def test_the_folder_of_another_user_is_not_used(
    users: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    users.mkdir(mode=0o700)
    owner = users.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert kept(KEY, lambda: CODE) == CODE
    assert list(users.iterdir()) == []
    assert f"{users} belongs to another user; set KINETREE_CACHE_DIR to a folder of your own" in caplog.text


def test_a_file_where_the_folder_should_be(users: Path, caplog: pytest.LogCaptureFixture) -> None:
    users.write_text("mine")
    assert kept(KEY, lambda: CODE) == CODE
    assert users.read_text() == "mine"
    assert "is not a folder" in caplog.text


def test_a_file_on_the_way_to_the_folder(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users.write_text("mine")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(users / "a" / "b"))
    assert kept(KEY, lambda: CODE) == CODE


# -- disks that do not play along


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("function", ["open", "write", "close", "replace", "makedirs", "scandir", "utime", "fstat"])
def test_code_is_made_whatever_the_disk_says(
    users: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    function: str,
    error: int,
) -> None:
    caplog.set_level(logging.INFO)
    real_close = os.close

    def fail(*arguments: object, **_: object) -> None:
        if function == "close":
            real_close(arguments[0])  # type: ignore[arg-type]
        raise OSError(error, os.strerror(error))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        for key in (KEY, OTHER):
            try:
                assert kept(key, lambda: CODE) == CODE
            except OSError:
                pytest.fail(f"os.{function} got through")
    assert len(caplog.records) <= 1
    assert kept(KEY, lambda: CODE) == CODE
    assert kept(KEY, never) == CODE
    assert [path.name for path in users.glob(".*")] == []


@pytest.mark.parametrize("function", ["open", "read", "close", "fstat", "utime", "unlink"])
def test_code_that_is_there_but_cannot_be_read_is_made(
    users: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    assert kept(KEY, lambda: CODE) == CODE
    if function == "unlink":
        entry(Cache(users)).write_bytes(b"something else")
    real_close = os.close

    def fail(*arguments: object, **_: object) -> None:
        if function == "close":
            real_close(arguments[0])  # type: ignore[arg-type]
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        assert kept(KEY, lambda: CODE) == CODE


@posix
@pytest.mark.parametrize("given", ["kept", "./kept", "../kept", ""])
def test_a_working_directory_that_is_gone_makes_no_call_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, given: str
) -> None:
    caplog.set_level(logging.INFO)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("KINETREE_CACHE_DIR", given)
    monkeypatch.setattr(module, "_said", False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    gone.rmdir()
    try:
        assert kept(KEY, lambda: CODE) == CODE
        now = settings()
        assert now.directory is None
        assert ("absolute path" if given else "no home folder") in now.off
        assert now.off in caplog.text
    finally:
        os.chdir(tmp_path)  # or pytest could not find its way back


@pytest.mark.parametrize(
    "value", ["x" * 5000, "a/" * 3000, "~nobody-of-that-name/x", "\n", " ", "\udcff", "/dev/null/x"]
)
def test_a_folder_that_cannot_be_makes_no_call_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        monkeypatch.setenv("KINETREE_CACHE_DIR", value)
        assert kept(KEY, lambda: CODE) == CODE
    Cache(Path("a\0b")).write(KEY, CODE)
    assert Cache(Path("a\0b")).read(KEY) is None
    assert Cache(Path("a\0b")).contents() == (0, 0)


@posix
def test_a_disk_that_is_full_leaves_nothing_half_done(users: Path) -> None:
    """The largest file a process may write is the nearest thing to a full disk that needs no rights."""
    code = (
        "import resource\n"
        "from kinetree.codegen.kept.cache import Cache, kept\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "print(kept(bytes(32), lambda: bytes(100_000)) == bytes(100_000))\n"
        "print(kept(bytes(32), lambda: bytes(1000)) == bytes(1000))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    assert [path.name for path in users.iterdir()] == [f"{bytes(32).hex()}.code"]
    assert Cache(users).read(bytes(32)) == bytes(1000)


@posix
def test_a_process_killed_while_it_writes_leaves_whole_entries(users: Path) -> None:
    code = (
        "from kinetree.codegen.kept.cache import user_cache\n"
        "cache = user_cache()\n"
        "print('ready', flush=True)\n"
        "k = 0\n"
        "while True:\n"
        "    k = (k + 1) % 5\n"
        "    cache.write(bytes([k]) * 32, bytes([k]) * 3_000_000)\n"
    )
    for turn in range(6):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.01 + 0.017 * turn)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        cache = Cache(users)
        for path in users.glob("*.code"):
            key = bytes.fromhex(path.stem)
            assert cache.read(key) == key[:1] * 3_000_000
    for k in range(5):
        cache.write(bytes([k]) * 32, b"after")
        assert cache.read(bytes([k]) * 32) == b"after"


# -- many at once


@pytest.mark.deep
def test_processes_that_write_and_read_the_same_keys_never_see_half_an_entry(users: Path) -> None:
    code = (
        "import sys\n"
        "from kinetree.codegen.kept.cache import user_cache\n"
        "cache = user_cache()\n"
        "for k in range(300):\n"
        "    key = bytes([k % 3]) * 32\n"
        "    found = cache.read(key)\n"
        "    assert found is None or (len(set(found)) == 1 and len(found) == 200_000 + found[0]), len(found)\n"
        "    cache.write(key, bytes([int(sys.argv[1])]) * (200_000 + int(sys.argv[1])))\n"
        "    assert cache.read(key) is not None\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(n)], stderr=subprocess.PIPE, text=True) for n in (1, 2, 3)
    ]
    for process in processes:
        assert process.communicate() == (None, "")
        assert process.returncode == 0
    assert sorted(p.name for p in users.iterdir()) == [f"{bytes([k] * 32).hex()}.code" for k in range(3)]


def test_threads_that_write_and_read_the_same_key_never_see_half_an_entry(cache: Cache) -> None:
    cache.write(KEY, CODE)
    wrong: list[object] = []

    def work() -> None:
        for _ in range(100):
            cache.write(KEY, CODE)
            found = cache.read(KEY)
            if found != CODE and (found or sys.platform != "win32"):  # there a file that is being replaced is missing
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -- size


def test_the_least_recently_used_entries_make_room(cache: Cache) -> None:
    keys = [bytes([k]) * 32 for k in range(10)]
    now = time.time()
    for k, key in enumerate(keys):
        cache.write(key, bytes(1000 - HEADER))
        os.utime(entry(cache, key), (now - 100 + k,) * 2)
    cache.read(keys[0])  # used just now
    small = Cache(cache.directory, limit=10_000)
    small.write(KEY, bytes(1000 - HEADER))
    left = {path.stem for path in cache.directory.glob("*.code")}
    assert left == {key.hex() for key in (keys[0], *keys[5:], KEY)}
    assert small.contents() == Contents(7, 7000)


def test_what_is_larger_than_everything_may_be_is_not_kept(cache: Cache) -> None:
    cache.write(KEY, CODE)
    small = Cache(cache.directory, limit=1000)
    small.write(OTHER, CODE)
    assert small.contents().entries == 1
    assert cache.read(KEY) == CODE


def test_the_folder_is_not_looked_through_for_every_entry(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    tidy = Cache._tidy
    monkeypatch.setattr(Cache, "_tidy", lambda self: looks.append(1) or tidy(self))
    for k in range(100):
        cache.write(bytes([k]) * 32, CODE)
    assert len(looks) == 1
    for k in range(100):  # a nearly full one is, more and more often
        Cache(cache.directory, 100 * len(CODE)).write(bytes([100 + k]) * 32, CODE)
        assert cache.contents().size <= 100 * len(CODE)
    assert len(looks) > 2


def test_what_dead_writers_left_is_removed_after_an_hour(cache: Cache) -> None:
    cache.directory.mkdir(mode=0o700)
    old = cache.directory / f".{KEY.hex()}.123.{'ab' * 8}.tmp"
    young = cache.directory / f".{KEY.hex()}.124.{'ab' * 8}.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 4000,) * 2)
    cache.write(OTHER, CODE)
    assert not old.exists()
    assert young.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there only its age shows that a writer is dead")
def test_what_dead_writers_left_counts_and_goes_first(cache: Cache) -> None:
    small = Cache(cache.directory, limit=10_000)
    keys = [bytes([k]) * 32 for k in range(4)]
    for key in keys[:3]:
        small.write(key, bytes(2000 - HEADER))
    for k in range(5):
        (cache.directory / f".{KEY.hex()}.{k}.{'ab' * 8}.tmp").write_bytes(bytes(3000))
    assert small.contents() == Contents(3, 21_000)
    small.write(keys[3], bytes(2000 - HEADER))
    assert small.contents().size <= 10_000
    assert [small.read(key) is not None for key in keys] == [True] * 4


@pytest.mark.skipif(sys.platform == "win32", reason="there only its age shows that a writer is dead")
def test_what_a_living_writer_writes_counts_and_stays(cache: Cache) -> None:
    small = Cache(cache.directory, limit=10_000)
    small.write(OTHER, bytes(3000 - HEADER))
    writing = cache.directory / f".{KEY.hex()}.1.{'ab' * 8}.tmp"
    file = create_locked(str(writing), 0o600)
    try:
        os.write(file, bytes(6000))
        os.utime(writing, (0, 0))
        small.write(KEY, bytes(3000 - HEADER))
        assert writing.exists()
        assert small.read(OTHER) is None
        assert small.read(KEY) is not None
    finally:
        os.close(file)


@posix
def test_only_our_own_files_are_cleared(cache: Cache) -> None:
    cache.write(KEY, CODE)
    (cache.directory / f".{KEY.hex()}.124.{'ab' * 8}.tmp").write_bytes(b"half")
    foreign = ["notes.txt", "a.code", f"{'g' * 64}.code", f"{KEY.hex()}.code.bak", f".{KEY.hex()}.tmp"]
    for name in foreign:
        (cache.directory / name).write_text("mine")
    link = entry(cache, OTHER)
    link.symlink_to(cache.directory / "notes.txt")
    assert cache.clear() == Contents(1, HEADER + len(CODE) + 4)
    assert sorted(path.name for path in cache.directory.iterdir()) == sorted([*foreign, link.name])
    assert cache.clear() == Contents(0, 0)


# -- settings


@pytest.mark.parametrize("value", ["off", "0", "no", "false", "OFF", " False "])
def test_it_can_be_turned_off(users: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("KINETREE_CACHE", value)
    assert user_cache() is None
    assert kept(KEY, lambda: CODE) == CODE
    assert not users.exists()


@pytest.mark.parametrize("value", ["", "on", "1", "yes", "True"])
def test_it_can_be_said_to_be_on(users: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("KINETREE_CACHE", value)
    found = user_cache()
    assert found is not None
    assert found.directory == users


def test_a_misspelt_switch_is_off_and_said(
    users: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "of")
    assert kept(KEY, lambda: CODE) == CODE
    assert not users.exists()
    assert caplog.messages == ["KINETREE_CACHE must be 'on' or 'off', not 'of'; 'off' is taken"]


@pytest.mark.parametrize(("size", "limit"), [("", 512e6), ("1", 1e6), ("0.5", 5e5), ("2e3", 2e9)])
def test_its_size_is_given_in_megabytes(size: str, limit: float) -> None:
    now = settings({"HOME": "/home/ada", "LOCALAPPDATA": os.path.abspath("/"), "KINETREE_CACHE_SIZE": size})
    assert (now.limit, now.off, now.mistake) == (limit, "", "")


@pytest.mark.parametrize("size", ["large", "nan", "inf", "1 GB"])
def test_a_size_that_is_no_number_is_said(size: str) -> None:
    now = settings({"HOME": "/home/ada", "LOCALAPPDATA": os.path.abspath("/"), "KINETREE_CACHE_SIZE": size})
    assert now.limit == 512e6
    assert now.mistake == f"KINETREE_CACHE_SIZE must be a number of megabytes, not {size!r}; 512 is taken"


@pytest.mark.parametrize("size", ["0", "-3"])
def test_no_room_is_off(size: str) -> None:
    assert (
        settings({"HOME": "/home/ada", "LOCALAPPDATA": os.path.abspath("/"), "KINETREE_CACHE_SIZE": size}).off
        == f"KINETREE_CACHE_SIZE is {size!r}"
    )


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/home/ada"}, "/home/ada/.cache/kinetree"),
        ("linux", {"HOME": "/home/ada", "XDG_CACHE_HOME": "/scratch/ada"}, "/scratch/ada/kinetree"),
        ("linux", {"HOME": "/home/ada", "XDG_CACHE_HOME": "scratch"}, "/home/ada/.cache/kinetree"),
        ("darwin", {"HOME": "/Users/ada"}, "/Users/ada/Library/Caches/kinetree"),
        ("linux", {"KINETREE_CACHE_DIR": "/x/y", "XDG_CACHE_HOME": "/scratch"}, "/x/y"),
        ("linux", {}, None),
        ("linux", {"HOME": ""}, None),
        ("win32", {"HOME": "/home/ada"}, None),
        ("win32", {"LOCALAPPDATA": "/Users/ada/Local"}, "/Users/ada/Local/kinetree/cache"),
    ],
)
def test_where_it_is(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: str | None
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    now = settings(environment)
    assert now.directory == (None if expected is None else Path(expected))
    assert bool(now.off) == (expected is None)


# -- what runs


def test_any_change_of_the_source_is_seen(tmp_path: Path) -> None:
    long_after = time.time() + 1000

    def now() -> bytes | None:
        source_hash.cache_clear()
        return source_hash(tmp_path, long_after)

    seen = [now()]
    assert seen == [None]
    (tmp_path / "a.py").write_text("x = 1")
    seen.append(now())
    (tmp_path / "a.py").write_text("x = 2")
    seen.append(now())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.py").write_text("")
    seen.append(now())
    (tmp_path / "sub" / "b.py").rename(tmp_path / "sub" / "c.py")
    seen.append(now())
    assert len(set(seen)) == 5
    (tmp_path / "notes.txt").write_text("no code")
    assert now() == seen[-1]


def test_files_that_take_no_part_in_compiling_do_not_count(tmp_path: Path) -> None:
    """The same files in two checkouts have one key, whatever else they contain."""
    long_after = time.time() + 1000
    for checkout in ("one", "other"):
        (tmp_path / checkout / "algorithms").mkdir(parents=True)
        (tmp_path / checkout / "algorithms" / "a.py").write_text("x = 1")
    (tmp_path / "other" / "viewer").mkdir()
    (tmp_path / "other" / "viewer" / "b.py").write_text("x = 1")
    (tmp_path / "other" / "io").mkdir()
    (tmp_path / "other" / "io" / "load.py").write_text("x = 1")
    assert source_hash(tmp_path / "one", long_after) == source_hash(tmp_path / "other", long_after) is not None
    source_hash.cache_clear()
    before = source_hash(tmp_path / "other", long_after)
    for name in ("expr", "io/mjcf/elevations", "pictures/kernels", "a_room_of_tomorrow"):
        (tmp_path / "other" / name).mkdir(parents=True)
        (tmp_path / "other" / name / "b.py").write_text("x = 1")
        source_hash.cache_clear()
        after = source_hash(tmp_path / "other", long_after)
        assert after != before
        before = after


def test_the_hash_of_files_that_have_not_changed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KINETREE_CACHE", "on")
    monkeypatch.setattr("kinetree.codegen.kept.identity._SETTLED", -1e9)
    source, reads = tmp_path / "source", []
    source.mkdir()
    (source / "a.py").write_text("x = 1")
    monkeypatch.setattr(
        "kinetree.codegen.kept.identity._read", lambda path, read=_read: reads.append(path) or read(path)
    )

    def now() -> bytes | None:
        source_hash.cache_clear()
        return source_hash(source, time.time() + 1000)

    first = now()
    assert now() == first is not None
    assert len(reads) == 1
    (source / "b.py").write_text("")
    second = now()
    assert second not in (None, first)
    assert now() == second
    assert len(reads) == 3
    assert user_cache().contents().entries == 0
    assert user_cache().clear().size > 0
    assert now() == second
    assert len(reads) == 5


def test_source_that_cannot_be_read_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert source_hash(tmp_path / "nowhere", time.time() + 10) is None
    (tmp_path / "a.py").write_text("x = 1")
    monkeypatch.setattr(os, "read", lambda *_: b"x =")  # somebody is writing it
    assert source_hash(tmp_path, time.time() + 10) is None


def test_python_keeps_its_bytecode_beside_the_source_and_it_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    before = source_hash(tmp_path, time.time() + 10)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"anything")
    assert source_hash(tmp_path, time.time() + 11) == before is not None


def test_code_is_loaded_without_what_writes_code(cache: Cache) -> None:
    """It would take longer to import than the code to load."""
    cache.write(KEY, compile_module("define i32 @seven() { ret i32 7 }"))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from kinetree.codegen.cpu.backend import MachineCode\n"
        "from kinetree.codegen.kept.cache import Cache\n"
        "assert MachineCode(Cache(Path(sys.argv[1])).read(bytes.fromhex(sys.argv[2]))).address('seven')\n"
        "print(*sorted(name for name in sys.modules if name.startswith('kinetree.codegen.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache.directory), KEY.hex()], capture_output=True, text=True, check=True
    )
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert loaded >= {"builtin", "cache", "jit"}
    assert not loaded & {"batch", "elementary", "lanes", "module", "sample", "single"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is always looked for")
def test_the_mathematical_library_is_looked_for_where_it_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str | None] = []

    def other_system(name: str | None) -> str:
        opened.append(name)
        if name == "libm.so.6":
            raise OSError(name)
        return f"opened {name}"

    monkeypatch.setattr(ctypes, "CDLL", other_system)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: f"libc.{name}usl")
    assert jit._mathematical_library() == "opened libc.musl"
    assert opened == ["libm.so.6", "libc.musl"]


def test_source_that_was_changed_after_it_was_imported_is_not_what_runs(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    os.utime(tmp_path / "a.py", (0, 0))  # as an installer may do
    assert source_hash(tmp_path, time.time() - 10) is None
    assert source_hash(tmp_path, time.time() + 10) is not None


def test_another_processor_has_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.codegen.kept.identity.source_hash", lambda *_: bytes(32))
    own = host()
    targets = [
        own,
        Target(own.triple, "generic", own.features, own.vector_bits, own.fma),
        Target(own.triple, own.cpu, own.features + ",-avx", own.vector_bits, own.fma),
        Target(own.triple, own.cpu, own.features, 2 * own.vector_bits, own.fma),
        Target(own.triple, own.cpu, own.features, own.vector_bits, not own.fma),
        Target("x" + own.triple, own.cpu, own.features, own.vector_bits, own.fma),
    ]
    assert len({toolchain.__wrapped__(target, 0.0) for target in targets}) == len(targets)


@pytest.mark.parametrize("name", ["kinetree.codegen.kept.identity.llvm_version", "sys.version"])
def test_another_version_of_a_tool_has_code_of_its_own(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("kinetree.codegen.kept.identity.source_hash", lambda *_: bytes(32))
    before = toolchain.__wrapped__(host(), 0.0)
    monkeypatch.setattr(name, "another" if name == "sys.version" else lambda: "another")
    assert toolchain.__wrapped__(host(), 0.0) != before
