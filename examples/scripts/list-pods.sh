#!/bin/sh
# Logs in, and prints the name of every pod that the caller may see, page by page. Requires the variables of `.run/env`, which `make up` writes.
set -eu
: "${KAPIS_URL:?}" "${KAPIS_CA:?}" "${KAPIS_GROUP_DOMAIN:?}" "${KAPIS_USER:?}" "${KAPIS_PASSWORD:?}"
: "${KAPIS_CLIENT_ID:?}" "${KAPIS_CLIENT_SECRET:?}" "${PAGE_SIZE:=100}"

ask() {
  curl --silent --show-error --fail-with-body --cacert "$KAPIS_CA" "$@"
}

token=$(
  ask "$KAPIS_URL/oauth/token" \
    --data-urlencode grant_type=password \
    --data-urlencode "username=$KAPIS_USER" \
    --data-urlencode "password=$KAPIS_PASSWORD" \
    --data-urlencode "client_id=$KAPIS_CLIENT_ID" \
    --data-urlencode "client_secret=$KAPIS_CLIENT_SECRET" |
    sed 's/.*"access_token":"\([^"]*\)".*/\1/'
)

page=1
while
  answer=$(
    ask --header "Authorization: Bearer $token" \
      "$KAPIS_URL/kapis/resources.$KAPIS_GROUP_DOMAIN/v1alpha3/pods?sortBy=name&ascending=true&fields=metadata.name&limit=$PAGE_SIZE&page=$page"
  )
  # With a single field per object, the response is short and has no other names to match.
  names=$(printf '%s\n' "$answer" | grep -o '"name":"[^"]*"' | cut -d '"' -f 4)
  [ -n "$names" ]
do
  printf '%s\n' "$names"
  page=$((page + 1))
done
