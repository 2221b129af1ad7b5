"""The stream gateway: a process beside each PBX that connects its media with customers' bots."""
