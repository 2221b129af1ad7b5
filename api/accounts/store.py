"""Accounts, their numbers and the endpoints of their phones in the database."""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa
from msgspec import Meta, Struct
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import Conflict, NotFound
from api.db.database import Store, metadata
from wire.base import Language
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.dial_policy import MAX_CALLER_IDS, NumberType
from wire.phone_numbers.e164 import region_of
from wire.streams.recognizer import BUILT_IN, MAX_HINT_LENGTH, RecognizerName, expected_recognizers

MAX_TRANSCRIPT_HINTS = 100  # an account is read with each call that it makes
_Hint = Annotated[str, Meta(min_length=1, max_length=MAX_HINT_LENGTH)]
accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("max_calls", sa.Integer),
    sa.Column("max_calls_per_s", sa.Float),
    sa.Column("destinations", sa.JSON),
    sa.Column("region", sa.String(2)),
    sa.Column("email", sa.String(254)),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("denied", sa.JSON, nullable=False),
    sa.Column("number_types", sa.JSON, nullable=False),
    sa.Column("max_live_legs", sa.Integer),
    sa.Column("max_legs_per_s", sa.Float),
    sa.Column("max_minutes_per_day", sa.Integer),
    sa.Column("max_legs_per_call", sa.Integer),
    sa.Column("keep_records_days", sa.Integer),
    sa.Column("keep_digits_days", sa.Integer),
    sa.Column("keep_recordings_days", sa.Integer),
    sa.Column("trunks", sa.JSON, nullable=False),
    sa.Column("transcripts", sa.JSON(none_as_null=True)),
    sa.Column("recognizers", sa.JSON(none_as_null=True)),
)
MAX_KEPT_DAYS = 36_500
numbers = sa.Table(
    "numbers",
    metadata,
    sa.Column("number", sa.String(32), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Index("numbers_by_account", "account_id", "number"),
)
_OLDEST_FIRST = (numbers.c.created_ms, numbers.c.number)
endpoints = sa.Table(
    "endpoints",
    metadata,
    sa.Column("endpoint", sa.String(80), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Index("endpoints_by_account", "account_id", "endpoint"),
)


class TranscriptSetting(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Who transcribes an account's recordings; `hints` are names and words that are likely."""

    recognizer: RecognizerName
    language: Language = "en-US"
    hints: Annotated[tuple[_Hint, ...], Meta(max_length=MAX_TRANSCRIPT_HINTS)] = ()


class Account(Struct, frozen=True):
    """An account; None means no limit, and for `destinations` that any number may be called.

    Denied prefixes and costly types of numbers that are not in `number_types` are never called.
    Numbers without a + belong to its `region` (ISO 3166-1, such as NO), else to the country of its
    first number that has one.
    """

    id: str
    name: str
    is_active: bool = True
    max_calls: int | None = None
    max_calls_per_s: float | None = None
    destinations: tuple[str, ...] | None = ()
    region: str | None = None
    email: str | None = None
    denied: tuple[str, ...] = ()
    number_types: tuple[NumberType, ...] = ()
    max_live_legs: int | None = None
    max_legs_per_s: float | None = None
    max_minutes_per_day: int | None = None
    max_legs_per_call: int | None = None  # None: the engines' default
    keep_records_days: int | None = None  # None: until they are erased
    keep_digits_days: int | None = None
    keep_recordings_days: int | None = None
    trunks: tuple[str, ...] = ()  # the first one first; none: those of the engines
    transcripts: TranscriptSetting | None = None  # None: recordings are not transcribed
    recognizers: tuple[str, ...] | None = None  # that it may name; None: all

    def check_transcripts(self) -> None:
        """Check that it may name the recognizer of its recordings; raises BadInput."""
        setting, allowed = self.transcripts, self.recognizers
        if setting is not None and allowed is not None and setting.recognizer not in allowed:
            path = "transcripts.recognizer"
            raise BadInput(path, expected_recognizers(allowed), "recognizer_not_allowed")


# What a new account gets, unless the operator says otherwise. A stolen key of it costs little: its
# calls and legs fill no engine and no trunk, and recognizers of others' services cost nothing.
NEW_ACCOUNT = Account(
    "",
    "",
    max_calls=20,
    max_calls_per_s=2,
    max_live_legs=20,
    max_legs_per_s=10,  # one `dial` calls up to ten parties at once
    max_minutes_per_day=500,
    recognizers=BUILT_IN,
)


class AccountStore(Store):
    async def add(self, account: Account) -> None:
        """Add an account; raises Conflict if its id is taken."""
        state = {"is_active": account.is_active, "created_ms": self._now_ms()}
        row = {**_row(account), "id": account.id, **state}
        try:
            await self._database.execute(sa.insert(accounts).values(row))
        except IntegrityError:
            raise Conflict(f"there is an account {account.id} already") from None

    async def change(self, account: Account, read: Account | None = None) -> None:
        """Update an account, except whether it is active; raises NotFound.

        With the account as it was read, only what differs from it is written: of two changes at
        the same time, none undoes the other.
        """
        values = _row(account)
        if read:
            old = _row(read)
            values = {name: value for name, value in values.items() if old[name] != value}
        if values:
            await self._update(account.id, values)

    async def update(self, account_id: str, change: Callable[[Account], Account]) -> Account:
        """Change an account that no other process changes meanwhile; raises NotFound.

        An exception of `change` leaves the account as it is.
        """
        own = accounts.c.id == account_id
        async with self._database.writing() as connection:
            query = sa.select(accounts).where(own).with_for_update()
            row = (await connection.execute(query)).mappings().first()
            if row is None:
                raise NotFound(f"no account {account_id}")
            changed = change(_account(dict(row)))
            await connection.execute(sa.update(accounts).where(own).values(_row(changed)))
        return changed

    async def set_active(self, account_id: str, is_active: bool) -> None:
        """Stop or start an account; raises NotFound."""
        await self._update(account_id, {"is_active": is_active})

    async def _update(self, account_id: str, values: dict[str, Any]) -> None:
        change = sa.update(accounts).where(accounts.c.id == account_id).values(values)
        if not await self._database.execute(change):
            raise NotFound(f"no account {account_id}")

    async def get(self, account_id: str) -> Account:
        """Return an account; raises NotFound."""
        rows = await self._database.mappings(sa.select(accounts).where(accounts.c.id == account_id))
        if not rows:
            raise NotFound(f"no account {account_id}")
        return _account(dict(rows[0]))

    async def all(self) -> list[Account]:
        rows = await self._database.mappings(sa.select(accounts).order_by(accounts.c.id))
        return [_account(dict(row)) for row in rows]

    async def numbers(self, account_id: str) -> tuple[str, ...]:
        """Return an account's numbers, oldest first."""
        query = (
            sa.select(numbers.c.number)
            .where(numbers.c.account_id == account_id)
            .order_by(*_OLDEST_FIRST)
        )
        return tuple([number for (number,) in await self._database.rows(query)])

    async def region(self, account_id: str) -> str | None:
        """Return the region of an account's numbers without a country code; raises NotFound."""
        account = await self.get(account_id)
        return region_of(account.region, await self.numbers(account_id))

    async def page_numbers(self, account_id: str, limit: int, offset: int) -> tuple[list[str], int]:
        """Return some of an account's numbers, in ascending order, and how many it has."""
        query = (
            sa.select(numbers.c.number)
            .where(numbers.c.account_id == account_id)
            .order_by(numbers.c.number)
        )
        rows, total = await self._database.page(query, limit, offset)
        return [row["number"] for row in rows], total

    async def has_number(self, account_id: str, number: str) -> bool:
        query = sa.select(numbers.c.number).where(
            numbers.c.account_id == account_id, numbers.c.number == number
        )
        return await self._database.scalar(query) is not None

    async def hold_number(self, connection: AsyncConnection, account_id: str, number: str) -> None:
        """Keep a number with its account until the transaction ends; raises NotFound."""
        query = sa.select(numbers.c.number).where(
            numbers.c.account_id == account_id, numbers.c.number == number
        )
        if (await connection.execute(query.with_for_update(read=True))).first() is None:
            raise NotFound(f"{number} is no number of this account")

    async def all_numbers(self) -> dict[str, list[str]]:
        """Return the numbers of each account, oldest first."""
        query = sa.select(numbers.c.account_id, numbers.c.number).order_by(*_OLDEST_FIRST)
        found: dict[str, list[str]] = {}
        for account_id, number in await self._database.rows(query):
            found.setdefault(account_id, []).append(number)
        return found

    async def add_number(self, account_id: str, number: str) -> None:
        """Add a number to an account; raises Conflict if another has it, or there are too many."""
        await self.get(account_id)
        own = await self.numbers(account_id)
        if len(own) >= MAX_CALLER_IDS and number not in own:
            raise Conflict(f"{account_id} has {MAX_CALLER_IDS:,} numbers, which engines accept")
        row = {"number": number, "account_id": account_id, "created_ms": self._now_ms()}
        try:
            await self._database.execute(sa.insert(numbers).values(row))
        except IntegrityError:
            if number not in await self.numbers(account_id):
                raise Conflict(f"{number} belongs to another account") from None

    async def remove_number(self, account_id: str, number: str) -> None:
        """Remove a number from an account; raises NotFound."""
        removal = sa.delete(numbers).where(
            numbers.c.number == number, numbers.c.account_id == account_id
        )
        if not await self._database.execute(removal):
            raise NotFound(f"{number} is no number of {account_id}")


def _row(account: Account) -> dict[str, Any]:
    """Return what `change` may write."""
    return {
        "name": account.name,
        "max_calls": account.max_calls,
        "max_calls_per_s": account.max_calls_per_s,
        "destinations": None if account.destinations is None else list(account.destinations),
        "region": account.region,
        "email": account.email,
        "denied": list(account.denied),
        "number_types": list(account.number_types),
        "max_live_legs": account.max_live_legs,
        "max_legs_per_s": account.max_legs_per_s,
        "max_minutes_per_day": account.max_minutes_per_day,
        "max_legs_per_call": account.max_legs_per_call,
        "keep_records_days": account.keep_records_days,
        "keep_digits_days": account.keep_digits_days,
        "keep_recordings_days": account.keep_recordings_days,
        "trunks": list(account.trunks),
        "transcripts": msgspec.to_builtins(account.transcripts),
        "recognizers": None if account.recognizers is None else list(account.recognizers),
    }


def _account(row: dict[str, Any]) -> Account:
    del row["created_ms"]
    for name in ("denied", "number_types", "trunks"):
        row[name] = tuple(row[name])
    for name in ("destinations", "recognizers"):
        row[name] = None if row[name] is None else tuple(row[name])
    if row["transcripts"] is not None:
        row["transcripts"] = decode_message(
            msgspec.json.encode(row["transcripts"]), TranscriptSetting
        )
    return Account(**row)


class EndpointStore(Store):
    """The endpoints of phones that operators have granted to accounts, each to one.

    Others that an account may have are named after it (`wire.agents.account_of_endpoint`).
    """

    async def grant(self, account_id: str, endpoint: str) -> None:
        """Grant an endpoint; raises Conflict if another account has it."""
        row = {"endpoint": endpoint, "account_id": account_id, "created_ms": self._now_ms()}
        try:
            await self._database.execute(sa.insert(endpoints).values(row))
        except IntegrityError:
            if await self.account_of(endpoint) != account_id:
                raise Conflict(f"{endpoint} is granted to another account") from None

    async def revoke(self, account_id: str, endpoint: str) -> None:
        """Revoke a grant; raises NotFound."""
        grant = (endpoints.c.endpoint == endpoint, endpoints.c.account_id == account_id)
        if not await self._database.execute(sa.delete(endpoints).where(*grant)):
            raise NotFound(f"{endpoint} is not granted to {account_id}")

    async def account_of(self, endpoint: str) -> str | None:
        """Return the account that an endpoint is granted to; None: to none."""
        query = sa.select(endpoints.c.account_id).where(endpoints.c.endpoint == endpoint)
        rows = await self._database.rows(query)
        return next((account for (account,) in rows), None)

    async def of_account(self, account_id: str) -> tuple[str, ...]:
        """Return the endpoints that are granted to an account, in ascending order."""
        query = (
            sa.select(endpoints.c.endpoint)
            .where(endpoints.c.account_id == account_id)
            .order_by(endpoints.c.endpoint)
        )
        return tuple([endpoint for (endpoint,) in await self._database.rows(query)])
