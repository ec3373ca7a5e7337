import { eventually } from '@svc/testing';
import { startApiServer } from '../../../engines/kubernetes/api-server.ts';
import { anAdminToken } from '../../../faults/identity-world.ts';
import { startProcessWorld } from '../../../process-world.ts';
import { aPair } from '../../../resources/certificates.ts';
import { dump } from '../../../secrets/dump.ts';
import { type Haystacks, leaks } from '../../../secrets/encoded-forms.ts';
import { SHORT_TIMINGS } from '../../../timings.ts';
import { createCanaries, recordingClient } from '../../canary-secrets.ts';
import { makeEcho } from '../echo.ts';
import { aNode, WEB } from '../world.ts';

/**
 * A response with a log must not begin before the cluster has rejected the request, also on a slow
 * machine.
 */
const TIMINGS = { ...SHORT_TIMINGS, reconciler: { ...SHORT_TIMINGS.reconciler, logStart: 10_000 } };

type Servers = Record<'lab' | 'certified' | 'other', Awaited<ReturnType<typeof startApiServer>>>;

/**
 * A fleet that logs at the lowest level, and three clusters: `lab` and `certified` repeat what they
 * receive, and `other` receives no secrets. All secrets are canaries.
 */
export async function startCanaryWorld() {
  const { canaries, aCanary, keep } = createCanaries();
  const told = { lab: [] as string[], certified: [] as string[] };
  /** A new secret that the clusters will receive. */
  const tell = (name: string, ...clusters: readonly (keyof typeof told)[]) => {
    const value = aCanary(name);
    for (const cluster of clusters) told[cluster].push(value);
    return value;
  };
  const token = tell('token of the cluster', 'lab');
  const pair = aPair('fleet');
  const servers: Servers = {
    lab: await startApiServer(),
    certified: await startApiServer({ clientAuthority: pair.certificate }),
    other: await startApiServer(),
  };
  for (const each of [servers.lab, servers.certified]) each.put('nodes', aNode('node-1'));
  servers.lab.rotate(token);
  const world = await startProcessWorld({ isMigrated: true, timings: TIMINGS });
  const fleet = await world.startFleet({ RATE_LIMIT: 'off', LOG_LEVEL: 'trace', OUTBOUND_ALLOW: 'loopback' });
  const listening = recordingClient(fleet.url, await anAdminToken(world.database.url));
  const { request } = listening;
  const ids: string[] = [];

  const check = async (id: string) => (await request('POST', `clusters/${id}/check`)).body.cluster;
  const registered = async (name: keyof Servers, auth: object): Promise<string> => {
    const { url, ca } = servers[name];
    const made = await request('POST', 'clusters', { name, server: url, ca_certificate: ca, auth });
    expect((await check(made.body.cluster.id)).reachability).toBe('online');
    return made.body.cluster.id;
  };
  /** Makes a deployment due. */
  const reconcileNow = (id: string) => world.query(`UPDATE deployments SET due_at = now() WHERE id = '${id}'`);
  await request('POST', 'secrets', { name: 'pass', values: { PASSWORD: tell('first value', 'lab') } });
  const pull = {
    username: tell('user of a registry', 'lab', 'certified'),
    password: tell('password of a registry', 'lab', 'certified'),
  };
  await request('POST', 'secrets', { name: 'pull', kind: 'registry', server: WEB.registry_url, values: pull });
  // The form in a pull secret.
  keep('both', Buffer.from(`${pull.username}:${pull.password}`).toString('base64'));
  const clusterId = await registered('lab', { kind: 'token', token });

  return {
    ...world,
    ...listening,
    ...servers,
    pair,
    aCanary,
    keep,
    told,
    tell,
    clusterId,
    echoes: { lab: makeEcho(servers.lab, told.lab), certified: makeEcho(servers.certified, told.certified) },
    /** The ids of the deployments, in the order of creation. */
    ids: ids as readonly string[],
    check,
    registered,
    deployed: async (name: string, at = clusterId) => {
      const spec = { ...WEB, registry_credentials: 'pull' };
      // A check that a busy machine has ended too late refuses the cluster until the next one.
      await eventually('the cluster is online', async () => (await check(at)).reachability === 'online');
      const id = await listening.deployed(name, spec, { target: { cluster_id: at } });
      ids.push(id);
      return id;
    },
    podOf: (id: string) => {
      const pods = servers.lab.objects('pods');
      const [pod] = pods.filter(({ metadata }) => metadata.labels?.['fleet/deployment'] === id);
      if (!pod) throw new Error(`${id} has no pod`);
      return pod;
    },
    reconcileNow,
    /** Waits until a deployment is running. */
    recovers: async (id: string) => {
      await reconcileNow(id);
      await listening.is(id, 'running');
    },
    /** Stops the fleet, and searches its responses, its output and its database for canaries. */
    search: async () => {
      const tables = await dump(world, 'in the end');
      await world.stop(fleet);
      const haystacks: Haystacks = { ...tables, answers: listening.answers.join('\n'), output: fleet.output() };
      return { haystacks, found: leaks(canaries, haystacks) };
    },
    end: async () => {
      await world.endAll();
      for (const each of Object.values(servers)) await each.stop();
      await world.database.drop();
    },
  };
}
