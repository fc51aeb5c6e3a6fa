#!/bin/bash
# while read from a file, from a pipe, from <<<; mapfile
# with: X=a:b
while read -r key value; do
    WORDS+=("$key=$value")
done < pairs.txt
while IFS=: read -r left right; do LEFT=$left RIGHT=$right; done <<< "${X:-l:r}"
mapfile -t LINES < pairs.txt
cat pairs.txt | while read -r key value; do WORDS+=("lost=$key"); done
COUNT=$(grep -c optim pairs.txt)
python3 -m trainer.main "${WORDS[@]}" l=$LEFT r=$RIGHT n=${#LINES[@]} count=$COUNT "x=${LINES[1]}"
