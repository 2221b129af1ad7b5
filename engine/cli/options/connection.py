"""Which engine to use, with which token and account: options, then environment, then `.env`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter
from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from engine.cli.errors import UsageError

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a client cannot connect to a bind-all address


class ClientSettings(BaseSettings):
    """The engine settings that a client needs."""

    model_config = SettingsConfigDict(env_prefix="SWITCHROOM_", env_file=".env", extra="ignore")

    rpc_host: str = "127.0.0.1"
    rpc_port: int = 8070
    rpc_token: SecretStr = SecretStr("")
    rpc_tls_cert: Path | None = None  # with one the engine serves https
    tls_ca: Path | None = None
    account: str = ""

    @property
    def url(self) -> str:
        host = _ANY.get(self.rpc_host, self.rpc_host)
        scheme = "http" if self.rpc_tls_cert is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.rpc_port}"


@Parameter(name="*")
@dataclass(frozen=True)
class ConnectionOptions:
    """Options of every command."""

    url: Annotated[str, Parameter(help="Engine URL, such as http://127.0.0.1:8070.")] = ""
    token: Annotated[str, Parameter(help="RPC token; default: SWITCHROOM_RPC_TOKEN.")] = ""


AccountFlag = Annotated[str, Parameter(help="Account, any name; default: SWITCHROOM_ACCOUNT.")]
DEFAULT_CONNECTION = ConnectionOptions()


EngineAddress = tuple[str, str, Path | None]


def engine_address(connection: ConnectionOptions, settings: ClientSettings) -> EngineAddress:
    """Return the URL, the token and the CA file of the engine; raises UsageError."""
    url = connection.url or settings.url
    if not _is_url(url):
        raise UsageError(f"--url {url}: expected a URL such as http://127.0.0.1:8070")
    token = connection.token or settings.rpc_token.get_secret_value()
    return url.rstrip("/"), token, settings.tls_ca


def engine_addresses(
    connection: ConnectionOptions, settings: ClientSettings
) -> list[EngineAddress]:
    """Return URL, token and CA file of each engine in a comma-separated list; raises UsageError."""
    urls = (connection.url or settings.url).split(",")
    return [
        engine_address(ConnectionOptions(url.strip(), connection.token), settings) for url in urls
    ]


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # invalid port or host
        return False


def resolve_account(account: str, settings: ClientSettings) -> str:
    """Return the given account or the one of the settings; raises UsageError."""
    if named := account or settings.account:
        return named
    raise UsageError("no account: use --account or set SWITCHROOM_ACCOUNT")
