#!/bin/sh
# Locks and unlocks the file in which the replicas reserve budgets: ./store.sh stop|start.
set -e
cd "$(dirname "$0")"

case $1 in
  stop)
    python3 -u -c '
import sqlite3, time
store = sqlite3.connect("budgets.db", timeout=5)
store.execute("BEGIN EXCLUSIVE")
print("locked")
while True: time.sleep(1)
' > lock.log 2>&1 &
    echo $! > lock.pid
    until grep -q locked lock.log; do kill -0 "$(cat lock.pid)" || exit 1; sleep 0.1; done
    ;;
  start)
    [ ! -f lock.pid ] || kill "$(cat lock.pid)"
    rm -f lock.pid
    ;;
esac
