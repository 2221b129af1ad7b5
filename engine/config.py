"""Settings of an engine: `SWITCHROOM_…` variables, `.env`, or a TOML file (SWITCHROOM_CONFIG)."""

from yarl import URL

from base.settings import ProgramSettings
from engine.settings.calls import DialSettings, LimitSettings, MediaSettings, WebhookSettings
from engine.settings.nodes import NodeSettings, NodesSettings
from engine.settings.rpc import RpcSettings
from engine.settings.store import StoreSettings


class Settings(
    StoreSettings,
    NodesSettings,
    RpcSettings,
    DialSettings,
    LimitSettings,
    MediaSettings,
    WebhookSettings,
    ProgramSettings,
):
    """All settings of an engine."""

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
                "stream_gateways": self._stream_gateways(url),
            }
        )

    def _stream_gateways(self, url: str) -> list[str]:
        """Return the addresses of the gateways beside a node found by DNS: they share its host."""
        host = URL(url)
        return [str(host.with_port(port)) for port in self.node_stream_ports]
