"""Where phones have logged in last, as several engines hear it."""

from engine.runtime.agents.phone_reports import PhoneReports
from wire.rpc import PhoneLogin, PhoneReport


class Clock:
    """A time that all engines share."""

    now_ms = 1_000


def test_the_latest_login_counts() -> None:
    """Whichever engine has heard it, and in whatever order reports arrive."""
    one, two = PhoneReports(lambda: Clock.now_ms), PhoneReports(lambda: Clock.now_ms)
    one.logins.listener("pbx1")("Ada")
    Clock.now_ms += 5
    two.logins.listener("pbx2")("ada")
    one.learn(two.report())
    two.learn(PhoneReport({}, {"ada": PhoneLogin("pbx1", 1_000)}))
    assert one.logins.node_of("PJSIP/Ada") == two.logins.node_of("PJSIP/ada") == "pbx2"
    assert one.report().logins == {}
    Clock.now_ms += 5
    one.logins.listener("pbx1")("ada")
    two.learn(one.report())
    assert two.logins.node_of("PJSIP/ada") == "pbx1"


def test_a_revision_counts_changes() -> None:
    """Another login at the same node is none."""
    reports = PhoneReports(lambda: 1_000)
    assert reports.revision == 0
    listener = reports.logins.listener("pbx1")
    listener("ada")
    first = reports.revision
    listener("ada")
    assert reports.revision == first >= 1_000
    listener("bob")
    assert reports.revision == first + 1
