"""What the messages of a phone say about its SIP dialog."""

from collections.abc import Sequence

from msgspec import Struct

from tests.harness.phones.sip import SipMessage


class Dialog(Struct, frozen=True):
    """The dialog of a phone's call; `messages` grow with it."""

    messages: Sequence[SipMessage]

    @property
    def status(self) -> int:
        """Return the last status of the INVITE, from either side; 0 before there is one."""
        found = [m.status for m in self.messages if m.method == "INVITE" and m.status]
        return found[-1] if found else 0

    @property
    def caller_id(self) -> str:
        """Return the number in the From header of the first message; empty without one."""
        sender = self.messages[0].header("From") if self.messages else ""
        return sender.partition("sip:")[2].partition("@")[0]

    @property
    def answers(self) -> list[SipMessage]:
        """Return the answers to INVITE and re-INVITE, from either side."""
        return [m for m in self.messages if m.answers_invite]

    @property
    def replaces(self) -> str:
        """Return its name as in Replaces (RFC 3891): the peer's tag is the to-tag."""
        [answer, *_] = self.answers
        tags = [answer.header(name).rpartition(";tag=")[2] for name in ("From", "To")]
        to_tag, from_tag = tags if answer.is_sent else reversed(tags)
        return f"{answer.header('Call-ID')};to-tag={to_tag};from-tag={from_tag}"

    @property
    def is_ended(self) -> bool:
        """Return whether the call was refused, canceled or hung up."""
        return self.status >= 300 or any(m.method == "BYE" for m in self.messages)

    @property
    def is_acknowledged(self) -> bool:
        """Return whether the other party has acknowledged all answers of this phone."""
        answers = {m.sequence for m in self.answers if m.is_sent}
        return answers <= {m.sequence for m in self.messages if m.method == "ACK"}
