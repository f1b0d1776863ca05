"""From the text of modules to machine code in this process: found on disk, or compiled and kept there, in both tiers.

A shared program has a module of its own, which is in memory once for all that call it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from kinetree.announcement import learn
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.kept.cache import found_module, keep_module
from kinetree.codegen.kept.identity import assembler
from kinetree.codegen.optimization import Optimization
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.codegen.cpu.background import Waiting
    from kinetree.codegen.cpu.module import Written

__all__ = ["Modules"]

_AT_ONCE = 100_000
"""Characters of a module that LLVM optimises in less than 0.1 s, which is not worth a process of its own."""
Write = Callable[[], "Written"]
Request = Callable[[str], bytes | None]
"""The request for a module's code, by the name of its tier."""


@record(frozen=True, eq=False, slots=True, weakref_slot=True)
class _Shared:
    """The code of a shared program."""

    code: MachineCode
    waiting: tuple[Waiting, ...]
    """The modules to be optimised: its own, and those that it calls."""


_known: WeakValueDictionary[bytes, _Shared] = WeakValueDictionary()
"""By the hash of its text, as long as something calls it."""


class Modules:
    """Makes the modules of one kernel."""

    def __init__(self, when: Callable[[], Optimization], imported: float) -> None:
        """`when` code is optimised; `imported` as in `Kernel`."""
        self.waiting: list[Waiting] = []
        """The modules whose code is not optimised, those of shared programs among them."""
        self._when = when
        self._imported = imported

    def code(self, request: Request, write: Write, *, private: bool = False) -> MachineCode:
        """The code of a module. With `private` that of the shared programs that it calls is for nobody else.

        Code that is not optimised joins `waiting`.
        """
        keys, quick = [(request(tier), self._assembler(tier)) for tier in ("", "quick ")]
        when, write = self._when(), cache(write)
        learn(optimized=when == "now")
        made, text = None, lambda: write().text
        for tier in (keys,) if when == "now" else (keys, quick):
            if made is None and (code := found_module(*tier)) is not None:
                with suppress(KeyError):  # the code of another text, whose programs are not on the disk any more
                    made = self._linked(MachineCode(code, optimized=tier is keys), write, private)
        if made is None:
            text = partial(str, write().text)  # nothing that waits keeps the kernel alive
            code, optimized = self._compiled(keys, quick, text(), when)
            made = self._linked(MachineCode(code, optimized=optimized), write, private)
        if not made.optimized:
            from kinetree.codegen.cpu.background import Waiting  # optimised code does not need it

            self.waiting.append(Waiting(made, keys, quick[0], text))
        return made

    def _compiled(
        self,
        keys: tuple[bytes | None, bytes | None],
        quick: tuple[bytes | None, bytes | None],
        text: str,
        when: Optimization,
    ) -> tuple[bytes, bool]:
        """The code of a text, and whether it is optimised."""
        code = found_module(*keys, text)
        if code is None and (when == "now" or (when == "background" and len(text) <= _AT_ONCE)):
            keep_module(*keys, text, code := compile_module(text))
        if code is not None:
            return code, True
        code = found_module(*quick, text)
        if code is None:
            keep_module(*quick, text, code := compile_module(text, optimized=False))
        if when == "background":
            from kinetree.codegen.cpu.background import keep_text

            keep_text(quick[0], text)
        return code, False

    def _linked(self, made: MachineCode, write: Write, private: bool) -> MachineCode:
        """The code of a module, linked to its callees; KeyError if one is neither found nor in its text."""

        def found(text: bytes) -> MachineCode:
            shared = None if private else _known.get(text)
            if shared is None:
                shared = self._shared(text, lambda: write().called[text](), private)
            made.keep(shared)
            self.waiting += [waiting for waiting in shared.waiting if waiting not in self.waiting]
            return shared.code

        made.link(found)
        return made

    def _shared(self, text: bytes, write: Write, private: bool) -> _Shared:
        """The code of a shared program, by the hash of its module's text."""

        def request(tier: str) -> bytes | None:
            tools = self._assembler(tier)
            return None if tools is None else hashlib.sha256(tools + text).digest()

        own = Modules(self._when, self._imported)
        shared = _Shared(own.code(request, write, private=private), tuple(own.waiting))
        return shared if private else _known.setdefault(text, shared)

    def _assembler(self, tier: str) -> bytes | None:
        return assembler(f"{tier}compile_module", processor(), self._imported)
