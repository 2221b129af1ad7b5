"""Builds the slice: the services that its routes use."""

from msgspec import Struct

from api.accounts.usage import UsageStore
from api.common.clock import Clock
from api.common.token_buckets import Rate, TokenBuckets
from api.db.database import Database
from api.db.row_quota import RowQuota
from api.messaging_platform.client import PlatformClient
from api.messaging_platform.messages import PlatformMessages
from api.messaging_platform.templates import PlatformTemplates
from api.numbers.store import NumberStore
from api.templates.media import Media
from api.templates.service import TemplateService, TestSender
from api.templates.statuses import StatusStore, StatusSync
from api.templates.store import TemplateStore, template_limit
from api.templates.webhook import LARGE_BODIES, Webhook
from base.fair_slots import FairSlots


class TemplateSlice(Struct, frozen=True):
    templates: TemplateService
    test_sender: TestSender
    media: Media
    sync: StatusSync
    webhook: Webhook
    large_bodies: FairSlots  # of notifications, by network


def build(
    database: Database,
    client: PlatformClient,
    test_sends: Rate,
    now_ms: Clock,
    max_templates: int,
) -> TemplateSlice:
    templates, numbers = TemplateStore(database, now_ms), NumberStore(database, now_ms)
    statuses, messages = StatusStore(database, now_ms), PlatformMessages(client)
    platform = PlatformTemplates(client)
    quota = RowQuota(database, now_ms, template_limit(max_templates), interval_ms=0)
    return TemplateSlice(
        templates=TemplateService(templates, numbers, platform, quota),
        test_sender=TestSender(
            templates,
            numbers,
            messages,
            TokenBuckets(test_sends, now_ms),
            UsageStore(database, now_ms),
        ),
        media=Media(messages),
        sync=StatusSync(statuses, platform, now_ms),
        webhook=Webhook(statuses, client),
        large_bodies=FairSlots(LARGE_BODIES, of_account=1),
    )
