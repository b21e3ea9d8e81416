#!/bin/sh
# Starts and stops two replicas of LiteLLM: ./replica.sh start|stop N, or ./replica.sh restart for one after the other. They read
# DATABASE_URL and LITELLM_MASTER_KEY from the environment, or from the file `environment`. `litellm` must be in PATH.
set -e
cd "$(dirname "$0")"
[ ! -f environment ] || . ./environment

start() {
  case $1 in 1) at=127.0.0.1:9222 ;; 2) at=127.0.0.1:9223 ;; esac
  # A session of its own: everything that it starts can be ended with it.
  setsid litellm --config replicas-config.yaml --host 127.0.0.1 --port "${at#*:}" > "replica-$1.log" 2>&1 &
  echo $! > "replica-$1.pid"
  echo $! >> started.pids
  until curl -sf "http://$at/health/liveliness" > /dev/null; do kill -0 "$(cat "replica-$1.pid")" || exit 1; sleep 0.2; done
}

stop() {
  kill -TERM "$(cat "replica-$1.pid")"
  while kill -0 "$(cat "replica-$1.pid")" 2> /dev/null; do sleep 0.1; done
}

case $1 in
  restart) for replica in 1 2; do stop $replica; start $replica; done ;;
  *) "$1" "$2" ;;
esac
