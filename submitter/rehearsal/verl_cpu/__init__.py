"""A CPU platform for verl: what lets the real trainer run where there is no NPU. For rehearsals only.

Travels to the cluster as the top-level package `npurun_verl_cpu`. verl imports it in every process through
VERL_USE_EXTERNAL_MODULES, and uses it where VERL_PLATFORM=cpu_rehearsal. Written against verl 0.9.1.
"""

import os

if os.environ.get("VERL_PLATFORM") == "cpu_rehearsal":
    from . import platform, registry

    __all__ = ["platform", "registry"]
