"""Reading an XML file safely: size limits first, line numbers kept, nothing expanded, fetched or repaired.

The parser is the standard library's expat on one buffer, without namespaces: an undeclared prefix (`drake:joint`) is
then just part of a name, every element knows its exact line however long the file is, and a hostile file is stopped in
a handler instead of becoming a tree. Elements that a format does not know are counted and skipped.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from kinetree.errors import ModelError, nearest_names
from kinetree.files import read_regular, reason
from kinetree.io.encodings import from_windows_1252
from kinetree.io.near_files import near_files
from kinetree.model.problems import STRICT, Problems
from kinetree.problems import problem
from kinetree.records import record

__all__ = [
    "MAX_RAW",
    "MAX_TEXT",
    "Document",
    "Element",
    "Shape",
    "Unknown",
    "read_bytes",
    "read_document",
    "root_of",
    "shown",
]

MAX_BYTES = 32 * 2**20
MAX_TAGS = 1_500_000
MAX_TOKEN = 2**20
MAX_DEPTH = 500
MAX_TEXT = 4096
MAX_RAW = 200_000
MAX_SKIPPED_KINDS = 1000


@record(frozen=True, slots=True)
class Shape:
    """A format's rules for one element: the children and attributes it may have, and whether it holds text."""

    children: Mapping[str, str]
    """The name of each child's shape, by its tag."""
    attributes: frozenset[str]
    has_text: bool = False
    is_raw: bool = False
    """Whether it may also have any other children, attributes and text, which are kept as they are."""

    @staticmethod
    def of(children: str = "", attributes: str = "", *, text: bool = False, raw: bool = False) -> Shape:
        """Build a shape from names separated by blanks.

        A child's shape has the child's tag as its name, unless it is written as tag=shape: formats use some tags for
        different things in different places.
        """
        pairs = (child.partition("=") for child in children.split())
        return Shape({tag: shape or tag for tag, _, shape in pairs}, frozenset(attributes.split()), text or raw, raw)


_RAW = Shape.of(raw=True)


class Element:
    """An element of the file: its tag, attributes, line and children (those the format knows).

    Its `str` is its place in the file, so that it can serve as the `where` of a part it describes.
    """

    __slots__ = ("attributes", "children", "content", "file", "line", "parent", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], line: int, parent: Element | None, file: str) -> None:
        self.tag: str = tag
        self.attributes: dict[str, str] = attributes
        self.line: int = line
        self.parent: Element | None = parent
        self.file: str = file
        self.children: list[Element] = []
        self.content: str = ""
        """The text in it, without that of its children, if the format has text there."""

    def __repr__(self) -> str:
        name = self.attributes.get("name")
        return f'<{self.tag} name="{shown(name)}">' if name else f"<{self.tag}>"

    def __str__(self) -> str:
        """Place for messages: file, line, element, and the named element around it."""
        around = self.parent
        while around is not None and "name" not in around.attributes:
            around = around.parent
        inside = "" if self.attributes.get("name") or around is None or around.parent is None else f" in {around!r}"
        return f"{self.file}:{self.line}: {self!r}{inside}"

    @property
    def place_in_file(self) -> tuple[str, int | None, str]:
        """File, line and element."""
        start = f"{self.file}:{self.line}: "
        return self.file, self.line, str(self).removeprefix(start)

    def error(self, message: str, code: str = "bad-value", *, repair: str = "") -> ModelError:
        """The `ModelError` that names this element's place; `code` is one of `kinetree.problems.CODES`."""
        return ModelError(f"{self}: {message}", problems=(problem(self, message, code, repair=repair),))

    def fail(self, message: str, code: str = "bad-value") -> NoReturn:
        """Raise a `ModelError` that names this element's place."""
        raise self.error(message, code)

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def parts(self) -> dict[str, Element]:
        """The children by tag, if each may appear only once."""
        parts = {child.tag: child for child in self.children}
        if len(parts) < len(self.children):
            firsts: dict[str, Element] = {}
            for child in self.children:
                if child.tag in firsts:
                    first = firsts[child.tag].line
                    child.fail(
                        f"{self!r} has a second <{child.tag}> (the first is in line {first}); remove one",
                        "repeated-element",
                    )
                firsts[child.tag] = child
        return parts

    def lacks(self, tag: str) -> NoReturn:
        """Raise a `ModelError` that asks for a child with this tag."""
        self.fail(f"has no <{tag}>; add one", "missing-element")

    def text(self, attribute: str) -> str:
        """The value of an attribute that must be present and not empty."""
        value = self.attributes.get(attribute)
        if value is None:
            self.fail(f'has no attribute "{attribute}"; add it', "missing-attribute")
        if not value.strip():
            self.fail(f'the attribute "{attribute}" is empty; fill it in', "missing-attribute")
        if len(value) > MAX_TEXT:
            self.fail(
                f'the attribute "{attribute}" is {len(value):,} characters long; the limit is {MAX_TEXT:,}', "too-large"
            )
        return value


