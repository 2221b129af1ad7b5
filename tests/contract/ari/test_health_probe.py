"""Whether a PBX can be reached: each question is answered in time, or not."""

from engine.ari.subscription_probe import HealthProbe
from tests.contract.ari.fake_pbx import fake_pbx, running
from tests.harness.until import until


async def test_it_is_there() -> None:
    """Every question is answered."""
    noted: list[bool] = []
    async with fake_pbx() as (fake, pbx), running(HealthProbe(pbx, noted.append).run()):
        await until(lambda: len(noted) >= 5)
        assert set(noted) == {True}
        assert fake.http[0] == ("GET", "/ari/asterisk/ping", None)


async def test_it_does_not_let_us_in() -> None:
    """An answer that refuses is none."""
    noted: list[bool] = []
    async with fake_pbx() as (fake, pbx):
        fake.ping_status = 401
        async with running(HealthProbe(pbx, noted.append).run()):
            await until(lambda: len(noted) >= 2)
            assert set(noted) == {False}


async def test_it_says_nothing_for_a_while() -> None:
    """What takes too long is in vain, one question at a time; then it answers again."""
    noted: list[bool] = []
    async with fake_pbx() as (fake, pbx):
        fake.hold.clear()
        async with running(HealthProbe(pbx, noted.append).run()):
            await until(lambda: noted[:2] == [False, False])
            assert len(fake.http) <= 3
            fake.hold.set()
            await until(lambda: noted[-1])


async def test_it_is_not_there() -> None:
    """A port that nobody listens at answers nothing, and is asked no faster for it."""
    noted: list[bool] = []
    async with fake_pbx() as (_, pbx):
        pass
    async with running(HealthProbe(pbx, noted.append).run()):
        await until(lambda: len(noted) >= 3)
        assert set(noted) == {False}
