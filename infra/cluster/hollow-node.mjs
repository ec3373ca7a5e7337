// A simulated node: it runs no containers, but reports the pod status that a real node would report.
import { createServer } from 'node:https';

const NAME = 'hollow';
const SYNC_INTERVAL_MS = 300;
const HEARTBEAT_INTERVAL_MS = 10_000;
const MERGE = 'application/merge-patch+json';

const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

/** Registers the node, and reports its status and that of its pods. Serves the logs of pods on `port`. */
export async function keepNode(call, { port, key, cert }) {
  createServer({ key, cert }, (_request, response) => response.end('ready\n')).listen(port, '127.0.0.1');
  await call('POST', '/api/v1/nodes', {
    metadata: { name: NAME, labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': NAME } },
  });
  await call('POST', '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'hollow', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'example.test/hollow',
  });
  let heartbeatAt = 0;
  const sync = async () => {
    if (Date.now() - heartbeatAt > HEARTBEAT_INTERVAL_MS) {
      await call('PATCH', `/api/v1/nodes/${NAME}/status`, { status: nodeStatus(port) }, MERGE);
      heartbeatAt = Date.now();
    }
    const { body: pods } = await call('GET', `/api/v1/pods?fieldSelector=spec.nodeName=${NAME}`);
    for (const pod of pods.items ?? []) await updatePod(call, pod);
    const { body: claims } = await call('GET', '/api/v1/persistentvolumeclaims');
    for (const claim of claims.items ?? []) if (claim.status.phase === 'Pending') await provisionVolume(call, claim);
  };
  const syncRepeatedly = () =>
    sync()
      .catch((error) => console.error(`sync of the node failed: ${error.message}`))
      .finally(() => setTimeout(syncRepeatedly, SYNC_INTERVAL_MS));
  await sync();
  setTimeout(syncRepeatedly, SYNC_INTERVAL_MS);
}

const nodeStatus = (Port) => ({
  capacity: { cpu: '8', memory: '32Gi', pods: '110' },
  allocatable: { cpu: '8', memory: '32Gi', pods: '110' },
  addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
  daemonEndpoints: { kubeletEndpoint: { Port } },
  nodeInfo: {
    ...{ architecture: 'amd64', operatingSystem: 'linux', kubeletVersion: 'v1.20.2', kubeProxyVersion: 'v1.20.2' },
    ...{
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: '',
      osImage: '',
      containerRuntimeVersion: 'hollow://1',
    },
  },
  conditions: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
    ...{ type, status: type === 'Ready' ? 'True' : 'False', reason: 'Hollow', message: '' },
    ...{ lastHeartbeatTime: now(), lastTransitionTime: now() },
  })),
});

async function updatePod(call, { metadata, spec, status }) {
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
  if (metadata.deletionTimestamp) {
    await call('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
  } else if (!status.containerStatuses) {
    await call('PATCH', `${path}/status`, { status: podStatus(spec.containers[0]) }, MERGE);
  }
}

function podStatus({ name, image, command = [], args = [] }) {
  const script = [...command, ...args].join(' ');
  const [, code] = /exit (\d+)$/.exec(script) ?? [];
  const base = { name, image, imageID: '', ready: false, restartCount: 0 };
  const ended = { terminated: { exitCode: Number(code), startedAt: now(), finishedAt: now() } };
  if (image.includes('no-such-image')) {
    const message = `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": not found`;
    return statusWith('Pending', { ...base, state: { waiting: { reason: 'ErrImagePull', message } } });
  }
  if (code === '0') return statusWith('Succeeded', { ...base, state: ended });
  if (code !== undefined) {
    const message = `back-off 10s restarting failed container=${name}`;
    const state = { waiting: { reason: 'CrashLoopBackOff', message } };
    return statusWith('Running', { ...base, restartCount: 1, state, lastState: ended });
  }
  return statusWith('Running', { ...base, ready: true, started: true, state: { running: { startedAt: now() } } });
}

const statusWith = (phase, container) => ({
  phase,
  startTime: now(),
  containerStatuses: [container],
  conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    ...{ type, status: container.ready || type === 'PodScheduled' || type === 'Initialized' ? 'True' : 'False' },
    lastTransitionTime: now(),
  })),
});

/** Creates a volume of the requested size, without storage. */
async function provisionVolume(call, { metadata, spec }) {
  await call('POST', '/api/v1/persistentvolumes', {
    metadata: { name: `hollow-${metadata.uid}` },
    spec: {
      ...{ capacity: spec.resources.requests, accessModes: spec.accessModes, storageClassName: spec.storageClassName },
      ...{ hostPath: { path: '/nowhere' }, persistentVolumeReclaimPolicy: 'Retain' },
      claimRef: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
    },
  });
}
