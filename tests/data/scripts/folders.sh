#!/bin/bash
# cd, cd -, pushd, popd, and what patterns and paths mean then
# with: SUB=conf
cd ${SUB:-data} || exit 1
INSIDE=(*)
cd - > /dev/null
pushd conf > /dev/null
CONF=(*)
popd > /dev/null
(cd data && true)
python3 -m trainer.main inside="${INSIDE[*]}" conf="${CONF[*]}" out="$(echo pair*)" base="$(basename "$(cd data && pwd)")" old=$(basename "$OLDPWD")
