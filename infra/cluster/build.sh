#!/usr/bin/env bash
# Builds the programs of the test cluster from packages of Debian 12 into a folder. Does nothing if this script built that folder. See README.md.
set -euo pipefail
script=$(sha256sum "$(realpath "$0")" | cut -d' ' -f1)
to=$(realpath -m "${1:?Usage: build.sh <folder>}")
packages="golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev etcd-server containerd runc containernetworking-plugins
  conntrack busybox-static catatonit docker-registry"
programs="kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy"

if [ "$(cat "$to/built-by" 2> /dev/null)" = "$script" ]; then
  echo "The programs in $to/bin are up to date."
  exit
fi
mkdir -p "$to/bin" "$to/src" "$to/debian/unpacked"
cd "$to/src"

# Tools of the machine, without services.
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends dpkg-dev iproute2 iptables openssl > /dev/null

# Other packages are only unpacked, so that they change nothing on the machine and start no service.
for package in $packages; do
  [ -e "$to/debian/unpacked/$package" ] && continue
  rm -f "$package"_*.deb
  apt-get -qq -o APT::Sandbox::User=root download "$package"
  dpkg-deb -x "$package"_*.deb "$to/debian"
  touch "$to/debian/unpacked/$package"
done

# The source package comes from the mirror of the machine, with own lists of packages.
export GOPATH="$to/src/go" GOROOT="$to/debian/usr/lib/go-1.19" GOCACHE="$to/src/cache" GO111MODULE=off CGO_ENABLED=0
export PATH="$GOROOT/bin:$PATH"
kubernetes="$GOPATH/src/k8s.io/kubernetes"
if [ ! -d "$kubernetes" ]; then
  apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' 'Codename: bookworm' 'Component: main' > sources.list
  [ -s sources.list ] || { echo 'The configuration of apt has no mirror of Debian 12.' >&2; exit 1; }
  mkdir -p lists/partial "$(dirname "$kubernetes")"
  own=(-o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
  apt-get -qq "${own[@]}" update
  rm -rf kubernetes-*/
  apt-get -qq "${own[@]}" source kubernetes > /dev/null
  # The vendored version of reflect2 crashes with maps in Go 1.18 and later, which every mutating webhook uses.
  reflect2=$(echo kubernetes-*/vendor/github.com/modern-go/reflect2)
  rm "$reflect2"/*.go "$reflect2"/*.s
  cp "$to"/debian/usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} "$reflect2"
  rm -f "$reflect2"/*_test.go
  mv kubernetes-*/ "$kubernetes"
fi
cd "$kubernetes"

# Generate the only generated file that the source package does not contain.
go build -o "$to/src/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
inputs=$(grep -rlE '^// ?\+k8s:openapi-gen=' --include=*.go --exclude=*_test.go pkg cmd staging/src vendor/k8s.io | xargs -n1 dirname |
  sed -e 's#^staging/src/##; s#^vendor/##; s#^pkg/#k8s.io/kubernetes/pkg/#; s#^cmd/#k8s.io/kubernetes/cmd/#' |
  grep -vE 'sample|test|code-generator|kube-openapi/(test|pkg/gen)|kubectl|examples' | sort -u | paste -sd,)
"$to/src/openapi-gen" --logtostderr -i "$inputs" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
  -h hack/boilerplate/boilerplate.generatego.txt -r "$to/src/violations" 2> /dev/null

stamp='-s -w'
for package in component-base/version client-go/pkg/version; do
  package=k8s.io/kubernetes/vendor/k8s.io/$package
  stamp+=" -X $package.gitVersion=v1.20.2 -X $package.gitMajor=1 -X $package.gitMinor=20"
done
for program in $programs; do
  echo "building $program"
  go build -ldflags "$stamp" -o "$to/bin/$program" "./cmd/$program"
done
echo "$script" > "$to/built-by"
echo "The programs are in $to/bin."
