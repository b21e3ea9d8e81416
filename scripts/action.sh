#!/usr/bin/env bash
# The composite action: runs Gauntlet, which adds its summary to the job summary and annotates its causes; writes the comment for a
# pull request; ends with the exit code of the run.
set -uo pipefail

main="$(cd "$(dirname "$0")/.." && pwd)/dist/src/main.js"
out=${GAUNTLET_OUT:-gauntlet-run}
arguments=(--target "$GAUNTLET_TARGET" --out "$out")
if [ -n "${GAUNTLET_POLICY:-}" ]; then
  arguments+=(--policy "$GAUNTLET_POLICY")
fi
while IFS= read -r line; do
  [ -n "$line" ] && arguments+=("$line")
done <<<"${GAUNTLET_ARGUMENTS:-}"

# A gateway's words in the log must not be taken for commands of the workflow.
pause="gauntlet-$RANDOM$RANDOM$RANDOM"
echo "::stop-commands::$pause"
node "$main" "${GAUNTLET_COMMAND:-run}" "${arguments[@]}"
code=$?
if [ -n "${GAUNTLET_HISTORY:-}" ] && [ -f "$out/run.json" ]; then
  node "$main" history "$out" --db "$GAUNTLET_HISTORY" --html "$out/trends.html"
fi
if [ -f "$out/run.json" ]; then
  comment=(--format comment)
  if [ -f "${GAUNTLET_BASE:-}/run.json" ]; then
    comment+=(--base "$GAUNTLET_BASE")
  fi
  if [ -n "${GITHUB_RUN_ID:-}" ]; then
    comment+=(--report-url "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID")
  fi
  node "$main" report "$out" "${comment[@]}"
fi
echo "::$pause::"

if [ -f "$out/run.json" ]; then
  node "$main" report "$out" --print annotations
  if [ -n "${GITHUB_OUTPUT:-}" ]; then
    {
      echo "verdict=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).verdict.result' "$out/run.json")"
      echo "report=$out/report.html"
      echo "comment=$out/comment.md"
    } >>"$GITHUB_OUTPUT"
  fi
fi
exit "$code"
