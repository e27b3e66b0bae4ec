# The verb fuzz of ./dev, which sources this file; it needs `step`, `configure`, `build_preset` and others of there.
help_fuzz() {
  cat <<'EOF'
./dev fuzz [SECONDS] [TARGET]
Runs each libFuzzer target with sanitizers for SECONDS (default: 60), and fuzz_binding, that of the Python package.
It builds fuzz/*_fuzz.cc into build-fuzz/ and starts with the seeds of fuzz/corpus/TARGET/. New inputs go to
build-fuzz/corpus/, findings to build-fuzz/findings/. A finding is a failure.
To reproduce a finding: build-fuzz/fuzz/TARGET build-fuzz/findings/FILE
Before them, without sanitizers, `engines` runs programs by lot on both engines and compares (tests/engines/README.md).
EOF
}
verb_fuzz() {
  local seconds=${1:-60} only=${2:-} targets target
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "fuzz: '$seconds' is not a number of seconds"
  if [[ -z $only || $only == engines ]]; then fuzz_engines "$seconds"; fi
  if [[ -z $only || $only == fuzz_binding ]]; then fuzz_python "$seconds"; fi
  [[ $only != engines && $only != fuzz_binding ]] || return 0
  install_packages build mpi test check
  configure fuzz
  step "build fuzzers" build_preset fuzz fuzzers
  mapfile -t targets < <(find fuzz -maxdepth 1 -name "${only:-*_fuzz}.cc" -printf '%f\n' | sed 's/\.cc$//' | sort)
  ((${#targets[@]})) || die "fuzz: no target ${only:-in fuzz/}"
  step "fuzz ${#targets[@]} targets for $seconds s each, $(jobs) at a time" fuzz_targets "$seconds" "${targets[@]}"
}
# fuzz_engines SECONDS
fuzz_engines() {
  install_packages build mpi test
  configure release
  if [[ $(cmake --build build --target help) != *kashi_compare_engines* ]]; then
    printf '\n== engines: skipped: this build has no compiled engine, or no tests\n'
    return
  fi
  step "build engines" build_preset release kashi_compare_engines
  mkdir -p build/findings
  step "compare the engines for $1 s" build/tests/engines/kashi_compare_engines --seconds="$1" \
    --seed="$((RANDOM * 32768 + RANDOM))" --out=build/findings
}
# fuzz_targets SECONDS TARGET…: one target per processor at a time. A finding does not stop the other targets.
fuzz_targets() {
  local seconds=$1 target running=0 status=0
  shift
  for target in "$@"; do
    if ((running == $(jobs))); then
      wait -n || status=1
      running=$((running - 1))
    fi
    fuzz_target "$target" "$seconds" &
    running=$((running + 1))
  done
  for (( ; running > 0; running--)); do wait -n || status=1; done
  return "$status"
}
fuzz_target() {
  local target=$1 seconds=$2 seeds=()
  local found=build-fuzz/corpus/$target log=build-fuzz/$target.log
  mkdir -p "$found" build-fuzz/findings
  [[ ! -d fuzz/corpus/$target ]] || seeds=("fuzz/corpus/$target")
  set_sanitizer_options
  if ! "build-fuzz/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/findings/$target-" "$found" "${seeds[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    printf 'Finding in %s; the full log is %s\n' "$target" "$log" >&2
    return 1
  fi
  sed -n "s/^stat::number_of_executed_units: */$target: inputs tried: /p" "$log"
}
