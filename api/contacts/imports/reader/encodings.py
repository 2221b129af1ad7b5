"""Detects the encoding of a text file.

A byte order mark is decisive. Text that is valid UTF-8 is hardly ever anything else. Encodings of
European languages come next, as the most common and often mistaken for related ones;
charset-normalizer decides the rest.
"""

import codecs
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from charset_normalizer import from_bytes

from api.contacts.imports.reader.alphabets import encoding_by_alphabet
from api.contacts.imports.reader.messages import UnreadableFile

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE_BYTES = 65_536
CHUNK_BYTES = 1 << 20
MAX_CONTROL_SHARE = 0.01  # of the bytes of a text
# Every line has ASCII, so NUL bytes in these: a text of them was found, or refused, before.
_WIDE = [f"utf_{bits}{order}" for bits in (16, 32) for order in ("", "_le", "_be")]
_OF_HOST_NAMES = frozenset({"idna", "punycode"})
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\f\x1a"))


def detect_encoding(path: str, region: str | None) -> str:
    """Return the encoding of a file of a region; raises UnreadableFile if it is not a text file."""
    with Path(path).open("rb") as file:
        head = file.read(SAMPLE_BYTES)
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    if utf16 := _utf16_without_mark(head):
        return utf16
    if sum(map(head.count, (bytes([each]) for each in _CONTROLS))) > MAX_CONTROL_SHARE * len(head):
        raise UnreadableFile("neither text nor a spreadsheet: CSV, xlsx, xls or ods is expected")
    return "utf-8" if _is_utf8(path) else _guess(path, region)


def check_encoding(encoding: str) -> str:
    """Check the encoding that a customer states; raises UnreadableFile."""
    try:
        "".encode(encoding)  # rejects codecs that are not for text, such as base64
        is_of_texts = codecs.lookup(encoding).name not in _OF_HOST_NAMES
    except (LookupError, ValueError):
        is_of_texts = False
    if not is_of_texts:
        raise UnreadableFile(f"no text encoding is called {encoding[:32]!r}")
    return encoding


def _utf16_without_mark(head: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: every other byte of Western text is 0."""
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > half // 2 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > half // 2 and not odd else None


def _is_utf8(path: str) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def _guess(path: str, region: str | None) -> str:
    """Decide by the non-ASCII lines; if most are UTF-8, the others are corrupt."""
    lines = list(islice(_non_ascii_lines(path), 1_000))
    not_utf8 = [line for line in lines if not _decodes(line)]
    if len(not_utf8) * 2 <= len(lines):
        return "utf-8"
    sample = b"".join(not_utf8)[:SAMPLE_BYTES]
    if encoding := encoding_by_alphabet(sample, region):
        return encoding
    best = from_bytes(sample, cp_exclusion=_WIDE).best()
    return best.encoding if best else "cp1252"


def _non_ascii_lines(path: str) -> Iterator[bytes]:
    with Path(path).open("rb") as file:
        while line := file.readline(SAMPLE_BYTES):
            if not line.isascii():
                yield line


def _decodes(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
