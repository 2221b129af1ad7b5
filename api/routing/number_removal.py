"""Takes a number away from an account, together with the route that the account has set for it."""

from contextlib import suppress

from api.accounts.store import AccountStore
from api.common.errors import NotFound
from api.documents.store import DocumentStore
from wire.phone_numbers.e164 import spellings


async def remove_number(
    accounts: AccountStore, documents: DocumentStore, account_id: str, number: str
) -> None:
    """Remove a number, then its route in whichever spelling; raises NotFound without a number.

    A route that is put meanwhile is either there before the number is removed, or rejected.
    """
    await accounts.remove_number(account_id, number)
    for spelling in spellings(number):
        with suppress(NotFound):
            await documents.delete(account_id, "route", spelling)
