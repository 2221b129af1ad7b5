"""Rows of a file made contacts: what is mapped, checked; what can't be a contact, told why."""

import re

import msgspec

from api.contacts.imports.reader.messages import Fields, FileRow
from api.contacts.phone_numbers import InvalidNumber, e164

PHONE, F_NAME, L_NAME, EMAIL = "phoneNumber", "fName", "lName", "email"
OWN = (PHONE, F_NAME, L_NAME, EMAIL)
MAX_NAME_CHARS = 128
MAX_EMAIL_CHARS = 254
MAX_FIELD_CHARS = 1_024
MAX_SHOWN_CHARS = 4_000  # letters of a rejected row
REPLACED = "\ufffd"
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f]{1,64}@[^\s@\x00-\x1f\x7f]{1,189}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class InvalidRow(ValueError):
    """A row that is no contact; its text says why."""


class ParsedContact(msgspec.Struct):
    """A contact of a file; of two with one number, the later one's words may replace these."""

    number: str
    f_name: str | None
    l_name: str | None
    email: str | None
    fields: dict[str, str]

    def updated(self, later: "ParsedContact") -> "ParsedContact":
        """Take what a later row says; its empty cells say nothing."""
        return ParsedContact(
            self.number,
            later.f_name or self.f_name,
            later.l_name or self.l_name,
            later.email or self.email,
            self.fields | later.fields,
        )


class RowParser:
    """Makes contacts of rows."""

    def __init__(self, headers: list[str], mappings: Fields, region: str | None) -> None:
        self._columns = len(headers)
        self._region = region
        places = {field: headers.index(header) for header, field in mappings.items()}
        self._number = places.pop(PHONE)
        self._names = [places.pop(each, None) for each in (F_NAME, L_NAME)]
        self._email = places.pop(EMAIL, None)
        self._fields = places

    def person(self, row: FileRow) -> ParsedContact:
        """Make a contact; raises NoContact."""
        cells = self._cells(row)
        try:
            number = e164(cells[self._number].strip(), self._region)
        except InvalidNumber as error:
            why = str(error) if cells[self._number].strip() else "no phone number"
            raise InvalidRow(f"{PHONE}: {why}") from None
        f_name, l_name = (
            _short(cells, at, name, MAX_NAME_CHARS)
            for at, name in zip(self._names, (F_NAME, L_NAME), strict=True)
        )
        email = _short(cells, self._email, EMAIL, MAX_EMAIL_CHARS)
        if email and not _EMAIL.fullmatch(email):
            raise InvalidRow(f"{EMAIL}: not an address such as nina@example.com")
        found = {
            name: _short(cells, at, name, MAX_FIELD_CHARS) for name, at in self._fields.items()
        }
        fields = {name: text for name, text in found.items() if text}
        return ParsedContact(number, f_name, l_name, email, fields)

    def _cells(self, row: FileRow) -> list[str]:
        if row.fault:
            raise InvalidRow(row.fault)
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


def cells_json(row: FileRow) -> str:
    """Write a row's cells as JSON, without what a database can't hold, and not too long."""
    cells, left = [], MAX_SHOWN_CHARS
    for cell in row.cells:
        cells.append(_CONTROLS.sub(REPLACED, cell[:left]))
        left -= len(cells[-1])
        if left <= 0:
            break
    return msgspec.json.encode(cells).decode()


def _short(cells: list[str], place: int | None, name: str, most: int) -> str | None:
    """Give a cell's words, on one line; nothing if there are none."""
    if place is None or not (text := cells[place].strip()):
        return None
    if not text.isprintable():
        text = " ".join(text.split())
    if len(text) > most:
        raise InvalidRow(f"{name}: longer than {most} letters")
    return text
