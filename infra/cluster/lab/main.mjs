// Runs a cluster in the namespaces that start.mjs created for it. It ends with start.mjs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { SIDECAR_IMAGE } from '../nodes/config.mjs';
import { writeBaseArchive } from '../nodes/images.mjs';
import { RealNode } from '../nodes/real.mjs';
import { keepSimulatedNodes, simulatedNode } from '../nodes/simulated.mjs';
import { provideVolumes } from '../nodes/volumes.mjs';
import { createGovernedNamespace, GOVERNED } from '../policies/governed.mjs';
import { serveWebhooks } from '../policies/webhooks.mjs';
import { programIn } from './build.mjs';
import { createCertificates } from './certificates.mjs';
import { serveControl } from './control.mjs';
import { ADMIN_TOKEN, startControlPlane, writeKubeconfig } from './control-plane.mjs';
import { API_PORT, createBridge } from './network.mjs';
import { Programs } from './programs.mjs';
import { pushPrivateImage, startRegistries } from './registries.mjs';
import { relay } from './relay.mjs';
import { createFleetAccount } from './roles.mjs';

/** The folders; the numbers of nodes; `port`, on which start.mjs serves the API; the names of the control groups of the real nodes. */
const { build, data, nodeCount, simulatedCount, port, cgroups } = JSON.parse(process.argv[2]);
const at = (...names) => path.join(data, ...names);
const programAt = (name) => programIn(build, name);
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
process.on('disconnect', () => process.exit());

for (const each of ['pki', 'logs', 'images', 'volumes', 'registries']) mkdirSync(at(each), { recursive: true });
writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
createBridge(nodeCount);
const programs = new Programs(at('logs'), fail);
const certificates = createCertificates(at('pki'));
const nodeNames = Array.from({ length: nodeCount }, (_, index) => `node${index + 1}`);
startRegistries({ programs, programAt, at });
const { call, kubeconfigOf } = await startControlPlane({ programs, programAt, at, certificates, nodes: nodeNames });
createServer(relay(() => connect(API_PORT, '127.0.0.1'))).listen(at('api.sock'));

const tls = { key: readFileSync(certificates.serverKey), cert: readFileSync(certificates.server) };
const ca = readFileSync(certificates.ca, 'utf8');
await createGovernedNamespace(call);
const tokens = {
  admin: ADMIN_TOKEN,
  fleet: await createFleetAccount(call, 'fleet'),
  [GOVERNED]: await createFleetAccount(call, GOVERNED),
};
await serveWebhooks(call, { ...tls, ca });
await provideVolumes(call, at('volumes'));
await keepSimulatedNodes(call, tls);
for (let index = 1; index <= simulatedCount; index += 1) {
  await call('POST', '/api/v1/nodes', simulatedNode(`simulated${index}`));
}

const archives = nodeCount > 0 ? [writeBaseArchive(build, at('images'))] : [];
const sockets = nodeNames.map((name) => at(name, 'containerd.sock'));
const nodes = new Map(
  nodeNames.map((name, index) => {
    const settings = {
      ...{ number: index + 1, name, nodes: nodeCount, build, folder: at(name), logFolder: at('logs', name) },
      ...{ containerdSocket: sockets[index], archives, ca: certificates.ca },
      ...{ kubeletKubeconfig: kubeconfigOf(`system:node:${name}`), proxyKubeconfig: kubeconfigOf('system:kube-proxy') },
      // The pods of all nodes can use half of the memory of the machine.
      reservedMemory: Math.ceil(os.totalmem() * (1 - 0.5 / nodeCount)),
    };
    return [name, new RealNode(settings, { cgroups: cgroups[index], call, onFailure: fail })];
  }),
);
await Promise.all([...nodes.values()].map((node) => node.start()));
if (nodeCount > 0) pushPrivateImage({ programAt, socket: sockets[0], image: SIDECAR_IMAGE });

serveControl(at('control.sock'), (name, action) => {
  const [first, program] = name.split('/');
  if (nodes.has(first)) return nodes.get(first).act(program, action);
  return programs.has(name) ? programs.act(name, action) : false;
});
for (const [user, token] of Object.entries(tokens)) {
  const server = `https://127.0.0.1:${port}`;
  await writeKubeconfig(at(`${user}.kubeconfig`), { server, ca: certificates.ca, user, token });
}
writeFileSync(at('cluster.json'), JSON.stringify({ build, sockets }));
process.send('ready');
