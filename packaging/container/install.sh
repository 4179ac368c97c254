#!/bin/sh
# Installs the wheel on a bare Debian, for a user without rights: install.sh WHEEL_DIRECTORY
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends python3 python3-venv
python3 -m venv /opt/memgauge
/opt/memgauge/bin/python -m pip --disable-pip-version-check --no-cache-dir install "$1"/*.whl
/opt/memgauge/bin/python -m pip --disable-pip-version-check uninstall --yes pip
apt-get purge --yes --auto-remove python3-venv
rm -rf /var/lib/apt/lists/*
useradd --create-home memgauge
mkdir -p /runs
chown memgauge /runs
