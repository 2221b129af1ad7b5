"""Builds the slice: the services that its routes use, and its background jobs."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.account_concurrency import LimitedSlots
from api.common.clock import Clock
from api.contacts.imports import job
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.job import Importer
from api.contacts.imports.service import ImportService
from api.contacts.imports.store import ImportStore
from api.contacts.imports.uploads import UploadService
from api.contacts.list_store import ListStore
from api.contacts.lists.service import KIND, ListDeleter, ListService
from api.contacts.quotas import ContactQuotas
from api.db.database import Database
from api.jobs.store import JobStore
from api.jobs.worker import Handler
from base.limit import Limit

MAX_REJECTED_FILES: Annotated[
    int, Limit("process", "wait", "Files of rejected rows that are made, one of each account.")
] = 2
MAX_REJECTED_FILES_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many`", "Files of rejected rows that are made, or wait for it.")
] = 4


class ListSlice(Struct, frozen=True):
    lists: ListService
    imports: ImportService
    jobs: Mapping[str, Handler]
    deleter: ListDeleter


def build(
    database: Database,
    accounts: AccountStore,
    jobs: JobStore,
    quotas: ContactQuotas,
    now_ms: Clock,
) -> ListSlice:
    lists, files = ListStore(database, now_ms), FileStore(database, now_ms)
    imports = ImportStore(database, now_ms)
    account_cache = AccountCache(accounts, now_ms)
    deleter = ListDeleter(database, now_ms)
    importer = Importer(database, lists, files, imports, quotas, now_ms)
    return ListSlice(
        lists=ListService(
            database=database,
            lists=lists,
            files=files,
            imports=imports,
            jobs=jobs,
            quotas=quotas,
            uploads=UploadService(files, quotas, account_cache),
            rejected=LimitedSlots(
                "too_many",
                "files of rejected rows",
                slots=MAX_REJECTED_FILES,
                most_of_account=MAX_REJECTED_FILES_OF_ACCOUNT,
            ),
        ),
        imports=ImportService(
            database=database,
            lists=lists,
            files=files,
            imports=imports,
            jobs=jobs,
            quotas=quotas,
            accounts=account_cache,
        ),
        jobs={job.KIND: importer.run, KIND: deleter.run},
        deleter=deleter,
    )
