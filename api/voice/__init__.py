"""Calls: started, shown and controlled; transfers and conferences are in `sessions`."""