@record(frozen=True, slots=True)
class Unknown:
    """An element or attribute that the format does not know."""

    place: Element
    """The element itself, or the one that has the attribute."""
    attribute: str | None
    known: frozenset[str]
    """Elements or attributes that may be there."""

    @property
    def sentence(self) -> str:
        """The problem in words, without its place."""
        around = self.place.parent
        if self.attribute is None:
            name, where = f"<{shown(self.place.tag)}>", "the file" if around is None else f"<{around.tag}>"
            what, wrong = "element", self.place.tag
        else:
            name, where, what, wrong = f'"{shown(self.attribute)}"', f"<{self.place.tag}>", "attribute", self.attribute
        return f"{where} has no {what} {name}: {nearest_names(shown(wrong), sorted(self.known))}"


@record(slots=True)
class Document:
    """A file after reading: its root, and the skipped parts."""

    root: Element
    skipped: Counter[str] = field(default_factory=Counter)
    """Elements unknown to the format, by `parent/tag`, with their contents."""
    skipped_attributes: Counter[str] = field(default_factory=Counter)
    """Attributes unknown to the format, by `tag attribute`."""
    unknown: list[Unknown] = field(default_factory=list)
    """The first of both, with their places."""


def read_document(
    path: str | os.PathLike[str],
    shapes: Mapping[str, Shape],
    data: bytes | None = None,
    *,
    root: Shape | None = None,
    problems: Problems = STRICT,
) -> Document:
    """Read a file whose elements have the given shapes; `data` is the file's contents, if known.

    `root` is the shape of the first element if it does not follow from its tag. If `problems` are collected, text in a
    wrong encoding and anything after the document's end may be mended.

    Raises `ModelError` if the file cannot be read, exceeds a limit, is not well-formed XML, or has a document
    type with declarations in it.
    """
    path = Path(path)
    data = read_bytes(path) if data is None else data
    _check_limits(str(path), data)
    try:
        return _Parser(str(path), shapes, root, problems).parse(data)
    except ModelError as error:
        is_about_bytes = problems.collects or error.problems[0].code == "not-well-formed"
        again = from_windows_1252(data) if is_about_bytes else None
        if again is None:
            raise
        text, line = again
        sentence = "the text is not UTF-8; save it in that encoding"
        problems.add(_error(str(path), line, sentence, "encoding", "it is read as Windows-1252"))
        return _Parser(str(path), shapes, root, problems).parse(text)


def root_of(path: Path, data: bytes) -> Element:
    """The first element, without its children; its tag identifies the format. Raises as `read_document` does.

    It is mostly near the beginning. Then the rest is not looked at, which `read_document` does.
    """
    try:
        if root := _Parser(str(path), {}).root(data[:MAX_TOKEN], is_all=len(data) <= MAX_TOKEN):
            return root
        _check_limits(str(path), data)
        return _Parser(str(path), {}).parse(data, only_root=True).root
    except ModelError:
        again = from_windows_1252(data)
        if again is None:
            raise
        return _Parser(str(path), {}).parse(again[0], only_root=True).root


def read_bytes(path: Path) -> bytes:
    """The contents of a path, if it is a regular file and not too large."""
    try:
        return read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        code = getattr(error, "errno", None)
        if code == errno.EFBIG:
            sentence = f"the file is larger than {MAX_BYTES // 2**20} MiB, the limit for a robot file"
            raise _error(str(path), None, sentence, "too-large") from None
        if code == errno.EINVAL:
            sentence = f"{reason(error)}; give the path of a file"
            raise _error(str(path), None, sentence, "unreadable-file") from None
        hint = near_files(path) if isinstance(error, FileNotFoundError) else ""
        raise _error(str(path), None, f"cannot be read: {reason(error)}{hint}", "unreadable-file") from None


