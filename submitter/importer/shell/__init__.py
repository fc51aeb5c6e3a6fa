"""An evaluator for the part of bash that launch scripts use. It runs nothing: commands are known, or noted as unknown."""
