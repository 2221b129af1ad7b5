"""`switchroom account erase`: remove a person."""

import asyncio
import sys
from typing import Annotated

from cyclopts import Parameter

from api.audit.trail import AuditEntry
from api.common.errors import ApiError
from api.config import Settings
from api.db.migrate import migrate
from api.retention.erasure import ErasureReport
from base.exit_status import ExitStatus
from base.tls import TlsFileError
from cli.database.runtime import administrator, fail, load_settings
from cli.database.validators import AccountId
from cli.output import OutputFlag, shown, write_shown
from wire.decoding.errors import BadInput


def erase(
    account: AccountId,
    number: Annotated[str, Parameter(help="Number of the person.")],
    *,
    output: OutputFlag = "table",
) -> None:
    """Remove a person's calls, recordings, digits and contacts; report what was removed.

    Do-not-call entries and the audit trail are kept. The exit status is 1 if something could not be
    removed yet, such as a live call: repeat the command then. It needs the settings of
    `switchroom api`, and an engine.

    Example: switchroom account erase acme +4722222222
    """
    try:
        report = asyncio.run(_erase(load_settings(Settings), account, number))
    except (ApiError, BadInput, TlsFileError) as error:
        fail(str(error))
    lines = [f"{report.searched} call records searched"]
    lines += [f"{count} {kind} removed" for kind, count in sorted(report.removed.items())]
    lines += [f"{count} {kind} that name the number kept" for kind, count in report.kept.items()]
    value = {
        "searched": report.searched,
        "removed": report.removed,
        "kept": report.kept,
        "left": report.left,
    }
    write_shown(shown(value, *lines), output)
    for each in report.left:
        sys.stderr.write(f"switchroom: {each}\n")
    if report.left:
        sys.exit(ExitStatus.NEGATIVE)


def _show(progress: str) -> None:
    sys.stderr.write(f"{progress}\n")


async def _erase(settings: Settings, account: str, number: str) -> ErasureReport:
    from api.services import open_services  # noqa: PLC0415 - `--help` starts faster without

    async with open_services(settings) as services:
        await migrate(services.database)
        outcome = "failed"
        try:
            report = await services.erasure.erase(account, number, _show)
            outcome = "left" if report.left else "done"
        finally:
            # Without the number: the trail is kept.
            entry = AuditEntry(
                account, services.now_ms(), administrator(), "account erase", account, outcome
            )
            services.audit.add(entry)
            await services.audit.flush()
    return report
