"""How people see a run: the terminal, web pages, Prometheus, a report. Reads the ledger; changes nothing by itself."""
