"""Settings of a stream gateway: `SWITCHROOM_STREAMS_…` variables, `.env`, or a TOML file."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from base.limit import Limit
from base.settings import Key, ProgramSettings
from streams.bots.destinations import RecognizerServer


class Settings(ProgramSettings):
    """All settings of a gateway."""

    streams_host: str = Field(
        "127.0.0.1",
        description=(
            "Address of the stream gateway for engines, and of `/healthz`, `/readyz` and"
            " `/metrics`; keep it off public networks."
        ),
    )
    streams_port: int = Field(8095, ge=0, le=65535, description="Its port.")
    streams_token: Key = Field(
        description="The token that engines have for the gateway; at least 32 characters."
    )
    further_streams_tokens: tuple[Key, ...] = Field(
        (), description="JSON list of tokens that are accepted, too, while the token changes."
    )
    max_streams: Annotated[int, Limit("process", "503")] = Field(
        500, ge=1, le=10_000, description="Streams of one gateway at a time; more get 503."
    )
    streams_account_share: Annotated[int, Limit("account", "503")] = Field(
        50,
        ge=1,
        le=100,
        description=(
            "Percent of a gateway's streams that one account may have, of those that other accounts"
            " leave; more get 503. 100 where there is one account."
        ),
    )
    streams_drain_s: int = Field(
        60,
        ge=0,
        le=86_400,
        description=(
            "After SIGTERM, seconds until streams that still run are ended; their calls continue as"
            " their `onLost` says."
        ),
    )
    streams_tls_cert: Path | None = Field(
        None, description="PEM file: with it the gateway serves https for engines."
    )
    streams_tls_key: Path | None = Field(
        None, description="PEM file of the key; default: it is in the certificate's file."
    )
    tls_ca: Path | None = Field(
        None,
        description=(
            "PEM file of the CA of PBX nodes, as engines have it, and of recognizers; default: the"
            " system's."
        ),
    )
    streams_ca: Path | None = Field(
        None, description="PEM file of the CA of bots; default: the system's."
    )
    streams_recognizers: str | None = Field(
        None,
        pattern=r"^wss?://[^@?#\s]+$",
        description=(
            "Address of `switchroom speech`, such as `ws://127.0.0.1:8096`: it understands what"
            " callers say; default: this gateway has no recognizers."
        ),
    )
    speech_token: Key | None = Field(
        None, description="The token of the recognizers, which they have, too."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least level of log lines: `debug`, `info`, `warning` or `error`."
    )

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        if self.streams_tls_key is not None and self.streams_tls_cert is None:
            raise ValueError("streams_tls_key needs streams_tls_cert")
        return self

    @model_validator(mode="after")
    def _check_recognizers(self) -> Self:
        if self.streams_recognizers is not None and self.speech_token is None:
            raise ValueError("streams_recognizers needs speech_token")
        return self

    @property
    def tokens(self) -> tuple[str, ...]:
        tokens = (self.streams_token, *self.further_streams_tokens)
        return tuple(each.get_secret_value() for each in tokens)

    @property
    def recognizers(self) -> RecognizerServer | None:
        if self.streams_recognizers is None or self.speech_token is None:
            return None
        return RecognizerServer(self.streams_recognizers, self.speech_token.get_secret_value())
