"""Settings of the REST layer: `SWITCHROOM_…` variables, a TOML file, or `.env`."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    HttpUrl,
    IPvAnyNetwork,
    SecretStr,
    StringConstraints,
    model_validator,
)

from api.common.mail import MailServer, Security
from api.messaging_platform.settings import MsgappSettings
from base.limit import Limit
from base.settings import Key, ProgramSettings, Secret
from wire.decoding.patterns import NAME, PATTERNS
from wire.tree import Limits

QUOTA = "409 `quota`"
_HOST = r"(\[[0-9a-fA-F:.]+\]|[^\s/?#@:\[\]]+)(:[0-9]{1,5})?"
WebsocketUrl = Annotated[str, StringConstraints(pattern=rf"^wss?://{_HOST}$")]
NodeUrl = Annotated[str, StringConstraints(pattern=rf"^https?://{_HOST}$")]
IceUrl = Annotated[str, StringConstraints(pattern=r"^(stuns?|turns?):[^\s]+$")]
Endpoint = Annotated[str, StringConstraints(pattern=r"^PJSIP/[A-Za-z0-9_.\-]{1,64}$")]
RecognizerUrl = Annotated[str, StringConstraints(pattern=r"^wss?://[^\s/?#]+(/[^\s?#]*)?$")]
DatabaseUrl = Annotated[
    str, StringConstraints(pattern=r"^(sqlite\+aiosqlite:///|postgresql\+asyncpg://)")
]
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1"))


class LimitSettings(BaseModel):
    """Limits of the REST layer."""

    max_body_bytes: Annotated[int, Limit("request", "413 `too_large`")] = Field(
        262_144, ge=1_024, description="Size of the body of a request."
    )
    max_upload_bytes: Annotated[int, Limit("request", "413 `too_large`")] = Field(
        268_435_456,
        ge=1_024,
        description="Size of a file of contacts ([contact lists](contact-lists.md)).",
    )
    max_jobs: Annotated[int, Limit("account", "429 `too_many_jobs`")] = Field(
        100, ge=1, description="Background jobs of one account, waiting and running, of all kinds."
    )
    max_keys: Annotated[int, Limit("account", "409 `too_many_keys`")] = Field(
        1_000, ge=1, description="API keys of one account that have not expired."
    )
    api_requests_per_s: Annotated[float, Limit("account", "429 `request_rate`")] = Field(
        200,
        gt=0,
        description=(
            "Requests of one account to one process per second, after a burst of twice as many."
        ),
    )
    api_stranger_requests_per_s: Annotated[float, Limit("address", "wait")] = Field(
        50,
        gt=0,
        description=(
            "Requests from one address (one /64 with IPv6) to one process per second that no key"
            " authenticates, after a burst of twice as many."
        ),
    )
    api_max_requests_of_account: Annotated[int, Limit("account", "429 `too_many_requests`")] = (
        Field(
            100,
            ge=1,
            description=(
                "Requests of one account in progress in one process, with streams and downloads."
            ),
        )
    )
    api_loop_share: Annotated[float, Limit("account", "wait; after 10 s 429 `too_many`")] = Field(
        0.2,
        gt=0,
        description=(
            "Share of an event loop's time that one account's requests to one process may take,"
            " there and in the engines."
        ),
    )
    max_contact_lists: Annotated[int, Limit("account", QUOTA)] = Field(
        1_000, ge=1, description="Contact lists of one account."
    )
    max_contacts: Annotated[int, Limit("account", QUOTA)] = Field(
        5_000_000,
        ge=1,
        description=(
            "Contacts of one account. A request that exceeds it stores nothing; an import that"
            " exceeds it while it runs fails, and keeps its earlier batches."
        ),
    )
    max_contact_bytes: Annotated[int, Limit("account", QUOTA)] = Field(
        2 << 30,
        ge=1_024,
        description=(
            "Bytes of one account's contacts: the texts (names, numbers, addresses and fields), and"
            " each tag of a contact, twice and 40 bytes more."
        ),
    )
    max_stored_bytes: Annotated[int, Limit("account", QUOTA)] = Field(
        4 << 30,
        ge=1_024,
        description=(
            "Bytes of one account in files, in the rejected rows of their imports (each with 128"
            " bytes more) and in exports (of contacts and of call records, for the week that they"
            " are kept). An import that exceeds it fails, and an export is deleted."
        ),
    )
    max_documents: Annotated[int, Limit("account", QUOTA)] = Field(
        20_000,
        ge=1,
        description=(
            "How many flows, API requests, agents, messaging numbers and message templates an"
            " account may have, of each kind."
        ),
    )
    max_document_bytes: Annotated[int, Limit("account", QUOTA)] = Field(
        1 << 26,
        ge=1_024,
        description=(
            "Bytes of an account's documents, of all kinds together, with all kept versions of"
            " flows and those of flows deleted within a week. The engines' store has them, too."
        ),
    )
    max_deleted_documents: Annotated[int, Limit("account", "409 `quota`, to new ones")] = Field(
        100_000,
        ge=1,
        description=(
            "Documents of an account, of all kinds, that were deleted within a week: engines that"
            " were away learn of each deletion."
        ),
    )
    max_dnc_entries: Annotated[int, Limit("account", QUOTA)] = Field(
        1_000_000,
        ge=1,
        description=(
            "Entries of an account's do-not-call list that are made over REST, one for each number"
            " and provider, also those that were taken off."
        ),
    )
    max_idempotency_keys: Annotated[int, Limit("account", QUOTA)] = Field(
        1_000_000,
        ge=1,
        description="Idempotency keys of one account within 24 hours.",
    )
    audit_entries_per_min: Annotated[int, Limit("account", "one entry with their number")] = Field(
        300,
        ge=1,
        description=(
            "Entries of one account that one process adds to the audit trail per minute, after a"
            " burst of ten times as many; of more there is one entry a minute for each caller,"
            " action and outcome, with their number."
        ),
    )
    test_sends_per_min: Annotated[int, Limit("account", "429 `test_rate`")] = Field(
        10, ge=1, description="Test messages of one account from one process per minute."
    )


class MailSettings(BaseModel):
    """E-mail."""

    smtp_host: str = Field(
        "", description="Mail server that sends exports; without one, no e-mail is sent."
    )
    smtp_port: int = Field(587, ge=1, le=65535, description="Its port.")
    smtp_security: Security = Field("starttls", description="Encryption of the connection to it.")
    smtp_user: str = Field("", description="User name there; empty: no login.")
    smtp_password: SecretStr = Field(SecretStr(""), description="Password there.")
    smtp_from: str = Field("switchroom@localhost", description="Sender of e-mails.")
    smtp_max_bytes: int = Field(
        10_000_000, ge=1_024, description="Size of an attachment; larger files are not sent."
    )

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


class TranscriptSettings(BaseModel):
    """Transcripts of recordings."""

    transcript_recognizers: tuple[RecognizerUrl, ...] = Field(
        (),
        description=(
            "JSON list of the addresses of `switchroom speech` that transcribe recordings, such as"
            ' `["ws://127.0.0.1:8096"]`, verified as engines are; none: this process transcribes'
            " nothing ([transcripts](recordings.md#transcripts))."
        ),
    )
    speech_token: Secret | None = Field(
        None, description="The token of the recognizers, which they have, too."
    )
    transcript_workers: int = Field(
        2, ge=1, le=64, description="Recordings that this process transcribes at a time."
    )
    transcript_max_minutes: int = Field(
        240, ge=1, le=1_440, description="Longest recording that is transcribed."
    )

    @model_validator(mode="after")
    def _check_token(self) -> Self:
        if self.transcript_recognizers and self.speech_token is None:
            raise ValueError("transcript_recognizers need speech_token")
        return self


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
    def token_secrets(self) -> list[str]:
        """The secret that signs tokens, and then the earlier ones."""
        found = (self.token_secret, *self.old_token_secrets)
        return [each.get_secret_value() for each in found]

    @property
    def limits(self) -> Limits:
        """The engine's limits of action trees."""
        return Limits(allow_insecure=self.allow_insecure_webhooks, sip_hosts=self.sip_hosts)
