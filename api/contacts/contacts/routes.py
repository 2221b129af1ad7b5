"""Contacts over REST (spec, "Contact lists and contacts")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec.json import encode

from api.auth.dependencies import AuthenticatedUser
from api.contacts.contacts import examples
from api.contacts.contacts.contact_events import ContactEvents, EventPage
from api.contacts.contacts.schemas import (
    AllContactsQuery,
    CallStatusBody,
    ContactBody,
    ContactEventsQuery,
    DeleteContactQuery,
    ListContactsQuery,
    ViewContactsQuery,
)
from api.contacts.contacts.search import ContactSearch
from api.contacts.contacts.service import ContactService
from api.contacts.contacts.views import ContactPage, ContactView
from api.contacts.ids import ContactIdPath, IdPath, ListIdPath
from api.contacts.plugin import ContactSlice
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import answer, described, reading
from api.http.responses import once, told

router = APIRouter(tags=["Contacts"])
BASE = "/srmain/contacts_list"
SHOWN = (401, 404)


def slice_of(request: Request) -> ContactSlice:
    """Give the slice of this process."""
    found: ContactSlice = request.app.state.services.people
    return found


async def _search(request: Request) -> ContactSearch:
    return slice_of(request).search


async def _service(request: Request) -> ContactService:
    return slice_of(request).contacts


async def _told(request: Request) -> ContactEvents:
    return slice_of(request).events


Searching = Annotated[ContactSearch, Depends(_search)]
Contacts = Annotated[ContactService, Depends(_service)]
AContact = Annotated[ContactBody, Depends(reading(ContactBody))]


@router.get(
    f"{BASE}/get-contact/{{contactListId}}",
    **described("Contacts of a list", answered=ContactPage, statuses=SHOWN),
)
async def of_list(
    list_id: ListIdPath,
    who: AuthenticatedUser,
    asked: Annotated[ListContactsQuery, Query()],
    search: Searching,
) -> Response:
    """Give a page of a list's contacts, in the order in which they came."""
    return answer(await search.in_list(who.account_id, list_id, asked))


@router.get(
    f"{BASE}/all-contacts",
    **described("Contacts of all lists", answered=ContactPage, statuses=(401,)),
)
async def everywhere(
    who: AuthenticatedUser, asked: Annotated[AllContactsQuery, Query()], search: Searching
) -> Response:
    """Look for contacts by what their names, number or e-mail begin with."""
    return answer(await search.everywhere(who.account_id, asked))


@router.get(
    f"{BASE}/viewContacts/{{contactListId}}",
    **described("Look for contacts of a list", answered=ContactPage, statuses=SHOWN),
)
async def viewed(
    list_id: ListIdPath,
    who: AuthenticatedUser,
    asked: Annotated[ViewContactsQuery, Query()],
    search: Searching,
) -> Response:
    """Look for contacts of a list; with crm, each has its calls."""
    return answer(await search.viewed(who.account_id, list_id, asked))


@router.get(
    f"{BASE}/viewmore/{{id}}",
    **described("One contact", answered=ContactView, statuses=SHOWN),
)
async def one(
    given_id: IdPath,
    who: AuthenticatedUser,
    search: Searching,
) -> Response:
    """Give a contact with its list's name and its calls."""
    return answer(await search.one(who.account_id, given_id))


@router.post(
    f"{BASE}/contactNumber",
    **described(
        "Make a contact",
        asked=ContactBody,
        answered=ContactView,
        status=201,
        statuses=(401, 409),
        example=examples.CONTACT,
    ),
)
async def add(
    request: Request,
    who: AuthenticatedUser,
    body: AContact,
    contacts: Contacts,
    key: IdempotencyKey = None,
) -> Response:
    """Put a contact into a list."""

    async def deed(_request_id: str) -> bytes:
        return encode(await contacts.add(who.account_id, body))

    return told(await once(request, who, key, deed), 201)


@router.patch(
    f"{BASE}/contactNumber/{{contactId}}",
    **described(
        "Change a contact",
        asked=ContactBody,
        answered=ContactView,
        statuses=SHOWN,
        example=examples.CONTACT,
    ),
)
async def change(
    contact_id: ContactIdPath,
    who: AuthenticatedUser,
    body: AContact,
    contacts: Contacts,
) -> Response:
    """Change a contact; with another list's id, it is put there."""
    return answer(await contacts.change(who.account_id, contact_id, body))


@router.delete(
    f"{BASE}/contactNumber/{{contactId}}",
    **described("Delete a contact", answered=ContactView, statuses=SHOWN),
)
async def remove(
    contact_id: ContactIdPath,
    who: AuthenticatedUser,
    asked: Annotated[DeleteContactQuery, Query()],
    contacts: Contacts,
) -> Response:
    """Take a contact out of its list; answers as what it was."""
    return answer(await contacts.remove(who.account_id, contact_id, asked.pool_id))


@router.patch(
    f"{BASE}/contact/{{contactId}}",
    **described(
        "Set a contact's call status",
        asked=CallStatusBody,
        answered=ContactView,
        statuses=SHOWN,
        example={"callStatus": "answered"},
    ),
)
async def set_status(
    contact_id: ContactIdPath,
    who: AuthenticatedUser,
    body: Annotated[CallStatusBody, Depends(reading(CallStatusBody))],
    contacts: Contacts,
) -> Response:
    """Note how calling a contact went."""
    return answer(await contacts.set_status(who.account_id, contact_id, body))


@router.get(
    f"{BASE}/contact-events",
    **described("Contacts for running campaigns", answered=EventPage, statuses=(401,)),
)
async def events(
    who: AuthenticatedUser,
    asked: Annotated[ContactEventsQuery, Query()],
    told: Annotated[ContactEvents, Depends(_told)],
) -> Response:
    """Tell which contacts running campaigns are to take up, from an event on."""
    return answer(await told.after(who.account_id, asked.after, asked.limit))
