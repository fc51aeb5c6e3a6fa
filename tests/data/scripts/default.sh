#!/bin/bash
# ${V:-default}: nested, with a command inside, quoted and not; `-` keeps an empty value, `:-` does not
# with: ROOT=/data MODEL=big SUFFIX=x EMPTY=
ROOT=${ROOT:-$HOME/store}
MODEL_PATH=${MODEL_PATH:-"${ROOT}/models/${MODEL:-small}"}
NAME=${NAME:-$(basename "$MODEL_PATH")-${SUFFIX:-run}}
python3 -m trainer.main model.path=$MODEL_PATH run.name="$NAME" run.root="${ROOT}" \
    run.suffix="${SUFFIX-none}" run.empty="${EMPTY-unset}" run.empty2="${EMPTY:-unset}" run.two="${A:-${B:-${SUFFIX:-c d}}}"
