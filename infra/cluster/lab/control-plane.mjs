import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { callerOf } from './caller.mjs';
import { API_PORT, CONTROL_PLANE, SERVICE_RANGE } from './network.mjs';

/** The users of the cluster, with their groups. Each has the token `<user>-of-the-test-cluster`. */
const usersOf = (nodes) => [
  { user: 'admin', group: 'system:masters' },
  { user: 'system:kube-controller-manager' },
  { user: 'system:kube-scheduler' },
  { user: 'system:kube-proxy' },
  ...nodes.map((node) => ({ user: `system:node:${node}`, group: 'system:nodes' })),
];
const tokenOf = (user) => `${user.replaceAll(':', '-')}-of-the-test-cluster`;

const LEADER = ['--leader-elect=false', '--port=0', '--secure-port=0'];
const READY_ATTEMPTS = 240;

/**
 * Starts etcd, the API server, the controller manager and the scheduler. `at` names a file in the data folder, `programAt` a program that
 * build.sh installed, and `nodes` the real nodes.
 *
 * @returns `call`, a client of the API server as an administrator, and `kubeconfigOf(user)`, the file for a user
 */
export async function startControlPlane({ programs, programAt, at, certificates, nodes }) {
  const users = usersOf(nodes);
  const lines = users.map(({ user, group }) => `${tokenOf(user)},${user},${user}${group ? `,"${group}"` : ''}`);
  await writeFile(at('tokens.csv'), `${lines.join('\n')}\n`, { mode: 0o600 });
  const server = `https://${CONTROL_PLANE}:${API_PORT}`;
  const kubeconfigOf = (user) => at('pki', `${user.replaceAll(':', '-')}.kubeconfig`);
  for (const { user } of users) {
    await writeKubeconfig(kubeconfigOf(user), { server, ca: certificates.ca, user, token: tokenOf(user) });
  }

  programs.run('etcd', programAt('etcd'), ['--data-dir', at('etcd'), '--unsafe-no-fsync', '--log-level=error']);
  programs.run('kube-apiserver', programAt('kube-apiserver'), apiServerArgs(at, certificates));
  const call = await readyCaller({ server, ca: certificates.ca, token: tokenOf('admin') });
  const withKubeconfig = (user) => ['--kubeconfig', kubeconfigOf(user), ...LEADER];
  programs.run('kube-controller-manager', programAt('kube-controller-manager'), [
    ...withKubeconfig('system:kube-controller-manager'),
    ...['--service-account-private-key-file', certificates.accounts, '--root-ca-file', certificates.ca],
    ...['--use-service-account-credentials', '--controllers=*,-ttl-after-finished'],
    // The default is a folder of the machine, which the program creates.
    ...['--flex-volume-plugin-dir', at('volume-plugins')],
    // A node that does not report its state is noticed sooner than by default.
    ...['--node-monitor-grace-period=20s', '--node-monitor-period=2s'],
  ]);
  programs.run('kube-scheduler', programAt('kube-scheduler'), withKubeconfig('system:kube-scheduler'));
  return { call, kubeconfigOf };
}

export const ADMIN_TOKEN = tokenOf('admin');

export const writeKubeconfig = (file, { server, ca, user, token }) =>
  writeFile(
    file,
    `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "${server}", certificate-authority: "${ca}"}}]
users: [{name: "${user}", user: {token: "${token}"}}]
contexts: [{name: test, context: {cluster: test, user: "${user}"}}]
current-context: test
`,
    { mode: 0o600 },
  );

function apiServerArgs(at, { ca, server, serverKey, client, clientKey, accounts }) {
  return [
    ...['--etcd-servers=http://127.0.0.1:2379', `--advertise-address=${CONTROL_PLANE}`, `--secure-port=${API_PORT}`],
    ...['--tls-cert-file', server, '--tls-private-key-file', serverKey, '--cert-dir', at('pki')],
    ...['--client-ca-file', ca, '--token-auth-file', at('tokens.csv'), '--authorization-mode=Node,RBAC'],
    ...['--kubelet-client-certificate', client, '--kubelet-client-key', clientKey],
    ...['--kubelet-preferred-address-types=InternalIP', `--service-cluster-ip-range=${SERVICE_RANGE}`],
    ...['--service-account-issuer=https://kubernetes.default.svc', '--service-account-key-file', accounts],
    ...['--service-account-signing-key-file', accounts, '--allow-privileged=true'],
  ];
}

async function readyCaller({ server, ca, token }) {
  const call = callerOf({ server, ca: await readFile(ca, 'utf8'), token });
  for (let left = READY_ATTEMPTS; left > 0; left -= 1) {
    const answer = await call('GET', '/readyz').catch(() => undefined);
    if (answer?.status === 200) return call;
    await pause(500);
  }
  throw new Error('The API server did not become ready.');
}
