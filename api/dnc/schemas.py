"""Requests and views of do-not-call lists (docs/dnc.md)."""

from typing import Annotated

from msgspec import Meta, Struct

from wire.base import Name
from wire.decoding import patterns

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
    """An entry's state; the number is E.164."""

    account_id: str
    phone_no: str
    provider: str
    is_active: bool
