"""Detects the encoding of a text file.

A byte order mark is decisive. Text that is valid UTF-8 is hardly ever anything else. Encodings of
European languages come next, as the most common and often mistaken for related ones;
charset-normalizer decides the rest.
"""

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from charset_normalizer import from_bytes
from msgspec import Struct

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
# Letters beside those of ASCII, with those of names from neighbours.
_WESTERN = (
    "åäöéüæø",  # Danish, Norwegian
    "åäöéèàüášž",  # Swedish, Finnish
    "äöüßéèáàëç",  # German
    "àâçéèêëîïôœùûüÿñáíö",  # French
    "áàéèíïóòúüçñ",  # Spanish, Catalan
    "áâãàçéêíóôõúü",  # Portuguese
    "àèéìíîòóùú",  # Italian
    "áéíóúàèëïöüêîôûçñ",  # Dutch, Irish
    "áðéíóúýþæö",  # Icelandic
    "äöõüšž",  # Estonian
)
_POLISH, _CZECH, _SLOVAK = "ąćęłńóśźżéü", "áčďéěíňóřšťúůýžäöü", "áäčďéíĺľňóôŕšťúýžěöüő"
_HUNGARIAN, _ROMANIAN, _CROATIAN = "áéíóöőúüűäë", "ăâîşţáéíóöőüű", "čćđšžáéëöü"
_CENTRAL = (_POLISH, _CZECH, _SLOVAK, _HUNGARIAN, _ROMANIAN, _CROATIAN, "äöüßéáëç")
_TURKISH = "çğıöşüâîûé\u0307"  # the last one is what Python makes of the dotted capital I
_LITHUANIAN, _LATVIAN, _ESTONIAN = "ąčęėįšųūž", "āčēģīķļņšūžō", "äöõüšžéå"
_FAROESE = "áðíóúýæøåéö"  # few: for others, ø beside á or í is a Czech ř
_REGIONS = {
    "PL": _POLISH, "CZ": _CZECH, "SK": _SLOVAK, "HU": _HUNGARIAN, "RO": _ROMANIAN, "MD": _ROMANIAN,
    "SI": _CROATIAN, "HR": _CROATIAN, "BA": _CROATIAN, "RS": _CROATIAN, "ME": _CROATIAN,
    "TR": _TURKISH, "LT": _LITHUANIAN, "LV": _LATVIAN, "EE": _ESTONIAN, "FO": _FAROESE,
}  # fmt: skip
# Those of Windows first, then Unix, and those that Excel saves as Macintosh and MS-DOS. Of
# encodings that fit alike, the first is meant.
_ENCODINGS = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859-2": _CENTRAL,
    "cp1254": (_TURKISH, "äöüßéèáàëç"),
    "cp1257": (_LITHUANIAN, _LATVIAN, _ESTONIAN),
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": _CENTRAL,
    "cp857": (_TURKISH,),
    "mac_latin2": _CENTRAL,
}
MAX_WORDS = 500  # which take a quarter of a second
MIN_SHARE = 0.9  # of the words; names from elsewhere are among them
_LIKELY_SHARE = 0.7  # of the words that tell an encoding from the first one
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_INSIDE = re.compile(
    "[\u2018\u2019\u00b4\u2013\u2014\u00a0\u00b7]"
)  # they separate parts of a word
_AROUND = "\u201a\u201c\u201d\u201e\u2026\u2022\u00ab\u00bb\u2039\u203a°§€"
_ORDINAL = re.compile("[A-Za-z]{0,2}[ªº]")  # as of the Spanish Mª


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


class _Reading(Struct, frozen=True):
    """The words of a text in one encoding."""

    encoding: str
    words: list[str]

    def shares(self, own: tuple[str, ...]) -> tuple[float, float]:
        """Return how many words are of any language, and of one; the region's own is one, too."""
        of = [
            [_is_of_one(each, alphabet) for each in self.words]
            for alphabet in _ENCODINGS[self.encoding] + own
        ]
        of_any = sum(map(any, zip(*of, strict=True)))
        return of_any / len(self.words), max(map(sum, of)) / len(self.words)

    def is_likely(self, first: "_Reading", alphabet: str) -> bool:
        """Return whether the words that the first encoding reads otherwise are of a language."""
        pairs = zip(self.words, first.words, strict=True)
        other = [mine for mine, its in pairs if mine != its]
        fitting = sum(_is_of_one(each, alphabet) for each in other)
        return fitting > _LIKELY_SHARE * len(other)


def encoding_by_alphabet(sample: bytes, region: str | None) -> str | None:
    """Return the encoding in which words have letters of one language; None: of no known one.

    Windows reads and writes texts in the code page of its country: the byte of the Polish ż is an
    inverted question mark in Western Europe, that of the Czech ř is the Danish ø. Languages that
    share a code page differ in few letters, so most words fit only where they belong.

    The language of the region decides between encodings that fit nearly alike.
    """
    words = list(islice(dict.fromkeys(_WORD.findall(sample)), MAX_WORDS))
    if not words:
        return None
    own = tuple(_REGIONS[each] for each in (region,) if each in _REGIONS)
    readings = [
        _Reading(encoding, [each.decode(encoding, "replace") for each in words])
        for encoding in _ENCODINGS
    ]
    shares = {each.encoding: each.shares(own) for each in readings}
    fitting = [each for each in readings if shares[each.encoding][0] >= MIN_SHARE]
    likely = [each for each in fitting if own and each.is_likely(readings[0], own[0])]
    best = max(likely or fitting, key=lambda each: sum(shares[each.encoding]), default=None)
    return best.encoding if best else None


def _is_of_one(word: str, alphabet: str) -> bool:
    parts = _INSIDE.split(word.strip(_AROUND))
    return all(_ORDINAL.fullmatch(part) or _is_part_of(part, alphabet) for part in parts)


def _is_part_of(part: str, alphabet: str) -> bool:
    accented = {each for each in part.lower() if not each.isascii()}
    if not accented:
        return True
    has_ascii = any(map(str.isascii, part))  # Cyrillic and Greek words have none
    is_word = (has_ascii or len(part) == 1) and not _has_capital_inside(part)
    return is_word and accented.issubset(alphabet)


def _has_capital_inside(part: str) -> bool:
    """Return whether a capital letter follows a small one, and one of both is not of ASCII."""
    pairs = (part[at : at + 2] for at in range(len(part) - 1))
    return any(each[0].islower() and each[1].isupper() and not each.isascii() for each in pairs)
