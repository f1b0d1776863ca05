"""The properties that distinguish this processor, found without LLVM, as exactly as by LLVM and everywhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kinetree.codegen.cpu import processor as module
from kinetree.codegen.cpu.loader import UnknownObjectError, has_loader
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.kept.identity import llvm_version, toolchain
from kinetree.codegen.llvm.target import host

here = pytest.mark.skipif(not has_loader(), reason="elsewhere LLVM is asked")


def answers() -> dict[tuple[int, int], tuple[int, ...]]:
    rows = [row for row in module._answers() if len(row) > 2]
    return {(leaf, subleaf): values for leaf, subleaf, *values in rows}  # type: ignore[misc]


@here
@pytest.mark.parametrize(
    ("feature", "leaf", "register", "bit"),
    [
        ("sse3", 0x01, 1, 0),
        ("fma", 0x01, 1, 12),
        ("sse4.2", 0x01, 1, 20),
        ("popcnt", 0x01, 1, 23),
        ("aes", 0x01, 1, 25),
        ("bmi", 0x07, 1, 3),
        ("bmi2", 0x07, 1, 8),
        ("adx", 0x07, 1, 19),
        ("sha", 0x07, 1, 29),
        ("lzcnt", 0x80000001, 0, 5),
    ],
)
def test_it_holds_the_answers_that_llvm_goes_by(feature: str, leaf: int, register: int, bit: int) -> None:
    """`register` counts those that are kept of the leaf."""
    has = answers()[leaf, 0][register] >> bit & 1
    assert ("+" if has else "-") + feature in host().features.split(",")


@here
def test_what_the_system_lets_be_used_is_part_of_it() -> None:
    (enabled,) = module._answers()[-1]
    assert enabled & 0b11 == 0b11  # the registers that every x86-64 has
    assert enabled & 0b11100110 == 0b11100110 or host().vector_bits < 512


@here
def test_it_is_the_same_on_every_core_and_in_every_process() -> None:
    code = (
        "import os, sys\n"
        "os.sched_setaffinity(0, {int(sys.argv[1])})\n"
        "from kinetree.codegen.cpu.processor import processor\n"
        "print(processor(), 'llvmlite' in sys.modules)\n"
    )
    for core in sorted(os.sched_getaffinity(0))[:4]:
        done = subprocess.run([sys.executable, "-c", code, str(core)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == f"{processor()} False"


@here
def test_every_answer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.codegen.kept.identity.source_hash", lambda *_: bytes(32))
    rows = module._answers()
    seen = {toolchain.__wrapped__(rows, 0.0)}
    for k, row in enumerate(rows):
        for j in range(len(row)):
            changed = (*row[:j], row[j] ^ 1, *row[j + 1 :])
            seen.add(toolchain.__wrapped__((*rows[:k], changed, *rows[k + 1 :]), 0.0))
    assert len(seen) == 1 + sum(len(row) for row in rows)


def test_where_it_cannot_be_read_llvm_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: bytes) -> None:
        raise UnknownObjectError("not here")

    monkeypatch.setattr(module, "executable", refuse)
    assert processor.__wrapped__() == host()
    monkeypatch.setattr(module, "has_loader", lambda: False)
    assert processor.__wrapped__() == host()


def test_the_version_of_llvm_is_found_without_it() -> None:
    """The files that determine it are those that llvmlite is made of: were they elsewhere, nothing would be kept."""
    import llvmlite

    found = llvm_version()
    assert found is not None
    version, libraries = found
    assert llvmlite.__version__.encode().hex() in version
    assert max(size for _, size in libraries) > 10_000_000
