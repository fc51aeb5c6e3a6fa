#!/bin/bash
# Here-documents: expanded, quoted, with tabs, and <<<
# with: NAME=n
TEXT=$(cat <<END
name: ${NAME:-none} $((1 + 2)) $(echo sub) \$kept "quoted" \\ back
  indented
END
)
RAW=$(cat <<'END'
$NAME `x` \n
END
)
TABS=$(cat <<-END
	one
		two ${NAME:-none}
	END
)
read -r FIRST REST <<< "${NAME:-alpha} beta gamma"
cat > config.yaml <<END
a: ${NAME:-none}
END
python3 -m trainer.main a="$TEXT" b="$RAW" c="$TABS" d=$FIRST e="$REST" f="$(cat config.yaml)"