def _check_limits(file: str, data: bytes) -> None:
    """Reject, before parsing, texts that would take a parser long."""
    starts = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("<"))
    if len(starts) > MAX_TAGS:
        raise _error(file, None, f"the file has {len(starts):,} tags; the limit is {MAX_TAGS:,}", "too-large")
    edges = np.concatenate(([0], starts, [len(data)]))
    lengths = np.diff(edges)
    longest = int(lengths.argmax())
    if lengths[longest] > MAX_TOKEN:
        line = data.count(b"\n", 0, int(edges[longest])) + 1
        sentence = f"one tag or text here is {int(lengths[longest]):,} bytes long; the limit is {MAX_TOKEN:,}"
        raise _error(file, line, sentence, "too-large")


def _error(file: str, line: int | None, message: str, code: str, repair: str = "") -> ModelError:
    """An error at a place that is not an element."""
    error = problem("", message, code, repair=repair)._replace(file=file, line=line)
    return ModelError(f"{file}:{line}: {message}" if line else f"{file}: {message}", problems=(error,))


class _RootFoundError(Exception):
    """Ends the parsing of a document when only its root is needed."""


class _Parser:
    """The handlers of one run of expat."""

    def __init__(
        self, file: str, shapes: Mapping[str, Shape], root: Shape | None = None, problems: Problems = STRICT
    ) -> None:
        self._file = file
        self._root = root
        self._problems = problems
        self._shapes = shapes
        self._expat = expat.ParserCreate()
        self._line_offset = 0
        self._open: Element | None = None
        self._open_shapes: list[Shape] = []
        self._only_root = False
        self._raw = 0
        self._reads_text = False
        self._skip_depth = 0
        self._depth = 0
        self._document: Document | None = None

    def root(self, data: bytes, *, is_all: bool) -> Element | None:
        """The first element, if all of its tag is in the first part of a file."""
        document = self._parse(data, only_root=True, is_all=is_all)
        return None if document is None else document.root

    def parse(self, data: bytes, *, only_root: bool = False) -> Document:
        document = self._parse(data, only_root=only_root, is_all=True)
        assert document is not None  # expat accepts no document without a root
        return document

    def _parse(self, data: bytes, *, only_root: bool, is_all: bool) -> Document | None:
        self._only_root = only_root
        text = data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
        if not text and is_all:
            raise _error(self._file, None, "the file is empty", "not-well-formed")
        blank = data[: len(data) - len(text)]
        self._line_offset = blank.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
        parser = self._expat
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.buffer_text = True
        try:
            parser.Parse(text, is_all)
        except _RootFoundError:
            pass
        except expat.ExpatError as error:
            line = error.lineno + self._line_offset
            message = self._not_well_formed(error, text)
            if self._document is None or self._depth or not self._problems.collects:
                raise _error(self._file, line, message, "not-well-formed") from None
            repair = "everything after the end of the document is left out"
            self._problems.add(_error(self._file, line, message, "not-well-formed", repair))
        except ModelError:
            raise
        except (LookupError, ValueError) as error:  # the encoding named in <?xml … ?>
            raise _error(self._file, self._line, f"the text cannot be decoded: {error}", "encoding") from None
        return self._document

    @property
    def _line(self) -> int:
        return self._expat.CurrentLineNumber + self._line_offset

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _error(self._file, self._line, f"elements are nested more than {MAX_DEPTH} deep", "too-large")
        if self._skip_depth:
            self._skip_depth += 1
            return
        above = self._open
        if above is None:
            element = Element(tag, attributes, self._line, None, self._file)
            self._document = Document(element)
            if self._only_root:
                raise _RootFoundError
            shape = self._root or self._shapes.get(tag)
            if shape is None:
                # The caller decides what to do about it; there is no need to read on.
                self._skip_depth = 1
                return
        else:
            element = Element(tag, attributes, self._expat.CurrentLineNumber + self._line_offset, above, self._file)
            children = self._open_shapes[-1].children
            name = children.get(tag)
            if name is None and self._open_shapes[-1].is_raw:
                shape = _RAW
                self._raw += 1
                if self._raw > MAX_RAW:
                    sentence = f"more than {MAX_RAW:,} elements inside others are not defined by the format"
                    raise _error(self._file, self._line, sentence, "too-large")
            elif name is None:
                assert self._document is not None
                _count(self._document.skipped, f"{above.tag}/{shown(tag)}")
                self._note(Unknown(element, None, frozenset(children)))
                self._skip_depth = 1
                return
            else:
                shape = self._shapes[name]
            above.children.append(element)
        self._open = element
        self._open_shapes.append(shape)
        if shape.has_text is not self._reads_text:
            self._read_text(shape.has_text)
        if not attributes.keys() <= shape.attributes and not shape.is_raw:
            assert self._document is not None
            for name in attributes:
                if name not in shape.attributes and name != "xmlns" and not name.startswith("xmlns:"):
                    _count(self._document.skipped_attributes, f"{tag} {shown(name)}")
                    self._note(Unknown(element, name, shape.attributes))

    def _note(self, unknown: Unknown) -> None:
        assert self._document is not None
        if len(self._document.unknown) < MAX_SKIPPED_KINDS:
            self._document.unknown.append(unknown)

    def _read_text(self, is_read: bool) -> None:
        """Have the parser report text only where it is wanted: most elements hold only blanks between others."""
        self._reads_text = is_read
        self._expat.CharacterDataHandler = self._text if is_read else None

    def _text(self, text: str) -> None:
        if self._open is not None and not self._skip_depth:
            self._open.content += text

    def _end(self, _tag: str) -> None:
        self._depth -= 1
        if self._skip_depth:
            self._skip_depth -= 1
            return
        assert self._open is not None
        self._open = self._open.parent
        shapes = self._open_shapes
        shapes.pop()
        if self._reads_text and not (shapes and shapes[-1].has_text):
            self._read_text(False)
        elif shapes and shapes[-1].has_text and not self._reads_text:
            self._read_text(True)

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
        if system_id is not None or public_id is not None or has_internal_subset:
            raise _error(
                self._file,
                self._line,
                f"<!DOCTYPE {shown(name)}>: a document type with declarations or an "
                "address is not read (entities are not expanded and nothing is fetched); remove it",
                "entity",
            )

    def _entity(self, name: str, *_: object) -> None:
        raise _error(
            self._file,
            self._line,
            f"the entity {shown(name)!r} is declared here; entities are not expanded, so write the text itself",
            "entity",
        )

    def _not_well_formed(self, error: expat.ExpatError, text: bytes) -> str:
        reason = expat.ErrorString(error.code) or str(error)
        message = f"this is not well-formed XML: {reason}"
        if self._document is None:
            return f"{message}; is it a robot file?"
        if error.code == _INVALID:
            return message + _about_token(text, self._expat.ErrorByteIndex)
        if self._open is not None and not self._skip_depth:
            opened = f"{self._open!r}, opened in line {self._open.line}"
            if error.code == expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]:
                return f"{message}: {opened}, is closed by another tag"
            if error.code in _CUT_OFF:
                return f"{message}: the file ends inside {opened}; is it cut off?"
        return message


