"""One module per verb: how it starts and how it reacts to events."""
