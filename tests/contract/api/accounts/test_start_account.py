"""The account that is created at start, and what its key may do."""

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from api.accounts.store import NEW_ACCOUNT, Account
from api.auth.key_store import generate_credentials, parse_key_id
from api.auth.principal import OPERATIONS, resolve
from api.common.errors import InvalidRequest
from api.config import Settings
from api.serve import create_configured_account
from tests.harness.api.rest import Rest


async def granted(rest: Rest, settings: Settings) -> set[str]:
    """Create the account; return the scopes of its key."""
    services = rest.services
    await create_configured_account(services.accounts, services.keys, services.endpoints, settings)
    assert settings.api_key is not None
    key = await rest.services.keys.get(parse_key_id(settings.api_key.get_secret_value()) or "")
    assert key is not None
    return {*resolve(key.scopes)}


def start_settings(rest: Rest, **more: object) -> Settings:
    """Return settings with an account."""
    made = generate_credentials()
    return rest.services.settings.model_copy(
        update={
            "account": "lab",
            "api_key": SecretStr(made.api_key),
            "api_secret": SecretStr(made.api_secret),
            **more,
        }
    )


async def test_its_key_is_an_integrators(kept: Rest) -> None:
    """Without the setting, and not changed by a later start with it."""
    settings = start_settings(kept)
    assert await granted(kept, settings) == resolve(["integrator"])
    later = settings.model_copy(update={"account_scopes": ("owner", OPERATIONS)})
    assert await granted(kept, later) == resolve(["integrator"])


async def test_its_key_may_be_an_operators(kept: Rest) -> None:
    """As in the lab, whose console shows the installation."""
    settings = start_settings(kept, account_scopes=("owner", OPERATIONS))
    assert await granted(kept, settings) == resolve(["owner"]) | {OPERATIONS}


async def test_its_limits(kept: Rest) -> None:
    """Those of a new account, unless the operator says that it has none, as in the lab."""
    accounts = kept.services.accounts
    await granted(kept, start_settings(kept))
    assert await accounts.get("lab") == replace(NEW_ACCOUNT, id="lab", name="lab")
    await granted(kept, start_settings(kept, account="free", account_is_limited=False))
    assert await accounts.get("free") == Account("free", "free")


async def test_an_unknown_scope_is_said_at_start(kept: Rest) -> None:
    """With the setting and what is allowed; nothing is created."""
    settings = start_settings(kept, account_scopes=("operation",))
    with pytest.raises(InvalidRequest, match=r"SWITCHROOM_ACCOUNT_SCOPES: operation: .*operations"):
        await granted(kept, settings)
