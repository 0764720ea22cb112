#!/usr/bin/env bash
# Installs the peers into build/peers, which git ignores: Node packages with npm (Node.js 20 or newer is needed), the
# Python ones each into an environment of its own, since their dependencies exclude each other. Run from anywhere:
#
#     bash bench/peers/setup.sh [PYTHON]
#
# PYTHON (python3 by default) has to be 3.11 or 3.12: Prompt Poet wants a tiktoken that has no wheels for newer ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${1:-python3}
target=build/peers

mkdir -p "$target/node"
[ -e "$target/node/package.json" ] || echo '{"name": "peers", "private": true}' >"$target/node/package.json"
# No scripts: the packages hold all that they need, the tokenizer as a package for each platform.
npm install --prefix "$target/node" --no-audit --no-fund --ignore-scripts --loglevel=error \
  @impowering/priompt@0.2.1 @anysphere/tiktoken-node@0.2.1 @vscode/prompt-tsx@0.4.0-alpha.9

install() { # FOLDER PACKAGE
  [ -x "$target/$1/bin/python" ] || "$python" -m venv "$target/$1"
  "$target/$1/bin/pip" install -q --disable-pip-version-check "$2"
}
install pypriompt priompt==0.1.2
install poet prompt-poet==0.0.52
echo "installed into $target; now: python -m bench.peers.run"
