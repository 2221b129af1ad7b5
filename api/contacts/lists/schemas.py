"""What is asked for about lists, each checked where it comes in."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from pydantic import BaseModel, ConfigDict, Field

from api.contacts.imports.reader.row_parser import OWN
from api.contacts.tags.schemas import Tags
from wire import patterns
from wire.errors import BadInput

LINE = r"^[^\x00-\x1f\x7f]*" + patterns.END
MAX_LIMIT = 1_000
MAX_OFFSET = 100_000

Name = Annotated[
    str, Meta(min_length=1, max_length=256, pattern=r"^(?=.*\S)[^\x00-\x1f\x7f]+" + patterns.END)
]
Description = Annotated[
    str, Meta(max_length=2_000, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$(?!\n)")
]
FieldId = Annotated[str, Meta(min_length=1, max_length=64, pattern=LINE)]
FieldIds = Annotated[tuple[FieldId, ...], Meta(max_length=100)]
Encoding = Annotated[str, Meta(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9_.:\-]+$(?!\n)")]
AnyStatus = Literal["", "CREATED", "UPLOADED", "MAPPING_DONE", "PROCESSING", "COMPLETED", "FAILED"]
Delimiter = Literal[",", ";", "\t", "|"]


class CsvOptions(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """How a CSV file is to be read, where what is found out by looking at it is wrong."""

    encoding: Encoding | None = None
    delimiter: Delimiter | None = None


class UploadData(CsvOptions, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """The list that is made of a file."""

    name: Name
    description: Description = ""
    is_default: bool = False
    is_active: bool = True
    assigned_fields: FieldIds = ()


class ChangeData(CsvOptions, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """What of a list is changed; what is left out stays."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    status: Literal["MAPPING_DONE"] | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    assigned_fields: FieldIds | UnsetType = UNSET


class InboundBody(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A list that is made without a file."""

    name: Name
    description: Description
    assigned_fields: FieldIds = ()
    additional_fields: FieldIds = ()


class MapBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Of a column's header, the field that it fills: phoneNumber, fName, lName, email, or own."""

    mappings: Annotated[dict[str, str], Meta(min_length=1, max_length=500)]


class ProcessQuery(BaseModel):
    """What becomes of contacts whose number the list has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Literal["skip", "update"] = "skip"


class ListQuery(BaseModel):
    """A page of the lists."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit: int = Field(10, ge=1, le=MAX_LIMIT, description="Rows of a page.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="Rows to pass over.")
    name: Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")] = Field(
        "", description="Part of it."
    )
    status: AnyStatus = ""
    tags: Tags = ""


def check_fields(fields: tuple[str, ...], path: str) -> None:
    """Check ids of fields: each once, and none that all contacts have; raises BadInput."""
    for number, name in enumerate(fields):
        if name in OWN:
            raise BadInput(f"{path}[{number}]", "all contacts have this field")
        if name in fields[:number]:
            raise BadInput(f"{path}[{number}]", "named before")
