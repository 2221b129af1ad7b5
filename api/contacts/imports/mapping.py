"""Which column of a file fills which field of a contact, checked: all faults at once."""

from collections.abc import Collection, Mapping

from api.contacts.imports.reader.messages import Fields
from api.contacts.imports.reader.row_parser import OWN, PHONE
from wire.errors import BadInput, InputErrors


def check_mappings(
    mappings: Mapping[str, str], headers: Collection[str], assigned: Collection[str]
) -> Fields:
    """Give mappings by the names that columns have; raises Faults."""
    found = {" ".join(header.split()): field for header, field in mappings.items()}
    known = (*OWN, *assigned)
    faults = [
        BadInput(f"mappings.{header}", f"no column of this name; there are {_listed(headers)}")
        for header in found
        if header not in headers
    ]
    faults += [
        BadInput(f"mappings.{header}", f"no field {field[:64]}; there are {_listed(known)}")
        for header, field in found.items()
        if field not in known
    ]
    faults += _doubles(found)
    if PHONE not in found.values():
        faults.append(BadInput("mappings", f"no column is mapped to {PHONE}"))
    if faults:
        raise InputErrors(tuple(faults))
    return found


def _doubles(found: Fields) -> list[BadInput]:
    first: dict[str, str] = {}
    return [
        BadInput(f"mappings.{header}", f"{field[:64]} is mapped already, by {first[field]}")
        for header, field in found.items()
        if first.setdefault(field, header) != header
    ]


def _listed(names: Collection[str]) -> str:
    """Name some, for a message: there may be hundreds."""
    some = list(names)[:20]
    return ", ".join(some) + (", …" if len(names) > len(some) else "")
