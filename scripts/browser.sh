#!/bin/sh
# Install what the browser tests need where it is missing: Chromium and fonts with Korean and emoji.
set -eu
missing=""
command -v chromium >/dev/null || missing="$missing chromium"
for font in fonts-noto-cjk fonts-noto-color-emoji; do
    dpkg -s "$font" >/dev/null 2>&1 || missing="$missing $font"
done
[ -z "$missing" ] && exit 0
command -v apt-get >/dev/null || {
    echo "The tests need$missing. Install them with your package manager and run make again." >&2
    exit 1
}
sudo=$([ "$(id -u)" = 0 ] || command -v sudo || true)
echo "Installing$missing"
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing
