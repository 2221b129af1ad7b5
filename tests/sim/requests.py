"""Random control requests, most of which fit the state of their call."""

import random
from collections.abc import Callable, Sequence

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged
from engine.calls.model.requests import (
    AddMemberRequested,
    CoachRequested,
    ControlRequest,
    DialRequested,
    HoldRequested,
    KickRequested,
    LegHangupRequested,
    MuteRequested,
    RecordingRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from tests.harness.scenarios.scenario import Scenarios

MakeRequest = Callable[[Call], ControlRequest]
RINGS_S = (1.0, 3.0, 8.0, 20.0)


class RequestChooser:
    def __init__(self, rng: random.Random, scenarios: Scenarios) -> None:
        self._rng = rng
        self._scenarios = scenarios
        self._kinds: Sequence[MakeRequest] = (
            self._mute,
            self._hold,
            self._hang_up,
            self._dial,
            self._transfer,
            self._complete,
            self._cancel,
            self._add,
            self._kick,
            self._coach,
        )
        self._kinds_of_recorded = (*self._kinds, self._record)

    def of(self, call: Call) -> ControlRequest:
        """Choose a request that fits the call's state, or sometimes one that does not."""
        is_bridged = isinstance(call.state, Bridged)
        is_transferred, is_conference = call.transfer is not None, call.conference is not None
        weights = (  # of `_kinds`
            3,
            3,
            1,
            1.5,
            5 if is_bridged else 0.3,
            5 if is_transferred else 0.3,
            3 if is_transferred else 0.3,
            3 if is_bridged else 0.3,
            2 if is_conference else 0.2,
            3 if is_conference else 0.2,
        )
        if call.recording_destination is not None:
            return self._rng.choices(self._kinds_of_recorded, (*weights, 2))[0](call)
        return self._rng.choices(self._kinds, weights)[0](call)

    def _record(self, call: Call) -> ControlRequest:
        del call
        return RecordingRequested(self._rng.choice(("start", "pause", "resume", "stop")))

    def _mute(self, call: Call) -> ControlRequest:
        return MuteRequested(self._leg(call), self._rng.choice(("", "in", "out", "both")))

    def _hold(self, call: Call) -> ControlRequest:
        return HoldRequested(self._leg(call), self._rng.random() < 0.5)

    def _hang_up(self, call: Call) -> ControlRequest:
        return LegHangupRequested(self._leg(call))

    def _dial(self, call: Call) -> ControlRequest:
        del call
        return DialRequested(self._scenarios.party(), self._rng.choice(RINGS_S))

    def _transfer(self, call: Call) -> ControlRequest:
        source, customer = self._leg(call), self._leg(call)
        if isinstance(call.state, Bridged) and call.state.legs and self._rng.random() < 0.9:
            source, customer = self._rng.sample((call.main, call.state.legs[0]), 2)
        return TransferRequested(
            mode=self._rng.choice(("blind", "attended", "attended")),
            source=source,
            customer=customer,
            party=self._scenarios.party(),
            ring_s=self._rng.choice(RINGS_S),
            music=self._music(),
        )

    def _complete(self, call: Call) -> ControlRequest:
        reason = self._rng.choice(("manual_complete", "source_hangup_intentional"))
        return TransferCompletionRequested(self._transfer_of(call), "1001", reason)

    def _cancel(self, call: Call) -> ControlRequest:
        reason = self._rng.choice(("source_cancel", "target_no_answer", "target_reject"))
        return TransferCancelRequested(self._transfer_of(call), "1001", reason)

    def _add(self, call: Call) -> ControlRequest:
        rng = self._rng
        is_agent = rng.random() < 0.5
        return AddMemberRequested(
            party="agent:1002" if is_agent else self._scenarios.party(),
            by="1001",
            ring_s=rng.choice(RINGS_S),
            session=self._conference_of(call) if rng.random() < 0.4 else "",
            agent_id="1002" if is_agent else "",
            music=self._music(),
        )

    def _kick(self, call: Call) -> ControlRequest:
        is_leave = self._rng.random() < 0.4
        return KickRequested(self._conference_of(call), self._leg(call), "1001", is_leave)

    def _coach(self, call: Call) -> ControlRequest:
        coached = self._leg(call) if self._rng.random() < 0.7 else ""
        return CoachRequested(self._conference_of(call), self._leg(call), coached)

    def _leg(self, call: Call) -> str:
        """Choose a leg: mostly an answered one, sometimes a ringing, ended or unknown one."""
        legs = [each.id for each in call.legs]
        up = [each.id for each in call.legs if each.state == "up"]
        ended = [f"{call.id}.l0", f"{call.id}.l2", call.main, "none"]
        kind = self._rng.random()
        return self._rng.choice((kind < 0.8 and up) or (kind < 0.95 and legs) or ended)

    def _transfer_of(self, call: Call) -> str:
        return self._session([each.id for each in call.transfers])

    def _conference_of(self, call: Call) -> str:
        return self._session([each.id for each in call.conferences])

    def _session(self, known: list[str]) -> str:
        """Choose a session: mostly the last, sometimes an earlier or unknown one."""
        kind = self._rng.random()
        if not known or kind < 0.05:
            return "none"
        return known[-1] if kind < 0.9 else self._rng.choice(known)

    def _music(self) -> str | None:
        kind = self._rng.random()
        if kind < 0.3:
            return "https://audio/200/5/ok"  # so short that it loops
        return self._scenarios.audio() if kind < 0.5 else None
