#!/usr/bin/env bash
# What the image has beside Kapis, taken from Debian's with Node.js: hack/image/root.sh FROM TO
# Node.js has its own OpenSSL, authorities, time zones and alphabets: of the distribution it needs the libraries that it is linked with.
# They come with their licences, and with their lines in the list of packages, by which scanners know them.
set -euo pipefail
from=$1 to=$2
tools=$PWD/hack/image

libraries=('ld-linux-*' libc.so.6 libdl.so.2 'libgcc_s.so.1' libm.so.6 libpthread.so.0 librt.so.1 'libstdc++.so.6*')
packages=(base-files gcc-12-base libc6 libgcc-s1 'libstdc++6')

mkdir -p "$to/etc" "$to/usr/local/bin" "$to/var/lib/dpkg/status.d"
cd "$from"
# /lib and, where there is one, /lib64 are links into /usr.
find . -maxdepth 1 -name 'lib*' -type l -exec cp -a -t "$to" {} +
for name in "${libraries[@]}"; do
  found=$(find usr/lib* -maxdepth 2 -name "$name")
  [ -n "$found" ] || { echo "$from has no $name" >&2; exit 1; }
  xargs cp -a --parents -t "$to" <<<"$found"
done
cp -a --parents -t "$to" etc/os-release usr/lib/os-release etc/nsswitch.conf
for package in "${packages[@]}"; do
  awk -v RS= -v name="$package" '$0 ~ "^Package: " { split($0, line, "\n"); if (line[1] == "Package: " name) print }' \
    var/lib/dpkg/status >"$to/var/lib/dpkg/status.d/$package"
  [ -s "$to/var/lib/dpkg/status.d/$package" ] || { echo "$from has no package $package" >&2; exit 1; }
  # Links to the licence of another package may be left out of slim images.
  if [ -e "usr/share/doc/$package" ]; then cp -a --parents -t "$to" "usr/share/doc/$package"; fi
done
find "$to/usr/share/doc" -type f ! -name copyright -delete
cp -a --parents -t "$to" usr/local/LICENSE
node "$tools/strip.ts" usr/local/bin/node "$to/usr/local/bin/node"

echo 'root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >"$to/etc/passwd"
echo 'root:x:0:
nonroot:x:65532:' >"$to/etc/group"
install -d -m 1777 "$to/tmp"
