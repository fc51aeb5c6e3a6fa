#!/bin/bash
# Replacements and cuts of what is not set
# with: NAME=abc OTHER=xyz
python3 -m trainer.main a="${NAME/?}" b="${OTHER/#/p}" c="${NAME//b/-}${OTHER:1}" d="${NAME+set}${NAME}"
