"""The PBX's end of a stream: a websocket of Asterisk's chan_websocket."""
