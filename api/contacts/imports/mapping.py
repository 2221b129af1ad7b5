"""Validates which column of a file fills which field of a contact; reports all errors at once."""

from collections.abc import Collection, Mapping

from api.contacts.imports.reader.messages import Fields
from api.contacts.imports.reader.row_parser import CONTACT_FIELDS, PHONE
from wire.decoding.errors import BadInput, InputErrors


def check_mappings(
    mappings: Mapping[str, str], headers: Collection[str], assigned: Collection[str]
) -> Fields:
    """Return the mappings by normalized header; raises InputErrors."""
    normalized = {" ".join(header.split()): field for header, field in mappings.items()}
    fields = (*CONTACT_FIELDS, *assigned)
    errors = [
        BadInput(f"mappings.{header}", f"no column of this name; there are {_join(headers)}")
        for header in normalized
        if header not in headers
    ]
    errors += [
        BadInput(f"mappings.{header}", f"no field {field[:64]}; there are {_join(fields)}")
        for header, field in normalized.items()
        if field not in fields
    ]
    errors += _duplicates(normalized)
    if PHONE not in normalized.values():
        errors.append(BadInput("mappings", f"no column is mapped to {PHONE}"))
    if errors:
        raise InputErrors(tuple(errors))
    return normalized


def likely_mappings(
    headers: Collection[str], assigned: Collection[str], known: Mapping[str, str]
) -> Fields:
    """Map a file's columns as before, and map others by name if a field has the same name."""
    found = {header: known[header] for header in headers if header in known}
    for field in (*CONTACT_FIELDS, *assigned):
        if field in headers and field not in found and field not in found.values():
            found[field] = field
    return found


def _duplicates(mappings: Fields) -> list[BadInput]:
    first: dict[str, str] = {}
    return [
        BadInput(f"mappings.{header}", f"{field[:64]} is mapped already, by {first[field]}")
        for header, field in mappings.items()
        if first.setdefault(field, header) != header
    ]


def _join(names: Collection[str]) -> str:
    """Join the first names for a message; there may be hundreds."""
    shown = list(names)[:20]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")
