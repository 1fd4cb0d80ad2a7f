#!/bin/sh
# Make a virtual environment in the folder $1 with the interpreter $PYTHON, 3.11 or newer.
set -eu
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "bartviz needs Python 3.11 or newer; $python is older. Give another: make run PYTHON=python3.12" >&2
    exit 1
}
if ! "$python" -m venv "$1" 2>/dev/null; then
    rm -rf "$1"
    echo "Installing venv for $python"
    version=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    sudo=$([ "$(id -u)" = 0 ] || command -v sudo || true)
    $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$version"
    "$python" -m venv "$1"
fi
