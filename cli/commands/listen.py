"""`switchroom listen`: webhooks of a number or call, answered by a local server."""

import sys
from typing import Annotated, Any

from cyclopts import Parameter
from msgspec import to_builtins
from msgspec.structs import asdict

from cli.command import rest_command
from cli.errors import UsageError
from cli.listen import ListenSession, LocalServer, Show, path_and_query
from cli.output import OutputFlag, OutputFormat, write_next
from cli.rest_client import RestClient
from wire.listeners import ListenerRequest, ListenerResponse


@rest_command
async def listen(  # noqa: PLR0913 - one for each option
    rest: RestClient,
    *,
    forward: Annotated[str, Parameter(help="Local server, such as http://localhost:3000.")],
    number: Annotated[str, Parameter(help="A number of the account.")] = "",
    call: Annotated[str, Parameter(help="A live call.")] = "",
    quiet: Annotated[bool, Parameter(help="Show no bodies.")] = False,
    output: OutputFlag = "table",
) -> None:
    """Answer the webhooks of a number or call with a local server.

    It ends with Ctrl-C. With --output json each request, with its response, is a line; with yaml,
    a document.

    Example: switchroom listen --number +4721930000 --forward http://localhost:3000
    """
    if bool(number) == bool(call):
        raise UsageError("one of --number and --call is required")
    server = LocalServer(forward)

    subject = {"number": number} if number else {"callId": call}
    show = printer(output, has_bodies=not quiet)
    started = f"webhooks of {number or call} go to {server.url} until Ctrl-C"
    await ListenSession(rest, server, subject, show, say).run(started)


def say(text: str) -> None:
    sys.stderr.write(f"switchroom: {text}\n")


def printer(output: OutputFormat, *, has_bodies: bool) -> Show:
    """Return what prints a request and its response."""

    def show(request: ListenerRequest, response: ListenerResponse, note: str) -> None:
        if output == "table":
            sys.stdout.write(exchange_text(request, response, note, has_bodies=has_bodies))
            sys.stdout.flush()
        else:
            write_next(exchange_value(request, response, note, has_bodies=has_bodies), output)

    return show


def exchange_text(
    request: ListenerRequest, response: ListenerResponse, note: str, *, has_bodies: bool
) -> str:
    """Return a request and its response as lines."""
    outcome = response.fault or str(response.status)
    lines = [f"{request.method} {path_and_query(request.url)} -> {outcome}"]
    if has_bodies:
        lines += [f"  {name}: {value}" for name, value in request.headers.items()]
        lines += [f"  > {line}" for line in request.body.splitlines()]
        lines += [f"  < {line}" for line in response.body.splitlines()]
    if note:
        lines.append(f"  {note}")
    return "".join(f"{_printable(line)}\n" for line in lines)


def exchange_value(
    request: ListenerRequest, response: ListenerResponse, note: str, *, has_bodies: bool
) -> dict[str, Any]:
    """Return a request and its response for programs."""
    found = {"request": to_builtins(request), "response": asdict(response)}
    if not has_bodies:
        for each in found.values():
            each.pop("body", None)
    return {**found, "note": note}


def _printable(line: str) -> str:
    """Return a line without control characters, which could change the terminal."""
    return "".join(each if each.isprintable() or each == "\t" else "�" for each in line)
