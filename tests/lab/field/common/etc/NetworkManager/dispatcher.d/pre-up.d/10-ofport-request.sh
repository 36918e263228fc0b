#!/bin/sh
exec /usr/local/bin/lab-ofport-request "$@"
