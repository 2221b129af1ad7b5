"""Commands from coroutine functions: options of the connection take the place of the client.

    @flow.command
    @rest_command
    async def show(rest: RestClient, flow_id: FlowId) -> Shown:
        \"\"\"Show a flow.

        Example: switchroom flow show menu
        \"\"\"

The function returns what it shows, an exit status, or None. `--output` chooses how it is printed;
a function that prints while it runs has a parameter `output`.
"""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Annotated, Any, Concatenate, ParamSpec

from cyclopts import Parameter

from cli.errors import key_named, run
from cli.help import paragraphs
from cli.options.connection import DEFAULT_CONNECTION, ConnectionOptions, client_settings
from cli.output import OutputFlag, Shown, write_shown
from cli.rest_client import RestClient, open_rest

P = ParamSpec("P")
IfVersion = Annotated[
    int | None,
    Parameter(help="Only if it still has this version; 0: only if there is none yet."),
]


def rest_command(
    function: Callable[Concatenate[RestClient, P], Coroutine[Any, Any, int | Shown | None]],
) -> Callable[..., None]:
    """Return a command with options of the connection in place of the function's client."""
    own = list(inspect.signature(function).parameters.values())[1:]
    has_output = any(each.name == "output" for each in own)

    async def execute(*values: Any, **options: Any) -> int | None:
        settings = client_settings(options.pop("connection", DEFAULT_CONNECTION))
        output = options.get("output", "table") if has_output else options.pop("output", "table")
        with key_named(settings.source):
            found = await function(open_rest(settings), *values, **options)
        if isinstance(found, Shown):
            write_shown(found, output)
            return found.status
        return found

    @wraps(function)
    def command(*values: Any, **options: Any) -> None:
        run(execute(*values, **options))

    own.append(_option("connection", ConnectionOptions, DEFAULT_CONNECTION))
    if not has_output:
        own.append(_option("output", OutputFlag, "table"))
    command.__doc__ = paragraphs(function.__doc__ or "")
    command.__annotations__ = {each.name: each.annotation for each in own}
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]  # read by cyclopts
    return command


def _option(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
