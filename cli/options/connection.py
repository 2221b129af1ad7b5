"""Which servers a command uses, with which key and account: options, a profile, or settings.

`--url` names an engine. Else a profile that is named (`--profile`, SWITCHROOM_PROFILE) replaces all
settings of the environment. A profile that is only in use gives way to servers and keys of the
environment, but not to those of `.env`: the folder does not decide which cluster is reached.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from base.invalid_settings import InvalidSettings, unreadable
from base.lab_folder import FOLDER_VARIABLE
from cli.errors import NO_SOURCE, UsageError
from cli.options.profiles import Profile, profiles_path, read_profiles

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a client cannot connect to a bind-all address
_PREFIX = "SWITCHROOM_"
_CONFIG = "SWITCHROOM_CONFIG"
_SERVERS = ("API_URL", "RPC_HOST", "RPC_PORT", "RPC_TOKEN")
_MAX_PORT = 65_535
DOTENV = Path(".env")


@dataclass(frozen=True)
class ClientSettings:
    """The servers that a client may use, and its keys."""

    source: str = NO_SOURCE
    rpc_url: str = "http://127.0.0.1:8070"
    rpc_token: str = field(default="", repr=False)
    api_url: str = ""
    api_key: str = field(default="", repr=False)
    api_secret: str = field(default="", repr=False)
    tls_ca: Path | None = None
    account: str = ""
    own_api_url: str = ""  # of the REST layer whose settings these are: what only it has is there

    @property
    def has_api(self) -> bool:
        """Whether there is a REST layer and a key of an account."""
        return bool(self.api_url and self.api_key)


@Parameter(name="*")
@dataclass(frozen=True)
class ConnectionOptions:
    """Options of every command."""

    url: Annotated[
        str, Parameter(help="Engine URL, such as http://127.0.0.1:8070, for an operator.")
    ] = ""
    token: Annotated[str, Parameter(help="RPC token; default: SWITCHROOM_RPC_TOKEN.")] = ""
    profile: Annotated[
        str, Parameter(help="Profile; default: SWITCHROOM_PROFILE, or the one in use.")
    ] = ""


AccountFlag = Annotated[str, Parameter(help="Account, any name; default: SWITCHROOM_ACCOUNT.")]
DEFAULT_CONNECTION = ConnectionOptions()


EngineAddress = tuple[str, str, Path | None]


def client_settings(
    connection: ConnectionOptions = DEFAULT_CONNECTION,
    environ: Mapping[str, str] = os.environ,
    dotenv: Path = DOTENV,
) -> ClientSettings:
    """Return the settings of a client; raises InvalidSettings, UsageError."""
    if connection.url and connection.profile:
        raise UsageError("--url and --profile exclude each other")
    if not connection.url:
        named = connection.profile or environ.get("SWITCHROOM_PROFILE", "")
        is_set = any(_PREFIX + each in environ for each in _SERVERS)
        if named or not is_set:
            profiles = read_profiles(profiles_path(environ))
            if name := named or profiles.current:
                return _of_profile(name, profiles.get(name))
    own = {k: v for k, v in environ.items() if k.startswith(_PREFIX)}
    of_folder, of_config = _dotenv(dotenv), _config(own.get(_CONFIG, ""))
    found = of_config | of_folder | own  # as engines read them
    sources = {"the environment": own, str(dotenv): of_folder}
    named = " and ".join(name for name, values in sources.items() if values)
    return _of_environment(found, named or NO_SOURCE)


def _of_profile(name: str, profile: Profile) -> ClientSettings:
    default = ClientSettings()
    return ClientSettings(
        source=f"profile {name}",
        rpc_url=profile.rpc_url or default.rpc_url,
        rpc_token=profile.rpc_token,
        api_url=profile.api_url,
        api_key=profile.api_key,
        api_secret=profile.api_secret,
        tls_ca=Path(profile.tls_ca) if profile.tls_ca else None,
        account=profile.account,
    )


def _of_environment(environ: Mapping[str, str], source: str) -> ClientSettings:
    def value(name: str, default: str = "") -> str:
        return environ.get(_PREFIX + name, default)

    host, port = value("RPC_HOST", "127.0.0.1"), value("RPC_PORT", "8070")
    if not (port.isascii() and port.isdigit() and int(port) <= _MAX_PORT):
        raise InvalidSettings([f"SWITCHROOM_RPC_PORT: a port, 0 to {_MAX_PORT}, is expected"])
    scheme = "https" if value("RPC_TLS_CERT") else "http"  # with one the engine serves https
    return ClientSettings(
        source=source,
        rpc_url=_url(scheme, host, port),
        rpc_token=value("RPC_TOKEN"),
        api_url=value("API_URL"),
        api_key=value("API_KEY"),
        api_secret=value("API_SECRET"),
        tls_ca=Path(value("TLS_CA")) if value("TLS_CA") else None,
        account=value("ACCOUNT"),
        own_api_url=_url("http", value("API_HOST"), value("API_PORT", "8000"))
        if value("API_HOST")
        else "",
    )


def _url(scheme: str, host: str, port: str) -> str:
    reached = _ANY.get(host, host)
    return f"{scheme}://{f'[{reached}]' if ':' in reached else reached}:{port}"


def _dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 - clients start faster without

    try:
        found = dotenv_values(path, encoding="utf-8")
    except OSError as error:
        raise UsageError(unreadable(path, error)) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    return {k: v for k, v in found.items() if v is not None and k.startswith(_PREFIX)}


def is_lab(environ: Mapping[str, str], dotenv: Path) -> bool:
    """Return whether the settings are those of a lab of `switchroom dev`."""
    return FOLDER_VARIABLE in {**_dotenv(dotenv), **environ}


def _config(path: str) -> dict[str, str]:
    """Return the settings of the TOML file that engines read."""
    if not path:
        return {}
    import tomllib  # noqa: PLC0415 - few clients have such a file

    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSettings([f"{_CONFIG}: {path}: {error.strerror}"]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings([f"{_CONFIG}: no valid TOML: {error}"]) from None
    return {
        f"{_PREFIX}{name.upper()}": str(value)
        for name, value in found.items()
        if isinstance(value, str | int)
    }


def engine_address(connection: ConnectionOptions, settings: ClientSettings) -> EngineAddress:
    """Return the URL, the token and the CA file of the engine; raises UsageError."""
    url = connection.url or settings.rpc_url
    if not is_url(url):
        name = "--url" if connection.url else "rpc_url"
        raise UsageError(f"{name} {url}: expected a URL such as http://127.0.0.1:8070")
    token = connection.token or settings.rpc_token
    _check_operator(connection, settings)
    return url.rstrip("/"), token, settings.tls_ca


def _check_operator(connection: ConnectionOptions, settings: ClientSettings) -> None:
    """Say which setting is missing where there is only a key of an account; raises UsageError."""
    if connection.url or connection.token or settings.rpc_token or not settings.has_api:
        return
    source = settings.source
    kind, _, name = source.partition(" ")
    setting = (
        f"its rpc_token (`switchroom profile set {name} --rpc-url URL --rpc-token -`)"
        if kind == "profile"
        else "SWITCHROOM_RPC_TOKEN"
    )
    raise UsageError(
        f"this command needs operator access, and {source} has only a key of an account: set"
        f" {setting}, or name another profile with --profile"
    )


def engine_addresses(
    connection: ConnectionOptions, settings: ClientSettings
) -> list[EngineAddress]:
    """Return URL, token and CA file of each engine in a comma-separated list; raises UsageError."""
    _check_operator(connection, settings)
    urls = (connection.url or settings.rpc_url).split(",")
    return [
        engine_address(ConnectionOptions(url.strip(), connection.token), settings) for url in urls
    ]


def is_url(url: str) -> bool:
    """Return whether a text is the URL of a server."""
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
