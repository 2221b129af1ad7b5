"""Values of a call: its state, legs, sessions, events, requests and commands."""
