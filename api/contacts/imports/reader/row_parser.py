"""Converts rows of a file to contacts, or rejects them with a reason."""

import re

import msgspec

from api.common.csv_injection import encode_escaped_csv
from api.contacts.imports.reader.messages import MAX_ROW_CHARS, Fields, FileRow
from wire.decoding import patterns
from wire.decoding.texts import email_address
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber

PHONE, F_NAME, L_NAME, EMAIL = "phoneNumber", "fName", "lName", "email"
CONTACT_FIELDS = (PHONE, F_NAME, L_NAME, EMAIL)
MAX_NAME_CHARS = 128
MAX_EMAIL_CHARS = 254
MAX_FIELD_CHARS = 1_024
MAX_REJECTED_CHARS = 4_000  # of a rejected row
REPLACED = "\ufffd"
_EMAIL = re.compile(patterns.EMAIL)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class InvalidRow(ValueError):
    """The row is rejected; the message says why."""


class ParsedContact(msgspec.Struct):
    """A contact of a file."""

    number: str
    f_name: str | None
    l_name: str | None
    email: str | None
    fields: dict[str, str]

    def merged_with(self, later: "ParsedContact") -> "ParsedContact":
        """Return the contact with a later row's values; empty cells change nothing."""
        return ParsedContact(
            self.number,
            later.f_name or self.f_name,
            later.l_name or self.l_name,
            later.email or self.email,
            self.fields | later.fields,
        )


class RowParser:
    def __init__(self, headers: list[str], mappings: Fields, region: str | None) -> None:
        self._columns = len(headers)
        self._region = region
        positions = {field: headers.index(header) for header, field in mappings.items()}
        self._number = positions.pop(PHONE)
        self._names = [positions.pop(each, None) for each in (F_NAME, L_NAME)]
        self._email = positions.pop(EMAIL, None)
        self._fields = positions

    def parse(self, row: FileRow) -> ParsedContact:
        """Convert a row to a contact; raises InvalidRow."""
        cells = self._cells(row)
        if kind := row.kinds.get(self._number):
            raise InvalidRow(f"{PHONE}: {kind}, not a phone number")
        try:
            number = e164(cells[self._number].strip(), self._region)
        except InvalidNumber as error:
            reason = str(error) if cells[self._number].strip() else "no phone number"
            raise InvalidRow(f"{PHONE}: {reason}") from None
        f_name, l_name = (
            _text(cells, at, name, MAX_NAME_CHARS)
            for at, name in zip(self._names, (F_NAME, L_NAME), strict=True)
        )
        written = _text(cells, self._email, EMAIL, MAX_ROW_CHARS)
        email = written and _checked(email_address(written), EMAIL, MAX_EMAIL_CHARS)
        if email and not _EMAIL.fullmatch(email):
            raise InvalidRow(f"{EMAIL}: not an address such as nina@example.com")
        values = {
            name: _lines(cells, at, name, MAX_FIELD_CHARS) for name, at in self._fields.items()
        }
        fields = {name: text for name, text in values.items() if text}
        return ParsedContact(number, f_name, l_name, email, fields)

    def _cells(self, row: FileRow) -> list[str]:
        if row.error:
            raise InvalidRow(row.error)
        cells = row.cells
        if len(cells) != self._columns:
            if any(map(str.strip, cells[self._columns :])):
                raise InvalidRow(f"{len(cells)} cells, but there are {self._columns} columns")
            cells = cells + [""] * (self._columns - len(cells))
        text = "".join(cells)
        if REPLACED in text:
            raise InvalidRow("letters that are not of the file's encoding")
        if not text.isprintable() and _CONTROLS.search(text):
            raise InvalidRow("control characters, such as NUL")
        return cells


def cells_csv(row: FileRow) -> str:
    """Encode a row's cells as CSV, with formulas escaped, truncated, and fit for a database.

    Here, and not for each download: to escape a cell takes time.
    """
    cells, left = [], MAX_REJECTED_CHARS
    for cell in row.cells:
        cells.append(_CONTROLS.sub(REPLACED, cell[:left]))
        left -= len(cells[-1])
        if left <= 0:
            break
    return encode_escaped_csv([cells]).decode().removesuffix("\r\n")


def _text(cells: list[str], position: int | None, name: str, max_chars: int) -> str | None:
    """Return a cell's text on one line; None if it is empty."""
    text = _lines(cells, position, name, MAX_ROW_CHARS)
    if text and not text.isprintable():
        text = " ".join(text.split())
    return _checked(text, name, max_chars)


def _lines(cells: list[str], position: int | None, name: str, max_chars: int) -> str | None:
    """Return a cell's text with its lines, which the fields of a list may have; None if empty."""
    return None if position is None else _checked(cells[position].strip(), name, max_chars)


def _checked(text: str | None, name: str, max_chars: int) -> str | None:
    if text and len(text) > max_chars:
        raise InvalidRow(f"{name}: longer than {max_chars} letters")
    return text or None
