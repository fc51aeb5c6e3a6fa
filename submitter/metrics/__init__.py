"""What the numbers that a trainer logs say: attempts joined, figures derived, alerts. Pure."""
