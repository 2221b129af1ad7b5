"""The slice put together: what its routes ask, and what runs in the background."""

from collections.abc import Mapping

from msgspec import Struct

from api.accounts.cache import KnownAccounts
from api.accounts.store import Accounts
from api.common.clock import Clock
from api.contacts.imports import job
from api.contacts.imports.file_store import Files
from api.contacts.imports.job import Importer
from api.contacts.imports.service import Process
from api.contacts.imports.store import Imports
from api.contacts.imports.uploads import Uploads
from api.contacts.lists import delete_job
from api.contacts.lists.delete_job import Eraser
from api.contacts.lists.service import Kept, Service
from api.contacts.lists.store import Lists
from api.db.database import Database
from api.jobs.store import Jobs
from api.jobs.worker import Handler


class ListSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    lists: Service
    process: Process
    jobs: Mapping[str, Handler]


def put_together(database: Database, accounts: Accounts, jobs: Jobs, now_ms: Clock) -> ListSlice:
    """Make the slice's parts."""
    kept = Kept(
        database,
        Lists(database, now_ms),
        Files(database, now_ms),
        Imports(database, now_ms),
        jobs,
    )
    importer = Importer(database, kept.lists, kept.files, kept.imports, now_ms)
    return ListSlice(
        lists=Service(kept, Uploads(kept.files)),
        process=Process(kept, KnownAccounts(accounts, now_ms)),
        jobs={job.KIND: importer.run, delete_job.KIND: Eraser(database).run},
    )
