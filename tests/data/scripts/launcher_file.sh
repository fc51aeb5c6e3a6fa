#!/bin/bash
# A file instead of a module
# with: X=1
python train/main.py --config-name=base a.b=1 --flag
