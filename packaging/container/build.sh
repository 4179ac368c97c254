#!/bin/sh
# Builds the wheel on a bare Debian: build.sh SOURCE WHEEL_DIRECTORY
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends g++ python3-dev python3-venv
python3 -m venv /build
/build/bin/python -m pip --disable-pip-version-check wheel --no-deps --wheel-dir "$2" "$1"
