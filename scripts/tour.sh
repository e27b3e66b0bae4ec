#!/usr/bin/env bash
# tour.sh KASHI: the tour of `./dev demo`: five questions of people who work with XLA, and how the command answers them.
# Ends with an error if an answer is not what it should be. Writes into the folder tour/ beside KASHI.
set -euo pipefail
kashi=$1
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tour=$(dirname "$kashi")/tour
mkdir -p "$tour"
readonly DIGITS=examples/digits

question() { printf '\n%s\n' "-- $*"; }
# Prints a command as one types it, then runs it.
show() {
  local word
  printf '\n$'
  for word in "$@"; do
    if [[ $word == *[!a-zA-Z0-9_=./,:-]* ]]; then printf " '%s'" "$word"; else printf ' %s' "$word"; fi
  done
  printf '\n'
  "$@"
}
# For commands that find a difference or a NaN: they end with status 1.
show_finding() {
  local status=0
  show "$@" || status=$?
  ((status == 1)) || { printf 'tour.sh: status %d instead of 1\n' "$status" >&2 && exit 1; }
}

question 'What does this array cost on a TPU, and which layout is cheaper?'
show "$kashi" shape 'f32[256,512,128,2]{3,2,1,0:T(8,128)}'

question 'Where does the memory of this program go? (A network for handwritten digits, as XLA compiled it for a TPU.)'
show "$kashi" memory "$DIGITS/model-tpu.hlo" --top 1
printf '\nAs a page for the browser: kashi memory --html page.html %s/model-tpu.hlo\n' "$DIGITS"

question 'Which instructions are expensive?'
show "$kashi" cost "$DIGITS/model-tpu.hlo" --top 3

question 'Does the program compute what XLA computes?'
# The command takes one --input per parameter, so each weight is a file.
inputs=()
for weight in conv1_filter conv1_bias conv2_filter conv2_bias dense_matrix dense_bias; do
  inputs+=(--input "$DIGITS/trained/$weight.npy")
done
show "$kashi" run "$DIGITS/model.hlo" "${inputs[@]}" --input "$DIGITS/test_images.npy" --expect "$DIGITS/xla_logits.npy"

question 'A softmax was changed. What differs, and where does the first infinity come from?'
sed 's/subtract(scores, largest.b)/copy(scores)/' examples/attention.hlo >"$tour/changed.hlo"
show_finding "$kashi" diff examples/attention.hlo "$tour/changed.hlo" --random uniform:-9,9
show_finding "$kashi" run "$tour/changed.hlo" --random uniform:-9,9 --check-nan
