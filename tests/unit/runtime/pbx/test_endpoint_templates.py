"""Dial strings of several trunks."""

from engine.runtime.pbx.endpoint_templates import EndpointTemplates, trunk_name, trunk_templates

FIRST = "PJSIP/{number}@trunk"


def test_dial_strings() -> None:
    """They differ in the trunk's name only, wherever it is."""
    assert trunk_templates(FIRST, ["backup"]) == {
        "trunk": FIRST,
        "backup": "PJSIP/{number}@backup",
    }
    found = trunk_templates("PJSIP/trunk/sip:{number}@trunk.example.com", ["b"])
    assert found["b"] == "PJSIP/b/sip:{number}@trunk.example.com"
    assert trunk_name("PJSIP/trunk/sip:{number}@trunk.example.com") == "trunk"


def test_the_trunk_of_an_account() -> None:
    """By its number among the account's, or else among all."""
    templates = EndpointTemplates(
        "app", FIRST, "PJSIP/{agent_id}", "", trunks=trunk_templates(FIRST, ["backup"])
    )

    def endpoint(number: int, *names: str) -> str | None:
        chosen = templates.over_trunk(number, names)
        return chosen.endpoint("+471") if chosen else None

    assert [endpoint(number) for number in range(3)] == [
        "PJSIP/+471@trunk", "PJSIP/+471@backup", None,
    ]  # fmt: skip
    assert [endpoint(number, "backup") for number in range(2)] == ["PJSIP/+471@backup", None]
    assert endpoint(0, "unknown") is None
    alone = EndpointTemplates("app", FIRST, "PJSIP/{agent_id}", "")
    assert (alone.over_trunk(0, ()), alone.over_trunk(1, ())) == (alone, None)
