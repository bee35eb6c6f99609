# Named steps, each with its time, and a table of all of them at the end. Sourced by other scripts.
#
#   step NAME COMMAND...    run a command; if it fails the script ends, or with keep_going=1 goes on
#   beside NAME COMMAND...  start a command in the background, with its output in a file
#   join                    wait for the background commands; print the output of those that failed
#   note TEXT               add a line to the table
#
# The table is printed when the script ends, also when a step failed.

keep_going=
any_failed=
table=()
beside_pids=() beside_names=() beside_began=()
steps_folder=$(mktemp -d)

heading() { printf '\n== %s\n' "$*"; }
note() { table+=("$(printf '%-6s %5s  %s' '' '' "$*")"); }
row() { table+=("$(printf '%-6s %4ds  %s' "$1" "$2" "$3")"); } # RESULT SECONDS NAME

# Commands run in a subshell with `set -e`: as a condition of `if`, bash would switch it off.
step() {
  local name=$1 began=$SECONDS code
  shift
  heading "$name"
  set +e
  (
    set -e
    "$@"
  )
  code=$?
  set -e
  if [ "$code" -ne 0 ]; then
    row FAILED $((SECONDS - began)) "$name"
    any_failed=1
    [ -n "$keep_going" ] || exit 1
    return 0
  fi
  row ok $((SECONDS - began)) "$name"
}

beside() {
  local name=$1 number=${#beside_pids[@]}
  shift
  (
    set -e
    "$@"
  ) >"$steps_folder/$number" 2>&1 </dev/null &
  beside_pids+=($!)
  beside_names+=("$name")
  beside_began+=("$SECONDS")
}

join() {
  local number failed=
  for number in "${!beside_pids[@]}"; do
    local name="${beside_names[$number]}, in the background"
    if wait "${beside_pids[$number]}"; then
      row ok $((SECONDS - beside_began[number])) "$name"
    else
      row FAILED $((SECONDS - beside_began[number])) "$name"
      heading "$name"
      cat "$steps_folder/$number"
      failed=1
    fi
  done
  beside_pids=() beside_names=() beside_began=()
  if [ -n "$failed" ]; then
    any_failed=1
    [ -n "$keep_going" ] || exit 1
  fi
}

finish_steps() {
  local code=$? pid
  [ -z "$any_failed" ] || code=1
  for pid in "${beside_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$steps_folder"
  heading "summary"
  printf '%s\n' "${table[@]}"
  if [ "$code" -eq 0 ]; then
    printf 'all passed in %dm %02ds\n' $((SECONDS / 60)) $((SECONDS % 60))
  else
    printf 'FAILED after %dm %02ds\n' $((SECONDS / 60)) $((SECONDS % 60))
  fi
  exit "$code"
}
trap finish_steps EXIT
