"""Options of `switchroom account create` and `set` for the limits of an account."""

from dataclasses import asdict, dataclass
from typing import Annotated

import msgspec
from cyclopts import Parameter, validators

from api.accounts.store import MAX_KEPT_DAYS, Account
from base.limit import Limit
from cli.output import Row

_COUNT = validators.Number(gte=0, lte=1_000_000_000)  # the database stores 32 bits
_DAYS = validators.Number(gte=0, lte=MAX_KEPT_DAYS)


@dataclass(frozen=True)
class AccountLimits:
    """Limits of calls and of retention to set; None keeps a limit, and 0 removes it."""

    max_calls: Annotated[
        int | None,
        Parameter(
            help="Maximum number of live calls, inbound and outbound together; 0 for no limit.",
            validator=_COUNT,
        ),
        Limit("account", "429 `live_calls`; inbound rejected"),
    ] = None
    max_calls_per_s: Annotated[
        float | None,
        Parameter(
            help="Maximum rate of new calls per second, in each direction; 0 for no limit.",
            validator=_COUNT,
        ),
        Limit("account", "429 `call_rate`; inbound rejected"),
    ] = None
    max_live_legs: Annotated[
        int | None,
        Parameter(
            help="Maximum number of live dialled legs, of all calls; 0 for no limit.",
            validator=_COUNT,
        ),
        Limit("account", "`live_legs`"),
    ] = None
    max_legs_per_s: Annotated[
        float | None,
        Parameter(
            help="Maximum rate of dialled legs per second; 0 for no limit.",
            validator=_COUNT,
        ),
        Limit("account", "`leg_rate`"),
    ] = None
    max_minutes_per_day: Annotated[
        int | None,
        Parameter(
            help="Maximum minutes of dialled legs in a day (UTC); 0 for no limit.",
            validator=_COUNT,
        ),
        Limit("account", "`daily_minutes`"),
    ] = None
    max_legs_per_call: Annotated[
        int | None,
        Parameter(
            help="Maximum number of legs that one call dials; 0 for the default, 100.",
            validator=_COUNT,
        ),
        Limit("call", "`legs_per_call`"),
    ] = None
    keep_records_days: Annotated[
        int | None,
        Parameter(
            help="Days after which call records and their recordings are deleted; 0: never.",
            validator=_DAYS,
        ),
    ] = None
    keep_digits_days: Annotated[
        int | None,
        Parameter(
            help="Days after which the digits in call records are deleted; 0: never.",
            validator=_DAYS,
        ),
    ] = None
    keep_recordings_days: Annotated[
        int | None,
        Parameter(
            help="Days after which recordings and voicemails are deleted; 0: never.",
            validator=_DAYS,
        ),
    ] = None


def with_limits(account: Account, limits: AccountLimits | None) -> Account:
    """Return an account with the limits that are given."""
    given = asdict(limits) if limits else {}
    changes = {name: value or None for name, value in given.items() if value is not None}
    return msgspec.structs.replace(account, **changes)


def retention(row: Row) -> str:
    """Describe how long an account's personal data is kept."""
    days = {
        "records": row["keepRecordsDays"],
        "digits": row["keepDigitsDays"],
        "recordings": row["keepRecordingsDays"],
    }
    return " ".join(f"{kind} {limit} d" for kind, limit in days.items() if limit) or "forever"


def leg_limits(row: Row) -> str:
    """Describe the limits of what an account dials."""
    limits = {
        " live": row["maxLiveLegs"],
        "/s": row["maxLegsPerS"],
        " min/day": row["maxMinutesPerDay"],
        "/call": row["maxLegsPerCall"],
    }
    return " ".join(f"{value:g}{unit}" for unit, value in limits.items() if value) or "no limit"
