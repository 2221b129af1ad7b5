"""Requests and views of numbers on the messaging platform."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.common.projection import project
from api.common.timestamps import format_ms
from api.numbers.store import Number
from wire.base import Name
from wire.decoding import patterns
from wire.decoding.errors import BadInput

Via = Literal["add", "register"]
ShortText = Annotated[str, Meta(min_length=1, max_length=256, pattern=patterns.LINE)]
Phone = Annotated[str, Meta(min_length=3, max_length=64)]
Deprecated = Annotated[Via | None, Meta(extra_json_schema={"deprecated": True})]
DeprecatedChange = Annotated[Via | UnsetType | None, Meta(extra_json_schema={"deprecated": True})]


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Base of the bodies: camelCase names, no unknown fields."""


class NewMessagingNumber(Body, frozen=True, kw_only=True):
    """A number to store; `source` is the old name of `via`."""

    business_name: ShortText
    phone_number_id: Name
    business_msgapp_number: Phone
    flowbuilder_id: Name | None = None
    verified: bool = False
    is_active: bool = True
    via: Via | None = None
    source: Deprecated = None


class MessagingNumberChange(Body, frozen=True, kw_only=True):
    """The fields to change; omitted ones keep their values, null clears an optional one."""

    business_name: ShortText | UnsetType = UNSET
    phone_number_id: Name | UnsetType = UNSET
    business_msgapp_number: Phone | UnsetType = UNSET
    flowbuilder_id: Name | UnsetType | None = UNSET
    verified: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    via: Via | UnsetType | None = UNSET
    source: DeprecatedChange = UNSET


class MessagingNumber(Struct, frozen=True, rename="camel"):
    id: str
    business_name: str
    phone_number_id: str
    business_msgapp_number: str
    flowbuilder_id: str | None
    verified: bool
    is_active: bool
    via: Via | None
    source: Deprecated
    created_at: str
    updated_at: str


class MessagingNumberPage(Struct, frozen=True):
    """A page of numbers, newest first."""

    data: tuple[MessagingNumber, ...]
    total: int
    limit: int
    offset: int


class DeletionResult(Struct, frozen=True):
    """Confirms that a number or a template is deleted."""

    id: str
    deleted: bool = True


def columns_of(body: NewMessagingNumber | MessagingNumberChange) -> dict[str, object]:
    """Map a body to columns, `source` as `via`; raises BadInput if the two differ."""
    fields = msgspec.structs.asdict(body).items()
    columns = {name: each for name, each in fields if each is not UNSET}
    source = columns.pop("source", None)
    if source is not None:
        if columns.get("via") not in {None, source}:
            raise BadInput("source", "not what via says; source is deprecated, leave it out")
        columns["via"] = source
    return columns


def number_view(number: Number) -> MessagingNumber:
    return project(
        MessagingNumber,
        number,
        source=number.via,
        created_at=format_ms(number.created_ms),
        updated_at=format_ms(number.updated_ms),
    )
