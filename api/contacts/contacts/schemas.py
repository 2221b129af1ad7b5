"""Requests for contacts."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.contacts.tags import Tags
from wire.base import Email
from wire.decoding import patterns
from wire.phone_numbers.written_number import MAX_CHARS

MAX_LIMIT = 1_000
MAX_OFFSET = 100_000  # skipping rows takes time; a download has them all
LINE = patterns.TEXT_LINE
LINES = patterns.TEXT_LINES
_TRUE = frozenset({"1", "true", "yes"})
_FALSE = frozenset({"", "0", "false", "no"})


def _validate_flag(text: str) -> str:
    if text.lower() not in _TRUE | _FALSE:
        raise ValueError("expected 1, true or yes")
    return text


def parse_flag(text: str) -> bool:
    """Convert a validated flag."""
    return text.lower() in _TRUE


SearchText = Annotated[str, Field(max_length=128, pattern=r"^[^\x00-\x1f\x7f]*$")]
Number = Annotated[str, Field(max_length=MAX_CHARS, description="A prefix of the number.")]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Rows of a page.")]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET, description="Rows to skip.")]


class PageQuery(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    limit: Limit = 10
    offset: Offset = 0


class ListContactsQuery(PageQuery):
    tags: Tags = ""


class AllContactsQuery(PageQuery):
    """Filters of the account's contacts, by prefix."""

    f_name: SearchText = Field("", alias="fName")
    l_name: SearchText = Field("", alias="lName")
    number: Number = Field("", alias="phNumber")
    email: SearchText = ""


class ViewContactsQuery(ListContactsQuery):
    """Filters of a list's contacts; with `crm`, each has its calls."""

    number: Number = ""
    f_name: SearchText = Field("", alias="fName")
    l_name: SearchText = Field("", alias="lName")
    contact_id: Annotated[str, Field(max_length=32)] = Field("", alias="contactId")
    crm: Annotated[str, AfterValidator(_validate_flag)] = Field(
        "", description="1, true or yes: with their calls."
    )


Name = Annotated[str, Meta(max_length=128, pattern=LINE)]
# PostgreSQL's jsonb, which updating imports use, has no NUL.
FieldText = Annotated[str, Meta(max_length=1_024, pattern=LINES)]


class ContactRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A contact to add or change; omitted fields keep their values, null clears a field.

    This also holds for each of `fields`; null instead of the object clears all of them.
    """

    phone_number: Annotated[str, Meta(min_length=1, max_length=64)] = field(name="phoneNumber")
    list_id: Annotated[str, Meta(min_length=1, max_length=32)] = field(name="contactListId")
    f_name: Name | UnsetType | None = field(name="fName", default=UNSET)
    l_name: Name | UnsetType | None = field(name="lName", default=UNSET)
    email: Email | UnsetType | None = UNSET
    add_to_running_campaign: bool | UnsetType = field(name="addToRunningCampaign", default=UNSET)
    fields: dict[str, FieldText | None] | UnsetType | None = UNSET


class CallStatusRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The result of calling a contact, as free text."""

    call_status: Annotated[str, Meta(min_length=1, max_length=64, pattern=LINE)] = field(
        name="callStatus"
    )


class DeleteContactQuery(BaseModel):
    """The list that the contact must be in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pool_id: Annotated[str, Field(min_length=1, max_length=32)] = Field(alias="contactPoolId")


class ContactEventsQuery(BaseModel):
    """A page of events."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: int = Field(0, ge=0, le=2**53 - 1, description="The `next` of the previous page.")
    limit: Limit = 100
