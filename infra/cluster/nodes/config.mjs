// The configuration files of containerd, the kubelet and the container network of a real node.
import { addressOf, CONTROL_PLANE, podRangeOf, REGISTRY_PORTS } from '../lab/network.mjs';

export const PAUSE_IMAGE = 'cluster.test/pause:1';
/** An image for sidecars. */
export const SIDECAR_IMAGE = 'cluster.test/busybox:1';
/** The registry to which the mutating webhook changes images of Docker Hub. */
export const MIRROR = 'mirror.cluster.test';

export const containerdConfig = ({ at, socket, cni, runc }) => `version = 2
root = "${at('containerd')}"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
path = "${at('opt')}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${PAUSE_IMAGE}"
restrict_oom_score_adj = true
enable_unprivileged_ports = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${cni}"
conf_dir = "${at('cni')}"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${at('registries')}"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "${runc}"
SystemdCgroup = false
`;

/** The `hosts.toml` files of containerd. The nodes have no connection to other registries, so that missing images are reported at once. */
export function registryFiles() {
  const hosts = (port) => `server = "http://${CONTROL_PLANE}:${port}"
[host."http://${CONTROL_PLANE}:${port}"]
capabilities = ["pull", "resolve"]
`;
  return [
    ['_default/hosts.toml', hosts(REGISTRY_PORTS.open)],
    [`${CONTROL_PLANE}:${REGISTRY_PORTS.withPassword}/hosts.toml`, hosts(REGISTRY_PORTS.withPassword)],
  ];
}

export const networkConfig = (node) =>
  JSON.stringify({
    ...{ cniVersion: '0.4.0', name: 'pods' },
    plugins: [
      {
        ...{ type: 'bridge', bridge: 'pods', isGateway: true, hairpinMode: true },
        ipam: { type: 'host-local', ranges: [[{ subnet: podRangeOf(node) }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });

export const kubeletConfig = ({ number, ca, resolvConf, reservedMemory }) =>
  JSON.stringify({
    ...{ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' },
    ...{ address: addressOf(number), resolvConf, cgroupDriver: 'cgroupfs', oomScoreAdj: 0, failSwapOn: false },
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: ca } },
    authorization: { mode: 'Webhook' },
    ...{ nodeStatusUpdateFrequency: '4s', serializeImagePulls: false },
    kubeReserved: { memory: String(reservedMemory) },
    // The disk is that of the machine. Imported images must not be deleted when the machine has little space.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1Gi', 'imagefs.available': '1Gi' },
  });
