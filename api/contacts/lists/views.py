"""Views of contact lists and their files."""

from typing import Literal

from msgspec import Struct

from api.common.projection import project
from api.common.timestamps import format_ms
from api.contacts.imports.file_store import ListFile
from api.contacts.imports.reader.messages import Action, Fields, Kind
from api.contacts.imports.store import Import
from api.contacts.list_store import ContactList, Status
from api.jobs.tables import State


class FileView(Struct, frozen=True, rename="camel"):
    """The file of a list; only CSV has an encoding and a delimiter."""

    name: str
    bytes: int
    kind: Kind
    encoding: str | None
    delimiter: str | None
    headers: list[str]
    uploaded_time: str


class ProcessingView(Struct, frozen=True, rename="camel"):
    """The progress and the results of an import; `total` is an upper bound until it is done."""

    action: Action
    state: State
    rows: int
    total: int | None
    added: int
    updated: int
    skipped: int
    rejected: int
    rejected_rows_path: str | None
    started_time: str
    ended_time: str | None
    error: str | None


class ListView(Struct, frozen=True, rename="camel"):
    """A contact list; `contacts` is their number."""

    contact_list_id: str
    name: str
    description: str
    status: Status
    is_default: bool
    is_active: bool
    assigned_fields: tuple[str, ...]
    additional_fields: tuple[str, ...]
    tags: tuple[str, ...]
    contacts: int
    file: FileView | None
    mappings: Fields | None
    processing: ProcessingView | None
    created_time: str
    updated_time: str


class ListPage(Struct, frozen=True):
    """A page of lists, newest first, and the total."""

    data: list[ListView]
    total: int
    limit: int
    offset: int


class Preview(Struct, frozen=True, rename="camel"):
    """The columns of a list's file, and its first rows."""

    contact_list_id: str
    kind: Kind
    encoding: str | None
    delimiter: str | None
    headers: list[str]
    rows: list[list[str]]
    mappings: Fields | None


class DeletedList(Struct, frozen=True, rename="camel"):
    """Confirms that a list is deleted."""

    contact_list_id: str
    deleted: Literal[True] = True


def list_view(contact_list: ContactList, file: ListFile | None, latest: Import | None) -> ListView:
    return project(
        ListView,
        contact_list,
        contact_list_id=str(contact_list.id),
        file=project(FileView, file, uploaded_time=format_ms(file.uploaded_ms)) if file else None,
        mappings=file.mappings if file else None,
        processing=_processing(latest) if latest else None,
        created_time=format_ms(contact_list.created_ms),
        updated_time=format_ms(contact_list.updated_ms),
    )


def preview_view(file: ListFile) -> Preview:
    return project(Preview, file, contact_list_id=str(file.list_id), rows=file.sample)


def _processing(latest: Import) -> ProcessingView:
    path = f"/srmain/contacts_list/rejected-rows/{latest.list_id}"
    return project(
        ProcessingView,
        latest,
        total=latest.rows if latest.state == "done" else latest.total,
        rejected_rows_path=path if latest.rejected else None,
        started_time=format_ms(latest.started_ms),
        ended_time=format_ms(latest.ended_ms) if latest.ended_ms else None,
    )
