"""Builds the service for numbers."""

from api.common.clock import Clock
from api.db.database import Database
from api.db.row_quota import RowQuota
from api.engine_client import EngineClient
from api.numbers.service import MessageFlows, NumberService
from api.numbers.store import NumberStore, number_limit


def build(
    database: Database, engine: EngineClient, now_ms: Clock, max_numbers: int
) -> NumberService:
    quota = RowQuota(database, now_ms, number_limit(max_numbers), interval_ms=0)
    return NumberService(NumberStore(database, now_ms), MessageFlows(engine), quota)
