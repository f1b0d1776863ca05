"""Functions of CasADi in machine code: kinetree's C, compiled here, which CasADi loads as `casadi.external`."""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.errors import MissingPackageError
from kinetree.interop.c.source import CSource
from kinetree.interop.c.writing import casadi_source
from kinetree.interop.casadi.symbols import matrix_shape
from kinetree.interop.subject import Subject

if TYPE_CHECKING:
    import casadi

__all__ = ["external_function"]

_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")
_COMPILERS = ("cc", "gcc", "clang")


def external_function(
    subject: Subject, name: str, arguments: Sequence[str], results: Sequence[str], derivatives: int
) -> casadi.Function:
    """The function as C, compiled, with its Jacobian (`derivatives` 1) and that of its gradients (2).

    `arguments` and `results`: their names, including arguments that become constants.
    """
    import casadi

    made = casadi_source(subject, subject.node("float64"), f"kt_{name}"[:23].rstrip("_"), derivatives)
    function = casadi.external(made.name, str(_compiled(made)))
    constants = subject.numbers_of_options()
    symbols = [casadi.MX.sym(own, *function.size_in(k)) for k, own in enumerate(arguments)]
    given = [casadi.DM(constants[k].reshape(x.shape)) if k in constants else x for k, x in enumerate(symbols)]
    result = function(*given)
    parts = []
    for _, part, port in subject.results("float64"):
        rows, columns = matrix_shape(port.shape)
        is_whole = result.shape == (rows, columns)
        parts.append(result if is_whole else casadi.reshape(casadi.vec(result)[part], columns, rows).T)
    own = [k for k in range(len(symbols)) if k not in constants]
    return casadi.Function(name, [symbols[k] for k in own], parts, [arguments[k] for k in own], [*results])


def _compiled(made: CSource) -> Path:
    """The shared library of a source; CasADi needs a file, which is kept as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="kinetree-casadi-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made.save(folder)
    library = folder / f"{made.name}.so"
    native = "-mcpu=native" if (sys.platform, platform.machine()) == ("darwin", "arm64") else "-march=native"
    command = [_compiler(), *_FLAGS, native, str(folder / f"{made.name}.c"), "-o", str(library), "-lm"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise MissingPackageError(
            f"kt.interop.to_casadi: the C compiler {command[0]} could not compile {made.name}: "
            f"{run.stderr.strip()[-400:]}; "
            'name another one in the environment variable CC, or use form="SX"'
        )
    return library


def _compiler() -> str:
    asked = os.environ.get("CC")
    compiler = shutil.which(asked) if asked else next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        missing = f"there is no C compiler {asked!r} (CC)" if asked else "there is no C compiler here (cc, gcc, clang)"
        raise MissingPackageError(
            f'kt.interop.to_casadi: {missing}; install one, such as the Debian package gcc, or use form="SX"'
        )
    return compiler
