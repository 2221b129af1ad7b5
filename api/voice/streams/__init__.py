"""The streams of live calls: bots that listen, and texts for bots."""
