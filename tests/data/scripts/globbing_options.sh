#!/bin/bash
# nullglob, set -f, extglob
# with: X=1
shopt -s nullglob extglob
LEFT=(nothing_*)
ODD=(data/!(train_*))
shopt -u nullglob
V=aaab
STRIPPED=${V##+(a)}
set -f
python3 -m trainer.main n=${#LEFT[@]} v=$STRIPPED odd="${ODD[*]}" data/*
