"""A run in the terminal: a screen that is drawn anew as the run changes, or one line per step in a pipe."""
