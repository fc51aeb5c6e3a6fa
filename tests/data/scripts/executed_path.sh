#!/bin/bash
# Another script by its path, with a variable for it alone
# with: SIZE=9
cd files 2>/dev/null
SIZE=${SIZE:-3} bash lib/train.sh second
