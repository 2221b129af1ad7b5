"""Settings: `SWITCHROOM_…` variables, a TOML file named by SWITCHROOM_CONFIG, or `.env`."""

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


def _store_url(url: str) -> str:
    parse_address(url)
    return url


StoreUrl = Annotated[str, AfterValidator(_store_url)]
RecordingsUrl = Annotated[str, StringConstraints(pattern=r"^(file:///|s3://[^/]+)")]
NodeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,16}$")]


class NodeSettings(BaseModel):
    """One PBX node: where its ARI answers, and how it reaches this engine's media."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: NodeName
    url: HttpUrl
    user: str = "switchroom"
    password: SecretStr
    media_url: HttpUrl | None = None  # without one: as other engines reach this one (rpc_url)
    ami_user: str = "switchroom"
    ami_password: SecretStr | None = None  # without one: the engine's own setting
    ami_port: int = Field(5038, ge=1, le=65535)  # where its health is listened to
    weight: float = Field(1, gt=0)  # its share of new calls beside the other nodes'
    max_calls: int | None = Field(None, ge=1)  # live at once on it, of all engines
    max_calls_per_s: int | None = Field(None, ge=1)  # new ones, of all engines


class Settings(BaseSettings):
    """All that an operator can set on an engine."""

    model_config = SettingsConfigDict(
        env_prefix="SWITCHROOM_", env_nested_delimiter="__", env_file=".env", extra="ignore"
    )

    redis_url: StoreUrl = "redis://127.0.0.1:6379/0"
    nodes: tuple[NodeSettings, ...] = ()
    node_dns: str = ""  # `pbx.example:8088`: every address of the name is a node, too
    node_user: str = "switchroom"  # of nodes found so; the next four, too
    node_password: SecretStr | None = None
    node_media_url: HttpUrl | None = None
    node_max_calls: int | None = Field(None, ge=1)
    node_max_calls_per_s: int | None = Field(None, ge=1)
    slots: int = Field(8, ge=1, le=64)
    rpc_host: str = "127.0.0.1"
    rpc_port: int = Field(8070, ge=0, le=65535)
    rpc_token: SecretStr
    rpc_url: HttpUrl | None = None  # where other engines reach this one; else host and port
    lease_s: float = Field(2.0, ge=0.5, le=30)  # a dead engine's calls are taken up after this
    media_dir: Path = Path("/var/lib/switchroom/media")
    media_allow: tuple[str, ...] = ()  # private networks that audio may come from
    webhook_secret: SecretStr | None = None
    webhook_allow: tuple[str, ...] = ()  # private networks that webhooks may live in
    allow_insecure_webhooks: bool = False  # plain http, to this machine only
    callback_retries_s: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        (0, 5, 300, 1_800, 7_200, 18_000), min_length=1
    )  # before each try to tell a customer of an event
    callback_circuit_s: float = Field(30, gt=0)  # a target that fails again and again is left alone
    sip_hosts: tuple[str, ...] = ()  # that sip: addresses may name; dialling them costs money
    caller_id: str = ""  # shown when a call names none
    trunk_endpoint: str = "PJSIP/{number}@trunk"  # how a number is dialled
    agent_endpoint: str = "PJSIP/{agent_id}"  # how an agent is dialled
    max_calls: int = Field(5_000, ge=1)  # live at once in this engine
    max_calls_per_s: int = Field(400, ge=1)  # new ones
    trunk_max_calls: int | None = Field(None, ge=1)  # legs on the trunk at once, of all engines
    trunk_max_calls_per_s: int | None = Field(None, ge=1)  # new calls on it, of all engines
    longest_call_s: int = Field(14_400, ge=1)
    node_grace_s: int = Field(30, ge=1)  # a node that is away longer has lost its calls
    reap_s: float = Field(15, gt=0)  # between two looks for what is nobody's
    kept_s: int = Field(86_400, ge=1)  # ended calls stay readable
    stream_events: int = Field(100_000, ge=1_000)  # kept in each slot's stream
    stream_ceiling: int = Field(400_000, ge=1_000)  # and for readers who have not acknowledged them
    ami_password: SecretStr | None = None  # of every node; without one nothing is recorded
    recordings_url: RecordingsUrl = "file:///var/lib/switchroom/recordings"
    recordings_public_url: str = ""  # as which recordings are told, where it is another address
    recordings_s3: dict[str, str] = {}  # endpoint, region, access_key_id, secret_access_key, …
    recordings_s: float = Field(30, gt=0)  # between two looks for what was not filed in time
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def can_record(self) -> bool:
        """Whether anything can be recorded: it takes a password of some node's manager."""
        own = any(node.ami_password for node in self.nodes)
        return own or self.ami_password is not None

    def node_at(self, name: str, url: str) -> NodeSettings:
        """Give the settings of a node that was found by the DNS."""
        return NodeSettings.model_validate(
            {
                "name": name,
                "url": url,
                "user": self.node_user,
                "password": self.node_password,
                "media_url": self.node_media_url,
                "max_calls": self.node_max_calls,
                "max_calls_per_s": self.node_max_calls_per_s,
            }
        )

    @model_validator(mode="after")
    def _nodes_found_can_be_reached(self) -> Self:
        if self.node_dns and self.node_password is None:
            raise ValueError("node_dns needs node_password")
        return self

    @field_validator("nodes")
    @classmethod
    def _are_different(cls, nodes: tuple[NodeSettings, ...]) -> tuple[NodeSettings, ...]:
        # Two of one name would have each other's calls; two ways to one PBX, each other's events.
        for kind in ("name", "url"):
            given = [str(getattr(node, kind)) for node in nodes]
            if twice := next((each for each in given if given.count(each) > 1), None):
                raise ValueError(f"two nodes have the {kind} {twice}")
        return nodes

    @model_validator(mode="after")
    def _ceiling_is_above(self) -> Self:
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
