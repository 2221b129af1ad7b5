"""Views of contacts."""

from typing import ClassVar

from msgspec import UNSET, Raw, Struct, UnsetType, field

from api.cdrs.views import AgentName
from api.common.projection import project
from api.common.timestamps import format_ms
from api.contacts.contacts.schemas import MAX_OFFSET
from api.contacts.contacts.store import Contact


class LastCall(Struct, frozen=True, rename="camel"):
    """The summary of the newest call record with a contact's number."""

    req_id: str
    start_time: str
    direction: str
    answer_status: str
    agents: tuple[AgentName, ...]
    disposition_level1_id: str | None
    disposition_level2_id: str | None
    disposition_level3_id: str | None


class ContactCrmView(Struct, frozen=True, rename="camel"):
    """The calls with a number; `calls` is a lower bound if `callsAreExact` is false."""

    calls: int
    calls_are_exact: bool
    last_call: LastCall | None


class ContactView(Struct, frozen=True, rename="camel"):
    """A contact; `fields` are its list's assigned fields."""

    contact_id: str
    contact_list_id: str
    phone_number: str
    f_name: str | None
    l_name: str | None
    email: str | None
    call_status: str | None
    add_to_running_campaign: bool
    fields: Raw
    tags: tuple[str, ...]
    created_time: str
    updated_time: str
    list_name: str | UnsetType = field(name="contactListName", default=UNSET)
    crm: ContactCrmView | UnsetType = UNSET


class ContactPage(Struct, frozen=True, rename="camel"):
    """A page of contacts; the total is a lower bound if it is not exact."""

    max_offset: ClassVar[int] = MAX_OFFSET  # of the next page

    data: tuple[ContactView, ...]
    total: int
    total_is_exact: bool
    limit: int
    offset: int


def contact_view(contact: Contact) -> ContactView:
    return project(
        ContactView,
        contact,
        contact_id=str(contact.id),
        contact_list_id=str(contact.list_id),
        fields=Raw((contact.fields or "{}").encode()),
        created_time=format_ms(contact.created_ms),
        updated_time=format_ms(contact.updated_ms),
    )
