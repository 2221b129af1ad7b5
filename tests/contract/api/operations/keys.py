"""Keys of operators."""

from collections.abc import Sequence

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from tests.harness.api.rest import Rest


async def key(
    rest: Rest, scopes: Sequence[str], *, agent: str | None = None, account: str = "acme"
) -> str:
    """Return a key with scopes, which is accepted as a token."""
    made = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add(account, made, KeyTerms(agent, scopes))
    return made.api_key
