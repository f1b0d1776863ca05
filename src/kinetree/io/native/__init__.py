"""Robots as text and back: the versioned text form of docs/model_text.md."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.io.native.text import from_text, native_text
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "text": "from_text native_text",
        },
    )

__all__ = ["from_text", "native_text"]
