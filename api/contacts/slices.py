"""Builds the services for contacts and for contact lists, and their background jobs."""

from collections.abc import Mapping
from typing import Annotated, Self

from msgspec import Struct

from api.common.account_concurrency import LimitedSlots
from api.contacts import tags as tags_service
from api.contacts.contacts.contact_events import ContactEvents
from api.contacts.contacts.pages import Pages
from api.contacts.contacts.search import ContactSearch, Crm
from api.contacts.contacts.service import ContactService
from api.contacts.contacts.store import ContactStore
from api.contacts.exports import job as export_job
from api.contacts.exports.email import ExportMailer
from api.contacts.exports.service import DownloadService
from api.contacts.exports.store import OldJobs
from api.contacts.imports import job as import_job
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.service import ImportService
from api.contacts.imports.store import ImportStore
from api.contacts.imports.uploads import UploadService
from api.contacts.list_store import ListStore
from api.contacts.lists import service as lists_service
from api.contacts.quotas import ContactQuotas
from api.contacts.tags import TagStore
from api.http.services import CommonServices
from api.jobs.artifacts import ArtifactStore, ArtifactWriter
from api.jobs.worker import Handler
from base.limit import Limit

MAX_REJECTED_FILES: Annotated[
    int, Limit("process", "wait", "Files of rejected rows that are made, one of each account.")
] = 2
MAX_REJECTED_FILES_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many`", "Files of rejected rows that are made, or wait for it.")
] = 4


class ContactSlice(Struct, frozen=True):
    """Contacts, their tags and exports."""

    search: ContactSearch
    contacts: ContactService
    events: ContactEvents
    tags: tags_service.TagService
    downloads: DownloadService
    old_jobs: OldJobs
    jobs: Mapping[str, Handler]

    @classmethod
    def build(cls, common: CommonServices, quotas: ContactQuotas) -> Self:
        """Build the slice; without a mail server, no e-mail is sent."""
        database, accounts, now_ms = common.database, common.account_cache, common.now_ms
        contacts, lists = ContactStore(database, now_ms), ListStore(database, now_ms)
        events, artifacts = ContactEvents(database, now_ms), ArtifactStore(database, now_ms)
        tags = tags_service.TagService(database, lists, TagStore(database, quotas), common.jobs)
        mail = common.settings.mail
        exporter = export_job.ContactExporter(
            contacts,
            lists,
            artifacts,
            ArtifactWriter(artifacts, quotas),
            ExportMailer(mail) if mail else None,
        )
        return cls(
            search=ContactSearch(
                Pages(database), contacts, lists, Crm(database), accounts, common.searches
            ),
            contacts=ContactService(database, contacts, lists, events, accounts, quotas),
            events=events,
            tags=tags,
            downloads=DownloadService(
                database=database,
                lists=lists,
                jobs=common.jobs,
                artifacts=artifacts,
                exporter=exporter,
                accounts=accounts,
                can_mail=mail is not None,
                quota=quotas,
            ),
            old_jobs=OldJobs(database, now_ms),
            jobs={tags_service.KIND: tags.run, export_job.KIND: exporter.run},
        )


class ListSlice(Struct, frozen=True):
    """Contact lists, and the imports of their files."""

    lists: lists_service.ListService
    imports: ImportService
    jobs: Mapping[str, Handler]
    deleter: lists_service.ListDeleter

    @classmethod
    def build(cls, common: CommonServices, quotas: ContactQuotas) -> Self:
        database, accounts, now_ms = common.database, common.account_cache, common.now_ms
        lists, files = ListStore(database, now_ms), FileStore(database, now_ms)
        imports = ImportStore(database, now_ms)
        deleter = lists_service.ListDeleter(database, now_ms)
        importer = import_job.Importer(database, lists, files, imports, quotas, now_ms)
        return cls(
            lists=lists_service.ListService(
                database=database,
                lists=lists,
                files=files,
                imports=imports,
                jobs=common.jobs,
                quotas=quotas,
                uploads=UploadService(files, quotas, accounts),
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
                jobs=common.jobs,
                quotas=quotas,
                accounts=accounts,
            ),
            jobs={import_job.KIND: importer.run, lists_service.KIND: deleter.run},
            deleter=deleter,
        )
