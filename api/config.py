"""Settings of the REST layer: `SWITCHROOM_…` variables, a TOML file, or `.env`."""

import os
import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    HttpUrl,
    IPvAnyNetwork,
    SecretStr,
    StringConstraints,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from api.common.mail import MailServer, Security
from api.messaging_platform.settings import MsgappSettings
from wire.decoding.patterns import NAME, PATTERNS
from wire.secret_length import check_length
from wire.tree import Limits


def _secret(secret: SecretStr) -> SecretStr:
    check_length(secret.get_secret_value())
    return secret


DatabaseUrl = Annotated[
    str, StringConstraints(pattern=r"^(sqlite\+aiosqlite:///|postgresql\+asyncpg://)")
]
Secret = Annotated[SecretStr, AfterValidator(_secret)]  # a token
SigningSecret = Annotated[SecretStr, Field(min_length=32)]


def _name_or_empty(text: str) -> str:
    if text and re.search(NAME, text) is None:
        raise ValueError(f"expected {PATTERNS[NAME]}, or an empty text")
    return text


LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1"))


class DatabaseSettings(BaseSettings):
    """The settings that the administrator's commands need."""

    model_config = SettingsConfigDict(
        env_prefix="SWITCHROOM_", env_nested_delimiter="__", env_file=".env", extra="ignore"
    )

    database_url: DatabaseUrl = "sqlite+aiosqlite:////var/lib/switchroom/switchroom.db"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment first, then `.env`, then the TOML file, as the engine does."""
        sources = (init_settings, env_settings, dotenv_settings, file_secret_settings)
        if path := os.environ.get("SWITCHROOM_CONFIG"):
            return (*sources, TomlConfigSettingsSource(settings_cls, path))
        return sources


class Settings(DatabaseSettings):
    """All settings of the REST layer."""

    api_host: str = "127.0.0.1"
    api_port: int = Field(8000, ge=0, le=65535)
    # Of /healthz, /readyz and /metrics; none: those of the API.
    api_metrics_host: str = ""
    api_metrics_port: int | None = Field(None, ge=0, le=65535)
    api_docs: bool = True  # /docs and /openapi.json
    # Proxies whose X-Forwarded-For is trusted: authentication failures are counted by address.
    api_proxies: tuple[IPvAnyNetwork, ...] = LOOPBACK
    api_max_connections: int = Field(2_000, ge=1)
    api_max_connections_of_address: int = Field(200, ge=1)  # except of proxies
    engine_urls: tuple[HttpUrl, ...] = Field((HttpUrl("http://127.0.0.1:8070"),), min_length=1)
    rpc_token: Secret
    tls_ca: Path | None = None  # verifies https engines; else the system's certificates
    token_secret: SigningSecret  # signs access tokens; the same in all processes
    old_token_secrets: tuple[SigningSecret, ...] = ()  # whose tokens are still accepted
    keys_as_tokens: bool = True  # an API key alone authenticates; else only a token does
    token_s: int = Field(3_600, ge=60, le=86_400)
    allow_insecure_webhooks: bool = False  # the same as in the engine; also the next
    sip_hosts: tuple[str, ...] = ()
    recording_url_s: int = Field(300, ge=10, le=86_400)  # lifetime of a signed address
    max_body_bytes: int = Field(262_144, ge=1_024)
    max_upload_bytes: int = Field(268_435_456, ge=1_024)  # of a file of contacts
    # Of one account: background jobs; keys; requests a second to this process, after a burst of
    # twice as many; requests in progress; contact lists, contacts, and bytes of files and exports;
    # flows, API requests and agents, of each, and bytes of each; test messages a minute.
    max_jobs: int = Field(100, ge=1)
    max_keys: int = Field(1_000, ge=1)
    api_requests_per_s: float = Field(200, gt=0)
    api_max_requests_of_account: int = Field(100, ge=1)
    max_contact_lists: int = Field(1_000, ge=1)
    max_contacts: int = Field(5_000_000, ge=1)
    max_stored_bytes: int = Field(4 << 30, ge=1_024)
    max_documents: int = Field(20_000, ge=1)
    max_document_bytes: int = Field(1 << 28, ge=1_024)
    test_sends_per_min: int = Field(10, ge=1)
    cors_origins: tuple[str, ...] = ()
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    smtp_host: str = ""  # without one, no e-mail is sent
    smtp_port: int = Field(587, ge=1, le=65535)
    smtp_security: Security = "starttls"
    smtp_user: str = ""
    smtp_password: SecretStr = SecretStr("")
    smtp_from: str = "switchroom@localhost"
    smtp_max_bytes: int = Field(10_000_000, ge=1_024)  # of an attachment; larger files are not sent
    # An account with its key and numbers, created at start.
    account: Annotated[str, AfterValidator(_name_or_empty)] = ""
    api_key: SecretStr | None = None
    api_secret: SecretStr | None = Field(None, min_length=32)
    caller_ids: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # prefixes that it may call, or any

    msgapp: MsgappSettings = MsgappSettings()

    @property
    def limits(self) -> Limits:
        """The engine's limits of action trees."""
        return Limits(allow_insecure=self.allow_insecure_webhooks, sip_hosts=self.sip_hosts)

    @property
    def mail(self) -> MailServer | None:
        """The mail server, if one is configured."""
        if not self.smtp_host:
            return None
        return MailServer(
            host=self.smtp_host,
            port=self.smtp_port,
            security=self.smtp_security,
            user=self.smtp_user,
            password=self.smtp_password.get_secret_value(),
            sender=self.smtp_from,
            max_bytes=self.smtp_max_bytes,
        )
