#!/bin/bash
# A backslash at the end of the line, between words, inside a word and inside quotes
# with: N=3
python3 -m trainer.main \
    a.first=1 \
  a.joi\
ned=2 "a.quoted=x \
y" 'a.single=x \
y' \
	a.tab=${N:-1} a.last=1
