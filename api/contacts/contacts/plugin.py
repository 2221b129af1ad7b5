"""The slice put together."""

from collections.abc import Mapping

from msgspec import Struct

from api.accounts.cache import KnownAccounts
from api.accounts.store import Accounts
from api.common.clock import Clock
from api.common.mail import Mail
from api.contacts.contacts.contact_events import Told
from api.contacts.contacts.crm import Crm
from api.contacts.contacts.pages import Pages
from api.contacts.contacts.search import Search
from api.contacts.contacts.service import Service
from api.contacts.contacts.store import People
from api.contacts.exports import job
from api.contacts.exports.job import Maker
from api.contacts.exports.service import Downloads
from api.contacts.lists.store import Lists
from api.contacts.tags import service as tags_service
from api.contacts.tags.service import TagService
from api.contacts.tags.store import Tagging
from api.db.database import Database
from api.jobs.artifacts import Parts
from api.jobs.store import Jobs
from api.jobs.worker import Handler


class PeopleSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    search: Search
    contacts: Service
    told: Told
    tags: TagService
    downloads: Downloads
    jobs: Mapping[str, Handler]


def put_together(
    database: Database, accounts: Accounts, jobs: Jobs, mail: Mail | None, now_ms: Clock
) -> PeopleSlice:
    """Make the slice's parts; without a mail server, nothing is sent."""
    people, lists = People(database, now_ms), Lists(database, now_ms)
    known, told = KnownAccounts(accounts, now_ms), Told(database, now_ms)
    tags = TagService(database, lists, Tagging(database), jobs)
    parts = Parts(database, now_ms)
    maker = Maker(people, lists, parts, mail)
    return PeopleSlice(
        search=Search(Pages(database), people, lists, Crm(database), known),
        contacts=Service(database, people, lists, told, known),
        told=told,
        tags=tags,
        downloads=Downloads(
            database, lists, jobs, parts, maker, known=known, can_mail=mail is not None
        ),
        jobs={tags_service.KIND: tags.run, job.KIND: maker.run},
    )
