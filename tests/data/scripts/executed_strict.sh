#!/bin/bash
# Another script with options of bash; the first of them ends before its launch
# with: SIZE=9
export SIZE=${SIZE:-3}
bash -e "$(dirname "$0")/files/lib/fails.sh"
bash -x -u "$(dirname "$0")/files/lib/train.sh" second
