"""Requests and views of do-not-call lists (docs/dnc.md)."""

from typing import Annotated

from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from wire.base import Name
from wire.decoding import patterns

MAX_LIMIT = 1_000
PhoneNo = Annotated[str, Meta(min_length=3, max_length=64)]
Provider = Annotated[str, Meta(min_length=1, max_length=64, pattern=patterns.TEXT_LINE)]


class DncEntry(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A number, and the telecom provider it is listed for; `accountId`, if given, is the token's.

    An inactive entry is stored, and blocks no call.
    """

    phone_no: PhoneNo
    provider: Provider
    account_id: Name | None = None
    is_active: bool = True


class DncEntryView(Struct, frozen=True, rename="camel"):
    """An entry's state; the number is E.164.

    With `isInForce` engines have it: they call a number by it, or do not.
    """

    account_id: str
    phone_no: str
    provider: str
    is_active: bool
    is_in_force: bool


class EntryQuery(BaseModel):
    """Filters and page of a list."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    phone_no: str = Field("", max_length=64, description="Only the entries of this number.")
    is_active: bool | None = Field(
        None, description="Only entries that block calls, or only those that do not."
    )
    limit: int = Field(100, ge=1, le=MAX_LIMIT)
    cursor: str = Field(
        "",
        max_length=96,
        pattern=r"^(\+[0-9]{1,15},[^\x00-\x1f\x7f]{1,64})?$",
        description="The `nextCursor` of the previous page.",
    )


class RemovedEntry(BaseModel):
    """The entry to take off."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    phone_no: str = Field(min_length=3, max_length=64)
    provider: str = Field(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]*$")


class DncEntryRow(Struct, frozen=True, rename="camel"):
    """An entry of the list, and when it was last changed.

    With `isInForce` engines have it as it is here; `refusal` says why they refuse its number.
    """

    phone_no: str
    provider: str
    is_active: bool
    changed_time: str
    is_in_force: bool
    refusal: str | None = None


class DncPage(Struct, frozen=True, rename="camel"):
    """A page of the list, in the order of numbers."""

    data: tuple[DncEntryRow, ...]
    limit: int
    next_cursor: str | None
