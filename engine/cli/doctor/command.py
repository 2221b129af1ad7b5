"""`switchroom doctor`: runs all checks; exit status 1 if one fails."""

import asyncio
import os
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.app.dns_discovery import Discovery
from engine.cli.client import open_client
from engine.cli.doctor.ami import check_ami
from engine.cli.doctor.archive import check_archive
from engine.cli.doctor.machine import check_engine, check_espeak, check_media_dir
from engine.cli.doctor.pbx import AriNode, check_node
from engine.cli.doctor.result import Finding, failure, in_lab, ok, warning
from engine.cli.doctor.store import check_store
from engine.cli.doctor.transport import check_files, check_transport
from engine.cli.errors import UsageError, run
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    DOTENV,
    ConnectionOptions,
    client_settings,
    engine_address,
    is_lab,
)
from engine.common.tls import TlsFileError, client_context
from engine.config import Settings
from engine.settings.nodes import NodeSettings
from wire.programs.exit_status import ExitStatus
from wire.programs.invalid_settings import InvalidSettings
from wire.programs.lab_folder import lab_hint
from wire.programs.output import OutputFlag, OutputFormat, shown, write_shown
from wire.settings import load

MAX_CONNECTIONS, REQUEST_WEBSOCKETS = 64, 4  # to a node
_COLOURS = {"OK": "green", "WARN": "bold yellow", "FAIL": "bold red"}


def doctor(
    *, connection: ConnectionOptions = DEFAULT_CONNECTION, output: OutputFlag = "table"
) -> None:
    """Check settings, store, PBX nodes, engine and this machine; exit status 1 on a failure.

    Example: switchroom doctor
    """
    run(_doctor(connection, output))


async def _doctor(connection: ConnectionOptions, output: OutputFormat) -> int:
    console = Console(highlight=False)
    settings, findings = read_settings()
    if settings is not None:
        findings += await run_checks(settings, connection)
    levels = {each.level for each in findings}
    if output != "table":
        write_shown(shown(findings), output)
        return ExitStatus.NEGATIVE if "FAIL" in levels else ExitStatus.DONE
    console.print(report(findings))
    console.print(_summary(findings), style=_COLOURS["FAIL" if "FAIL" in levels else "OK"])
    if levels & {"FAIL", "WARN"}:
        console.print("`switchroom error show CODE` says what a code means, and what to do")
    return ExitStatus.NEGATIVE if "FAIL" in levels else ExitStatus.DONE


def read_settings() -> tuple[Settings | None, list[Finding]]:
    """Read the settings; None if an engine would not start with them."""
    try:
        settings = load(Settings)
    except InvalidSettings as error:
        hint = lab_hint(os.environ, DOTENV.parent)
        advice = hint or "set it in .env or the environment, as `switchroom dev` does"
        return None, [failure("invalid_settings", "settings", each, advice) for each in error.lines]
    return settings, check_settings(settings)


async def run_checks(settings: Settings, connection: ConnectionOptions) -> list[Finding]:
    """Run all checks concurrently."""
    try:
        check_files(settings)
    except TlsFileError as error:
        return [
            failure(
                "unreadable_certificate", "tls", str(error), "it must be a readable file in PEM"
            )
        ]
    try:
        address = engine_address(connection, client_settings(connection))
    except UsageError as error:
        advice = "`switchroom profile show` says what is in use"
        return [failure("invalid_usage", "engine", str(error), advice)]
    nodes = await _nodes(settings)
    async with open_client(*address) as client:
        found = await asyncio.gather(
            check_store(settings.redis_url),
            *(_node(settings, node) for node in nodes),
            check_engine(client, settings.slots),
        )
    here = [
        *check_transport(settings, nodes),
        check_media_dir(settings.media_dir),
        check_espeak(os.environ.get("PATH", "")),
    ]
    if settings.can_record:
        here.append(await check_archive(settings.recordings_url, settings.recordings_s3))
    all_found = [each for findings in (*found, here) for each in findings]
    return [in_lab(each) for each in all_found] if is_lab(os.environ, DOTENV) else all_found


async def _nodes(settings: Settings) -> list[NodeSettings]:
    """List the nodes of the settings and of DNS discovery."""
    nodes = {node.name: node for node in settings.nodes}

    async def found(by_dns: Mapping[str, NodeSettings]) -> None:
        nodes.update(by_dns)

    if settings.node_dns:
        await Discovery(settings, found).poll()
    return [*nodes.values()]


def report(findings: Sequence[Finding]) -> Table:
    """Return a table of the results with advice."""
    table = Table(box=None, show_header=False, padding=(0, 1))
    for each in findings:
        more = f"\n  {each.code}: {each.link}" if each.code else ""
        advice = f"\n→ {each.advice}{more}" if each.advice else more
        level = Text(each.level, style=_COLOURS[each.level])
        table.add_row(level, Text(each.subject), Text.assemble(each.text, (advice, "italic")))
    return table


def check_settings(settings: Settings) -> list[Finding]:
    """Name what is missing, and what should not be."""
    if not settings.nodes and not settings.node_dns:
        return [failure("no_node", "settings", "no PBX nodes", "set SWITCHROOM_NODES")]
    names = ", ".join(filter(None, (*(node.name for node in settings.nodes), settings.node_dns)))
    found = [ok("settings", f"complete: {settings.slots} slots per node, nodes {names}")]
    if settings.signing_key is None:
        text = "accounts get other signing secrets when Redis loses its data"
        advice = "set SWITCHROOM_SIGNING_KEY to 64 random hexadecimal digits"
        found.append(warning("no_signing_key", "settings", text, advice))
    if settings.store_key is None:
        text = "customers' secrets are in clear text in the store"
        advice = "set SWITCHROOM_STORE_KEY to 64 random hexadecimal digits (security.md)"
        found.append(warning("no_store_key", "settings", text, advice))
    return found


async def _node(settings: Settings, given: NodeSettings) -> list[Finding]:
    password = given.password.get_secret_value()
    tls = client_context(settings.tls_ca)
    node = AriNode(given.name, str(given.url).rstrip("/"), given.user, password, tls)
    sessions = max(MAX_CONNECTIONS, settings.slots + REQUEST_WEBSOCKETS)
    findings = await check_node(node, f"switchroom-doctor-{os.getpid()}-{given.name}", sessions)
    return [*findings, *await check_ami(settings, given)]


def _summary(findings: Sequence[Finding]) -> str:
    counts = {level: sum(each.level == level for each in findings) for level in _COLOURS}
    if counts["FAIL"]:
        return f"{counts['FAIL']} failed, {counts['WARN']} warnings, {counts['OK']} ok"
    return f"no failures, {counts['WARN']} warnings, {counts['OK']} ok"
