"""Which engine to ask, and as whom: flags first, then the environment, then `.env`."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter
from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from engine.cli.errors import UsageError

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # what a server binds to is not what a client asks


class ClientSettings(BaseSettings):
    """The part of the engine's settings that a client of it needs."""

    model_config = SettingsConfigDict(env_prefix="SWITCHROOM_", env_file=".env", extra="ignore")

    rpc_host: str = "127.0.0.1"
    rpc_port: int = 8070
    rpc_token: SecretStr = SecretStr("")
    account: str = ""

    @property
    def url(self) -> str:
        """The engine's address."""
        host = _ANY.get(self.rpc_host, self.rpc_host)
        return (
            f"http://[{host}]:{self.rpc_port}" if ":" in host else f"http://{host}:{self.rpc_port}"
        )


@Parameter(name="*")
@dataclass(frozen=True)
class ConnectionOptions:
    """Flags that every command has."""

    url: Annotated[str, Parameter(help="Engine, such as http://127.0.0.1:8070.")] = ""
    token: Annotated[str, Parameter(help="RPC token; better kept in SWITCHROOM_RPC_TOKEN.")] = ""


AccountFlag = Annotated[str, Parameter(help="Default: SWITCHROOM_ACCOUNT.")]
DEFAULT_CONNECTION = ConnectionOptions()


def engine_address(where: ConnectionOptions, settings: ClientSettings) -> tuple[str, str]:
    """Return the engine's address and token; raises BadUse."""
    url = where.url or settings.url
    if not _is_address(url):
        raise UsageError(f"--url {url}: an address such as http://127.0.0.1:8070 is expected")
    return url.rstrip("/"), where.token or settings.rpc_token.get_secret_value()


def engine_addresses(where: ConnectionOptions, settings: ClientSettings) -> list[tuple[str, str]]:
    """Return the addresses of several engines, each with the token; raises BadUse."""
    urls = (where.url or settings.url).split(",")
    return [engine_address(ConnectionOptions(url.strip(), where.token), settings) for url in urls]


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no port, or no host
        return False


def resolve_account(account: str, settings: ClientSettings) -> str:
    """Return the account that was named, or else the one of the settings; raises BadUse."""
    if named := account or settings.account:
        return named
    raise UsageError("whose? name an --account, or set SWITCHROOM_ACCOUNT")
