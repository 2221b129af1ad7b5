"""What is sent about a do-not-call list (spec, "DNC entry"), and what is answered."""

from typing import Annotated

from msgspec import Meta, Struct

from wire import patterns
from wire.base import Name

PhoneNo = Annotated[str, Meta(min_length=3, max_length=64)]
Provider = Annotated[
    str, Meta(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]*" + patterns.END)
]


class Entry(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A number, and the telecom provider whose entry it is; `accountId` is the token's, if given.

    An entry that is not active is kept, and forbids nothing.
    """

    phone_no: PhoneNo
    provider: Provider
    account_id: Name | None = None
    is_active: bool = True


class EntryView(Struct, frozen=True, rename="camel"):
    """An entry as it stands now; the number with its country."""

    account_id: str
    phone_no: str
    provider: str
    is_active: bool
