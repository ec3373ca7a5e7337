#!/usr/bin/env bash
# Builds the Kubernetes control plane from the source package of Debian 12 into a folder. See README.md.
set -euo pipefail
to=$(realpath -m "${1:?build.sh <folder>}")
mkdir -p "$to/src"
cd "$to/src"

DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends golang-1.19-go etcd-server dpkg-dev > /dev/null
echo 'deb-src http://deb.debian.org/debian bookworm main' > sources.list
from=(-o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-)
apt-get -qq "${from[@]}" -o APT::Get::List-Cleanup=0 update
[ -d kubernetes-* ] || apt-get -qq "${from[@]}" source kubernetes

export GOPATH="$PWD/go" GO111MODULE=off CGO_ENABLED=0 PATH="/usr/lib/go-1.19/bin:$PATH"
mkdir -p "$GOPATH/src/k8s.io"
[ -d "$GOPATH/src/k8s.io/kubernetes" ] || mv kubernetes-*/ "$GOPATH/src/k8s.io/kubernetes"
cd "$GOPATH/src/k8s.io/kubernetes"

# Generate the only generated file that the source package does not contain.
go build -o "$to/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
inputs=$(grep -rlE '^// ?\+k8s:openapi-gen=' --include=*.go --exclude=*_test.go pkg cmd staging/src vendor/k8s.io | xargs -n1 dirname |
  sed -e 's#^staging/src/##; s#^vendor/##; s#^pkg/#k8s.io/kubernetes/pkg/#; s#^cmd/#k8s.io/kubernetes/cmd/#' |
  grep -vE 'sample|test|code-generator|kube-openapi/(test|pkg/gen)|kubectl|examples' | sort -u | paste -sd,)
"$to/openapi-gen" --logtostderr -i "$inputs" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
  -h hack/boilerplate/boilerplate.generatego.txt -r "$to/violations" 2> /dev/null

stamp='-s -w'
for package in component-base/version client-go/pkg/version; do
  package=k8s.io/kubernetes/vendor/k8s.io/$package
  stamp+=" -X $package.gitVersion=v1.20.2 -X $package.gitMajor=1 -X $package.gitMinor=20"
done
for program in kube-apiserver kube-controller-manager kube-scheduler; do
  go build -ldflags "$stamp" -o "$to/bin/$program" "./cmd/$program"
done
echo "The programs are in $to/bin."
