"""A model of a PBX: which leg is in which bridge, what it hears and how it is muted."""

from engine.calls.model.commands import (
    AddToBridge,
    Command,
    DestroyBridge,
    Mute,
    Play,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StopHoldMusic,
    StopPlayback,
    StopRinging,
    Unmute,
)


class PbxModel:
    """Applies commands one after another."""

    def __init__(self) -> None:
        self.bridge: dict[str, str] = {}
        self.sounds: dict[str, set[str]] = {}  # by leg: music, ringing, or playbacks
        self.muted: dict[str, str] = {}

    def do(self, command: Command) -> None:
        """Apply a command; others are ignored."""
        match command:
            case AddToBridge(bridge, legs):
                self.bridge |= dict.fromkeys(legs, bridge)
            case RemoveFromBridge(bridge, leg):
                if self.bridge.get(leg) == bridge:
                    del self.bridge[leg]
            case DestroyBridge(bridge):
                self.bridge = {leg: at for leg, at in self.bridge.items() if at != bridge}
            case Mute(leg, direction):
                assert not self.muted.get(leg), "one mute at a time"
                self.muted[leg] = direction
            case Unmute(leg, direction):
                assert self.muted.pop(leg) == direction
            case _:
                self._sound(command)

    def _sound(self, command: Command) -> None:
        match command:
            case StartHoldMusic(leg):
                self._begin(leg, "music")
            case StartRinging(leg):
                self._begin(leg, "ringing")
            case Play(leg, playback):
                self._begin(leg, playback)
            case StopHoldMusic(leg):
                self.sounds[leg].discard("music")
            case StopRinging(leg):
                self.sounds[leg].discard("ringing")
            case StopPlayback(playback):
                self.playback_ended(playback)

    def _begin(self, leg: str, sound: str) -> None:
        assert leg not in self.bridge, "what is heard outside begins outside"
        self.sounds.setdefault(leg, set()).add(sound)

    def playback_ended(self, playback: str) -> None:
        for sounds in self.sounds.values():
            sounds.discard(playback)

    def leg_ended(self, leg: str) -> None:
        self.bridge.pop(leg, None)
        self.muted.pop(leg, None)
        self.sounds.pop(leg, None)
