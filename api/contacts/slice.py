"""The slice put together: what its routes ask, and what runs in the background."""

from collections.abc import Mapping

from msgspec import Struct

from api.accounts.known import KnownAccounts
from api.accounts.store import Accounts
from api.clock import Clock
from api.contacts import erasing, importing
from api.contacts.erasing import Eraser
from api.contacts.filestore import Files
from api.contacts.importing import Importer
from api.contacts.imports import Imports
from api.contacts.processing import Process
from api.contacts.service import Kept, Service
from api.contacts.store import Lists
from api.contacts.uploads import Uploads
from api.db import Database
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
        jobs={importing.KIND: importer.run, erasing.KIND: Eraser(database).run},
    )
