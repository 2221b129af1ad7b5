"""Settings of the REST layer: `SWITCHROOM_…` variables, a TOML file, or `.env`."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    Field,
    HttpUrl,
    IPvAnyNetwork,
    StringConstraints,
)

from api.messaging_platform.settings import MsgappSettings
from api.settings.limits import LimitSettings
from api.settings.mail import MailSettings
from api.settings.phones import PhoneSettings
from api.settings.start_account import StartAccountSettings
from api.settings.transcripts import TranscriptSettings
from base.limit import Limit
from base.settings import Key, ProgramSettings, Secret
from wire.tree import Limits

DatabaseUrl = Annotated[
    str, StringConstraints(pattern=r"^(sqlite\+aiosqlite:///|postgresql\+asyncpg://)")
]
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1"))


class DatabaseSettings(ProgramSettings):
    """The settings that the administrator's commands need."""

    database_url: DatabaseUrl = Field(
        "sqlite+aiosqlite:////var/lib/switchroom/switchroom.db",
        description=(
            "The database: SQLite for one machine; `postgresql+asyncpg://user:password@host/name`"
            " for several, with up to 30 connections per process."
        ),
    )


class Settings(
    LimitSettings,
    MailSettings,
    PhoneSettings,
    StartAccountSettings,
    TranscriptSettings,
    DatabaseSettings,
):
    """All settings of the REST layer."""

    api_host: str = Field(
        "127.0.0.1", description="Address of the REST layer; put a TLS proxy in front."
    )
    api_port: int = Field(8000, ge=0, le=65535, description="Its port.")
    api_metrics_host: str = Field(
        "127.0.0.1",
        description=(
            "Address of `/healthz`, `/readyz` and `/metrics`, which need no key: one that customers"
            " do not reach."
        ),
    )
    api_metrics_port: int = Field(
        8001, ge=0, le=65535, description="Port where these are served, and nowhere else."
    )
    api_docs: bool = Field(
        False,
        description="Whether there are `/docs` and `/openapi.json`; the lab has them.",
    )
    api_proxies: tuple[IPvAnyNetwork, ...] = Field(
        LOOPBACK,
        description=(
            "JSON list of networks whose proxies are trusted for `X-Forwarded-For`. Failed"
            " authentications are counted by address: behind a proxy that is not listed, all"
            " customers share one."
        ),
    )
    api_max_connections: Annotated[
        int, Limit("process", "one without a request is closed, else the new one")
    ] = Field(2_000, ge=1, description="Open connections of a process.")
    api_max_connections_of_address: Annotated[int, Limit("address", "closed")] = Field(
        200,
        ge=1,
        description=(
            "Open connections of one address (of one /64 with IPv6) to one process. Connections of"
            " trusted proxies count in all only; limit those of customers in the proxy."
        ),
    )
    engine_urls: tuple[HttpUrl, ...] = Field(
        (HttpUrl("http://127.0.0.1:8070"),),
        min_length=1,
        description=(
            "JSON list of RPC addresses of engines; any of them works. One that failed is tried"
            " last for ten seconds."
        ),
    )
    rpc_token: Secret = Field(description="The same as in the engines.")
    tls_ca: Path | None = Field(
        None,
        description="PEM file of the CA that verifies `https://` engines; default: the system's.",
    )
    token_secret: Key = Field(
        description="Signs access tokens; at least 32 characters, the same in all processes."
    )
    old_token_secrets: tuple[Key, ...] = Field(
        (),
        description=(
            "JSON list of former values of it, whose tokens are still accepted. To rotate: put the"
            " old value here and the new one there, restart the processes, and remove it after"
            " `SWITCHROOM_TOKEN_S`."
        ),
    )
    keys_as_tokens: bool = Field(
        False,
        description=(
            "Whether an API key alone authenticates, as in the lab; else only tokens do, which need"
            " the secret, too, and expire."
        ),
    )
    token_s: int = Field(
        3_600, ge=60, le=86_400, description="Lifetime of an access token in seconds."
    )
    allow_insecure_webhooks: bool = Field(False, description="The same as in the engines.")
    sip_hosts: tuple[str, ...] = Field((), description="The same as in the engines.")
    recording_url_s: int = Field(
        300,
        ge=10,
        le=86_400,
        description="Seconds for which the signed address of a recording works.",
    )
    cors_origins: tuple[str, ...] = Field(
        (), description="JSON list of origins allowed by CORS; none by default."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of messages in the log."
    )
    alerts_url: HttpUrl | None = Field(
        None,
        description=(
            "Address of Alertmanager or Prometheus, such as `http://127.0.0.1:9093`; its alerts are"
            " shown to operators ([the installation at a glance](operations/overview.md))."
        ),
    )
    msgapp: MsgappSettings = Field(
        MsgappSettings(),
        description=(
            "JSON: the messaging platform and each account's business account:"
            " [messaging](messaging.md#the-platform)."
        ),
    )

    @property
    def limits(self) -> Limits:
        """The engine's limits of action trees."""
        return Limits(allow_insecure=self.allow_insecure_webhooks, sip_hosts=self.sip_hosts)
