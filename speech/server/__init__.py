"""The server of `switchroom speech`: a websocket for each stream, and the recognizers behind it."""
