"""Why an attempt ended, and what to do next: reasons, the diagnosis of logs, the decision."""
