# What ./dev does for the Python package: .venv with the packages from PyPI, and the verbs python and wheel. ./dev
# sources it; it needs `die`, `step`, `configure` and `build_preset` of there.

# Sets PYTHON_OPTIONS, the options of CMake with which the package is built and tested, and makes .venv for them. With
# KASHI_NO_SETUP=1 and without a complete .venv it leaves the package out, and says so.
PYTHON_OPTIONS=()
prepare_python() {
  local wanted=python/requirements-test.txt installed=.venv/kashi-requirements.txt
  if ! cmp -s "$wanted" "$installed"; then
    if [[ -n ${KASHI_NO_SETUP:-} ]]; then
      printf 'NOT TESTED: the Python package: %s is not in .venv, and KASHI_NO_SETUP is set\n' "$wanted"
      PYTHON_OPTIONS=(-DKASHI_PYTHON=OFF)
      return
    fi
    [[ -x .venv/bin/python ]] || step "make .venv" python3 -m venv .venv
    step "install $wanted into .venv" .venv/bin/pip install -q --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$installed"
  fi
  PYTHON_OPTIONS=(-DKASHI_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/bin/python")
}

help_python() {
  cat <<'EOF'
./dev python [PYTEST-OPTION…]
Builds the Python package into build/python/ and runs its tests, or those that the options of pytest select. Without
options it also runs JAX on Kashi, by the package in build/jax/, and compares.
It installs python/requirements-test.txt into .venv/ from PyPI, and lets .venv/bin/python import the package from
build/python/. ./dev test runs the same tests among all others.
EOF
}
verb_python() {
  install_packages build mpi python
  prepare_python
  configure release "${PYTHON_OPTIONS[@]}"
  step "build the Python package" build_preset release _kashi _kashi_stub kashi_plugin
  if [[ -x .venv/bin/python ]]; then let_venv_import "$PWD/build/python"; fi
  step "test the Python package" env PYTHONPATH=build/python .venv/bin/python -m pytest -q python/tests "$@"
  if (($# == 0)); then
    step "test JAX on Kashi" env PYTHONPATH=build/jax:build/python .venv/bin/python -m pytest -q python/kashi_jax/tests
  fi
}

# let_venv_import FOLDER: the Python of .venv finds packages there.
let_venv_import() {
  local packages
  packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$1" >"$packages/kashi-build.pth"
}

# fuzz_python SECONDS: runs python/tests/fuzz_binding.py with sanitizers, in the build of ./dev fuzz.
fuzz_python() {
  install_packages build mpi test check python
  prepare_python
  ((${#PYTHON_OPTIONS[@]} > 1)) || return 0
  configure fuzz "${PYTHON_OPTIONS[@]}"
  step "build the Python package with sanitizers" build_preset fuzz _kashi
  step "fuzz the Python package for $1 s" build-fuzz/python/sanitized_python python/tests/fuzz_binding.py \
    --seconds "$1" --seed $((RANDOM * 1000000))
}

help_wheel() {
  cat <<'EOF'
./dev wheel
Makes three wheels, and tries each in a new virtual environment. build/wheels/cpu/ has that of the Python package with
the compiled engine, build/wheels/evaluator/ the one without, and build/wheels/jax/ that of JAX's backend, kashi-jax. They have the shared
libraries that they need, but for those of manylinux_2_36: Debian 12 or newer, Ubuntu 24.04, Fedora 37.
EOF
}
verb_wheel() {
  install_packages build mpi python
  prepare_python
  ((${#PYTHON_OPTIONS[@]} > 1)) || die "wheel: .venv is needed"
  build_release "${PYTHON_OPTIONS[@]}"
  step "wheel without the compiled engine" .venv/bin/python scripts/make_wheel.py --build build --engine evaluator
  step "wheel with the compiled engine" .venv/bin/python scripts/make_wheel.py --build build --engine cpu
  step "wheel of kashi-jax" .venv/bin/python scripts/make_wheel.py --build build --engine jax
}
