"""The account that the settings name: made at start where it is not there yet."""

from contextlib import suppress

from api.accounts.store import Account, Accounts
from api.auth.store import Credentials, Keys, key_id
from api.config import Settings
from api.http.errors import Conflict


async def make_given(accounts: Accounts, keys: Keys, settings: Settings) -> None:
    """Make what is missing of account, key and numbers; several processes may start at once."""
    if not settings.account or settings.api_key is None or settings.api_secret is None:
        return
    given = Credentials(settings.api_key.get_secret_value(), settings.api_secret.get_secret_value())
    with suppress(Conflict):  # it is there
        await accounts.add(Account(settings.account, settings.account))
    if await keys.get(key_id(given.api_key) or "") is None:
        with suppress(Conflict):  # another process was first
            await keys.add(settings.account, given)
    for number in settings.caller_ids:
        await accounts.add_number(settings.account, number)
