// The addresses of the cluster. They exist only in its network namespaces, so that several clusters can run on one machine.
import { execFileSync } from 'node:child_process';

/** The address of the control plane, the webhooks and the registries. It is on a bridge that connects the nodes. */
export const CONTROL_PLANE = '10.210.0.1';
export const API_PORT = 6443;
export const SIMULATED_KUBELET_PORT = 10_250;
export const WEBHOOK_PORT = 9443;
/** The registry from which the nodes pull all images that have no other one in `REGISTRY_PORTS`. */
export const REGISTRY_PORTS = { open: 5000, withPassword: 5001 };
export const SERVICE_RANGE = '10.96.0.0/16';
export const API_SERVICE = '10.96.0.1';
export const MAX_NODES = 9;

export const addressOf = (node) => `10.210.0.${10 + node}`;
export const podRangeOf = (node) => `10.244.${node}.0/24`;
const interfaceOf = (node) => `node${node}`;

const ip = (command) => execFileSync('ip', command.split(' '), { stdio: ['ignore', 'pipe', 'pipe'] });

const nodeNumbers = (count) => Array.from({ length: count }, (_, index) => index + 1);

/** Creates the bridge in the network namespace of this process, with routes to the pods and Services. */
export function createBridge(nodes) {
  ip('link set lo up');
  ip('link add name bridge type bridge');
  ip(`address add ${CONTROL_PLANE}/24 dev bridge`);
  ip('link set bridge up');
  for (const node of nodeNumbers(nodes)) ip(`route add ${podRangeOf(node)} via ${addressOf(node)}`);
  if (nodes > 0) ip(`route add ${SERVICE_RANGE} via ${addressOf(1)}`);
}

/** Connects the network namespace of a process to the bridge. The interface in it has the name `eth0`. */
export function connectToBridge(node, pid) {
  ip(`link add name ${interfaceOf(node)} type veth peer name eth0 netns ${pid}`);
  ip(`link set ${interfaceOf(node)} master bridge`);
  ip(`link set ${interfaceOf(node)} up`);
}

export function disconnectFromBridge(node) {
  try {
    ip(`link delete ${interfaceOf(node)}`);
  } catch {
    // The kernel has removed the interface with the namespace of its peer.
  }
}

/** Configures the network namespace of a node: its address, and the routes to the pods of the other `nodes - 1` nodes. */
export function configureNode(node, nodes) {
  ip('link set lo up');
  ip(`address add ${addressOf(node)}/24 dev eth0`);
  ip('link set eth0 up');
  ip(`route add default via ${CONTROL_PLANE}`);
  for (const other of nodeNumbers(nodes)) {
    if (other !== node) ip(`route add ${podRangeOf(other)} via ${addressOf(other)}`);
  }
}
