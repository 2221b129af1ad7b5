"""Reads a TwiML document: elements with their lines.

A document type is rejected, so there are no entities but those of XML itself.
"""

import re
from collections.abc import Mapping
from typing import cast
from xml.parsers import expat

from msgspec import Struct

from cli.convert.result import MAX_BYTES, DocumentError

MAX_DEPTH = 10
ROOT = "Response"
# A declaration that was copied: what begins with single bytes is not UTF-16.
_WIDE = re.compile(rb"\s*<\?xml[^>]*encoding\s*=\s*[\"'](utf|ucs)-?(16|32|2|4)", re.IGNORECASE)


class Element(Struct, frozen=True):
    """One element: its attributes, and texts and elements in their order."""

    name: str
    line: int
    attributes: Mapping[str, str]
    content: tuple["str | Element", ...]

    @property
    def label(self) -> str:
        """How a remark names it."""
        return f"<{self.name}>"

    @property
    def text(self) -> str:
        """Its own text without surrounding space."""
        return " ".join("".join(each for each in self.content if isinstance(each, str)).split())

    @property
    def children(self) -> tuple["Element", ...]:
        """The elements in it."""
        return tuple(each for each in self.content if isinstance(each, Element))


class _Builder:
    """Collects what the parser reports; the first element of `_open` is the document."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._open: list[tuple[str, int, dict[str, str], list[str | Element]]] = [("", 0, {}, [])]
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._reject_doctype

    @property
    def root(self) -> Element:
        (root,) = self._open[0][3]  # expat accepts one root only, and no text beside it
        return cast("Element", root)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        if len(self._open) > MAX_DEPTH:
            raise DocumentError(line, f"nested deeper than {MAX_DEPTH} elements")
        own = {key: text for key, text in attributes.items() if not key.startswith("xmlns")}
        self._open.append((_local(name), line, own, []))

    def _end(self, _name: str) -> None:
        name, line, attributes, content = self._open.pop()
        self._open[-1][3].append(Element(name, line, attributes, tuple(content)))

    def _characters(self, text: str) -> None:
        self._open[-1][3].append(text)

    def _reject_doctype(self, *_declared: object) -> None:
        raise DocumentError(self._parser.CurrentLineNumber, "a document type is not accepted")


def _local(name: str) -> str:
    """Return a name without its prefix: there is one vocabulary only."""
    return name.rpartition(":")[2]


def read_document(content: bytes) -> Element:
    """Return the root of a document; raises DocumentError."""
    if len(content) > MAX_BYTES:
        raise DocumentError(0, f"larger than {MAX_BYTES} bytes")
    parser = expat.ParserCreate("utf-8" if _WIDE.match(content) else None)
    builder = _Builder(parser)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise DocumentError(error.lineno, f"not XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError):
        raise DocumentError(0, "its encoding is not supported; UTF-8 is") from None
    root = builder.root
    if root.name != ROOT:
        raise DocumentError(root.line, f"<{ROOT}> is expected, not <{root.name}>")
    return root
