"""Lists as they are shown."""

from typing import Literal

from msgspec import Struct

from api.common.timestamps import format_ms
from api.contacts.imports.file_store import ListFile
from api.contacts.imports.reader.messages import Action, Fields, Kind
from api.contacts.imports.store import Import
from api.contacts.list_store import ContactList, Status
from api.jobs.tables import State


class FileView(Struct, frozen=True, rename="camel"):
    """A list's file; encoding and delimiter are of CSV."""

    name: str
    bytes: int
    kind: Kind
    encoding: str | None
    delimiter: str | None
    headers: list[str]
    uploaded_time: str


class ProcessingView(Struct, frozen=True, rename="camel"):
    """What became of a file's rows so far; `total` is at least as many as there are."""

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
    """A list; `contacts` counts those in it."""

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
    """A page of lists, newest first, and how many there are in all."""

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
    """A list that is no more."""

    contact_list_id: str
    deleted: Literal[True] = True


def list_view(found: ContactList, file: ListFile | None, taken: Import | None) -> ListView:
    """Show a list."""
    return ListView(
        contact_list_id=str(found.id),
        name=found.name,
        description=found.description,
        status=found.status,
        is_default=found.is_default,
        is_active=found.is_active,
        assigned_fields=found.assigned_fields,
        additional_fields=found.additional_fields,
        tags=found.tags,
        contacts=found.contacts,
        file=_file(file) if file else None,
        mappings=file.mappings if file else None,
        processing=_processing(taken) if taken else None,
        created_time=format_ms(found.created_ms),
        updated_time=format_ms(found.updated_ms),
    )


def preview_view(file: ListFile) -> Preview:
    """Show a file's first rows."""
    return Preview(
        contact_list_id=str(file.list_id),
        kind=file.kind,
        encoding=file.encoding,
        delimiter=file.delimiter,
        headers=file.headers,
        rows=file.sample,
        mappings=file.mappings,
    )


def _file(file: ListFile) -> FileView:
    return FileView(
        name=file.name,
        bytes=file.bytes,
        kind=file.kind,
        encoding=file.encoding,
        delimiter=file.delimiter,
        headers=file.headers,
        uploaded_time=format_ms(file.uploaded_ms),
    )


def _processing(taken: Import) -> ProcessingView:
    path = f"/srmain/contacts_list/rejected-rows/{taken.list_id}"
    return ProcessingView(
        action=taken.action,
        state=taken.state,
        rows=taken.rows,
        total=taken.rows if taken.state == "done" else taken.total,
        added=taken.added,
        updated=taken.updated,
        skipped=taken.skipped,
        rejected=taken.rejected,
        rejected_rows_path=path if taken.rejected else None,
        started_time=format_ms(taken.started_ms),
        ended_time=format_ms(taken.ended_ms) if taken.ended_ms else None,
        error=taken.error,
    )
