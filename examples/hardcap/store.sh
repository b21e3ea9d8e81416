#!/bin/sh
# Starts and stops the Redis of the replicas: ./store.sh start|stop. It keeps its data in this folder.
set -e
cd "$(dirname "$0")"
at=127.0.0.1:9239

case $1 in
  start)
    redis-server --bind 127.0.0.1 --port "${at#*:}" --dir . --save "3600 1" > redis.log 2>&1 &
    echo $! > redis.pid
    until redis-cli -p "${at#*:}" ping 2> /dev/null | grep -q PONG; do kill -0 "$(cat redis.pid)" || exit 1; sleep 0.1; done
    ;;
  stop)
    kill -TERM "$(cat redis.pid)"
    while kill -0 "$(cat redis.pid)" 2> /dev/null; do sleep 0.1; done
    ;;
esac
