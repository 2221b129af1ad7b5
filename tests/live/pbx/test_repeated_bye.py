"""A phone of the tests at the port of an earlier one, whose last request the PBX repeats."""

import socket

from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone

BYE = """\
BYE sip:phone@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK-repeated
From: <sip:pbx@127.0.0.1>;tag=1
To: <sip:phone@127.0.0.1>;tag=2
Call-ID: earlier
CSeq: 2 BYE
Content-Length: 0

"""


async def test_a_bye_of_an_earlier_call(lab: Lab) -> None:
    """The phone answers it, and then the call that it is for."""
    async with Phone.ringing(lab.trunk_port) as phone:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pbx:
            pbx.bind(("127.0.0.1", 0))
            request = BYE.format(port=pbx.getsockname()[1]).replace("\n", "\r\n")
            pbx.sendto(request.encode(), ("127.0.0.1", phone.port))
        pause = {"type": "pause", "data": {"length": 60}}
        call = await lab.call(to=phone.address, action=pause)
        await phone.pick_up()
        await phone.wait_answered()
        assert not phone.is_ended
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()
