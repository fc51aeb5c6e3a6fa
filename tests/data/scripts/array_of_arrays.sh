#!/bin/bash
# An array of arrays keeps the groups of the inner ones
# with: N=4
DATA=(data.a=1 data.b="x y")
ACTOR=(actor.n=${N:-2})
ALL=("${DATA[@]}" "${ACTOR[@]}" all.last=1)
CMD=(python3 -m trainer.main "${ALL[@]}")
"${CMD[@]}" "$@"
