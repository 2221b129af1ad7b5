"""Contacts over REST (docs/contacts.md)."""

from typing import Annotated

from fastapi import Query

from api.auth.dependencies import AuthenticatedUser
from api.contacts.contacts import schemas
from api.contacts.contacts.contact_events import ContactEventPage, ContactEvents
from api.contacts.contacts.search import ContactSearch
from api.contacts.contacts.service import ContactService
from api.contacts.contacts.views import ContactPage, ContactView
from api.contacts.ids import BASE, ContactIdPath, IdPath, ListIdPath
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Contacts")
Search = Annotated[ContactSearch, service("contacts.search")]
Contacts = Annotated[ContactService, service("contacts.contacts")]
Events = Annotated[ContactEvents, service("contacts.events")]
EXAMPLE = {
    "phoneNumber": "+4722222222",
    "contactListId": "17",
    "fName": "Nina",
    "lName": "Berg",
    "email": "nina@example.com",
    "addToRunningCampaign": False,
}


@routes.get(
    f"{BASE}/get-contact/{{contactListId}}",
    id="contacts.listOfList",
    scope="contacts:read",
    errors=(404,),
)
async def contacts_of_list(
    list_id: ListIdPath,
    user: AuthenticatedUser,
    query: Annotated[schemas.ListContactsQuery, Query()],
    search: Search,
) -> ContactPage:
    """List the contacts of a list, in the order in which they were added."""
    return await search.in_list(user.account_id, list_id, query)


@routes.get(f"{BASE}/all-contacts", id="contacts.list", scope="contacts:read")
async def all_contacts(
    user: AuthenticatedUser, query: Annotated[schemas.AllContactsQuery, Query()], search: Search
) -> ContactPage:
    """Search the contacts of all lists by the beginnings of names, number or e-mail address."""
    return await search.in_all_lists(user.account_id, query)


@routes.get(
    f"{BASE}/viewContacts/{{contactListId}}",
    id="contacts.search",
    scope="contacts:read",
    errors=(404,),
)
async def view_contacts(
    list_id: ListIdPath,
    user: AuthenticatedUser,
    query: Annotated[schemas.ViewContactsQuery, Query()],
    search: Search,
) -> ContactPage:
    """Search the contacts of a list; with `crm`, each has its calls."""
    return await search.view(user.account_id, list_id, query)


@routes.get(f"{BASE}/viewmore/{{id}}", id="contacts.get", scope="contacts:read", errors=(404,))
async def get_contact(contact_id: IdPath, user: AuthenticatedUser, search: Search) -> ContactView:
    """Show a contact, with its list's name and its calls."""
    return await search.get(user.account_id, contact_id)


@routes.post(
    f"{BASE}/contactNumber",
    id="contacts.create",
    scope="contacts:write",
    status=201,
    errors=(409,),
    example=EXAMPLE,
    idempotent=True,
)
async def add_contact(
    user: AuthenticatedUser, contacts: Contacts, body: Body[schemas.ContactRequest]
) -> ContactView:
    """Add a contact to a list."""
    return await contacts.add(user.account_id, body)


@routes.patch(
    f"{BASE}/contactNumber/{{contactId}}",
    id="contacts.update",
    scope="contacts:write",
    errors=(404,),
    example=EXAMPLE,
)
async def change_contact(
    contact_id: ContactIdPath,
    user: AuthenticatedUser,
    contacts: Contacts,
    body: Body[schemas.ContactRequest],
) -> ContactView:
    """Change a contact; another list's id moves it to that list."""
    return await contacts.change(user.account_id, contact_id, body)


@routes.delete(
    f"{BASE}/contactNumber/{{contactId}}",
    id="contacts.delete",
    scope="contacts:write",
    errors=(404,),
)
async def delete_contact(
    contact_id: ContactIdPath,
    user: AuthenticatedUser,
    query: Annotated[schemas.DeleteContactQuery, Query()],
    contacts: Contacts,
) -> ContactView:
    """Delete a contact from its list; returns the contact as it was."""
    return await contacts.delete(user.account_id, contact_id, query.pool_id)


@routes.patch(
    f"{BASE}/contact/{{contactId}}",
    id="contacts.setCallStatus",
    scope="contacts:write",
    errors=(404,),
    example={"callStatus": "answered"},
)
async def set_call_status(
    contact_id: ContactIdPath,
    user: AuthenticatedUser,
    contacts: Contacts,
    body: Body[schemas.CallStatusRequest],
) -> ContactView:
    """Set a contact's call status."""
    return await contacts.set_call_status(user.account_id, contact_id, body)


@routes.get(f"{BASE}/contact-events", id="contacts.events", scope="contacts:read")
async def contact_events(
    user: AuthenticatedUser, query: Annotated[schemas.ContactEventsQuery, Query()], events: Events
) -> ContactEventPage:
    """List the contacts that running campaigns are to call, after an event."""
    return await events.after(user.account_id, query.after, query.limit)
