"""`switchroom account stop`: the kill switch of an account."""

import asyncio
import sys

from api.accounts.store import AccountStore
from api.auth.key_store import KeyStore
from api.common.errors import ApiError
from api.config import Settings
from base.exit_status import ExitStatus
from base.invalid_settings import InvalidSettings
from base.settings import load
from base.tls import TlsFileError
from cli.database.runtime import change_stores
from cli.database.validators import AccountId
from cli.output import OutputFlag, shown, write_shown


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
