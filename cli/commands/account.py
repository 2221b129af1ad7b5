"""`switchroom account`: the account of a key, over REST; and an administrator's commands."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cli.command import IfVersion, rest_command
from cli.database.commands import COMMANDS
from cli.errors import UsageError
from cli.help import add_named_command, with_example
from cli.output import Column, Shown, fields_shown, rows_shown
from cli.rest_client import RestClient

Days = Annotated[int | None, Parameter(help="Days until they are deleted; 0: never.")]
_LIMIT = "limits"
_USAGE: tuple[Column, ...] = (
    ("day", "date"),
    ("calls", "calls"),
    ("answered", "answeredCalls"),
    ("minutes", "minutes"),
    ("legs", "legs"),
    ("messages", "messages"),
)

account = App(
    name="account",
    help=with_example("Manage accounts, their keys, numbers and limits.", "account show"),
)
for _name, (_path, _help) in COMMANDS.items():
    add_named_command(account, f"cli.database.{_path}", _name, _help)


@account.command(alias="get")
@rest_command
async def show(rest: RestClient) -> Shown:
    """Show settings and limits of the account that the key belongs to.

    Example: switchroom account show
    """
    return _shown(await rest.tagged("GET", "account"))


@account.command
@rest_command
async def change(  # noqa: PLR0913 - one for each setting
    rest: RestClient,
    *,
    name: Annotated[str | None, Parameter(help="Display name.")] = None,
    region: Annotated[
        str | None, Parameter(help="Country of numbers without a +, such as NO; empty: none.")
    ] = None,
    email: Annotated[str | None, Parameter(help="E-mail address; empty: none.")] = None,
    keep_records_days: Days = None,
    keep_digits_days: Days = None,
    keep_recordings_days: Days = None,
    transcripts: Annotated[
        str | None,
        Parameter(help="Recognizer that transcribes recordings, such as whisper; empty: none."),
    ] = None,
    transcript_language: Annotated[
        str | None, Parameter(help="Language of the recordings, such as en-US.")
    ] = None,
    transcript_hint: Annotated[
        list[str] | None, Parameter(help="A word or name that is likely. Repeatable.")
    ] = None,
    if_version: IfVersion = None,
) -> Shown:
    """Change settings of the account that the key belongs to; limits are the operator's.

    Example: switchroom account change --email crm@example.com --keep-recordings-days 90
    """
    given: dict[str, Any] = {
        "name": name,
        "region": region,
        "email": email,
        "keepRecordsDays": keep_records_days,
        "keepDigitsDays": keep_digits_days,
        "keepRecordingsDays": keep_recordings_days,
    }
    body = {key: value or None for key, value in given.items() if value is not None}
    body |= await _transcripts(
        rest, recognizer=transcripts, language=transcript_language, hints=transcript_hint
    )
    if not body:
        raise UsageError("at least one setting to change is required; see --help")
    return _shown(await rest.tagged("PATCH", "account", body=body, version=if_version))


@account.command
@rest_command
async def usage(
    rest: RestClient,
    *,
    since: Annotated[str, Parameter(help="First day (UTC), such as 2026-11-01.")] = "",
    until: Annotated[str, Parameter(help="Last day.")] = "",
) -> Shown:
    """Show calls, minutes, legs and messages of each day, by default of the last 31.

    Example: switchroom account usage --since 2026-11-01 --until 2026-11-30
    """
    query = {name: day for name, day in (("startDate", since), ("endDate", until)) if day}
    found = await rest.request(dict[str, Any], "GET", "account", "usage", query=query)
    rows = [*found["data"], {"date": "total", **found["total"]}]
    return Shown(found, rows_shown(rows, _USAGE, "").items)


async def _transcripts(rest: RestClient, **given: Any) -> dict[str, Any]:
    """Return the setting as a whole: what is not given keeps its value."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        return {}
    if chosen.get("recognizer") == "":
        return {"transcripts": None}
    present = (await rest.tagged("GET", "account")).get("transcripts") or {}
    if "recognizer" not in {**present, **chosen}:
        raise UsageError("--transcript-language and --transcript-hint need --transcripts")
    return {"transcripts": {**present, **chosen}}


def _shown(found: dict[str, Any]) -> Shown:
    """Show an account; its limits are lines of their own."""
    flat = {key: value for key, value in found.items() if key != _LIMIT}
    flat |= {key: value for key, value in found.get(_LIMIT, {}).items() if value is not None}
    return Shown(found, fields_shown(flat).items)
