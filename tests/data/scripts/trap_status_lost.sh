#!/bin/bash
# The exit status is tee's, not the trainer's
# with: X=1
# says: importer.status_lost:5 importer.tee:5
python3 -m trainer.main a.b=${X:-0} | tee train.log
if [ $? -ne 0 ]; then exit 1; fi
