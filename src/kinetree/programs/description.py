"""A program as text: its signature, operations, memory and inputs."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.programs.argument import Argument
from kinetree.programs.trace import Traced

__all__ = ["description"]


def description(name: str, arguments: Mapping[str, Argument], found: Traced) -> str:
    """Several lines on a program's arguments, results and cost."""
    counts, statements = found.program.operation_counts(), found.program.body.all_statements()
    lines = [f"program {name}"]
    width = max(map(len, arguments))
    for argument_name, argument in arguments.items():
        kind = argument.dtype.__name__ if argument.robot is None else f"a configuration of {argument.robot.name!r}"
        lines.append(f"  {argument_name:<{width}}  {argument.shape}  {kind}")
    lines.append("  gives")
    lines += [f"  {x.name or 'an array':<{width}}  {x.shape}  {x.dtype}" for x in found.results.leaves]
    kinds = ", ".join(f"{count} {op}" for op, count in counts.most_common())
    memory = sum(array.size for array in found.program.arrays if array.values is None)
    constants = sum(array.size for array in found.program.arrays if array.values is not None)
    lines += [
        f"  {counts.total()} operations per sample: {kinds or 'none'}",
        f"  {sum(1 for _ in statements)} statements; {memory} numbers of memory, {constants} constants in tables",
    ]
    return "\n".join(lines)
