"""Status callbacks: what calls tell is brought to customers, in order, until it has arrived."""
