"""What is asked for about contacts, each checked where it comes in."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.contacts.tags.schemas import Tags
from wire import patterns

MAX_LIMIT = 1_000
MAX_OFFSET = 100_000  # passing over rows costs time; who wants them all asks for a download
LINE = r"^[^\x00-\x1f\x7f]*" + patterns.END
LINES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*" + patterns.END
_YES = frozenset({"1", "true", "yes"})
_NO = frozenset({"", "0", "false", "no"})


def _truth(text: str) -> str:
    if text.lower() not in _YES | _NO:
        raise ValueError("expected 1, true or yes")
    return text


def is_yes(text: str) -> bool:
    """Read a word that was let in."""
    return text.lower() in _YES


SearchText = Annotated[str, Field(max_length=128, pattern=r"^[^\x00-\x1f\x7f]*$")]
Number = Annotated[str, Field(max_length=32, description="What it begins with.")]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Rows of a page.")]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET, description="Rows to pass over.")]


class PageQuery(BaseModel):
    """Which rows."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    limit: Limit = 10
    offset: Offset = 0


class ListContactsQuery(PageQuery):
    """Contacts of a list."""

    tags: Tags = ""


class AllContactsQuery(PageQuery):
    """Contacts of the account; what is given is what theirs begins with."""

    f_name: SearchText = Field("", alias="fName")
    l_name: SearchText = Field("", alias="lName")
    number: Number = Field("", alias="phNumber")
    email: SearchText = ""


class ViewContactsQuery(ListContactsQuery):
    """Contacts of a list, and what is known about them elsewhere."""

    number: Number = ""
    f_name: SearchText = Field("", alias="fName")
    l_name: SearchText = Field("", alias="lName")
    contact_id: Annotated[str, Field(max_length=32)] = Field("", alias="contactId")
    crm: Annotated[str, AfterValidator(_truth)] = Field(
        "", description="1, true or yes: with their calls."
    )


Name = Annotated[str, Meta(max_length=128, pattern=LINE)]
Email = Annotated[str, Meta(max_length=254, pattern=patterns.EMAIL)]
# PostgreSQL has no NUL in JSON that it looks into, as an import does that updates contacts.
FieldText = Annotated[str, Meta(max_length=1_024, pattern=LINES)]


class ContactBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A contact as it is to be; what is left out stays as it is, null takes it out."""

    phone_number: Annotated[str, Meta(min_length=1, max_length=64)] = field(name="phoneNumber")
    list_id: Annotated[str, Meta(min_length=1, max_length=32)] = field(name="contactListId")
    f_name: Name | UnsetType | None = field(name="fName", default=UNSET)
    l_name: Name | UnsetType | None = field(name="lName", default=UNSET)
    email: Email | UnsetType | None = UNSET
    to_campaign: bool = field(name="addToRunningCampaign", default=False)
    fields: dict[str, FieldText] | UnsetType = UNSET


class CallStatusBody(Struct, frozen=True, forbid_unknown_fields=True):
    """How calling a contact went, in the words of who called."""

    call_status: Annotated[str, Meta(min_length=1, max_length=64, pattern=LINE)] = field(
        name="callStatus"
    )


class DeleteContactQuery(BaseModel):
    """The list that a contact is in, to be sure."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pool_id: Annotated[str, Field(min_length=1, max_length=32)] = Field(alias="contactPoolId")


class ContactEventsQuery(BaseModel):
    """From where on events are told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: int = Field(0, ge=0, le=2**53 - 1, description="The `next` of what was told before.")
    limit: Limit = 100
