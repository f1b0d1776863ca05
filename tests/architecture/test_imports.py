"""Imports go one way only, as the contract in pyproject.toml has it, and a first call imports little."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinetree import display
from kinetree.codegen.cpu.loader import has_loader
from kinetree.source_code import takes_part

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kinetree"


def test_the_contract_of_imports_is_kept(tmp_path: Path) -> None:
    run = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    process = subprocess.run(
        [sys.executable, "-c", run, "--config", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 broken" in process.stdout


def test_every_room_is_in_the_core_or_an_application() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (wall,) = (one for one in contracts if one["name"] == "the core imports no application")
    rooms = {f"kinetree.{path.stem}" for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    assert sorted(wall["source_modules"] + wall["forbidden_modules"]) == sorted(
        rooms - {"kinetree.__init__", "kinetree.__main__"}
    )


def test_applications_do_what_the_core_asks_them_to() -> None:
    asked = {name for path in SOURCE.rglob("*.py") for name in re.findall(r'registered\("(\w+)"\)', path.read_text())}
    assert asked == display._places.keys()
    assert all(map(callable, map(display.registered, asked)))


def test_every_module_says_what_it_exports() -> None:
    modules = [p for p in SOURCE.rglob("*.py") if p.read_text().strip()]
    assert len(modules) > 50
    assert [p.name for p in modules if "__all__ = [" not in p.read_text() and p.name != "__init__.py"] == []


def test_every_module_begins_with_its_purpose() -> None:
    modules = SOURCE.rglob("*.py")
    assert [str(p) for p in modules if not p.read_text().startswith('"""')] == []


NO_NUMBERS = {
    "announcement",
    "display",
    "files",
    "guide",
    "lazy_names",
    "own_process",
    "resources",
    "zoo",
}
"""Modules of messages, files and processes, in which no number of a program is computed."""


def test_what_takes_part_in_compiling_imports_nothing_else() -> None:
    """Otherwise machine code could depend on a file that is not in its key (source_code.py)."""
    others = {
        name
        for path in SOURCE.rglob("*.py")
        if takes_part(path.relative_to(SOURCE).as_posix())
        for name in _imported(ast.parse(path.read_text()))
        if not takes_part(name)
    }
    assert others == NO_NUMBERS


def test_compiled_loops_take_part_in_compiling() -> None:
    paths = [path for path in SOURCE.rglob("*.py") if "codegen.loops.compiled import" in path.read_text()]
    assert len(paths) > 5
    assert [path for path in paths if not takes_part(path.relative_to(SOURCE).as_posix())] == []


def _imported(tree: ast.AST) -> Iterator[str]:
    """The files of kinetree that a file imports, without those for types and those of names that are lazy."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.With) and "_lazy_names(" in ast.unparse(node.items[0]):
            continue
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "", alias.name) for alias in node.names]
        else:
            yield from _imported(node)
            continue
        for module, name in names:
            package, *parts = module.split(".")
            if package == "kinetree":
                path = "/".join((*parts, name))
                is_module = (SOURCE / path).is_dir() or (SOURCE / f"{path}.py").exists()
                if path := path if is_module else "/".join(parts):
                    yield path


FIRST_USE = """
import sys
import numpy as np
import kinetree as kt
robot = kt.zoo.load("arm7")
zero = np.zeros(robot.nv)
{use}
print(*(name for name in sys.modules if name.partition(".")[0] in ("kinetree", "llvmlite", "matplotlib", "scipy")))
"""
CALL, MOTION = "kt.aba(robot, robot.neutral(), zero, zero)", "kt.simulate(robot, duration=0.01)"
UNNEEDED = (
    *(
        "actuation.",
        "algorithms.",
        "collision.",
        "contact_model.",
        "control.",
        "programs.",
        "sim.",
        "solids.",
        "symbolic.",
    ),
    *(
        "codegen.llvm.module",
        "codegen.ptx",
        "compiler.derived_source",
        "compiler.forms.aligned",
        "compiler.forms.rolled",
    ),
    *("expr.derivatives", "expr.interpret", "expr.lower", "expr.recording", "expr.trace"),
    *("io.mjcf", "io.native.reading", "io.sdf", "joints.euler", "joints.free", "model.changes.attach"),
    *("model.extras.actuators", "model.extras.sensors", "pictures"),
    *("tree.elimination", "tree.rolled.tree"),
)
"""Beginnings of the names of modules; of the rooms that end with a dot, their tables of names alone may be imported."""
UNNEEDED_IN_MOTIONS = (
    *("algorithms.contact_dynamics", "algorithms.integrators", "collision.pairs", "collision.supports"),
    *("expr.derivatives", "expr.interpret", "expr.lower", "expr.trace"),
    *("io.mjcf", "io.sdf", "pictures", "plots", "tree.elimination", "viewer"),
)
MOST_MODULES = {CALL: 178, MOTION: 301}
"""Of kinetree, where it has a loader of machine code; one more is worth half a millisecond, or two without bytecode."""


@pytest.mark.skipif(not has_loader(), reason="LLVM loads the code here, and is imported for it")
@pytest.mark.parametrize(("use", "unneeded"), [(CALL, UNNEEDED), (MOTION, UNNEEDED_IN_MOTIONS)], ids=["call", "motion"])
def test_a_first_use_with_code_on_disk_imports_what_it_needs(
    use: str, unneeded: tuple[str, ...], tmp_path: Path
) -> None:
    environment = {**os.environ, "KINETREE_CACHE": "on", "KINETREE_CACHE_DIR": str(tmp_path / "kinetree")}

    def imported() -> list[str]:
        run = [sys.executable, "-c", FIRST_USE.format(use=use)]
        return subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout.split()

    assert "llvmlite" in imported()  # the first process compiles
    second = imported()
    assert [name for name in second if not name.startswith("kinetree")] == []
    assert [name for name in second if name.removeprefix("kinetree.").startswith(unneeded)] == []
    assert len(second) <= MOST_MODULES[use]
