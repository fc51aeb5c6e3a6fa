#!/bin/bash
# ${V:+x}, ${V+x}, [ -v V ]
# with: RESUME=/ckpt DEBUG=
ARGS=(trainer.total=1)
[ -v DEBUG ] && ARGS+=(trainer.debug=true)
python3 -m trainer.main "${ARGS[@]}" ${RESUME:+trainer.resume_path=$RESUME} "trainer.mode=${DEBUG+debug}" trainer.x=${RESUME:+yes}
