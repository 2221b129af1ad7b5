"""The slice put together."""

from msgspec import Struct

from api.accounts.known import KnownAccounts
from api.accounts.store import Accounts
from api.clock import Clock
from api.contacts.people.crm import Crm
from api.contacts.people.search import Search
from api.contacts.people.service import Service
from api.contacts.people.store import People
from api.contacts.people.told import Told
from api.contacts.store import Lists
from api.db import Database


class PeopleSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    search: Search
    contacts: Service
    told: Told


def put_together(database: Database, accounts: Accounts, now_ms: Clock) -> PeopleSlice:
    """Make the slice's parts."""
    people, lists = People(database, now_ms), Lists(database, now_ms)
    known, told = KnownAccounts(accounts, now_ms), Told(database, now_ms)
    return PeopleSlice(
        search=Search(people, lists, Crm(database), known),
        contacts=Service(database, people, lists, told, known),
        told=told,
    )
