#!/bin/bash
# Every kind of quote and of escape
# with: V=w
python3 -m trainer.main a='single $V "x"' b="double ${V:-v} \"x\" \$V \\ \`" c=\"bare\" d=mi'x'"e"\ d e=$'t\ta\x41\u00e9\E\e\'\101' \
    f="it's" g='it'\''s' h="" i='' j="a
b" k=\$V l="\x" m=$"local" n="$" o=a\
b p=#no '#'=1 q=\#x r=!x 's=!' t="tab	"
