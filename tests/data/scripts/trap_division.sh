#!/bin/bash
# Division by 0: bash drops the command and goes on
# with: GROUPS_OF=4
# says: importer.expansion_error:6
PER=8
PER=$((16 / ${GROUPS_OF:-0}))
python3 -m trainer.main per=$PER
