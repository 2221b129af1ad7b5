"""Requests for the import of a list's file."""

from typing import Annotated, Literal

from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict

from wire.decoding.patterns import ENCODING

Encoding = Annotated[str, Meta(min_length=1, max_length=32, pattern=ENCODING)]
Delimiter = Literal[",", ";", "\t", "|"]


class FileOptions(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """The encoding and the delimiter of a CSV file, if detection fails, and the header's row.

    Without `headerRow`, the first row that is not empty is the header.
    """

    encoding: Encoding | None = None
    delimiter: Delimiter | None = None
    header_row: Annotated[int, Meta(ge=1, le=1_000)] | None = None


class FieldMappingRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The field for each column's header: phoneNumber, fName, lName, email, or an assigned one."""

    mappings: Annotated[dict[str, str], Meta(min_length=1, max_length=500)]


class ProcessQuery(BaseModel):
    """What happens to contacts whose number is in the list already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Literal["skip", "update"] = "skip"
