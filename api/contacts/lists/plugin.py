"""The slice put together: what its routes ask, and what runs in the background."""

from collections.abc import Mapping

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.contacts.imports import job
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.job import Importer
from api.contacts.imports.service import ImportService
from api.contacts.imports.store import ImportStore
from api.contacts.imports.uploads import UploadService
from api.contacts.list_store import ListStore
from api.contacts.lists import delete_job
from api.contacts.lists.delete_job import ListDeleter
from api.contacts.lists.service import ListService, ListStores
from api.db.database import Database
from api.jobs.store import JobStore
from api.jobs.worker import Handler


class ListSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    lists: ListService
    process: ImportService
    jobs: Mapping[str, Handler]


def build(database: Database, accounts: AccountStore, jobs: JobStore, now_ms: Clock) -> ListSlice:
    """Make the slice's parts."""
    kept = ListStores(
        database,
        ListStore(database, now_ms),
        FileStore(database, now_ms),
        ImportStore(database, now_ms),
        jobs,
    )
    importer = Importer(database, kept.lists, kept.files, kept.imports, now_ms)
    return ListSlice(
        lists=ListService(kept, UploadService(kept.files)),
        process=ImportService(kept, AccountCache(accounts, now_ms)),
        jobs={job.KIND: importer.run, delete_job.KIND: ListDeleter(database).run},
    )
