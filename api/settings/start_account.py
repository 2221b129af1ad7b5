"""An account that is created at start."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, SecretStr, StringConstraints

from wire.decoding.patterns import NAME, PATTERNS

Endpoint = Annotated[str, StringConstraints(pattern=r"^PJSIP/[A-Za-z0-9_.\-]{1,64}$")]


def _name_or_empty(text: str) -> str:
    if text and re.search(NAME, text) is None:
        raise ValueError(f"expected {PATTERNS[NAME]}, or an empty text")
    return text


class StartAccountSettings(BaseModel):
    """Account at start."""

    account: Annotated[str, AfterValidator(_name_or_empty)] = Field(
        "",
        description=(
            "An account that is created at start if it does not exist; for development. Its name"
            " has 1 to 64 letters, digits, `_` or `-`."
        ),
    )
    account_is_limited: bool = Field(
        True,
        description=(
            "Whether it gets the limits of a new account"
            " ([toll fraud](operations/security.md#toll-fraud)); `switchroom account set` changes"
            " them."
        ),
    )
    api_key: SecretStr | None = Field(None, description="Its API key.")
    api_secret: SecretStr | None = Field(None, min_length=32, description="The secret of that key.")
    account_scopes: tuple[str, ...] = Field(
        (),
        description=(
            "JSON list of the scopes and bundles that this key gets when it is created, such as"
            ' `["owner", "operations"]`; default: those of an integrator.'
        ),
    )
    caller_ids: tuple[str, ...] = Field((), description="JSON list of its numbers.")
    account_endpoints: tuple[Endpoint, ...] = Field(
        (),
        description=(
            "JSON list of endpoints in the nodes' `pjsip.conf` that its agents may have"
            " (`switchroom account endpoint add`)."
        ),
    )
    allow: tuple[str, ...] = Field(
        (), description='JSON list of prefixes that it may call, or `["any"]`.'
    )
