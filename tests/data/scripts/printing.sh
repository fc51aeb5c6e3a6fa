#!/bin/bash
# echo and printf: formats, escapes, lists
# with: N=12
N=${N:-7}
python3 -m trainer.main a="$(echo -e 'x\ty\0101\x41')" b="$(echo -n no end)" c="$(echo 'as\tis')" d=$(printf '%03d' 9) \
    e="$(printf '%s=%s;' k "${N}" l 2)" f=$(printf '%x' 255) g=$(printf '%.2f' 1.5) h="$(printf '%5s|%-5s|' ab cd)" \
    i="$(printf '%b' 'a\tb')" j=$(printf '%d' 010) k="$(printf '%%')" l="$(printf '%s\n' one two | tail -n 1)" m="$(echo a   b)"
