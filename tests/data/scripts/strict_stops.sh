#!/bin/bash
# set -e ends the script at a command that fails
# with: X=1
# refused: importer.ends
set -e
X=${X:-0}
cd no/such/folder
python3 -m trainer.main a.b=1
