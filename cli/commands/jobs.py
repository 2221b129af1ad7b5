"""`switchroom job`: background jobs of the account, such as imports and exports."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cli.command import rest_command
from cli.help import with_example
from cli.output import Column, Row, Shown, fields_shown, rows_shown, shown
from cli.rest_client import RestClient

JobId = Annotated[str, Parameter(help="Job id.")]
Job = dict[str, Any]

job = App(
    name="job", help=with_example("Show and cancel the background jobs of the account.", "job list")
)


def _progress(row: Row) -> str:
    return f"{row['done']} of {row['total']}" if row.get("total") else str(row.get("done", ""))


_COLUMNS: tuple[Column, ...] = (
    ("job", "id"),
    ("kind", "kind"),
    ("state", "state"),
    ("done", _progress),
    ("created", "createdTime"),
    ("error", "error"),
)


@job.command(name="list")
@rest_command
async def list_(
    rest: RestClient, *, limit: Annotated[int, Parameter(help="Maximum number of jobs.")] = 50
) -> Shown:
    """List background jobs, newest first.

    Example: switchroom job list
    """
    rows = [each async for each in rest.rows("jobs", limit=limit)]
    return rows_shown(rows, _COLUMNS, "no jobs")


@job.command(alias="get")
@rest_command
async def show(rest: RestClient, job_id: JobId) -> Shown:
    """Show a background job.

    Example: switchroom job show 8f1c
    """
    return fields_shown(await rest.request(Job, "GET", "jobs", job_id))


@job.command
@rest_command
async def cancel(rest: RestClient, job_id: JobId) -> Shown:
    """Cancel a job that waits or runs; what it has done already stays.

    Example: switchroom job cancel 8f1c
    """
    found = await rest.request(Job, "POST", "jobs", job_id, "cancel")
    return shown(found, f"job {job_id} is canceled")
