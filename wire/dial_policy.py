"""What an account may dial: prefixes, caller ids, and a list of numbers that may not be called."""

from typing import Annotated

from msgspec import Meta

from wire import patterns
from wire.base import CallerId, Name, Shape

MAX_LIST_CHANGES = 10_000  # of a list at once: so many fit into a body
MAX_CALLER_IDS = 10_000
Prefix = Annotated[str, Meta(pattern=patterns.PREFIX)]
FullNumber = Annotated[str, Meta(pattern=patterns.FULL_NUMBER)]
CallingCode = Annotated[str, Meta(pattern=patterns.CALLING_CODE)]
Numbers = Annotated[tuple[FullNumber, ...], Meta(max_length=MAX_LIST_CHANGES)]


class AccountDialPolicy(Shape, frozen=True):
    """An account's terms, put as a whole; what is left out is not limited.

    `destinations` are prefixes of what may be called, `numbers` the caller ids that may be shown,
    the one to show instead of others first. `country` is the calling code of numbers without one.
    With `doNotCall` nobody is called while the account's list is not known. `version` is for who
    puts terms, to know them again.
    """

    destinations: Annotated[tuple[Prefix, ...], Meta(max_length=1_000)] | None = None
    numbers: Annotated[tuple[CallerId, ...], Meta(max_length=MAX_CALLER_IDS)] | None = None
    country: CallingCode = ""
    do_not_call: bool = False
    version: Annotated[str, Meta(max_length=64)] = ""


class DialPolicyView(Shape, frozen=True):
    """Which version of its terms an account has, and to which change its list has come."""

    account: Name
    version: str = ""
    list_version: int = 0


class DialPolicies(Shape, frozen=True):
    """The accounts that have terms."""

    accounts: tuple[DialPolicyView, ...]


class DncListChange(Shape, frozen=True):
    """Changes of a do-not-call list that stands at `after`: with them, it stands at `version`.

    After 0 it begins anew. It is asked from the moment on when it `isWhole`, and until a new
    beginning.
    """

    after: Annotated[int, Meta(ge=0)]
    version: Annotated[int, Meta(ge=1)]
    add: Numbers = ()
    remove: Numbers = ()
    is_whole: bool = True


class DncListState(Shape, frozen=True):
    """How far a do-not-call list has come; 0: it is not there."""

    version: int
