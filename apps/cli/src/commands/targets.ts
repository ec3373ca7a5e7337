import { fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { UsageError } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { print } from '../output.ts';
import { assignment } from '../stdin.ts';
import { oneLine } from '../text.ts';

interface NewTarget extends Common {
  readonly label: readonly string[];
  readonly network: readonly string[];
}

interface HostOptions extends NewTarget {
  readonly tls?: string;
  readonly dockerContext?: string;
  readonly engine: 'docker' | 'podman';
}

/** Registers a host: an address with a TLS bundle, or a context of Docker. */
export const addHost: Action<HostOptions> = async ([name = '', address], options) => {
  requireConsent(options);
  const { endpoint, credentials } = await engineOf(address, options);
  const networks = options.network.map(networkOf);
  const fleet = fleetOf(options);
  await confirm(`Add the host ${oneLine(name)} at ${oneLine(endpoint)}?`, options);
  const body = {
    name,
    engine: options.engine,
    endpoint,
    credentials,
    labels: Object.fromEntries(options.label.map(assignment)),
    network_types: networks.map(({ type }) => type),
    addresses: Object.fromEntries(networks.flatMap(({ type, at }) => (at === undefined ? [] : [[type, at]]))),
  };
  const { host } = await reply(fleet.POST('/api/v1/hosts', { body }));
  await print(host, {
    format: options.output,
    as: () => ({
      name: host.name,
      id: host.id,
      state: host.reachability,
      message: host.message,
      engine: `${host.engine} ${host.engine_version ?? ''}`,
      cpu: host.capacity?.cpu,
      memory: host.capacity?.memory,
    }),
  });
  return undefined;
};

async function engineOf(address: string | undefined, { tls, dockerContext }: HostOptions) {
  if ((address === undefined) === (dockerContext === undefined)) {
    throw new UsageError('Name either the address of the engine, such as tcp://machine:2376, or --docker-context.');
  }
  if (dockerContext !== undefined) {
    if (tls !== undefined)
      throw new UsageError('--tls does not belong to a context of Docker, which has its own files.');
    return (await import('../local/docker-context.ts')).readDockerContext(dockerContext);
  }
  const credentials = tls === undefined ? null : (await import('../local/pem.ts')).readTls(tls);
  return { endpoint: address ?? '', credentials };
}

/** `mesh`, or `mesh=10.1.2.3` with the address of the host in the network. */
function networkOf(text: string): { readonly type: string; readonly at?: string } {
  if (!text.includes('=')) return { type: text };
  const [type, at] = assignment(text);
  return { type, at };
}

interface ClusterOptions extends NewTarget {
  /** The context of the kubeconfig. */
  readonly context: string;
  readonly kubeconfig?: string;
  readonly namespace?: string;
}

/** Registers a cluster with what a context of a kubeconfig contains. */
export const addCluster: Action<ClusterOptions> = async ([name = ''], options) => {
  requireConsent(options);
  const { readKubeconfig } = await import('../local/kubeconfig.ts');
  const { server, ca_certificate, auth, namespace } = await readKubeconfig(options.kubeconfig, options.context);
  const fleet = fleetOf(options);
  await confirm(`Add the cluster ${oneLine(name)} at ${oneLine(server)}?`, options);
  const body = {
    name,
    server,
    ca_certificate,
    auth,
    labels: Object.fromEntries(options.label.map(assignment)),
    network_types: [...options.network],
    ...given({ namespace: options.namespace ?? namespace }),
  };
  const { cluster } = await reply(fleet.POST('/api/v1/clusters', { body }));
  await print(cluster, {
    format: options.output,
    as: () => ({
      name: cluster.name,
      id: cluster.id,
      state: cluster.reachability,
      message: cluster.message,
      version: cluster.kubernetes_version,
      namespace: cluster.namespace,
      ...Object.fromEntries(
        cluster.conditions.filter(({ status }) => status === 'False').map(({ type, message }) => [type, message]),
      ),
    }),
  });
  return undefined;
};
