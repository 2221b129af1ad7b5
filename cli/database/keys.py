"""`switchroom account key`: create, list, rotate, revoke; a secret is shown only once."""

import sys
from typing import Annotated

import msgspec
from cyclopts import App, Parameter, validators

from api.accounts.store import AccountStore
from api.auth.key_service import DAY_MS
from api.auth.key_store import Credentials, KeyStore, KeyTerms, generate_credentials
from api.auth.principal import BUNDLES, OPERATIONS
from api.auth.schemas import MAX_DAYS, MAX_OVERLAP_S, key_view
from api.common.clock import now_ms
from cli.database.runtime import change_stores, fail, read_stores
from cli.database.validators import AccountId, check_name, check_networks, check_scopes
from cli.help import with_example
from cli.output import Column, OutputFlag, OutputFormat, rows_shown, shown, write_shown

KeyId = Annotated[str, Parameter(help="Key, or its id in the list of keys.")]

_COLUMNS: tuple[Column, ...] = (
    ("key", lambda row: f"swk_{row['id']}_…"),
    ("agent", "agentId"),
    ("scopes", "scopes"),
    ("networks", lambda row: " ".join(row["networks"]) or "any"),
    ("created", lambda row: _minute(row["createdTime"])),
    ("expires", lambda row: _minute(row["expiryTime"])),
    ("last used", lambda row: _minute(row["lastUsedTime"])),
)
_DAYS = validators.Number(gte=1, lte=MAX_DAYS)

key = App(
    name="key",
    help=with_example("An account's API keys.", "account key list acme"),
    version_flags=(),
)


@key.command
def create(  # noqa: PLR0913 - one parameter for each option
    account: AccountId,
    *,
    agent: Annotated[str | None, Parameter(help="Agent that the key acts for.")] = None,
    scope: Annotated[
        tuple[str, ...],
        Parameter(help=f"Scope, or one of the bundles {', '.join(BUNDLES)}; repeatable."),
    ] = (),
    network: Annotated[
        tuple[str, ...],
        Parameter(help="Network that may use it, such as 192.0.2.0/24; repeatable."),
    ] = (),
    days: Annotated[
        int | None,
        Parameter(
            help=f"Days until it expires, 1 to {MAX_DAYS:,}; without it: never.", validator=_DAYS
        ),
    ] = None,
    output: OutputFlag = "table",
) -> None:
    """Create a key; it is shown only once.

    Example: switchroom account key create acme --scope read-only --days 90
    """
    if agent is not None and OPERATIONS in scope:
        fail(f"--scope {OPERATIONS}: no --agent is expected, as an agent is no operator")
    terms = KeyTerms(
        agent_id=None if agent is None else check_name(agent),
        scopes=check_scopes(scope),
        networks=check_networks(network),
        expires_ms=_expiry(days),
    )

    async def command(accounts: AccountStore, keys: KeyStore) -> None:
        await accounts.get(account)
        credentials = generate_credentials()
        await keys.add(account, credentials, terms)
        _show(credentials, output)

    change_stores("account key create", account, command)


@key.command(name="list")
def list_keys(account: AccountId, *, output: OutputFlag = "table") -> None:
    """List an account's keys.

    Example: switchroom account key list acme
    """

    async def command(accounts: AccountStore, keys: KeyStore) -> None:
        await accounts.get(account)
        found = [key_view(each, now_ms()) for each in await keys.all(account)]
        rows = [msgspec.to_builtins(each) for each in found]
        write_shown(rows_shown(rows, _COLUMNS, "no keys"), output)

    read_stores(command)


@key.command
def rotate(
    account: AccountId,
    key_id: KeyId,
    *,
    overlap_s: Annotated[
        int,
        Parameter(
            help="Seconds until the old key expires, a month at most.",
            validator=validators.Number(gte=0, lte=MAX_OVERLAP_S),
        ),
    ] = 3_600,
    days: Annotated[
        int | None,
        Parameter(
            help=f"Days until the new key expires, 1 to {MAX_DAYS:,}; "
            "without it: when the old one would.",
            validator=_DAYS,
        ),
    ] = None,
    output: OutputFlag = "table",
) -> None:
    """Create a replacement of a key, with its rights, and let the old key expire.

    Example: switchroom account key rotate acme 3f9a12 --overlap-s 600
    """

    async def command(_accounts: AccountStore, keys: KeyStore) -> None:
        credentials = generate_credentials()
        await keys.rotate(account, _id(key_id), credentials, overlap_s * 1_000, _expiry(days))
        _show(credentials, output)

    change_stores("account key rotate", account, command)


@key.command
def revoke(account: AccountId, key_id: KeyId, *, output: OutputFlag = "table") -> None:
    """Revoke a key and all tokens issued for it.

    Example: switchroom account key revoke acme 3f9a12
    """

    async def command(_accounts: AccountStore, keys: KeyStore) -> None:
        await keys.expire(account, _id(key_id), now_ms())
        write_shown(shown({"id": _id(key_id), "isExpired": True}), output)

    change_stores("account key revoke", account, command)


def _expiry(days: int | None) -> int | None:
    return None if days is None else now_ms() + days * DAY_MS


def _id(text: str) -> str:
    """Return a key's id; a whole key, or a line of the list, is accepted too."""
    return text.removeprefix("swk_").partition("_")[0]


def _show(credentials: Credentials, output: OutputFormat) -> None:
    value = {"apiKey": credentials.api_key, "apiSecret": credentials.api_secret}
    write_shown(shown(value, *(f"{name:9} {text}" for name, text in value.items())), output)
    sys.stderr.write("switchroom: the secret is shown only once\n")


def _minute(time: str | None) -> str:
    return time[:16].replace("T", " ") if time else "never"