def _about_token(text: bytes, place: int) -> str:
    """The text that is not possible at a place, and a probable correction."""
    before = text[max(place - 200, 0) : place]
    excerpt = shown(text[place : place + 200].decode("utf-8", "replace").partition("\n")[0], 40)
    if before.endswith((b'"', b"'")) and excerpt[:1].isalpha():
        advice = "write a blank between attributes"
    elif before.rstrip().endswith(b"="):
        advice = "write values in quotation marks"
    elif before.endswith(b"&"):
        advice = "write &amp; for the sign &"
    elif excerpt.startswith("<"):
        advice = "write &lt; for the sign <"
    else:
        advice = "only XML's own signs are possible there"
    return f" at {excerpt!r}; {advice}"


_INVALID = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]
_CUT_OFF = frozenset(
    expat.errors.codes[reason]
    for reason in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


def _count(counter: Counter[str], what: str) -> None:
    """Count a name, without letting a file with a million different names fill the memory."""
    if what in counter or len(counter) < MAX_SKIPPED_KINDS:
        counter[what] += 1
    else:
        counter["others"] += 1


def shown(text: str | None, limit: int = 60) -> str:
    """A piece of the file, fit to be shown in a message."""
    text = (text or "")[: limit + 1]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= limit else text[:limit] + "…"
