#!/bin/bash
# [ ] with an unquoted variable that is empty: bash complains, and the condition is false
# with: MODE=fast
# says: importer.bad_test:5
if [ $MODE = fast ]; then N=1; else N=2; fi
if [ $N -eq "x" ]; then M=1; fi
python3 -m trainer.main n=$N m=${M:-0}
