"""Which REST layer a command uses, with which key: options, a profile, or settings.

A profile that is named (`--profile`, SWITCHROOM_PROFILE) replaces all settings of the environment.
A profile that is only in use gives way to a server of the environment, but not to that of `.env`:
the folder does not decide which installation is reached.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from base.invalid_settings import unreadable
from base.lab_folder import FOLDER_VARIABLE
from cli.errors import NO_SOURCE, UsageError
from cli.options.profiles import Profile, profiles_path, read_profiles

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a client cannot connect to a bind-all address
_PREFIX = "SWITCHROOM_"
_SERVERS = ("API_URL", "API_HOST")
DOTENV = Path(".env")


@dataclass(frozen=True)
class ClientSettings:
    """The REST layer that a client uses, its key, and the account for which it acts."""

    source: str = NO_SOURCE
    api_url: str = ""
    api_key: str = field(default="", repr=False)
    api_secret: str = field(default="", repr=False)
    tls_ca: Path | None = None
    account: str = ""  # of the key
    acts_for: str = ""  # an account that --account names; only operators may name another


@Parameter(name="*")
@dataclass(frozen=True)
class ConnectionOptions:
    """Options of every command."""

    profile: Annotated[
        str, Parameter(help="Profile; default: SWITCHROOM_PROFILE, or the one in use.")
    ] = ""
    account: Annotated[
        str, Parameter(help="Account, with an operator's key; default: the key's own.")
    ] = ""


DEFAULT_CONNECTION = ConnectionOptions()


def client_settings(
    connection: ConnectionOptions = DEFAULT_CONNECTION,
    environ: Mapping[str, str] = os.environ,
    dotenv: Path = DOTENV,
) -> ClientSettings:
    """Return the settings of a client; raises InvalidSettings, UsageError."""
    return replace(
        _client_settings(connection.profile, environ, dotenv), acts_for=connection.account
    )


def _client_settings(profile: str, environ: Mapping[str, str], dotenv: Path) -> ClientSettings:
    named = profile or environ.get("SWITCHROOM_PROFILE", "")
    if named or not any(_PREFIX + each in environ for each in _SERVERS):
        profiles = read_profiles(profiles_path(environ))
        if name := named or profiles.current:
            return _of_profile(name, profiles.get(name))
    own = {k: v for k, v in environ.items() if k.startswith(_PREFIX)}
    of_folder = _dotenv(dotenv)
    sources = {"the environment": own, str(dotenv): of_folder}
    source = " and ".join(name for name, values in sources.items() if values)
    return _of_environment(of_folder | own, source or NO_SOURCE)


def _of_profile(name: str, profile: Profile) -> ClientSettings:
    return ClientSettings(
        source=f"profile {name}",
        api_url=profile.api_url,
        api_key=profile.api_key,
        api_secret=profile.api_secret,
        tls_ca=Path(profile.tls_ca) if profile.tls_ca else None,
        account=profile.account,
    )


def _of_environment(environ: Mapping[str, str], source: str) -> ClientSettings:
    def value(name: str, default: str = "") -> str:
        return environ.get(_PREFIX + name, default)

    host = value("API_HOST")  # of the REST layer whose settings these are
    return ClientSettings(
        source=source,
        api_url=value("API_URL")
        or (url_of("http", host, value("API_PORT", "8000")) if host else ""),
        api_key=value("API_KEY"),
        api_secret=value("API_SECRET"),
        tls_ca=Path(value("TLS_CA")) if value("TLS_CA") else None,
        account=value("ACCOUNT"),
    )


def url_of(scheme: str, host: str, port: str | int) -> str:
    """Return the URL of a server that listens at a host and port."""
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


def is_url(url: str) -> bool:
    """Return whether a text is the URL of a server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # invalid port or host
        return False
