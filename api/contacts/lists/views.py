"""Views of contact lists and their files."""

from msgspec import Struct

from api.common.projection import project
from api.common.timestamps import format_ms
from api.contacts.imports.file_store import ListFile
from api.contacts.imports.reader.messages import Action, Fields, Kind
from api.contacts.imports.store import MAX_REJECTED_ROWS, Import
from api.contacts.list_store import ContactList, Status
from api.jobs.store import State


class UploadedFile(Struct, frozen=True, rename="camel"):
    """The file of a list, and the row of its header; only CSV has an encoding and a delimiter."""

    name: str
    bytes: int
    kind: Kind
    encoding: str | None
    delimiter: str | None
    header_row: int
    headers: list[str]
    uploaded_time: str


class ListProcessing(Struct, frozen=True, rename="camel"):
    """The progress and the results of an import; `total` is an upper bound until it is done.

    Of the rejected rows, the first 10,000 can be downloaded: `rejectedRowsKept`.
    """

    action: Action
    state: State
    rows: int
    total: int | None
    added: int
    updated: int
    skipped: int
    rejected: int
    rejected_rows_kept: int
    rejected_rows_path: str | None
    started_time: str
    ended_time: str | None
    error: str | None


class ContactListView(Struct, frozen=True, rename="camel"):
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
    file: UploadedFile | None
    mappings: Fields | None
    processing: ListProcessing | None
    created_time: str
    updated_time: str


class ContactListPage(Struct, frozen=True):
    """A page of lists, newest first, and the total."""

    data: list[ContactListView]
    total: int
    limit: int
    offset: int


class FilePreview(Struct, frozen=True, rename="camel"):
    """The columns of a list's file, and its first rows."""

    contact_list_id: str
    kind: Kind
    encoding: str | None
    delimiter: str | None
    header_row: int
    headers: list[str]
    rows: list[list[str]]
    mappings: Fields | None


class ListDeletionResult(Struct, frozen=True, rename="camel"):
    """Confirms that a list is deleted."""

    contact_list_id: str
    deleted: bool = True


def list_view(
    contact_list: ContactList, file: ListFile | None, latest: Import | None
) -> ContactListView:
    return project(
        ContactListView,
        contact_list,
        contact_list_id=str(contact_list.id),
        file=project(UploadedFile, file, uploaded_time=format_ms(file.uploaded_ms))
        if file
        else None,
        mappings=file.mappings if file else None,
        processing=_processing(latest) if latest else None,
        created_time=format_ms(contact_list.created_ms),
        updated_time=format_ms(max(contact_list.updated_ms, (latest and latest.ended_ms) or 0)),
    )


def preview_view(file: ListFile, sample: list[list[str]]) -> FilePreview:
    return project(FilePreview, file, contact_list_id=str(file.list_id), rows=sample)


def _processing(latest: Import) -> ListProcessing:
    path = f"/srmain/contacts_list/rejected-rows/{latest.list_id}"
    return project(
        ListProcessing,
        latest,
        total=latest.rows if latest.state == "done" else latest.total,
        rejected_rows_kept=min(latest.rejected, MAX_REJECTED_ROWS),
        rejected_rows_path=path if latest.rejected else None,
        started_time=format_ms(latest.started_ms),
        ended_time=format_ms(latest.ended_ms) if latest.ended_ms else None,
    )
