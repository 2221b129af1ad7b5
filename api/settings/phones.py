"""Settings of the phones of agents in browsers."""

from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, StringConstraints

WebsocketUrl = Annotated[str, StringConstraints(pattern=r"^wss?://[^\s/?#]+(/[^\s?#]*)?$")]
IceUrl = Annotated[str, StringConstraints(pattern=r"^(stuns?|turns?):[^\s]+$")]


class PhoneSettings(BaseModel):
    """Phones in browsers."""

    api_phone_urls: tuple[WebsocketUrl, ...] = Field(
        (),
        description=(
            "JSON list of the websockets of PBX nodes as browsers reach them, such as"
            ' `["wss://pbx1.example.com:8088/ws"]` ([browser phones](how-to/browser-phone.md));'
            " none: agents have no phones in browsers."
        ),
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
