"""The account that the settings name: made at start where it is not there yet."""

from contextlib import suppress

from api.accounts.store import Account, AccountStore
from api.auth.store import Credentials, KeyStore, parse_key_id
from api.common.errors import Conflict
from api.config import Settings


async def create_configured_account(
    accounts: AccountStore, keys: KeyStore, settings: Settings
) -> None:
    """Make what is missing of account, key and numbers; several processes may start at once."""
    if not settings.account or settings.api_key is None or settings.api_secret is None:
        return
    given = Credentials(settings.api_key.get_secret_value(), settings.api_secret.get_secret_value())
    with suppress(Conflict):  # it is there
        await accounts.add(Account(settings.account, settings.account))
    if await keys.get(parse_key_id(given.api_key) or "") is None:
        with suppress(Conflict):  # another process was first
            await keys.add(settings.account, given)
    for number in settings.caller_ids:
        await accounts.add_number(settings.account, number)
