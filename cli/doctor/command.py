"""`switchroom doctor`: runs all checks; exit status 1 if one fails."""

import os
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from base.exit_status import ExitStatus
from base.invalid_settings import InvalidSettings
from base.lab_folder import lab_hint
from base.settings import load
from cli.doctor.checks import check_settings, own_engine, run_checks
from cli.doctor.result import Finding, failure
from cli.errors import run
from cli.options.connection import DOTENV
from cli.output import OutputFlag, OutputFormat, shown, write_shown
from engine.config import Settings

_COLOURS = {"OK": "green", "WARN": "bold yellow", "FAIL": "bold red"}


def doctor(*, output: OutputFlag = "table") -> None:
    """Check settings, store, PBX nodes, engine and this machine; exit status 1 on a failure.

    Example: switchroom doctor
    """
    run(_doctor(output))


async def _doctor(output: OutputFormat) -> int:
    console = Console(highlight=False)
    settings, findings = read_settings()
    if settings is not None:
        findings += await run_checks(settings, own_engine(settings))
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


def report(findings: Sequence[Finding]) -> Table:
    """Return a table of the results with advice."""
    table = Table(box=None, show_header=False, padding=(0, 1))
    for each in findings:
        more = f"\n  {each.code}: {each.link}" if each.code else ""
        advice = f"\n→ {each.advice}{more}" if each.advice else more
        level = Text(each.level, style=_COLOURS[each.level])
        table.add_row(level, Text(each.subject), Text.assemble(each.text, (advice, "italic")))
    return table


def _summary(findings: Sequence[Finding]) -> str:
    counts = {level: sum(each.level == level for each in findings) for level in _COLOURS}
    if counts["FAIL"]:
        return f"{counts['FAIL']} failed, {counts['WARN']} warnings, {counts['OK']} ok"
    return f"no failures, {counts['WARN']} warnings, {counts['OK']} ok"
