#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pip.sh PYTHON LIBRARY: pip installs the module into an environment of its own,
# without network.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$1" -c 'import setuptools, wheel, venv, pip' 2>/dev/null || exit 77
# pip writes beside the sources.
cp -R "$root/python" "$folder/source"
# A pip of its own would take three seconds.
"$1" -m venv --without-pip --system-site-packages "$folder/venv" || exit 1
"$folder/venv/bin/python" -m pip install --quiet --no-build-isolation \
    --no-index --disable-pip-version-check "$folder/source" || exit 1
cd "$folder" || exit 1
unset PYTHONPATH
EVENKEEL_LIBRARY=$2 "$folder/venv/bin/python" -m evenkeel >out || exit 1
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$root/meson.build")
grep "^evenkeel $version: " out || { cat out; exit 1; }
"$folder/venv/bin/python" -m pip show evenkeel | grep -x "Version: $version"
