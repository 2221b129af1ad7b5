"""Media topology and recording: the desired state of each leg, and the commands to reach it."""
