"""The samples on an engine's metrics page."""

import aiohttp
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.harness.servers.engine import Engine

Labels = tuple[tuple[str, str], ...]
Figures = dict[tuple[str, Labels], float]


async def figures(engine: Engine) -> Figures:
    """Return the values by name and labels."""
    url = f"{engine.url}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as got:
        families: list[Metric] = list(text_string_to_metric_families(await got.text()))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }
