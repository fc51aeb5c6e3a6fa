#!/bin/bash
# ${V#p} ${V##p} ${V%p} ${V%%p} ${V/p/x} ${V//p/x}
# with: MODEL=/x/y.tar.gz
MODEL=${MODEL:-/models/org/Name-7B.v1.safetensors}
FILE=${MODEL##*/}
python3 -m trainer.main run.a=${FILE%%.*} run.b=${FILE%.*} run.c=${MODEL#*/} run.d=${MODEL%/*} run.e="${MODEL//\//_}" \
    run.f=${MODEL/models/ckpt} run.g=${FILE/#Name/N} run.h=${FILE/%safetensors/bin} run.i=${FILE//[0-9]/n} run.j=${MODEL//-}
