"""`switchroom account create`, `set`, `list` and so on: accounts and their limits."""

import asyncio
import sys
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from pydantic.alias_generators import to_camel

from api.accounts.store import NEW_ACCOUNT, Account, AccountStore, TranscriptSetting
from api.auth.key_store import KeyStore
from api.common.errors import ApiError
from api.config import Settings
from base.exit_status import ExitStatus
from base.invalid_settings import InvalidSettings
from base.settings import load
from base.tls import TlsFileError
from cli.database.account_limits import AccountLimits, leg_limits, retention, with_limits
from cli.database.runtime import change_stores, read_stores
from cli.database.validators import (
    NUMBER_TYPES,
    AccountId,
    check_line,
    check_name,
    parse_denied,
    parse_email,
    parse_number_types,
    parse_prefixes,
    parse_recognizers,
    parse_region,
    parse_transcripts,
    parse_trunks,
)
from cli.output import (
    Column,
    OutputFlag,
    OutputFormat,
    Row,
    rows_shown,
    shown,
    write_shown,
)

MAX_NAME_CHARS = 128  # of an account


def _may_call(row: Row) -> str:
    allowed = ("any",) if row["destinations"] is None else row["destinations"]
    denied = [f"not {prefix}" for prefix in row["denied"]]
    return " ".join([*allowed, *denied, *row["numberTypes"]]) or "none"


COLUMNS: tuple[Column, ...] = (
    ("account", "id"),
    ("name", "name"),
    ("active", "isActive"),
    ("calls", lambda row: str(row["maxCalls"] or "any")),
    ("calls/s", lambda row: f"{row['maxCallsPerS']:g}" if row["maxCallsPerS"] else "any"),
    ("region", "region"),
    ("may call", _may_call),
    ("legs", leg_limits),
    ("keeps", retention),
)
Limits = Annotated[AccountLimits | None, Parameter(name="*")]
Allow = Annotated[
    list[str] | None,
    Parameter(help="Prefixes that the account may call, such as +47; `any`; `none`. Repeatable."),
]


Deny = Annotated[
    list[str] | None,
    Parameter(help="Prefixes that are never called although allowed; `none`. Repeatable."),
]
Types = Annotated[
    list[str] | None,
    Parameter(help=f"Types of costly numbers to allow: {', '.join(NUMBER_TYPES)}; `none`."),
]
Recognizers = Annotated[
    list[str] | None,
    Parameter(
        help="Recognizers that the account may name, such as deepgram, which costs money; `any`;"
        " `none`. Repeatable."
    ),
]


def create(  # noqa: PLR0913 - one parameter for each option
    account: AccountId,
    *,
    name: Annotated[str | None, Parameter(help="Display name; default: the id.")] = None,
    limits: Limits = None,
    allow: Allow = None,
    deny: Deny = None,
    allow_type: Types = None,
    allow_recognizer: Recognizers = None,
    output: OutputFlag = "table",
) -> None:
    """Create an account; without --allow it may call no number.

    It gets the limits of a new account, except those that are given: --max-calls 20,
    --max-calls-per-s 2, --max-live-legs 20, --max-legs-per-s 10, --max-minutes-per-day 500, and
    --allow-recognizer grammar --allow-recognizer whisper.

    Example: switchroom account create acme --allow +47 --max-calls 20
    """
    shown_name = account if name is None else check_line(name, "--name", MAX_NAME_CHARS)
    new = msgspec.structs.replace(NEW_ACCOUNT, id=check_name(account), name=shown_name)
    limited = with_limits(new, limits)
    created = _with_allowed(limited, allow, deny, allow_type, allow_recognizer)

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.add(created)
        await _write(accounts, account, output)

    change_stores("account create", account, command)


def change(  # noqa: PLR0913 - one parameter for each option
    account: AccountId,
    *,
    limits: Limits = None,
    allow: Allow = None,
    deny: Deny = None,
    allow_type: Types = None,
    allow_recognizer: Recognizers = None,
    active: Annotated[bool | None, Parameter(help="Enable or disable the account.")] = None,
    output: OutputFlag = "table",
) -> None:
    """Change the limits of an account; options that are not given keep their value.

    Example: switchroom account set acme --allow +47 --allow +46 --max-calls-per-s 5
    """

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        found = await accounts.get(account)
        limited = with_limits(found, limits)
        changed = _with_allowed(limited, allow, deny, allow_type, allow_recognizer)
        if active is not None:
            await accounts.set_active(account, active)
        await accounts.change(changed, found)
        await _write(accounts, account, output)

    change_stores("account set", account, command)


def trunks(
    account: AccountId,
    names: Annotated[list[str], Parameter(help="Trunks in order of preference, or `any`.")],
    *,
    output: OutputFlag = "table",
) -> None:
    """Set the trunks over which an account calls; `any` means all, in the engines' order.

    Example: switchroom account trunks acme main backup
    """
    _change("trunks", account, output, trunks=() if names == ["any"] else parse_trunks(names))


