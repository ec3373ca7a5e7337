// Starts a Kubernetes cluster in namespaces of its own. See README.md.
//
//   node infra/cluster/start.mjs <output folder of build.sh> <data folder> [--nodes 1] [--simulated 0] [--port 0]
//
// Prints `FLEET_TEST_KUBECONFIG=<file>` when it is ready. Ctrl-C stops all processes.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { checkBuild } from './lab/build.mjs';
import { MAX_NODES } from './lab/network.mjs';
import { relay } from './lab/relay.mjs';
import { hierarchies, removeCgroups } from './nodes/cgroups.mjs';

const MAIN = new URL('lab/main.mjs', import.meta.url).pathname;
const USAGE =
  'Usage: node infra/cluster/start.mjs <output folder of build.sh> <data folder> [--nodes 1] [--simulated 0] [--port 0]';
/** The folders that the namespaces of a real node replace, and the longest path of a folder in which Unix sockets can be created. */
const REPLACED_FOLDERS = ['/var/lib', '/var/log', '/run', '/proc', '/sys', '/dev'];
const MAX_FOLDER_LENGTH = 75;
const MARK = 'this-folder-belongs-to-a-test-cluster';

function reject(message) {
  console.error(message);
  process.exit(2);
}

function readOptions() {
  const number = (text, limit) => {
    if (!/^\d+$/.test(text) || Number(text) > limit) reject(`${USAGE}\n${text} must be a number from 0 to ${limit}.`);
    return Number(text);
  };
  const options = {
    nodes: { type: 'string', default: '1' },
    simulated: { type: 'string', default: '0' },
    port: { type: 'string', default: '0' },
  };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length !== 2) reject(USAGE);
    const [build, data] = positionals.map((folder) => path.resolve(folder));
    const [nodeCount, simulatedCount] = [number(values.nodes, MAX_NODES), number(values.simulated, 1000)];
    return { build, data, nodeCount, simulatedCount, port: number(values.port, 65_535) };
  } catch (error) {
    return reject(`${USAGE}\n${error.message}`);
  }
}

const { build, data, nodeCount, simulatedCount, port: wantedPort } = readOptions();
if (process.getuid() !== 0) reject('The cluster needs root, to create namespaces.');
try {
  checkBuild(build);
} catch (error) {
  reject(error.message);
}
if (REPLACED_FOLDERS.some((each) => `${data}/`.startsWith(`${each}/`) || `${build}/`.startsWith(`${each}/`))) {
  reject(`The folders must not be in ${REPLACED_FOLDERS.join(', ')}.`);
}
if (data.length > MAX_FOLDER_LENGTH)
  reject(`The path of the data folder must have at most ${MAX_FOLDER_LENGTH} characters.`);
if (nodeCount > 0 && !hierarchies().some(({ controllers }) => controllers === 'memory')) {
  reject('Real nodes need control groups of version 1. Start the cluster with --nodes 0 --simulated 1.');
}
if (existsSync(data) && readdirSync(data).length > 0 && !existsSync(path.join(data, MARK))) {
  reject(`${data} is not empty, and no data folder of a cluster.`);
}
const api = path.join(data, 'api.sock');
const canConnect = (target) =>
  new Promise((resolve) => {
    const socket = connect(target, () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
if (await canConnect(api)) reject(`A cluster with the data folder ${data} runs already.`);

const key = createHash('sha256').update(data).digest('hex').slice(0, 12);
const cgroups = Array.from({ length: nodeCount }, (_, index) => `svc-cluster-${key}-node${index + 1}`);
// Each start begins with an empty cluster.
rmSync(data, { recursive: true, force: true });
for (const each of cgroups) await removeCgroups(each);
mkdirSync(data, { recursive: true });
writeFileSync(path.join(data, MARK), '');

const server = createServer(relay(() => connect(api))).listen(wantedPort, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const settings = JSON.stringify({ build, data, nodeCount, simulatedCount, port, cgroups });
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
// Ctrl-C in a terminal must not reach the processes in the namespaces, because they end together.
const lab = spawn('unshare', [...namespaces, process.execPath, MAIN, settings], {
  ...{ detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
});
writeFileSync(path.join(data, 'network.pid'), `${lab.pid}\n`);
lab.once('message', () => {
  console.log(`FLEET_TEST_KUBECONFIG=${path.join(data, 'admin.kubeconfig')}`);
});
let isRequested = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isRequested = true;
    lab.kill('SIGKILL');
  });
}
await once(lab, 'exit');
server.close();
for (const each of cgroups) await removeCgroups(each);
process.exit(isRequested ? 0 : 1);
