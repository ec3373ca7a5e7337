// Simulated nodes: they run no containers, but report the pod status that real nodes would report.
import { createServer } from 'node:https';
import { CONTROL_PLANE, SIMULATED_KUBELET_PORT } from '../lab/network.mjs';
import { repeat } from '../lab/repeat.mjs';

const SYNC_INTERVAL_MS = 300;
const HEARTBEAT_INTERVAL_MS = 8000;
const MERGE = 'application/merge-patch+json';
/** Whoever creates a node with this label, and with `status.capacity`, creates a simulated node. */
const LABEL = 'cluster.test/simulated';

const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

/** The Node object of a simulated node. `capacity` has the members `cpu`, `memory` and others, such as `nvidia.com/gpu`. */
export const simulatedNode = (name, { labels = {}, taints = [], capacity = { cpu: '8', memory: '32Gi' } } = {}) => ({
  metadata: {
    name,
    labels: {
      ...{
        [LABEL]: 'true',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/hostname': name,
      },
      ...labels,
    },
  },
  spec: { taints },
  status: { capacity: { pods: '110', ...capacity }, allocatable: { pods: '110', ...capacity } },
});

/** Reports the status of all simulated nodes and of their pods. Serves the logs of their pods. */
export async function keepSimulatedNodes(call, { key, cert }) {
  createServer({ key, cert }, (_request, response) => response.end('ready\n')).listen(
    SIMULATED_KUBELET_PORT,
    CONTROL_PLANE,
  );
  const heartbeats = new Map();
  const sync = async () => {
    const { body: nodes } = await call('GET', `/api/v1/nodes?labelSelector=${LABEL}`);
    const names = new Set(nodes.items.map(({ metadata }) => metadata.name));
    for (const name of names) {
      if (Date.now() - (heartbeats.get(name) ?? 0) < HEARTBEAT_INTERVAL_MS) continue;
      await call('PATCH', `/api/v1/nodes/${name}/status`, { status: NODE_STATUS() }, MERGE);
      heartbeats.set(name, Date.now());
    }
    for (const name of heartbeats.keys()) if (!names.has(name)) heartbeats.delete(name);
    if (names.size === 0) return;
    const { body: pods } = await call('GET', '/api/v1/pods?resourceVersion=0');
    for (const pod of pods.items) if (names.has(pod.spec.nodeName)) await updatePod(call, pod);
  };
  await repeat('sync of the simulated nodes', sync, SYNC_INTERVAL_MS);
}

const NODE_STATUS = () => ({
  addresses: [{ type: 'InternalIP', address: CONTROL_PLANE }],
  daemonEndpoints: { kubeletEndpoint: { Port: SIMULATED_KUBELET_PORT } },
  nodeInfo: {
    ...{ architecture: 'amd64', operatingSystem: 'linux', kubeletVersion: 'v1.20.2', kubeProxyVersion: 'v1.20.2' },
    ...{
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: '',
      osImage: '',
      containerRuntimeVersion: 'simulated://1',
    },
  },
  conditions: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
    ...{ type, status: type === 'Ready' ? 'True' : 'False', reason: 'Simulated', message: '' },
    ...{ lastHeartbeatTime: now(), lastTransitionTime: now() },
  })),
});

async function updatePod(call, { metadata, spec, status }) {
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
  if (metadata.deletionTimestamp) {
    await call('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
  } else if (!status.containerStatuses) {
    await call('PATCH', `${path}/status`, { status: podStatus(spec.containers) }, MERGE);
  }
}

/** The first container decides the phase. */
function podStatus(containers) {
  const statuses = containers.map(containerStatus);
  const [{ state, ready }] = statuses;
  const phase = state.terminated ? 'Succeeded' : state.waiting?.reason === 'ErrImagePull' ? 'Pending' : 'Running';
  return {
    ...{ phase, startTime: now(), containerStatuses: statuses },
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      ...{ type, status: ready || type === 'PodScheduled' || type === 'Initialized' ? 'True' : 'False' },
      lastTransitionTime: now(),
    })),
  };
}

function containerStatus({ name, image, command = [], args = [] }) {
  const script = [...command, ...args].join(' ');
  const [, code] = /exit (\d+)$/.exec(script) ?? [];
  const base = { name, image, imageID: '', ready: false, restartCount: 0 };
  const ended = { terminated: { exitCode: Number(code), startedAt: now(), finishedAt: now() } };
  if (image.includes('no-such-image')) {
    const message = `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": not found`;
    return { ...base, state: { waiting: { reason: 'ErrImagePull', message } } };
  }
  if (code === '0') return { ...base, state: ended };
  if (code !== undefined) {
    const message = `back-off 10s restarting failed container=${name}`;
    return { ...base, restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff', message } }, lastState: ended };
  }
  return { ...base, ready: true, started: true, state: { running: { startedAt: now() } } };
}
