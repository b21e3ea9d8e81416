#!/bin/sh
# Starts and stops the replicas: ./replica.sh start|stop N, or ./replica.sh restart for one after the other. `hardcap` must be in PATH.
set -e
cd "$(dirname "$0")"

start() {
  case $1 in 1) at=127.0.0.1:9231 ;; 2) at=127.0.0.1:9232 ;; 3) at=127.0.0.1:9233 ;; esac
  hardcap serve -c hardcap.yaml --host 127.0.0.1 --port "${at#*:}" > "replica-$1.log" 2>&1 &
  echo $! > "replica-$1.pid"
  until curl -sf "http://$at/healthz" > /dev/null; do kill -0 "$(cat "replica-$1.pid")" || exit 1; sleep 0.1; done
}

stop() {
  kill -TERM "$(cat "replica-$1.pid")"
  while kill -0 "$(cat "replica-$1.pid")" 2> /dev/null; do sleep 0.1; done
}

case $1 in
  restart) for replica in 1 2 3; do stop $replica; start $replica; done ;;
  *) "$1" "$2" ;;
esac
