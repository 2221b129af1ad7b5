"""Settings of the messaging platform: its API, our app, and the accounts' business accounts."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, model_validator

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_\-]{1,64}$")]
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


class BusinessAccount(BaseModel):
    """A business account on the platform, and its token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    business_id: Id
    token: SecretStr = Field(min_length=1)


class MsgappSettings(BaseModel):
    """The operator's settings; without a URL the platform is not used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: HttpUrl | None = None
    version: str = Field("v23.0", pattern=r"^v[0-9]{1,3}\.[0-9]{1,2}$")
    product: str = Field("msgapp", pattern=r"^[a-z0-9_]{1,64}$")  # the name in its messages
    app_id: Id | None = None  # owner of uploaded header media
    app_secret: SecretStr | None = Field(None, min_length=1)  # signs its webhooks
    verify_token: SecretStr | None = Field(None, min_length=1)
    accounts: dict[str, BusinessAccount] = {}
    timeout_s: float = Field(20.0, gt=0, le=120)

    @model_validator(mode="after")
    def _keep_tokens_secret(self) -> Self:
        if self.url is not None and self.url.scheme != "https" and self.url.host not in LOOPBACK:
            raise ValueError("an https:// address is expected: tokens are sent there")
        return self
