add() {
    WORDS+=("$1=$2")
}
HERE=$(basename "$(dirname "${BASH_SOURCE[0]}")")
