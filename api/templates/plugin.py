"""The slice put together."""

from msgspec import Struct

from api.common.clock import Clock
from api.db.database import Database
from api.messaging_platform.client import PlatformClient
from api.messaging_platform.messages import PlatformMessages
from api.messaging_platform.templates import PlatformTemplates
from api.numbers.store import Numbers
from api.templates.media import Media
from api.templates.send_test import Sending
from api.templates.service import TemplateService
from api.templates.statuses import Statuses
from api.templates.store import Templates
from api.templates.sync import Sync
from api.templates.webhook import Webhook


class TemplateSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    templates: TemplateService
    sending: Sending
    media: Media
    sync: Sync
    webhook: Webhook


def put_together(database: Database, client: PlatformClient, now_ms: Clock) -> TemplateSlice:
    """Make the slice's parts."""
    kept, numbers = Templates(database, now_ms), Numbers(database, now_ms)
    statuses, messages = Statuses(database, now_ms), PlatformMessages(client)
    platform = PlatformTemplates(client)
    return TemplateSlice(
        templates=TemplateService(kept, numbers, platform),
        sending=Sending(kept, numbers, messages),
        media=Media(messages),
        sync=Sync(statuses, platform, now_ms),
        webhook=Webhook(statuses, client),
    )
