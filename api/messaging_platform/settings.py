"""Settings of the messaging platform: its API, our app, and the accounts' business accounts."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, model_validator

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_\-]{1,64}$")]
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


class BusinessAccount(BaseModel):
    """A business account on the platform, and its token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    business_id: Id = Field(description="Id of the business account on the platform.")
    token: SecretStr = Field(min_length=1, description="Token of the business account.")


class MsgappSettings(BaseModel):
    """The operator's settings; without a URL the platform is not used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: HttpUrl | None = Field(
        None,
        description=(
            "Address of the platform's API (https, except on this machine); without it the"
            " platform is not used."
        ),
    )
    version: str = Field(
        "v23.0",
        pattern=r"^v[0-9]{1,3}\.[0-9]{1,2}$",
        description="Version of the platform's API.",
    )
    product: str = Field(
        "msgapp",
        pattern=r"^[a-z0-9_]{1,64}$",
        description="Value of `messaging_product` in its messages.",
    )
    app_id: Id | None = Field(
        None, description="The app that owns uploaded files; without it there are no uploads."
    )
    app_secret: SecretStr | None = Field(
        None,
        min_length=1,
        description="Signs the platform's webhook; without it there is no webhook.",
    )
    verify_token: SecretStr | None = Field(
        None, min_length=1, description="Token that the platform sends to verify the webhook."
    )
    accounts: dict[str, BusinessAccount] = Field(
        {},
        description=(
            "For each account its business account, and a token that may manage its templates and"
            " send its messages."
        ),
    )
    timeout_s: float = Field(
        20.0, gt=0, le=120, description="Time limit of one request to the platform, in seconds."
    )

    @model_validator(mode="after")
    def _keep_tokens_secret(self) -> Self:
        if self.url is not None and self.url.scheme != "https" and self.url.host not in LOOPBACK:
            raise ValueError("an https:// address is expected: tokens are sent there")
        return self
