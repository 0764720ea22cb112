#!/usr/bin/env bash
# Fetches the licence texts of the npm package spdx-license-list into build/licences, which git ignores. From anywhere:
#
#     bash bench/retrieval/setup.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p build/licences
cd build/licences
npm pack --loglevel=error spdx-license-list@6.12.0 >/dev/null
tar -xzf spdx-license-list-6.12.0.tgz
echo "$(find package/licenses -name '*.json' | wc -l) licences in build/licences; now: python -m bench.retrieval.run"
