#!/bin/sh
. ./base.sh

total() {
  echo $(($1 + $2))
}

size=$(total 1 2)

add() {
  local n="$1"
  for x in 1 2 3; do
    if total 3 4 >/dev/null && ! total 5 6; then
      n=$(total "$n" "$x")
      continue
    fi
    case "$x" in
      1) total 7 8 ;;
      *) total 9 10 | total 11 12 ;;
    esac
  done
  while total 13 14; do
    total 15 16 || return 1
  done
}

total 17 18 && add "$(total 19 20)"
