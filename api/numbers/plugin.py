"""Builds the service for numbers."""

from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.numbers.flows import MessageFlows
from api.numbers.service import NumberService
from api.numbers.store import NumberStore


def build(database: Database, engine: EngineClient, now_ms: Clock) -> NumberService:
    return NumberService(NumberStore(database, now_ms), MessageFlows(engine))
