"""Which Python packages a lab lacks."""

from dev.setup.python_packages import missing_requirements

DECLARED = (
    "aiohttp<4,>=3.14",
    'uvloop>=0.23; sys_platform != "win32"',
    "redis<9,>=8.1; extra == 'engine'",
    "cryptography>=50; extra == 'engine'",
    "cryptography>=50; extra == 'api'",
    "sqlalchemy[asyncio]<2.2,>=2.1.9; extra == 'api'",
    "grpcio<2,>=1.85; extra == 'grpc'",
    "switchroom[api,engine]; extra == 'dev'",
)


def test_only_what_is_absent() -> None:
    """Each once, with its limits and its own extras; other extras of ours are not installed."""
    found = missing_requirements(DECLARED, ("engine", "api"), lambda name: name == "redis")
    assert found == ["cryptography>=50", "sqlalchemy[asyncio]<2.2,>=2.1.9"]


def test_nothing_is_absent() -> None:
    """A second start installs nothing."""
    assert missing_requirements(DECLARED, ("engine", "api"), lambda _: True) == []
