"""Shows and changes an account in its own name; lists and cancels its background jobs."""

import hashlib
from collections.abc import Collection
from datetime import date
from typing import Self

import msgspec
import phonenumbers
from msgspec import Struct

from api.account_pages import schemas
from api.accounts.store import Account, AccountStore
from api.accounts.usage import UsageStore
from api.auth.principal import Principal
from api.common.errors import Conflict, Forbidden, NotFound
from api.http.paging import Page
from api.http.preconditions import Precondition
from api.http.services import CommonServices
from api.jobs.store import JobStore
from wire.decoding.errors import BadInput

USUAL_DAYS, MAX_USAGE_DAYS = 31, 366
_VERSION_BITS = 56
_QUOTAS = (
    "max_keys",
    "max_jobs",
    "max_contact_lists",
    "max_contacts",
    "max_stored_bytes",
    "max_contact_bytes",
    "max_documents",
    "max_document_bytes",
    "api_requests_per_s",
)


class AccountPages(Struct, frozen=True):
    accounts: AccountStore
    jobs: JobStore
    usage_store: UsageStore
    quotas: dict[str, float]
    cancellable: Collection[str]  # kinds of jobs; others would leave something half done
    has_recognizers: bool

    @classmethod
    def build(cls, common: CommonServices, cancellable: Collection[str]) -> Self:
        settings = common.settings
        return cls(
            common.accounts,
            common.jobs,
            UsageStore(common.database, common.now_ms),
            {name: getattr(settings, name) for name in _QUOTAS},
            cancellable,
            has_recognizers=bool(settings.transcript_recognizers),
        )

    async def get(self, user: Principal) -> tuple[schemas.AccountView, int]:
        """Return the account and its version."""
        account = await self.accounts.get(user.account_id)
        return schemas.account_view(account, self.quotas), version_of(account)

    async def change(
        self, user: Principal, body: schemas.AccountChange, expected: Precondition
    ) -> tuple[schemas.AccountView, int]:
        """Change the account; raises BadInput, Conflict, or PreconditionFailed."""
        _check_no_agent(user)
        values = {
            name: value
            for name, value in msgspec.structs.asdict(body).items()
            if value is not msgspec.UNSET
        }
        if values.get("region") not in {None, *phonenumbers.SUPPORTED_REGIONS}:
            raise BadInput("region", "expected a country such as NO, or null")
        if values.get("transcripts") is not None and not self.has_recognizers:
            raise Conflict("there are no recognizers of recordings here", "no_transcripts")

        def changed(account: Account) -> Account:
            expected.check(version_of(account))
            changed = msgspec.structs.replace(account, **values)
            if "transcripts" in values:
                changed.check_transcripts()
            return changed

        account = await self.accounts.update(user.account_id, changed)
        return schemas.account_view(account, self.quotas), version_of(account)

    async def usage(self, user: Principal, query: schemas.UsageQuery) -> schemas.UsagePage:
        """Return what was used on each day; raises BadInput for more than a year."""
        _check_no_agent(user)
        last = self.usage_store.today() if query.end_date is None else _day(query.end_date)
        first = last - USUAL_DAYS + 1 if query.start_date is None else _day(query.start_date)
        if not 0 <= last - first <= MAX_USAGE_DAYS:
            raise BadInput("endDate", f"expected 0 to {MAX_USAGE_DAYS} days after startDate")
        return schemas.usage_page(await self.usage_store.days(user.account_id, first, last))

    async def list_jobs(self, user: Principal, page: Page) -> schemas.JobPage:
        _check_no_agent(user)
        found, total = await self.jobs.page_of_all(user.account_id, page.limit, page.offset)
        return schemas.JobPage(tuple(map(schemas.job_view, found)), total, page.limit, page.offset)

    async def job(self, user: Principal, job_id: str) -> schemas.JobView:
        """Return a job; raises NotFound."""
        _check_no_agent(user)
        found = await self.jobs.find(user.account_id, job_id)
        if found is None:
            raise NotFound("no job of this id")
        return schemas.job_view(found)

    async def cancel(self, user: Principal, job_id: str) -> schemas.JobView:
        """Cancel a job that waits or runs; raises NotFound, and Conflict if it cannot be."""
        found = await self.job(user, job_id)
        if found.kind not in self.cancellable:
            raise Conflict(f"a job of the kind {found.kind} cannot be cancelled")
        if not await self.jobs.cancel(user.account_id, job_id):
            raise Conflict(f"the job is {found.state}")
        return await self.job(user, job_id)


def version_of(account: Account) -> int:
    """Return a number of what an account is: any change gives another one."""
    digest = hashlib.sha256(msgspec.msgpack.encode(account)).digest()
    return int.from_bytes(digest[: _VERSION_BITS // 8], "big") or 1


def _day(day: date) -> int:
    return (day - schemas.EPOCH).days


def _check_no_agent(user: Principal) -> None:
    if user.agent_id is not None:
        raise Forbidden("an agent's token does not manage the account", "agent")
