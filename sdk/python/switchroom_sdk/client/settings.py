"""What a client needs to know: the server, the key, and where your own webhooks are."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from switchroom_sdk.errors import SwitchroomError
from switchroom_sdk.receiver import PUBLIC_URL_VARIABLE

DEFAULT_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class ClientSettings:
    """With `account` and `api_secret` the client gets access tokens; else it sends the key."""

    base_url: str
    api_key: str = field(repr=False)
    account: str = ""
    api_secret: str = field(default="", repr=False)
    public_url: str | None = None

    @property
    def uses_tokens(self) -> bool:
        """Whether requests are sent with an access token instead of the key."""
        return bool(self.account and self.api_secret)

    @classmethod
    def read(  # noqa: PLR0913 - each setting may be given
        cls,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        account: str | None = None,
        api_secret: str | None = None,
        public_url: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Self:
        """Return settings; what is not given is read from the environment."""
        key = api_key or environ.get("SWITCHROOM_API_KEY", "")
        if not key:
            raise SwitchroomError("api_key: give one, or set SWITCHROOM_API_KEY")
        own = api_key is not None  # the secret of the environment belongs to its own key
        return cls(
            base_url=(base_url or environ.get("SWITCHROOM_API_URL") or DEFAULT_URL).rstrip("/"),
            api_key=key,
            account=account or ("" if own else environ.get("SWITCHROOM_ACCOUNT", "")),
            api_secret=api_secret or ("" if own else environ.get("SWITCHROOM_API_SECRET", "")),
            public_url=public_url or environ.get(PUBLIC_URL_VARIABLE),
        )
