"""`switchroom account endpoint`: the endpoints that an operator grants to an account."""

import re
from typing import Annotated

from cyclopts import App, Parameter

from api.accounts.store import AccountStore, EndpointStore
from api.common.clock import now_ms
from api.db.database import Database
from cli.database.runtime import change_database, fail, read_database
from cli.database.validators import AccountId
from cli.help import with_example
from cli.output import OutputFlag, shown, write_shown
from wire.decoding.patterns import ENDPOINT, PATTERNS

Endpoint = Annotated[str, Parameter(help="Endpoint in the nodes' pjsip.conf, such as PJSIP/1001.")]

endpoint = App(
    name="endpoint",
    help=with_example(
        "Endpoints that an account's agents may have, beside PJSIP/ACCOUNT-NAME.",
        "account endpoint list acme",
    ),
    version_flags=(),
)


@endpoint.command
def add(account: AccountId, endpoint: Endpoint, *, output: OutputFlag = "table") -> None:
    """Grant an endpoint to an account; it is no other account's then.

    Example: switchroom account endpoint add acme PJSIP/1001
    """
    _check(endpoint)

    async def command(database: Database) -> None:
        await AccountStore(database, now_ms).get(account)
        await EndpointStore(database, now_ms).grant(account, endpoint)
        write_shown(shown({"endpoint": endpoint}), output)

    change_database("account endpoint add", account, command)


@endpoint.command(name="list")
def list_endpoints(account: AccountId, *, output: OutputFlag = "table") -> None:
    """List the endpoints that are granted to an account.

    Example: switchroom account endpoint list acme
    """

    async def command(database: Database) -> None:
        await AccountStore(database, now_ms).get(account)
        found = await EndpointStore(database, now_ms).of_account(account)
        write_shown(shown(found, *found), output)

    read_database(command)


@endpoint.command(name="rm", alias="remove")
def remove(account: AccountId, endpoint: Endpoint, *, output: OutputFlag = "table") -> None:
    """Revoke a grant; an agent that has the endpoint keeps it until it is changed or removed.

    Example: switchroom account endpoint rm acme PJSIP/1001
    """

    async def command(database: Database) -> None:
        await EndpointStore(database, now_ms).revoke(account, endpoint)
        write_shown(shown({"endpoint": endpoint}), output)

    change_database("account endpoint rm", account, command)


def _check(endpoint: str) -> None:
    """Exit if it is no endpoint."""
    if re.search(ENDPOINT, endpoint) is None:
        fail(f"{endpoint or 'an empty text'}: expected {PATTERNS[ENDPOINT]}")
