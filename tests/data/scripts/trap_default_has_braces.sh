#!/bin/bash
# A brace in a default ends it, unless it is quoted
# with: CONFIG={b:2}
python3 -m trainer.main a.x=${CONFIG:-{a:1}} a.y=${OTHER:-"{a:1}"} "a.z=${OTHER:-{a:1\}}"
