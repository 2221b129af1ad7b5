"""`switchroom profile`: named servers and keys in a file, and the one in use."""

import os
import sys
from dataclasses import asdict, fields, replace
from getpass import getpass
from typing import Annotated

from cyclopts import App, Parameter

from cli.errors import NotFound, UsageError, exit_on_errors
from cli.help import with_example
from cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    client_settings,
    is_url,
)
from cli.options.profiles import (
    Profile,
    Profiles,
    check_name,
    profiles_path,
    read_profiles,
)
from cli.output import OutputFlag, Shown, fields_shown, rows_shown, shown, write_shown

Name = Annotated[str, Parameter(help="Name of the profile.")]
_SECRETS = {"api_key", "api_secret"}
_COLUMNS = [("profile", "name"), ("in use", "isCurrent"), ("REST layer", "api_url"),
            ("account", "account")]  # fmt: skip

profile = App(
    name="profile",
    help=with_example("Manage named servers and keys, and choose the one in use.", "profile list"),
)


@profile.command(name="set")
@exit_on_errors
def put(  # noqa: PLR0913 - one for each value
    name: Name,
    *,
    api_url: Annotated[str | None, Parameter(help="URL of the REST layer.")] = None,
    api_key: Annotated[
        str | None,
        Parameter(help="API key; -: read from standard input.", allow_leading_hyphen=True),
    ] = None,
    api_secret: Annotated[
        str | None,
        Parameter(
            help="Its secret, where keys are no tokens; -: read from standard input.",
            allow_leading_hyphen=True,
        ),
    ] = None,
    tls_ca: Annotated[str | None, Parameter(help="File of certificates to trust.")] = None,
    account: Annotated[str | None, Parameter(help="Account of the key.")] = None,
    output: OutputFlag = "table",
) -> None:
    """Add or change a profile; an empty text removes a value. The first one is in use.

    Example: switchroom profile set acme --api-url https://voice.example.com --api-key -
    """
    given = {
        "api_url": api_url, "api_key": api_key, "api_secret": api_secret, "tls_ca": tls_ca,
        "account": account,
    }  # fmt: skip
    values = {key: _read(value) for key, value in given.items() if value is not None}
    if values.get("api_url") and not is_url(values["api_url"]):
        raise UsageError(f"--api-url {values['api_url']}: a URL is expected")
    found = _profiles()
    changed = replace(found.by_name.get(check_name(name), Profile()), **values)
    by_name = {**found.by_name, name: changed}
    stored = Profiles(found.path, by_name, found.current or name)
    stored.save()
    write_shown(shown(_row(stored, name)), output)


@profile.command(name="list")
@exit_on_errors
def list_(*, output: OutputFlag = "table") -> None:
    """List the profiles, without their keys.

    Example: switchroom profile list
    """
    found = _profiles()
    rows = [_row(found, name) for name in sorted(found.by_name)]
    write_shown(
        rows_shown(rows, _COLUMNS, "no profiles; `switchroom profile set` adds one"), output
    )


@profile.command
@exit_on_errors
def use(name: Name, *, output: OutputFlag = "table") -> None:
    """Use a profile in each command that names no other.

    Example: switchroom profile use acme
    """
    found = _profiles()
    found.get(name)
    stored = replace(found, current=name)
    stored.save()
    write_shown(shown(_row(stored, name)), output)


@profile.command(alias="get")
@exit_on_errors
def show(
    name: Annotated[str, Parameter(help="Name of the profile; default: what commands use.")] = "",
    *,
    output: OutputFlag = "table",
) -> None:
    """Show a profile, or which server commands use, and from where they know them.

    Example: switchroom profile show
    """
    chosen = ConnectionOptions(profile=name) if name else DEFAULT_CONNECTION
    write_shown(_shown(client_settings(chosen)), output)


@profile.command(name="rm", alias="remove")
@exit_on_errors
def remove(name: Name, *, output: OutputFlag = "table") -> None:
    """Delete a profile.

    Example: switchroom profile rm acme
    """
    found = _profiles()
    if name not in found.by_name:
        raise NotFound("profile", name)
    rest = {key: each for key, each in found.by_name.items() if key != name}
    Profiles(found.path, rest, "" if found.current == name else found.current).save()
    write_shown(shown(_row(found, name)), output)


def _profiles() -> Profiles:
    return read_profiles(profiles_path(os.environ))


def _read(value: str) -> str:
    if value != "-":
        return value
    if sys.stdin.isatty():
        return getpass("value (not shown): ")
    return sys.stdin.readline().rstrip("\r\n")


def _row(found: Profiles, name: str) -> dict[str, object]:
    return {"name": name, "isCurrent": name == found.current, **_public(found.by_name[name])}


def _public(found: Profile) -> dict[str, str]:
    return {key: value for key, value in asdict(found).items() if key not in _SECRETS}


def _shown(settings: ClientSettings) -> Shown:
    """Show settings; of a secret, its beginning."""
    value: dict[str, object] = {}
    for each in fields(settings):
        text = str(getattr(settings, each.name) or "")
        value[each.name] = f"{text[:6]}…" if text and each.name in _SECRETS else text
    return fields_shown(value)
