#!/bin/sh
# Runs a command of the @service@ with the settings of the service and as its user: svc-@service@ doctor
#
# The settings are the lines NAME=value of /etc/svc-@service@/@service@.env. A value can be enclosed in quotes, and is not expanded.
set -eu
user=svc-@service@
settings=/etc/svc-@service@/@service@.env
owner_url=/etc/svc-@service@/secrets/migration-database-url
program=/usr/lib/svc-@service@

fail() {
  echo "svc-@service@: $*" >&2
  exit 1
}

if [ "$(id -u)" -eq 0 ]; then
  id -u "$user" > /dev/null 2>&1 || fail "the user $user does not exist"
  # Only root can read this file, so that the running service cannot. It is passed on as a descriptor, not as an argument that others see.
  if [ "${1-}" = migrate ] && [ -e "$owner_url" ]; then exec 3< "$owner_url"; else exec 3< /dev/null; fi
  exec setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i PATH="$PATH" LANG="${LANG-C.UTF-8}" TERM="${TERM-dumb}" OWNER_URL=3 "$0" "$@"
fi

if [ "${OWNER_URL-}" = 3 ]; then
  unset OWNER_URL
  read -r MIGRATION_DATABASE_URL <&3 || true # empty without the file; then the role of the service migrates
  export MIGRATION_DATABASE_URL
  exec 3<&-
fi

[ "$(id -un)" = "$user" ] || fail "run it as root or as the user $user"
number=0
while read -r line || [ -n "$line" ]; do
  number=$((number + 1))
  case $line in '' | '#'*) continue ;; esac
  name=${line%%=*}
  case $line in *=*) ;; *) name= ;; esac
  case $name in '' | [0-9]* | *[!A-Za-z0-9_]*) fail "$settings, line $number: it must have the form NAME=value" ;; esac
  value=${line#*=}
  case $value in
    '"'*'"') value=${value#'"'} value=${value%'"'} ;;
    "'"*"'") value=${value#"'"} value=${value%"'"} ;;
  esac
  export "$name=$value"
done < "$settings"

# SIGHUP makes the service read its files again. Until it can, the signal has no effect.
[ "${1-serve}" != serve ] || trap '' HUP
export NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/svc-@service@ SVC_PROGRAM=svc-@service@
exec "$program/bin/node" "$program/apps/@service@/dist/main.js" "$@"
