"""In which encoding a text file is.

A byte order mark says it. UTF-8 hardly ever is anything else. Then Western letters, the most usual
by far and often mistaken for others of their kind; the rest is guessed by charset-normalizer.
"""

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from charset_normalizer import from_bytes

from api.contacts.imports.reader.messages import UnreadableFile

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # which begins as UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE = 65_536
CHUNK = 1 << 20
MAX_CONTROLS = 0.01  # of the bytes: more are in no text
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\f\x1a"))
_ABOVE = re.compile(r"[^\x00-\x7f]+")
_MARKS = "".join(map(chr, (0x2018, 0x2019, 0x201C, 0x201D, 0x201E, 0x2013, 0x2014, 0x2026)))
_WESTERN = re.compile(f"[À-ÖØ-öø-ÿŠšŽžŒœŸ{_MARKS}€«»°§ªº]{{1,2}}")
_WESTERN_SHARE = 0.9


def encoding_of(path: str) -> str:
    """Tell a file's encoding; raises Unreadable for what is no text."""
    with Path(path).open("rb") as file:
        head = file.read(SAMPLE)
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    if wide := _wide(head):
        return wide
    if sum(map(head.count, (bytes([each]) for each in _CONTROLS))) > MAX_CONTROLS * len(head):
        raise UnreadableFile("neither text nor a spreadsheet: CSV, xlsx, xls or ods is expected")
    return "utf-8" if _is_utf8(path) else _other(path)


def check_encoding(encoding: str) -> str:
    """Check the encoding that somebody says a file has; raises Unreadable."""
    try:
        "".encode(encoding)  # refuses codecs that are not of text, such as base64
    except (LookupError, ValueError):
        raise UnreadableFile(f"no text encoding is called {encoding[:32]!r}") from None
    return encoding


def _wide(head: bytes) -> str | None:
    """Recognise UTF-16 without a mark: every other byte of Western text is 0."""
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > half // 2 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > half // 2 and not odd else None


def _is_utf8(path: str) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def _other(path: str) -> str:
    """Decide by the lines that are not ASCII; where most are UTF-8, the others are damaged."""
    lines = list(islice(_telling(path), 1_000))
    damaged = [line for line in lines if not _decodes(line)]
    if len(damaged) * 2 <= len(lines):
        return "utf-8"
    sample = b"".join(damaged)[:SAMPLE]
    if _is_western(sample):
        return "cp1252"
    best = from_bytes(sample).best()
    return best.encoding if best else "cp1252"


def _telling(path: str) -> Iterator[bytes]:
    with Path(path).open("rb") as file:
        while line := file.readline(SAMPLE):
            if not line.isascii():
                yield line


def _decodes(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_western(sample: bytes) -> bool:
    """Look whether accents stand alone or in pairs, as in Western words."""
    found = _ABOVE.findall(sample.decode("cp1252", "replace"))
    western = sum(1 for each in found if _WESTERN.fullmatch(each))
    return western >= _WESTERN_SHARE * len(found)
