"""Creates the account that the settings name, with its key and numbers."""

from contextlib import suppress

from api.accounts.store import Account, AccountStore
from api.auth.store import Credentials, KeyStore, parse_key_id
from api.common.errors import Conflict
from api.config import Settings


async def create_configured_account(
    accounts: AccountStore, keys: KeyStore, settings: Settings
) -> None:
    """Create what does not exist yet; several processes may start at the same time."""
    if not settings.account or settings.api_key is None or settings.api_secret is None:
        return
    credentials = Credentials(
        settings.api_key.get_secret_value(), settings.api_secret.get_secret_value()
    )
    with suppress(Conflict):  # it exists
        await accounts.add(Account(settings.account, settings.account))
    if await keys.get(parse_key_id(credentials.api_key) or "") is None:
        with suppress(Conflict):  # another process was first
            await keys.add(settings.account, credentials)
    for number in settings.caller_ids:
        await accounts.add_number(settings.account, number)
