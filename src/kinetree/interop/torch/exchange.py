"""How kinetree's machine code reads and makes PyTorch's tensors."""

from __future__ import annotations

import torch

from kinetree.codegen.exchange import Exchange, exchange_functions

__all__ = ["EXCHANGE"]

_functions = exchange_functions(torch.Tensor)
EXCHANGE = (
    None
    if _functions is None
    else Exchange(
        functions=_functions,
        types=(torch.Tensor, torch.nn.Parameter),
        tracked="requires_grad",
        recording=torch.is_grad_enabled,
        altered=torch.Tensor.is_neg,
    )
)
"""None if this PyTorch does not export the functions."""
