"""Builds the slice: the services for contacts, tags and exports, and their background jobs."""

from collections.abc import Mapping

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.account_concurrency import LimitedSlots
from api.common.clock import Clock
from api.common.mail import MailServer
from api.contacts.contacts.contact_events import ContactEvents
from api.contacts.contacts.pages import Pages
from api.contacts.contacts.search import ContactSearch, Crm
from api.contacts.contacts.service import ContactService
from api.contacts.contacts.store import ContactStore
from api.contacts.exports import job
from api.contacts.exports.email import ExportMailer
from api.contacts.exports.job import ContactExporter
from api.contacts.exports.service import DownloadService
from api.contacts.exports.store import OldJobs
from api.contacts.list_store import ListStore
from api.contacts.quotas import ContactQuotas
from api.contacts.tags import service as tags_service
from api.contacts.tags.service import TagService
from api.contacts.tags.store import TagStore
from api.db.database import Database
from api.jobs.artifacts import ArtifactStore, ArtifactWriter
from api.jobs.store import JobStore
from api.jobs.worker import Handler


class ContactSlice(Struct, frozen=True):
    search: ContactSearch
    contacts: ContactService
    events: ContactEvents
    tags: TagService
    downloads: DownloadService
    old_jobs: OldJobs
    jobs: Mapping[str, Handler]


def build(  # noqa: PLR0913, PLR0917 - what the slice needs
    database: Database,
    accounts: AccountStore,
    jobs: JobStore,
    mail: MailServer | None,
    quotas: ContactQuotas,
    searches: LimitedSlots,
    now_ms: Clock,
) -> ContactSlice:
    """Build the slice; without a mail server, no e-mail is sent."""
    contacts, lists = ContactStore(database, now_ms), ListStore(database, now_ms)
    account_cache, events = AccountCache(accounts, now_ms), ContactEvents(database, now_ms)
    tags = TagService(database, lists, TagStore(database, quotas), jobs)
    artifacts = ArtifactStore(database, now_ms)
    mailer = ExportMailer(mail) if mail else None
    writer = ArtifactWriter(artifacts, quotas)
    exporter = ContactExporter(contacts, lists, artifacts, writer, mailer)
    return ContactSlice(
        search=ContactSearch(
            Pages(database), contacts, lists, Crm(database), account_cache, searches
        ),
        contacts=ContactService(database, contacts, lists, events, account_cache, quotas),
        events=events,
        tags=tags,
        downloads=DownloadService(
            database=database,
            lists=lists,
            jobs=jobs,
            artifacts=artifacts,
            exporter=exporter,
            accounts=account_cache,
            can_mail=mail is not None,
            quota=quotas,
        ),
        old_jobs=OldJobs(database, now_ms),
        jobs={tags_service.KIND: tags.run, job.KIND: exporter.run},
    )
