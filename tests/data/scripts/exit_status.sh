#!/bin/bash
# $? and PIPESTATUS before the launch; exit after it
# with: X=1
false
FIRST=$?
false | true
PIPE=${PIPESTATUS[0]}
(exit 7)
echo $? > /dev/null
true
SECOND=$?
python3 -m trainer.main first=$FIRST pipe=$PIPE second=$SECOND
STATUS=$?
if [ $STATUS -ne 0 ]; then exit $STATUS; fi
exit 0
