"""What is sent about numbers of the messaging platform, and what is shown of them."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.common.timestamps import format_ms
from api.numbers.store import Number
from wire import patterns
from wire.base import Name
from wire.errors import BadInput

Via = Literal["add", "register"]
ShortText = Annotated[str, Meta(min_length=1, max_length=256, pattern=patterns.LINE)]
Phone = Annotated[str, Meta(min_length=4, max_length=32)]
Deprecated = Annotated[Via | None, Meta(extra_json_schema={"deprecated": True})]
DeprecatedChange = Annotated[Via | UnsetType | None, Meta(extra_json_schema={"deprecated": True})]


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What all bodies have in common: camelCase, nothing unknown."""


class NewNumber(Body, frozen=True, kw_only=True):
    """A number to be kept; `source` is the old name of `via`."""

    business_name: ShortText
    phone_number_id: Name
    business_msgapp_number: Phone
    flowbuilder_id: Name | None = None
    verified: bool = False
    is_active: bool = True
    via: Via | None = None
    source: Deprecated = None


class NumberChange(Body, frozen=True, kw_only=True):
    """What is to be changed; what is left out stays, null takes away what may be missing."""

    business_name: ShortText | UnsetType = UNSET
    phone_number_id: Name | UnsetType = UNSET
    business_msgapp_number: Phone | UnsetType = UNSET
    flowbuilder_id: Name | UnsetType | None = UNSET
    verified: bool | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    via: Via | UnsetType | None = UNSET
    source: DeprecatedChange = UNSET


class NumberView(Struct, frozen=True, rename="camel"):
    """A number as it is kept."""

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


class NumberPage(Struct, frozen=True):
    """A page, newest first."""

    data: tuple[NumberView, ...]
    total: int
    limit: int
    offset: int


class DeletedNumber(Struct, frozen=True):
    """What is there no more."""

    id: str
    deleted: bool = True


def columns_of(asked: NewNumber | NumberChange) -> dict[str, object]:
    """Give the columns that are meant, `source` being `via`; raises BadInput if they differ."""
    fields = msgspec.structs.asdict(asked).items()
    given = {name: each for name, each in fields if each is not UNSET}
    source = given.pop("source", None)
    if source is not None:
        if given.get("via") not in {None, source}:
            raise BadInput("source", "not what via says; source is deprecated, leave it out")
        given["via"] = source
    return given


def number_view(number: Number) -> NumberView:
    """Show a number."""
    return NumberView(
        id=number.id,
        business_name=number.business_name,
        phone_number_id=number.phone_number_id,
        business_msgapp_number=number.business_msgapp_number,
        flowbuilder_id=number.flowbuilder_id,
        verified=number.verified,
        is_active=number.is_active,
        via=number.via,
        source=number.via,
        created_at=format_ms(number.created_ms),
        updated_at=format_ms(number.updated_ms),
    )
