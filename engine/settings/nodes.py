"""Settings of the PBX nodes."""

from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    StringConstraints,
    field_validator,
    model_validator,
)

from base.settings import Secret

NodeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,16}$")]


class NodeSettings(BaseModel):
    """One PBX node: the URL of its ARI, its logins and limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: NodeName = Field(description="Its name, as `PBX_NODE` there.")
    url: HttpUrl = Field(
        description="Its ARI, such as `http://pbx1:8088`; with `https` AMI commands use TLS, too."
    )
    user: str = Field("switchroom", description="User name of its ARI.")
    password: Secret = Field(description="Password of its ARI.")
    media_url: HttpUrl | None = Field(
        None, description="Where it fetches this engine's audio; default: `SWITCHROOM_MEDIA_URL`."
    )
    ami_user: str = Field("switchroom", description="User name of its AMI.")
    ami_password: Secret | None = Field(
        None, description="Password of its AMI; default: `SWITCHROOM_AMI_PASSWORD`."
    )
    ami_port: int = Field(
        5038, ge=1, le=65535, description="Port of its AMI, which reports its health."
    )
    ami_tls: bool = Field(False, description="Whether that port is TLS.")
    sip_host: str | None = Field(
        None, description="Where other nodes call its phones; default: the host of its `url`."
    )
    sip_port: int = Field(5060, ge=1, le=65535, description="Port of its SIP.")
    stream_gateways: tuple[HttpUrl, ...] = Field(
        (), description="Addresses of the stream gateways beside it, which connect it with bots."
    )
    weight: float = Field(
        1, gt=0, description="Its share of new calls, relative to the other nodes."
    )
    max_calls: int | None = Field(
        None, ge=1, description="Most live calls on it, over all engines."
    )
    max_calls_per_s: int | None = Field(
        None, ge=1, description="Most new calls on it per second, over all engines."
    )

    @property
    def sip_address(self) -> str:
        """Host and port of its SIP, as a SIP URI has them."""
        host = (self.sip_host or self.url.host or "").strip("[]")
        return f"[{host}]:{self.sip_port}" if ":" in host else f"{host}:{self.sip_port}"


class NodesSettings(BaseModel):
    """PBX nodes."""

    nodes: tuple[NodeSettings, ...] = Field(
        (),
        description=(
            'JSON: `[{"name": "pbx1", "url": "http://pbx1:8088", "user": "switchroom", "password":'
            ' "…"}]`, with the [fields of a node](#fields-of-a-node).'
        ),
    )
    node_dns: str = Field(
        "",
        description=(
            "Instead of `SWITCHROOM_NODES` or in addition: `pbx.example:8088`; every address of"
            " that name is a PBX node. Their certificates contain their IP addresses. The settings"
            " `SWITCHROOM_NODE_…` are theirs."
        ),
    )
    node_user: str = Field("switchroom", description="User name of ARI of nodes found by DNS.")
    node_password: Secret | None = Field(
        None, description="Password of ARI of nodes found by DNS; required for them."
    )
    node_media_url: HttpUrl | None = Field(
        None, description="Where nodes found by DNS fetch audio; default: `SWITCHROOM_MEDIA_URL`."
    )
    node_stream_ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = Field(
        (), description="Ports of the stream gateways beside nodes found by DNS."
    )
    streams_token: Secret | None = Field(
        None,
        description=(
            "The token of the stream gateways (`SWITCHROOM_STREAMS_TOKEN` there); without it calls"
            " have no media streams."
        ),
    )
    node_tls: bool = Field(
        False, description="Whether nodes found by DNS have ARI over https and AMI over TLS."
    )
    node_ami_port: int = Field(
        5038, ge=1, le=65535, description="Port of AMI of nodes found by DNS."
    )
    node_max_calls: int | None = Field(
        None, ge=1, description="Most live calls on each node found by DNS, over all engines."
    )
    node_max_calls_per_s: int | None = Field(
        None, ge=1, description="Most new calls per second on each of them, over all engines."
    )
    ami_password: Secret | None = Field(
        None,
        description=(
            "Password of the manager user `switchroom` on every node: commands go over HTTP on"
            " ARI's port, events come over `ami_port`. Without it there is no recording, no"
            " phone of an agent is called, digits during an engine outage are lost, a gather"
            " waits only 120 ms for a held key, and node health is limited to what ARI reports."
        ),
    )
    node_grace_s: int = Field(
        30, ge=1, description="Seconds after which the calls of a disconnected node end."
    )
    reap_s: float = Field(
        15, gt=0, description="Seconds between searches for orphaned channels on the nodes."
    )

    @model_validator(mode="after")
    def _check_node_dns(self) -> Self:
        if self.node_dns and self.node_password is None:
            raise ValueError("node_dns needs node_password")
        return self

    @model_validator(mode="after")
    def _check_streams(self) -> Self:
        if self.streams_token is None and any(node.stream_gateways for node in self.nodes):
            raise ValueError("stream_gateways of a node need streams_token")
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
