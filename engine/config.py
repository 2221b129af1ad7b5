"""Settings of an engine: `SWITCHROOM_…` variables, `.env`, or a TOML file (SWITCHROOM_CONFIG)."""

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from engine.store.redis.address import parse_address
from wire.flow import MAX_CALL_S
from wire.secret_length import check_length


def _store_url(url: str) -> str:
    parse_address(url)
    return url


def _secret(secret: SecretStr) -> SecretStr:
    check_length(secret.get_secret_value())
    return secret


def _default_workers() -> int:
    return max(2, min(8, os.cpu_count() or 1))  # two at least: no account may use all of them


StoreUrl = Annotated[str, AfterValidator(_store_url)]
Secret = Annotated[SecretStr, AfterValidator(_secret)]  # a token or a password
Key = Annotated[SecretStr, Field(min_length=32)]
RecordingsUrl = Annotated[str, StringConstraints(pattern=r"^(file:///|s3://[^/]+)")]
AllowedParty = Annotated[
    str, StringConstraints(pattern=r"^(any|agents|\+[1-9][0-9]{0,14}|sips?:)$")
]
# A dot is in no name: so no two accounts have one endpoint.
TrunkName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
AgentEndpoint = Annotated[
    str,
    StringConstraints(
        pattern=r"^PJSIP/([A-Za-z0-9_.\-]*\{account\}\.)?[A-Za-z0-9_.\-]*\{agent_id\}[A-Za-z0-9_.\-]*$"
    ),
]
# In the log beside rpc_token and other_engine, which are no such names.
ClientName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
NodeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,16}$")]


class NodeSettings(BaseModel):
    """One PBX node: the URL of its ARI, its logins and limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: NodeName
    url: HttpUrl
    user: str = "switchroom"
    password: Secret
    media_url: HttpUrl | None = None  # where it fetches this engine's audio; else rpc_url
    ami_user: str = "switchroom"
    ami_password: Secret | None = None  # else the engine's ami_password
    ami_port: int = Field(5038, ge=1, le=65535)  # of its AMI, which reports its health
    ami_tls: bool = False  # whether that port is TLS
    sip_host: str | None = None  # where the other nodes call its phones; else the host of its URL
    sip_port: int = Field(5060, ge=1, le=65535)
    weight: float = Field(1, gt=0)  # its share of new calls, relative to the other nodes
    max_calls: int | None = Field(None, ge=1)  # live at once on it, over all engines
    max_calls_per_s: int | None = Field(None, ge=1)  # new calls, over all engines

    @property
    def sip_address(self) -> str:
        """Host and port of its SIP, as a SIP URI has them."""
        host = (self.sip_host or self.url.host or "").strip("[]")
        return f"[{host}]:{self.sip_port}" if ":" in host else f"{host}:{self.sip_port}"


class RpcClientSettings(BaseModel):
    """A client of the RPC with a token of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: Secret
    further_tokens: tuple[Secret, ...] = ()  # accepted, too, while the token changes
    read_only: bool = False  # it may change nothing


