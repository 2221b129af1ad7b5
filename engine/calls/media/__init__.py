"""Where each leg is and what it hears: desired state, and the difference to what is."""
