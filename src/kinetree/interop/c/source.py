"""The result of `kinetree.interop.to_c`: texts of C, and all that a caller must know of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from kinetree.errors import SaveError
from kinetree.expr import Port
from kinetree.files import file_path, reason, write_file
from kinetree.records import record

__all__ = ["CSource"]


@record(frozen=True, slots=True, repr=False)
class CSource:
    """A function as C99.

    >>> import kinetree as kt
    >>> made = kt.interop.to_c(kt.zoo.load("double_pendulum"), kt.aba)
    >>> made
    <C function double_pendulum_aba(q[2], v[2], tau[2]) -> aba[2]: double, 33 operations, no working memory>
    >>> made.source.splitlines()[-1]
    '}'
    """

    name: str
    """The name of the function, and of the files."""
    source: str
    """The text of the .c file."""
    header: str
    """The text of the .h file, for C and C++."""
    test: str
    """The text of a program that ends with 0 if the function has the results that are stored in it, or else with 1."""
    workspace: int
    """How many numbers of working memory `w` the caller provides; 0 if the function takes none."""
    inputs: tuple[Port, ...]
    """The arguments as C names them, with their shapes; those without numbers are left out in C."""
    outputs: tuple[Port, ...]
    """The results, which follow the arguments."""
    dtype: str
    """The type of all numbers: "float64", C's double, or "float32", C's float."""
    operations: int
    """How many operations a call takes, at most."""
    fingerprint: str
    """A name for the computation, which the header has as well: the same for equal robots and requests."""

    def save(self, folder: str | os.PathLike[str] = ".") -> list[Path]:
        """Write NAME.c, NAME.h and NAME_test.c into a folder, which is made if it is missing.

        Returns:
            The paths of the files.

        Raises:
            SaveError: a file cannot be written.

        >>> import tempfile
        >>> import kinetree as kt
        >>> made = kt.interop.to_c(kt.zoo.load("double_pendulum"), kt.crba, dtype="float32")
        >>> [path.name for path in made.save(tempfile.mkdtemp())]
        ['double_pendulum_crba.c', 'double_pendulum_crba.h', 'double_pendulum_crba_test.c']
        """
        place = file_path("CSource.save", folder, what="folder")
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            raise SaveError(f"{place}: {reason(error)}; name a folder, in one that exists") from error
        texts = {f"{self.name}.c": self.source, f"{self.name}.h": self.header, f"{self.name}_test.c": self.test}
        for name, text in texts.items():
            write_file(place / name, _writing(text), within=place)
        return [place / name for name in texts]

    def __repr__(self) -> str:
        ports, results = (", ".join(f"{p.name}{list(p.shape)}" for p in x) for x in (self.inputs, self.outputs))
        memory = f"{self.workspace} numbers of" if self.workspace else "no"
        real = "double" if self.dtype == "float64" else "float"
        return (
            f"<C function {self.name}({ports}) -> {results}: {real}, {self.operations:,} operations, "
            f"{memory} working memory>"
        )


def _writing(text: str) -> Callable[[BinaryIO], object]:
    return lambda stream: stream.write(text.encode("ascii"))
