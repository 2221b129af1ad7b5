"""The health probe: whether a PBX responds in time."""

from msgspec.structs import replace

from engine.ari.events import HealthProbe
from tests.harness.ari.fake_pbx import fake_pbx, running
from tests.harness.until import until

RARELY_S = 3.0


async def test_a_healthy_pbx() -> None:
    """Every probe succeeds."""
    results: list[bool] = []
    async with fake_pbx() as (fake, pbx), running(HealthProbe(pbx, results.append).run()):
        await until(lambda: len(results) >= 5)
        assert set(results) == {True}
        assert fake.http[0] == ("GET", "/ari/asterisk/ping", None)


async def test_a_wrong_password() -> None:
    """A rejection counts as no response."""
    results: list[bool] = []
    async with fake_pbx() as (fake, pbx):
        fake.ping_status = 401
        async with running(HealthProbe(pbx, results.append).run()):
            await until(lambda: len(results) >= 2)
            assert set(results) == {False}


async def test_a_hanging_pbx() -> None:
    """Probes time out one at a time; then the PBX responds again."""
    results: list[bool] = []
    async with fake_pbx() as (fake, pbx):
        fake.hold.clear()
        async with running(HealthProbe(pbx, results.append).run()):
            await until(lambda: results[:2] == [False, False])
            assert len(fake.http) <= 3
            fake.hold.set()
            await until(lambda: results[-1])


async def test_a_closed_port() -> None:
    """A refused connection fails, and the interval stays the same."""
    results: list[bool] = []
    async with fake_pbx() as (_, pbx):
        pass
    async with running(HealthProbe(pbx, results.append).run()):
        await until(lambda: len(results) >= 3)
        assert set(results) == {False}


async def test_a_node_without_calls_is_probed_rarely() -> None:
    """But often until it responds: its shards wait for that."""
    times: dict[bool, list[float]] = {True: [], False: []}
    async with fake_pbx() as (fake, pbx):
        fake.ping_status = 503
        timeouts = replace(pbx.timeouts, rare_health_interval_s=RARELY_S, health_timeout_s=RARELY_S)
        slow = replace(pbx, timeouts=timeouts)

        def note(is_answered: bool) -> None:
            times[is_answered].append(pbx.clock())
            if len(times[False]) == 3:
                fake.ping_status = 200

        async with running(HealthProbe(slow, note, is_rare=True).run()):
            await until(lambda: len(times[True]) == 2)
    assert times[False][2] - times[False][0] < RARELY_S
    assert times[True][1] - times[True][0] > 0.8 * RARELY_S
