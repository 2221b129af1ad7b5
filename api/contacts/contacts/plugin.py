"""The slice put together."""

from collections.abc import Mapping

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.common.mail import MailServer
from api.contacts.contacts.contact_events import ContactEvents
from api.contacts.contacts.crm import Crm
from api.contacts.contacts.pages import Pages
from api.contacts.contacts.search import ContactSearch
from api.contacts.contacts.service import ContactService
from api.contacts.contacts.store import ContactStore
from api.contacts.exports import job
from api.contacts.exports.job import ContactExporter
from api.contacts.exports.service import DownloadService
from api.contacts.lists.store import ListStore
from api.contacts.tags import service as tags_service
from api.contacts.tags.service import TagService
from api.contacts.tags.store import TagStore
from api.db.database import Database
from api.jobs.artifacts import ArtifactStore
from api.jobs.store import JobStore
from api.jobs.worker import Handler


class ContactSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    search: ContactSearch
    contacts: ContactService
    told: ContactEvents
    tags: TagService
    downloads: DownloadService
    jobs: Mapping[str, Handler]


def build(
    database: Database,
    accounts: AccountStore,
    jobs: JobStore,
    mail: MailServer | None,
    now_ms: Clock,
) -> ContactSlice:
    """Make the slice's parts; without a mail server, nothing is sent."""
    people, lists = ContactStore(database, now_ms), ListStore(database, now_ms)
    known, told = AccountCache(accounts, now_ms), ContactEvents(database, now_ms)
    tags = TagService(database, lists, TagStore(database), jobs)
    parts = ArtifactStore(database, now_ms)
    maker = ContactExporter(people, lists, parts, mail)
    return ContactSlice(
        search=ContactSearch(Pages(database), people, lists, Crm(database), known),
        contacts=ContactService(database, people, lists, told, known),
        told=told,
        tags=tags,
        downloads=DownloadService(
            database, lists, jobs, parts, maker, known=known, can_mail=mail is not None
        ),
        jobs={tags_service.KIND: tags.run, job.KIND: maker.run},
    )
