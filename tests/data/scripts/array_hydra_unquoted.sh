#!/bin/bash
# Lists and dicts of Hydra with and without quotes
# with: P=0.5
python3 -m trainer.main trainer.logger=['console','wandb'] a.b=["x","y"] 'a.c=["x", "y"]' "a.d=['x','y']" a.e=[1,2,3] \
    "a.f={k: 1, l: '${P:-0.1}'}" a.g={k:1} a.h=\[\'q\'\] '+a.i={"k":[1,2]}' ++a.j=null ~a.k a.l="[${P:-0.1},${P:-0.2}]"
