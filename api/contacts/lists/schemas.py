"""Requests for contact lists."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from pydantic import Field

from api.contacts.contacts.schemas import LINE, LINES, PageQuery
from api.contacts.imports.reader.row_parser import CONTACT_FIELDS
from api.contacts.imports.schemas import CsvOptions
from api.contacts.tags.schemas import Tags
from wire import patterns
from wire.errors import BadInput

Name = Annotated[
    str, Meta(min_length=1, max_length=256, pattern=r"^(?=.*\S)[^\x00-\x1f\x7f]+" + patterns.END)
]
Description = Annotated[str, Meta(max_length=2_000, pattern=LINES)]
FieldId = Annotated[str, Meta(min_length=1, max_length=64, pattern=LINE)]
FieldIds = Annotated[tuple[FieldId, ...], Meta(max_length=100)]
AnyStatus = Literal["", "CREATED", "UPLOADED", "MAPPING_DONE", "PROCESSING", "COMPLETED", "FAILED"]


class UploadData(CsvOptions, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """A list to create from a file."""

    name: Name
    description: Description = ""
    is_default: bool = False
    is_active: bool = True
    assigned_fields: FieldIds = ()


class ChangeData(CsvOptions, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """The fields to change; omitted ones keep their values."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    status: Literal["MAPPING_DONE"] | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    assigned_fields: FieldIds | UnsetType = UNSET


class InboundBody(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A list to create without a file."""

    name: Name
    description: Description
    assigned_fields: FieldIds = ()
    additional_fields: FieldIds = ()


class ListQuery(PageQuery):
    """A page of the lists."""

    name: Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")] = Field(
        "", description="Part of the name."
    )
    status: AnyStatus = ""
    tags: Tags = ""


def check_fields(fields: tuple[str, ...], path: str) -> None:
    """Check that fields are distinct, and not those of every contact; raises BadInput."""
    for index, name in enumerate(fields):
        if name in CONTACT_FIELDS:
            raise BadInput(f"{path}[{index}]", "all contacts have this field")
        if name in fields[:index]:
            raise BadInput(f"{path}[{index}]", "named before")
