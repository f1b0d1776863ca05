"""XML of mesh files as a tree of elements, without entities, so that it cannot grow or open anything."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from kinetree.errors import ModelError

__all__ = ["Element", "parsed"]


def parsed(where: object, data: bytes) -> Element:
    """The root element; names are without their namespaces."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.buffer_size = 1 << 20

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        builder.start(tag.rpartition("}")[2], dict(attributes))

    def refuse(*_: object) -> None:
        raise ModelError(f"{where}: the file defines entities, which a mesh does not need; export it again")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(tag.rpartition("}")[2])
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(f"{where}: the file is not XML: {error}; is it cut off?") from None
    except (LookupError, ValueError) as error:
        raise ModelError(f"{where}: the file is not XML in an encoding that is read: {error}") from None
    return builder.close()
