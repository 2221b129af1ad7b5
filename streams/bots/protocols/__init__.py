"""The protocols that bots speak, behind one interface."""