def start(account: AccountId, *, output: OutputFlag = "table") -> None:
    """Let a stopped account call and be called again.

    Example: switchroom account start acme
    """

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.set_active(account, True)
        await _write(accounts, account, output)

    change_stores("account start", account, command)


def region(
    account: AccountId,
    country: Annotated[str, Parameter(help="Country code such as NO, or `none`.")],
    *,
    output: OutputFlag = "table",
) -> None:
    """Set the country of an account's numbers without a +; `none` removes it.

    Example: switchroom account region acme NO
    """
    _change("region", account, output, region=parse_region(country))


def email(
    account: AccountId,
    address: Annotated[str, Parameter(help="E-mail address, or `none`.")],
    *,
    output: OutputFlag = "table",
) -> None:
    """Set the e-mail address of an account; `none` removes it.

    Example: switchroom account email acme crm@example.com
    """
    _change("email", account, output, email=parse_email(address))


def transcripts(
    account: AccountId,
    recognizer: Annotated[
        str, Parameter(help="Recognizer of `switchroom speech`, such as whisper, or `none`.")
    ],
    *,
    language: Annotated[str, Parameter(help="Language of the recordings.")] = "en-US",
    hint: Annotated[
        list[str] | None, Parameter(help="A word or name that is likely. Repeatable.")
    ] = None,
    output: OutputFlag = "table",
) -> None:
    """Set the recognizer that transcribes an account's recordings; `none` ends that.

    Example: switchroom account transcripts acme whisper --hint Switchroom
    """
    setting = parse_transcripts(recognizer, language, hint or [])
    _change("transcripts", account, output, transcripts=setting)


def list_accounts(*, output: OutputFlag = "table") -> None:
    """List the accounts.

    Example: switchroom account list
    """

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        rows = [row_of(each) for each in await accounts.all()]
        write_shown(rows_shown(rows, COLUMNS, "no accounts"), output)

    read_stores(command)


def row_of(account: Account) -> dict[str, Any]:
    """Return an account as programs see it, with the names of the REST layer."""
    row = {to_camel(name): value for name, value in msgspec.structs.asdict(account).items()}
    return {**row, "transcripts": msgspec.to_builtins(account.transcripts)}


def _change(
    action: str,
    account: str,
    output: OutputFormat,
    **values: str | tuple[str, ...] | TranscriptSetting | None,
) -> None:
    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        found = await accounts.get(account)
        changed = msgspec.structs.replace(found, **values)
        if "transcripts" in values:
            changed.check_transcripts()
        await accounts.change(changed, found)
        await _write(accounts, account, output)

    change_stores(f"account {action}", account, command)


async def _write(accounts: AccountStore, account: str, output: OutputFormat) -> None:
    """Print an account for programs; people know what they have changed."""
    write_shown(shown(row_of(await accounts.get(account))), output)


def _with_allowed(
    account: Account,
    allow: list[str] | None,
    deny: list[str] | None,
    types: list[str] | None,
    recognizers: list[str] | None,
) -> Account:
    return msgspec.structs.replace(
        account,
        destinations=account.destinations if allow is None else parse_prefixes(allow),
        denied=account.denied if deny is None else parse_denied(deny),
        number_types=account.number_types if types is None else parse_number_types(types),
        recognizers=account.recognizers if recognizers is None else parse_recognizers(recognizers),
    )


def stop(account: AccountId, *, output: OutputFlag = "table") -> None:
    """Hang up an account's calls within three seconds; reject new ones, keys and callbacks.

    It notifies the engines itself, with the settings of `switchroom api`. If it cannot, it says so,
    with exit status 1: the calls then go on until the REST layer notifies the engines.

    Example: switchroom account stop acme
    """

    async def command(accounts: AccountStore, _keys: KeyStore) -> None:
        await accounts.set_active(account, False)

    change_stores("account stop", account, command)
    try:
        asyncio.run(_send(load(Settings), account))
        text = f"{account} is stopped: the engines hang up its calls"
        write_shown(shown({"id": account, "isActive": False}, text), output)
    except InvalidSettings as error:
        _not_sent(account, ", ".join(error.lines))
    except (ApiError, TlsFileError) as error:
        _not_sent(account, str(error))


async def _send(settings: Settings, account: str) -> None:
    from api.services import open_services  # noqa: PLC0415 - `--help` starts faster without

    async with open_services(settings) as services:
        await services.policy_sync.send_policy(account)


def _not_sent(account: str, reason: str) -> None:
    sys.stderr.write(
        f"switchroom: {account} is stopped, but the engines do not know ({reason}): its calls go on"
        " until `switchroom api` tells them; repeat the command\n"
    )
    sys.exit(ExitStatus.NEGATIVE)
