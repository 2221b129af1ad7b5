"""Settings of the phones of agents in browsers."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, SecretStr, StringConstraints, model_validator

from base.limit import Limit

_HOST = r"(\[[0-9a-fA-F:.]+\]|[^\s/?#@:\[\]]+)(:[0-9]{1,5})?"
WebsocketUrl = Annotated[str, StringConstraints(pattern=rf"^wss?://{_HOST}$")]
NodeUrl = Annotated[str, StringConstraints(pattern=rf"^https?://{_HOST}$")]
IceUrl = Annotated[str, StringConstraints(pattern=r"^(stuns?|turns?):[^\s]+$")]


class PhoneSettings(BaseModel):
    """Phones in browsers."""

    api_phone_nodes: tuple[NodeUrl, ...] = Field(
        (),
        description=(
            "JSON list of PBX nodes that serve phones in browsers, such as"
            ' `["https://10.0.0.11:8088"]`: their HTTP servers, which only engines and REST layers'
            " reach (`PBX_PHONE_PROXIES`). The REST layer passes websockets on to them"
            " ([browser phones](how-to/browser-phone.md)); none: agents have no phones in browsers."
        ),
    )
    api_phone_url: WebsocketUrl | None = Field(
        None,
        description=(
            "The REST layer as browsers reach it for these websockets, such as"
            " `wss://switchroom.example.com`. Pages of this host may open them, and those of"
            " `SWITCHROOM_CORS_ORIGINS`."
        ),
    )
    api_max_phones: Annotated[int, Limit("process", "503")] = Field(
        1_000,
        ge=1,
        description=(
            "Most of these websockets from a process to one node. Those of all processes together"
            " stay below the 2,000 connections of a node's HTTP server (`sessionlimit`), of which"
            " each engine takes up to 70."
        ),
    )
    api_max_phones_of_account: Annotated[int, Limit("account", "429")] = Field(
        250, ge=1, description="Most websockets of phones of one account in a process."
    )
    api_phone_ice_urls: tuple[IceUrl, ...] = Field(
        (),
        description=(
            "JSON list of STUN and TURN servers for these phones, such as"
            ' `["stun:stun.example.com", "turn:turn.example.com"]`.'
        ),
    )
    api_phone_turn_secret: SecretStr | None = Field(
        None,
        description=(
            "The secret that the TURN servers share with the REST layer (`static-auth-secret` of"
            " coturn): each phone gets a user name and a password that expire."
        ),
    )
    api_phone_s: int = Field(
        3_600,
        ge=10,
        le=86_400,
        description="Seconds for which a phone in a browser can log in with its credentials.",
    )

    @model_validator(mode="after")
    def _check_url(self) -> Self:
        if self.api_phone_nodes and self.api_phone_url is None:
            raise ValueError("api_phone_nodes need api_phone_url")
        return self
