// Starts a Kubernetes control plane on a loopback address, with one simulated node. See README.md.
//
//   node infra/cluster/start.mjs <output folder of build.sh> <data folder>
//
// Prints `FLEET_TEST_KUBECONFIG=<file>` when it is ready. Ctrl-C stops all processes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { callerOf } from './caller.mjs';
import { keepNode } from './hollow-node.mjs';
import { rolesOf } from './roles.mjs';

const [buildFolder, dataFolder] = process.argv.slice(2).map((folder) => path.resolve(folder));
if (!buildFolder || !dataFolder) {
  console.error('Usage: node infra/cluster/start.mjs <output folder of build.sh> <data folder>');
  process.exit(2);
}
await mkdir(dataFolder, { recursive: true });
const at = (...names) => path.join(dataFolder, ...names);

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const children = [];
function start(file, args) {
  const log = createWriteStream(at(`${path.basename(file)}.log`));
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  child.once('exit', (code) => {
    if (!ending) end(`${path.basename(file)} ended with exit code ${code}. See ${log.path}.`);
  });
  children.push(child);
}

let ending = false;
function end(error) {
  ending = true;
  if (error) console.error(error);
  for (const child of children) child.kill();
  process.exitCode = error ? 1 : 0;
  setTimeout(() => process.exit(), 500);
}
process.once('SIGINT', () => end());
process.once('SIGTERM', () => end());

/** `admin` is a cluster administrator. `fleet` has the permissions in docs/clusters.md. */
const TOKENS = { admin: 'admin-of-the-test-cluster', fleet: 'fleet-in-the-test-cluster' };

const [etcd, peer, secure, kubelet] = [await freePort(), await freePort(), await freePort(), await freePort()];
const etcdUrl = `http://127.0.0.1:${etcd}`;
const server = `https://127.0.0.1:${secure}`;
await writeFile(
  at('tokens.csv'),
  `${TOKENS.admin},admin,admin,"system:masters"\n${TOKENS.fleet},fleet,fleet,"fleets"\n`,
);
start('etcd', [
  ...['--data-dir', at('etcd'), '--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
  ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--unsafe-no-fsync'],
]);
start(path.join(buildFolder, 'bin/kube-apiserver'), [
  ...['--etcd-servers', etcdUrl, '--bind-address=127.0.0.1', `--secure-port=${secure}`, '--cert-dir', at('pki')],
  ...['--service-cluster-ip-range=10.96.0.0/16', '--token-auth-file', at('tokens.csv'), '--authorization-mode=RBAC'],
  ...['--service-account-issuer=https://kubernetes.default.svc', '--disable-admission-plugins=ServiceAccount'],
  ...[
    '--service-account-key-file',
    at('pki/apiserver.key'),
    '--service-account-signing-key-file',
    at('pki/apiserver.key'),
  ],
  ...['--kubelet-preferred-address-types=InternalIP', '--allow-privileged=false'],
]);

const certificate = at('pki/apiserver.crt');
while (!existsSync(certificate)) await pause(100);
await pause(500);
const ca = await readFile(certificate, 'utf8');
const call = callerOf({ server, ca, token: TOKENS.admin });
for (let left = 120; (await call('GET', '/readyz').catch(() => undefined))?.status !== 200; left -= 1) {
  if (left === 0) end('The API server did not become ready.');
  await pause(500);
}

const kubeconfig = (user) => `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "${server}", certificate-authority: "${certificate}"}}]
users: [{name: ${user}, user: {token: ${TOKENS[user]}}}]
contexts: [{name: test, context: {cluster: test, user: ${user}}}]
current-context: test
`;
for (const user of Object.keys(TOKENS)) await writeFile(at(`${user}.kubeconfig`), kubeconfig(user));
const commonArgs = ['--kubeconfig', at('admin.kubeconfig'), '--leader-elect=false', '--port=0', '--secure-port=0'];
start(path.join(buildFolder, 'bin/kube-controller-manager'), [
  ...commonArgs,
  ...['--service-account-private-key-file', at('pki/apiserver.key'), '--controllers=*,-ttl-after-finished'],
]);
start(path.join(buildFolder, 'bin/kube-scheduler'), commonArgs);

for (const [apiPath, object] of rolesOf('fleets')) {
  const response = await call('POST', apiPath, object);
  if (![201, 409].includes(response.status)) {
    end(`POST ${apiPath} failed with ${response.status}: ${JSON.stringify(response.body)}`);
  }
}
await keepNode(call, { port: kubelet, key: await readFile(at('pki/apiserver.key'), 'utf8'), cert: ca });
console.log(`FLEET_TEST_KUBECONFIG=${at('admin.kubeconfig')}`);
