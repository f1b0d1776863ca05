"""The operator `kinetree::call`, the form of a call in the graphs of `torch.compile` and `torch.export`.

It computes on the CPU, and knows the shapes of its results without computing. Its derivatives are those of `gradients`,
which calls it, so it has none of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from kinetree.interop.torch.calls import Call, called

__all__ = ["computed"]

_library = torch.library.Library("kinetree", "FRAGMENT")
_library.define("call(Tensor[] arrays, str program) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
_KINDS = frozenset((torch.Tensor, torch.nn.Parameter))


def computed(call: Call, arrays: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a call, without derivatives; in a graph that is being made, the operator."""
    is_plain = _KINDS.issuperset(map(type, arrays)) and all(x.device.type == "cpu" for x in arrays)
    if is_plain and not torch._C._len_torch_dispatch_stack():
        return _on_cpu(arrays, call)
    found: list[torch.Tensor] = torch.ops.kinetree.call(list(arrays), call.name)
    return found


def _on_cpu(arrays: Sequence[torch.Tensor], call: Call) -> list[torch.Tensor]:
    found = call.computed(*(x.numpy(force=True) for x in arrays))  # detached, and what is negated when read
    return [torch.from_numpy(np.ascontiguousarray(x).reshape(x.shape)) for x in found]


def _named(arrays: Sequence[torch.Tensor], program: str) -> list[torch.Tensor]:
    return _on_cpu(arrays, called(program))


def _shapes(arrays: Sequence[torch.Tensor], program: str) -> list[Any]:
    node = called(program).node
    leading = [x.shape[: x.dim() - len(port.shape)] for x, port in zip(arrays, node.inputs, strict=True)]
    batch = torch.broadcast_shapes(*leading)
    return [arrays[0].new_empty((*batch, *port.shape)) for port in node.outputs]


_library.impl("call", _named, "CPU")
torch.library.register_fake("kinetree::call", _shapes, lib=_library)
