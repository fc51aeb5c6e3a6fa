"""An evaluator for the part of bash that launch scripts use. It runs nothing: a command is known, or it is noted."""
