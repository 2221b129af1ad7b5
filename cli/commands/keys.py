"""`switchroom key`: the API keys of the account, over REST."""

import sys
from typing import Annotated, Any

from cyclopts import App, Parameter

from cli.command import rest_command
from cli.help import with_example
from cli.output import Column, Row, Shown, rows_shown, shown
from cli.rest_client import RestClient

KeyId = Annotated[str, Parameter(help="Key, or its id in the list of keys.")]
_COLUMNS: tuple[Column, ...] = (
    ("key", "id"),
    ("agent", "agentId"),
    ("scopes", "scopes"),
    ("networks", lambda row: " ".join(row["networks"]) or "any"),
    ("created", "createdTime"),
    ("expires", lambda row: row["expiryTime"] or "never"),
    ("last used", lambda row: row["lastUsedTime"] or "never"),
)

key = App(name="key", help=with_example("Manage the API keys of the account.", "key list"))


@key.command
@rest_command
async def create(
    rest: RestClient,
    *,
    agent: Annotated[str | None, Parameter(help="Agent that the key acts for.")] = None,
    scope: Annotated[
        tuple[str, ...], Parameter(help="Scope, or bundle such as read-only; repeatable.")
    ] = (),
    network: Annotated[
        tuple[str, ...],
        Parameter(help="Network that may use it, such as 192.0.2.0/24; repeatable."),
    ] = (),
    days: Annotated[
        int | None, Parameter(help="Days until it expires, at least 1; without it: never.")
    ] = None,
) -> Shown:
    """Create a key; its secret is shown only once.

    Example: switchroom key create --scope read-only --days 90
    """
    body: dict[str, Any] = {"scopes": scope, "networks": network}
    body |= {} if agent is None else {"agentId": agent}
    body |= {} if days is None else {"days": days}
    return _created(await rest.request(dict[str, Any], "POST", "keys", body=body))


@key.command(name="list")
@rest_command
async def list_(rest: RestClient) -> Shown:
    """List the keys, oldest first, also those that have expired or were revoked.

    Example: switchroom key list
    """
    return rows_shown([each async for each in rest.rows("keys")], _COLUMNS, "no keys")


@key.command
@rest_command
async def rotate(
    rest: RestClient,
    key_id: KeyId,
    *,
    overlap_s: Annotated[int, Parameter(help="Seconds until the old key expires.")] = 3_600,
    days: Annotated[
        int | None,
        Parameter(help="Days until the new key expires; without it: when the old one would."),
    ] = None,
) -> Shown:
    """Create a replacement of a key, with its rights, and let the old key expire.

    Example: switchroom key rotate 3f9a12 --overlap-s 600
    """
    body: dict[str, Any] = {"overlapS": overlap_s} | ({} if days is None else {"days": days})
    path = ("keys", _id(key_id), "rotate")
    return _created(await rest.request(dict[str, Any], "POST", *path, body=body))


@key.command(alias="rm")
@rest_command
async def revoke(rest: RestClient, key_id: KeyId) -> Shown:
    """Revoke a key and all tokens issued for it.

    Example: switchroom key revoke 3f9a12
    """
    revoked = await rest.remove("key", key_id, "keys", _id(key_id))
    return shown(revoked, f"key {revoked['id']} is revoked")


def _created(found: Row) -> Shown:
    sys.stderr.write("switchroom: the secret is shown only once\n")
    return shown(found, f"apiKey    {found['apiKey']}", f"apiSecret {found['apiSecret']}")


def _id(text: str) -> str:
    """Return a key's id; a whole key is accepted too."""
    return text.removeprefix("swk_").partition("_")[0]
