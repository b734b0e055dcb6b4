#!/usr/bin/env bash
# Installs Chromium and its driver, which the tests of the study's page run in. Does nothing if they are there.
set -euo pipefail

have() { command -v "$1" > /dev/null 2>&1; }

if have chromedriver && { have chromium || have chromium-browser || have google-chrome; }; then
  echo "Chromium and its driver are installed already."
  exit 0
fi
if ! have apt-get; then
  echo "This is not a Debian: install Chromium (or Chrome) and the chromedriver of the same version by hand." >&2
  echo "Without them the tests of the page in a browser are skipped." >&2
  exit 1
fi
install=(apt-get install --yes --no-install-recommends chromium chromium-driver)
if [ "$(id -u)" -ne 0 ]; then
  echo "Installing needs root; run: sudo apt-get update && sudo ${install[*]}" >&2
  exit 1
fi
apt-get update
DEBIAN_FRONTEND=noninteractive "${install[@]}"
