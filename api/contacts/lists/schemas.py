"""Requests for contact lists."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from pydantic import BaseModel, ConfigDict, Field

from api.contacts.contacts.schemas import LINES, PageQuery
from api.contacts.exports.writers import COLUMNS
from api.contacts.imports.reader.row_parser import CONTACT_FIELDS
from api.contacts.imports.uploads import FileOptions
from api.contacts.tags import Tags
from wire.decoding import patterns
from wire.decoding.errors import BadInput

DOWNLOAD_COLUMNS = frozenset(COLUMNS) - frozenset(CONTACT_FIELDS)
Name = Annotated[str, Meta(min_length=1, max_length=256, pattern=patterns.TITLE)]
Description = Annotated[str, Meta(max_length=2_000, pattern=LINES)]
FieldId = Annotated[str, Meta(min_length=1, max_length=64, pattern=patterns.TITLE)]
FieldIds = Annotated[tuple[FieldId, ...], Meta(max_length=100)]


class UploadData(
    FileOptions, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """A list to create from a file."""

    name: Name
    description: Description = ""
    is_default: bool = False
    is_active: bool = True
    assigned_fields: FieldIds = ()


class ChangeData(
    FileOptions, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """The fields to change; omitted ones keep their values."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    status: Literal["MAPPING_DONE"] | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    assigned_fields: FieldIds | UnsetType = UNSET


class InboundListRequest(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A list to create without a file; `additionalFields` is the old name of `assignedFields`."""

    name: Name
    description: Description
    assigned_fields: FieldIds = ()
    additional_fields: Annotated[FieldIds, Meta(extra_json_schema={"deprecated": True})] = ()


class ListQuery(PageQuery):
    """A page of the lists."""

    name: Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")] = Field(
        "", description="Part of the name."
    )
    status: Annotated[str, Field(max_length=64, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    tags: Tags = ""


def own_fields(**fields: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct fields that a list adds to those of every contact, by parameter.

    Raises BadInput for one that a download could not tell from another column.
    """
    for parameter, names in fields.items():
        for index, name in enumerate(names):
            if _one_spaced(name) in DOWNLOAD_COLUMNS:
                text = f"{_one_spaced(name)} is a column of each download: another name is expected"
                raise BadInput(f"{parameter}[{index}]", text)
    named = dict.fromkeys(_one_spaced(name) for each in fields.values() for name in each)
    return tuple(name for name in named if name not in CONTACT_FIELDS)


def _one_spaced(name: str) -> str:
    """Return a name as it is read in the header of a file."""
    return " ".join(name.split())


class FieldMappingRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The field for each column's header: phoneNumber, fName, lName, email, or an assigned one."""

    mappings: Annotated[dict[str, str], Meta(min_length=1, max_length=500)]


class ProcessQuery(BaseModel):
    """What happens to contacts whose number is in the list already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Literal["skip", "update"] = "skip"
