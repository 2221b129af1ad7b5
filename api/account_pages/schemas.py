"""Requests and views of `/srmain/account` and `/srmain/jobs`."""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import reduce
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.accounts.store import MAX_KEPT_DAYS, Account, TranscriptSetting
from api.accounts.usage import Usage, plus
from api.common.timestamps import format_ms
from api.jobs.store import JobProgress
from wire.base import Email
from wire.decoding.patterns import COUNTRY, LINE

EPOCH = date(1970, 1, 1)
MINUTE_MS = 60_000
Days = Annotated[int, Meta(ge=1, le=MAX_KEPT_DAYS)] | UnsetType | None


class AccountLimits(Struct, frozen=True, rename="camel"):
    """What an operator allows; null: no limit, for `destinations` and `recognizers`: all."""

    max_calls: int | None
    max_calls_per_s: float | None
    max_live_legs: int | None
    max_legs_per_s: float | None
    max_minutes_per_day: int | None
    max_legs_per_call: int | None
    destinations: tuple[str, ...] | None
    denied: tuple[str, ...]
    number_types: tuple[str, ...]
    trunks: tuple[str, ...]
    recognizers: tuple[str, ...] | None
    max_keys: int
    max_jobs: int
    max_contact_lists: int
    max_contacts: int
    max_contact_bytes: int
    max_stored_bytes: int
    max_documents: int
    max_document_bytes: int
    api_requests_per_s: float


class AccountView(Struct, frozen=True, rename="camel"):
    """An account; null for days: until somebody deletes them; for transcripts: there are none."""

    id: str
    name: str
    region: str | None
    email: str | None
    keep_records_days: int | None
    keep_digits_days: int | None
    keep_recordings_days: int | None
    transcripts: TranscriptSetting | None
    limits: AccountLimits


class AccountChange(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What an account may change of itself; a field that is absent keeps its value."""

    name: Annotated[str, Meta(min_length=1, max_length=128, pattern=LINE)] | UnsetType = UNSET
    region: Annotated[str, Meta(pattern=COUNTRY)] | UnsetType | None = UNSET
    email: Email | UnsetType | None = UNSET
    keep_records_days: Days = UNSET
    keep_digits_days: Days = UNSET
    keep_recordings_days: Days = UNSET
    transcripts: TranscriptSetting | UnsetType | None = UNSET


class UsageQuery(BaseModel):
    """The days of a list; without them the last 31."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    start_date: date | None = Field(None, description="First day (UTC), such as 2026-11-01.")
    end_date: date | None = Field(None, description="Last day, at most 366 after the first.")


class UsageSums(Struct, frozen=True, rename="camel"):
    """What was used; `minutes` are those of all legs in conversations or on hold."""

    calls: int
    answered_calls: int
    legs: int
    minutes: float
    messages: int


class UsageDay(UsageSums, frozen=True, rename="camel"):
    """What was used on a day."""

    date: str


class UsagePage(Struct, frozen=True):
    """The days on which something was used, oldest first, and their sum."""

    data: tuple[UsageDay, ...]
    total: UsageSums


class JobView(Struct, frozen=True, rename="camel"):
    """A job; `done` of `total` units are processed. A cancelled one has failed."""

    id: str
    kind: str
    state: str
    done: int
    total: int | None
    error: str | None
    created_time: str
    ended_time: str | None


class JobPage(Struct, frozen=True, rename="camel"):
    """A page of jobs, newest first."""

    data: tuple[JobView, ...]
    total: int
    limit: int
    offset: int


def account_view(account: Account, quotas: dict[str, float]) -> AccountView:
    own = {name: getattr(account, name) for name in AccountLimits.__struct_fields__[:11]}
    return AccountView(
        account.id,
        account.name,
        account.region,
        account.email,
        account.keep_records_days,
        account.keep_digits_days,
        account.keep_recordings_days,
        account.transcripts,
        AccountLimits(**own, **quotas),  # type: ignore[arg-type]  # by name
    )


def usage_page(days: Sequence[Usage]) -> UsagePage:
    total = reduce(plus, days, Usage("", 0))
    shown = tuple(UsageDay(*_sums(each), _date(each.day)) for each in days)
    return UsagePage(shown, UsageSums(*_sums(total)))


def _sums(used: Usage) -> tuple[int, int, int, float, int]:
    minutes = round(used.talk_ms / MINUTE_MS, 2)
    return used.calls, used.answered_calls, used.legs, minutes, used.messages


def _date(day: int) -> str:
    return (EPOCH + timedelta(days=day)).isoformat()


def job_view(job: JobProgress) -> JobView:
    return JobView(
        job.id,
        job.kind,
        job.state,
        job.done,
        job.total,
        job.error,
        format_ms(job.created_ms),
        format_ms(job.ended_ms) if job.ended_ms else None,
    )
