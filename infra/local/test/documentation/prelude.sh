# What a page can use: the variables of demo.env, its command svc, and curl and the commands of both services as they work for its readers.
set -euo pipefail
. .data/demo.env

# A response with a status of 400 and above is a failure, unless the block expects this status.
curl() {
  local code=0
  command curl --max-time 60 --fail-with-body --write-out '%{stderr}\nstatus %{http_code}\n' "$@" 2> "$WORLD/stderr" || code=$?
  cat "$WORLD/stderr" >&2
  if [ "$code" -ne 22 ] || ! grep -qx "status $EXPECTED" "$WORLD/stderr"; then return "$code"; fi
  touch "$WORLD/expected"
}

# The commands of a service read its environment.
node() {
  case "${1-}" in
    apps/hub/dist/main.js) (set -a; . "$WORLD/hub.env"; exec node "$@") ;;
    apps/fleet/dist/main.js) (set -a; . "$WORLD/fleet.env"; exec node "$@") ;;
    *) command node "$@" ;;
  esac
}

# Fails if no response has had the expected status.
check_expected() {
  if [ -e "$WORLD/expected" ]; then rm "$WORLD/expected"; return; fi
  echo "no response has the status $EXPECTED" >&2
  return 1
}

# Runs a function that does not end by itself, until it has printed something. It must still run then.
until_output() {
  set -m # a process group of its own
  "$1" > "$WORLD/output" &
  set +m
  local waits=300
  while [ ! -s "$WORLD/output" ] && [ "$waits" -gt 0 ] && kill -0 "$!" 2> "$WORLD/ignored"; do
    sleep 0.1
    waits=$((waits - 1))
  done
  sleep 0.3
  cat "$WORLD/output"
  kill -TERM -- "-$!" # fails if nothing runs any more
  wait "$!" || true
}
