"""Dial policy of an account: destinations, number types, caller ids and a do-not-call list."""

from typing import Annotated, Literal

from msgspec import Meta

from wire.base import CallerId, Name, Shape
from wire.decoding import patterns
from wire.streams.recognizer import MAX_RECOGNIZERS, RecognizerName

NumberType = Literal["premium", "shared_cost", "personal", "satellite", "high_risk", "service_code"]
MAX_LIST_CHANGES = 10_000  # of a list in one request, limited by the body size
MAX_CALLER_IDS = 10_000
MAX_PREFIXES = 1_000  # allowed ones, and as many denied ones
MAX_TRUNKS = 16
DEFAULT_LEGS_PER_CALL = 100
POLICY_TTL_MS = 1_000  # engines read a stored policy again after it
Prefix = Annotated[str, Meta(pattern=patterns.PREFIX)]
FullNumber = Annotated[str, Meta(pattern=patterns.FULL_NUMBER)]
Region = Annotated[str, Meta(pattern=patterns.REGION)]
CallingCode = Annotated[str, Meta(pattern=patterns.CALLING_CODE)]
Numbers = Annotated[tuple[FullNumber, ...], Meta(max_length=MAX_LIST_CHANGES)]


class AccountDialPolicy(Shape, frozen=True):
    """An account's dial policy, put as a whole; absent `destinations` and `numbers` do not limit.

    `destinations` are allowed prefixes, `numbers` the allowed caller ids, the default first.
    `denied` are prefixes that are not called although they are allowed. Numbers that cost more than
    others are called only if `numberTypes` has their type. With `isStopped`, the account has no
    calls and no callbacks: live ones are hung up. `maxLegsPerCall` limits how many parties one call
    may dial, at once or one after another. `maxLiveLegs`, `maxLegsPerS` and `maxMinutesPerDay`
    (UTC) limit what all calls of the account dial, also to agents; absent, they do not.
    `trunks` are those over which its numbers are called, the first one first; without it all.
    `country` is the calling code of numbers without one, `region` (ISO 3166-1) their country where
    several share a code. With `doNotCall`, no call is placed while the account's list is unknown.
    `maxCalls` limits the account's live calls, inbound and outbound together, `maxCallsPerS` the
    new inbound ones a second. `recognizers` are those that its gathers may name; absent, all.
    `version` is chosen by the client that puts the policy.
    """

    destinations: Annotated[tuple[Prefix, ...], Meta(max_length=MAX_PREFIXES)] | None = None
    numbers: Annotated[tuple[CallerId, ...], Meta(max_length=MAX_CALLER_IDS)] | None = None
    country: CallingCode = ""
    do_not_call: bool = False
    version: Annotated[str, Meta(max_length=64)] = ""
    denied: Annotated[tuple[Prefix, ...], Meta(max_length=MAX_PREFIXES)] = ()
    number_types: tuple[NumberType, ...] = ()
    is_stopped: bool = False
    max_legs_per_call: Annotated[int, Meta(ge=1)] = DEFAULT_LEGS_PER_CALL
    max_live_legs: Annotated[int, Meta(ge=1)] | None = None
    max_legs_per_s: Annotated[float, Meta(gt=0)] | None = None
    max_minutes_per_day: Annotated[int, Meta(ge=1)] | None = None
    trunks: Annotated[tuple[Name, ...], Meta(max_length=MAX_TRUNKS)] = ()
    region: Region = ""
    max_calls: Annotated[int, Meta(ge=1)] | None = None
    max_calls_per_s: Annotated[float, Meta(gt=0)] | None = None
    recognizers: Annotated[tuple[RecognizerName, ...], Meta(max_length=MAX_RECOGNIZERS)] | None = (
        None
    )


class DialPolicyView(Shape, frozen=True):
    """The versions of an account's dial policy and do-not-call list.

    Engines check the list if `doNotCall` is true.
    """

    account: Name
    version: str = ""
    list_version: int = 0
    do_not_call: bool = False


class DialPolicies(Shape, frozen=True):
    """The accounts with a dial policy."""

    accounts: tuple[DialPolicyView, ...]


class DncListChange(Shape, frozen=True):
    """Changes that bring a do-not-call list from version `after` to `version`.

    `after` 0 replaces the list. The list takes effect once a change with `isWhole` completes it,
    until it is replaced.
    """

    after: Annotated[int, Meta(ge=0)]
    version: Annotated[int, Meta(ge=1)]
    add: Numbers = ()
    remove: Numbers = ()
    is_whole: bool = True


class DncListState(Shape, frozen=True):
    """The version of a do-not-call list; 0: there is none."""

    version: int