class Settings(BaseSettings):
    """All settings of an engine."""

    model_config = SettingsConfigDict(
        env_prefix="SWITCHROOM_", env_nested_delimiter="__", env_file=".env", extra="ignore"
    )

    redis_url: StoreUrl = "redis://127.0.0.1:6379/0"
    allow_insecure_store: bool = False  # another host's, in clear text and without a password
    nodes: tuple[NodeSettings, ...] = ()
    node_dns: str = ""  # `pbx.example:8088`: each address of the name is a node
    node_user: str = "switchroom"  # of nodes found by DNS, as the next six
    node_password: Secret | None = None
    node_media_url: HttpUrl | None = None
    node_tls: bool = False  # ARI by https and AMI over TLS
    node_ami_port: int = Field(5038, ge=1, le=65535)
    node_max_calls: int | None = Field(None, ge=1)
    node_max_calls_per_s: int | None = Field(None, ge=1)
    slots: int = Field(8, ge=1, le=64)
    rpc_host: str = "127.0.0.1"
    rpc_port: int = Field(8070, ge=0, le=65535)
    rpc_token: Secret
    # Encrypts customers' secrets in the store; further ones decrypt, too, while the key changes.
    store_key: Key | None = None
    further_store_keys: tuple[Key, ...] = ()
    further_rpc_tokens: tuple[Secret, ...] = ()  # accepted, too, while the token changes
    rpc_clients: dict[ClientName, RpcClientSettings] = {}  # by name, which is in the log
    rpc_tls_cert: Path | None = None  # PEM; with one the RPC and the audio are served by https
    rpc_tls_key: Path | None = None  # else in the file of the certificate
    tls_ca: Path | None = None  # of the other engines and the PBX nodes; else the system's
    rpc_url: HttpUrl | None = None  # where other engines reach this one; else rpc_host and rpc_port
    lease_s: float = Field(2.0, ge=0.5, le=30)  # after this a dead engine's calls are taken over
    media_dir: Path = Path("/var/lib/switchroom/media")
    media_url: HttpUrl | None = None  # where every node fetches audio, from any engine
    media_workers: int = Field(default_factory=_default_workers, ge=2, le=64)  # of each kind
    media_allow: tuple[str, ...] = ()  # private networks that audio may be fetched from
    signing_key: Key | None = None
    webhook_allow: tuple[str, ...] = ()  # private networks that webhooks may be in
    private_networks_account: str = ""  # the only one that may reach both; empty: all
    outbound_deny: tuple[str, ...] = ()  # public networks that neither may be in
    allow_insecure_webhooks: bool = False  # plain HTTP, to this machine only
    callback_retries_s: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        (0, 5, 300, 1_800, 7_200, 18_000), min_length=1
    )  # before each attempt to deliver a callback
    callback_circuit_s: float = Field(30, gt=0)  # how long a failing target's circuit stays open
    callback_max_in_flight: int = Field(1_000, ge=2)  # deliveries at once, over all targets
    webhook_log_s: int = Field(86_400, ge=0)  # how long attempts stay readable; 0: no log
    webhook_log_attempts: int = Field(10_000, ge=100)  # kept of an account at most, about
    sip_hosts: tuple[
        str, ...
    ] = ()  # hosts that sip: addresses may name; calls to them may cost money
    default_allow: tuple[AllowedParty, ...] = ()  # prefixes of accounts without a dial policy
    caller_id: str = ""  # shown when a call has none
    trunk_endpoint: str = "PJSIP/{number}@trunk"  # endpoint of a dialled number
    further_trunks: tuple[TrunkName, ...] = ()  # tried if the one before has no circuit
    agent_endpoint: AgentEndpoint = "PJSIP/{agent_id}"  # of an agent that no document names
    trunk_refer: bool = False  # phones behind the trunk may transfer, at their call's cost
    agent_account: str = ""  # the only account with that endpoint, unless it contains {account}
    max_calls: int = Field(5_000, ge=1)  # live at once in this engine
    max_calls_per_s: int = Field(400, ge=1)  # new calls in this engine
    trunk_max_calls: int | None = Field(None, ge=1)  # legs on the trunk at once, over all engines
    trunk_max_calls_per_s: int | None = Field(
        None, ge=1
    )  # new calls on the trunk, over all engines
    longest_call_s: int = Field(14_400, ge=1, le=MAX_CALL_S)
    node_grace_s: int = Field(30, ge=1)  # calls end when their node is disconnected for longer
    reap_s: float = Field(15, gt=0)  # interval of the search for orphaned channels
    kept_s: int = Field(86_400, ge=1)  # how long ended calls stay readable
    stream_events: int = Field(100_000, ge=1_000)  # kept in each slot's stream at least
    stream_ceiling: int = Field(
        400_000, ge=1_000
    )  # kept at most for consumers that have not acknowledged them
    stream_kept_s: int = Field(3_600, ge=1)  # at most, once every consumer has acknowledged them
    ami_password: Secret | None = None  # of every node; without one calls are not recorded
    recordings_url: RecordingsUrl = "file:///var/lib/switchroom/recordings"
    recordings_public_url: str = ""  # base URL of published recordings, if it differs
    recordings_s3: dict[str, str] = {}  # endpoint, region, access_key_id, secret_access_key, …
    recordings_s: float = Field(30, gt=0)  # interval of the search for recordings left on a node
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def can_record(self) -> bool:
        """Whether calls can be recorded: some node needs an AMI password."""
        own = any(node.ami_password for node in self.nodes)
        return own or self.ami_password is not None

    def node_at(self, name: str, url: str) -> NodeSettings:
        """Return the settings of a node found by DNS."""
        return NodeSettings.model_validate(
            {
                "name": name,
                "url": url,
                "user": self.node_user,
                "password": self.node_password,
                "media_url": self.node_media_url,
                "ami_port": self.node_ami_port,
                "ami_tls": self.node_tls,
                "max_calls": self.node_max_calls,
                "max_calls_per_s": self.node_max_calls_per_s,
            }
        )

    @model_validator(mode="after")
    def _check_node_dns(self) -> Self:
        if self.node_dns and self.node_password is None:
            raise ValueError("node_dns needs node_password")
        return self

    @field_validator("nodes")
    @classmethod
    def _check_distinct(cls, nodes: tuple[NodeSettings, ...]) -> tuple[NodeSettings, ...]:
        # Nodes of one name would share calls, connections to one PBX would share events.
        for kind in ("name", "url"):
            values = [str(getattr(node, kind)) for node in nodes]
            if twice := next((each for each in values if values.count(each) > 1), None):
                raise ValueError(f"two nodes have the {kind} {twice}")
        return nodes

    @model_validator(mode="after")
    def _check_store(self) -> Self:
        if not self.allow_insecure_store and parse_address(self.redis_url).is_open:
            raise ValueError(
                "redis_url: a store on another host needs a password (redis://:password@host)"
                " or TLS (rediss://); allow_insecure_store=true allows neither"
            )
        return self

    @model_validator(mode="after")
    def _check_rpc_tls(self) -> Self:
        if self.rpc_tls_key is not None and self.rpc_tls_cert is None:
            raise ValueError("rpc_tls_key needs rpc_tls_cert")
        has_plain_url = self.rpc_url is not None and self.rpc_url.scheme == "http"
        if self.rpc_tls_cert is not None and has_plain_url:
            raise ValueError("rpc_url must begin with https://, as rpc_tls_cert is set")
        return self

    @model_validator(mode="after")
    def _check_rpc_clients(self) -> Self:
        tokens = [each.get_secret_value() for each in (self.rpc_token, *self.further_rpc_tokens)]
        for name, client in self.rpc_clients.items():
            own = {each.get_secret_value() for each in (client.token, *client.further_tokens)}
            if own.intersection(tokens):
                raise ValueError(f"rpc_clients: {name} needs a token of its own")
            tokens += own
        return self

    @model_validator(mode="after")
    def _check_stream_limits(self) -> Self:
        if self.stream_ceiling < self.stream_events:
            raise ValueError("stream_ceiling is below stream_events")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment first, then `.env`, then the TOML file."""
        sources = (init_settings, env_settings, dotenv_settings, file_secret_settings)
        if path := os.environ.get("SWITCHROOM_CONFIG"):
            return (*sources, TomlConfigSettingsSource(settings_cls, path))
        return sources
