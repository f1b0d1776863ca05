"""kinetree in PyTorch: `to_torch`. PyTorch is imported when it is called."""

from kinetree.interop.torch.adapter import adapted, to_torch

__all__ = ["adapted", "to_torch"]
