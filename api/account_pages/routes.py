"""`/srmain/account`: the account of the caller; `/srmain/jobs`: its background jobs."""

from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.responses import Response

from api.account_pages import schemas
from api.account_pages.service import AccountPages
from api.auth.dependencies import AuthenticatedUser
from api.http.paging import Page, paging
from api.http.preconditions import IfMatch, tagged_response
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Account")
ACCOUNT, JOBS = "/srmain/account", "/srmain/jobs"
Pages = Annotated[AccountPages, service("account_pages")]
JobId = Annotated[str, Path(alias="id", max_length=64)]
JobRows = Annotated[Page, Depends(paging(50))]


@routes.get(
    ACCOUNT, id="account.get", scope="account:read", returns=schemas.AccountView, has_etag=True
)
async def get_account(user: AuthenticatedUser, pages: Pages) -> Response:
    """Show the account's settings and limits."""
    return tagged_response(*await pages.get(user))


@routes.patch(
    ACCOUNT,
    id="account.update",
    scope="account:write",
    returns=schemas.AccountView,
    has_etag=True,
    errors=(409, 412),
    example={"email": "crm@example.com", "keepRecordingsDays": 90},
)
async def change_account(
    user: AuthenticatedUser, pages: Pages, expected: IfMatch, body: Body[schemas.AccountChange]
) -> Response:
    """Change settings of the account; limits are the operator's.

    A shorter retention deletes what is older within an hour. With `transcripts`, recordings of
    calls that end from now on are transcribed; null ends that, also for those that wait.
    """
    return tagged_response(*await pages.change(user, body, expected))


@routes.get(f"{ACCOUNT}/usage", id="account.usage", scope="account:read")
async def get_usage(
    user: AuthenticatedUser, query: Annotated[schemas.UsageQuery, Query()], pages: Pages
) -> schemas.UsagePage:
    """Show calls, minutes, legs and messages of each day.

    A call belongs to the day (UTC) on which it began, and is counted when it has ended. Deleted
    records stay counted.
    """
    return await pages.usage(user, query)


@routes.get(JOBS, id="jobs.list", scope="jobs")
async def list_jobs(user: AuthenticatedUser, page: JobRows, pages: Pages) -> schemas.JobPage:
    """List background jobs, newest first."""
    return await pages.list_jobs(user, page)


@routes.get(f"{JOBS}/{{id}}", id="jobs.get", scope="jobs", errors=(404,))
async def get_job(job_id: JobId, user: AuthenticatedUser, pages: Pages) -> schemas.JobView:
    """Show a background job."""
    return await pages.job(user, job_id)


@routes.post(
    f"{JOBS}/{{id}}/cancel", id="jobs.cancel", scope="jobs", errors=(404, 409), idempotent=True
)
async def cancel_job(job_id: JobId, user: AuthenticatedUser, pages: Pages) -> schemas.JobView:
    """Cancel a job that waits or runs; what it has done already stays."""
    return await pages.cancel(user, job_id)
