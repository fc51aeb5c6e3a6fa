#!/bin/bash
# A default that becomes several words where it is not quoted
# with: EXTRA=x.y=2
python3 -m trainer.main a.b=1 ${EXTRA:-x.y=1 x.z=2} ${MORE:-"+k.l=[1, 2]"} ${NOTHING:-}
