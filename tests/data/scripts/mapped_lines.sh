#!/bin/bash
# mapfile and read from a process substitution and from a here-document
# with: N=2
mapfile -t NUMBERS < <(seq ${N:-3})
read -r -a WORDS <<< "p=1 q=2"
while IFS='=' read -r key value; do KEYS+=("$key"); LAST=$value; done <<END
alpha=1
beta=${N:-3}
END
python3 -m trainer.main numbers="${NUMBERS[*]}" "${WORDS[@]}" keys="${KEYS[*]}" last=$LAST
