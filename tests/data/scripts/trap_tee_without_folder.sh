#!/bin/bash
# tee into a folder that is not there
# with: NAME=n
# says: importer.tee_no_folder:5
python3 -m trainer.main a.b=1 run.name=${NAME:-base} 2>&1 | tee logs_not_there/${NAME:-base}.log
