"""`kinetree cache`: the compiled functions and the meshes kept on disk, and how to remove them."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

import typer

from kinetree.cli import options
from kinetree.cli.output import needs_a_command, print_json, print_lines
from kinetree.errors import KinetreeError

__all__ = ["cache", "contents"]

cache: typer.Typer = typer.Typer(
    help="Look at the machine code and the meshes kept on disk, or remove them.", invoke_without_command=True
)


@cache.callback()
def _group(context: typer.Context) -> None:
    needs_a_command(context)


@cache.command(epilog="Example: `kinetree cache info --json`")
def info(as_json: options.Json = False) -> None:
    """Show where machine code and meshes are kept, whether they are, how much there is and how much there may be.

    The environment decides: KINETREE_CACHE=off keeps nothing, KINETREE_CACHE_DIR is the folder, KINETREE_CACHE_SIZE
    the megabytes it may take.
    """
    found = contents()
    if as_json:
        print_json(found)
        return
    lines = {
        "folder": found["folder"] or "none", "cache": f"off: {found['off']}" if found["off"] else "on",
        "entries": found["entries"],
        "size": f"{_megabytes(found['bytes'])} of at most {_megabytes(found['most_bytes'])}",
    }  # fmt: skip
    if found["warning"]:
        lines["warning"] = found["warning"]
    print_lines(*(f"{name:<9}{value}" for name, value in lines.items()))


def contents() -> dict[str, Any]:
    """Where the cache is, why it is off ("" if it is on), and how much is in it."""
    from kinetree.codegen.kept.cache import Cache, folder_problem, settings

    now = settings()
    problem = folder_problem(now.directory) if now.directory else ""
    entries, size = Cache(now.directory).contents() if now.directory and not problem else (0, 0)
    return {
        "folder": now.directory, "off": now.off or problem, "entries": entries, "bytes": size,
        "most_bytes": now.limit, "warning": now.mistake,
    }  # fmt: skip


@cache.command(epilog="Example: `kinetree cache clear`")
def clear() -> None:
    """Remove machine code, meshes and pages that are kept on disk. Other files in the folder stay, and so does it."""
    from kinetree.codegen.kept.cache import Cache, folder_problem, settings

    now = settings()
    directory = now.directory
    if directory is None:
        raise KinetreeError(f"there is no folder to clear: {now.off}")
    if problem := folder_problem(directory):
        raise KinetreeError(f"nothing was removed: {problem}")
    entries, size = Cache(directory).clear()
    if Path(directory, "docs/pages.sha256").is_file():  # written by `kinetree docs`
        rmtree(Path(directory, "docs"), ignore_errors=True)
    what = "entry" if entries == 1 else "entries"
    print_lines(f"removed {entries} {what}, {_megabytes(size)}, from {directory}")


def _megabytes(size: int) -> str:
    megabytes = size / 1e6
    return f"{megabytes:.0f} MB" if megabytes >= 100 or megabytes == round(megabytes) else f"{megabytes:.2f} MB"
