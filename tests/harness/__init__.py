"""What the rings of tests share: servers as processes, phones, doubles and the gate.

It imports nothing: each process of pytest imports the gate.
"""
