"""Dependencies of the contact routes."""

from typing import Annotated

from fastapi import Depends, Request

from api.contacts.contacts.contact_events import ContactEvents
from api.contacts.contacts.search import ContactSearch
from api.contacts.contacts.service import ContactService


async def _search(request: Request) -> ContactSearch:
    search: ContactSearch = request.app.state.services.contacts.search
    return search


async def _service(request: Request) -> ContactService:
    service: ContactService = request.app.state.services.contacts.contacts
    return service


async def _events(request: Request) -> ContactEvents:
    events: ContactEvents = request.app.state.services.contacts.events
    return events


Search = Annotated[ContactSearch, Depends(_search)]
Contacts = Annotated[ContactService, Depends(_service)]
Events = Annotated[ContactEvents, Depends(_events)]
