"""`npurun report`: one page of a run that needs nothing but a browser: for a mail, a wiki, or the time after the run.

Jinja2 and uPlot come with the extra `web` and are looked for when a page is made.
"""

from submitter.watch.report.page import report

__all__ = ["report"]
