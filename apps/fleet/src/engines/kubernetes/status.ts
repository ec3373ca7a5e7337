import type { EngineFailure } from '../errors.ts';
import type { Endpoint, Observation } from '../observation.ts';
import { cut } from '../redact.ts';
import { volumesLeft } from './cleanup.ts';
import type { KubernetesClient } from './client.ts';
import { instanceOf, lastWarning, type Standing, standingsOf } from './instances.ts';
import { type Found, isWorkload, nameOf, type Running, type Seen, type Work } from './objects.ts';
import { scrubberFor, scrubberForPods } from './redact.ts';
import { calm, troubled, type Verdict, verdictOnDeployment, verdictOnJob } from './rollout.ts';

/** Where the ports of a deployment are reached from inside of its cluster. */
const endpointsOf = ({ manifest }: Running, namespace: string): Endpoint[] =>
  manifest.objects.flatMap((object) => {
    if (object.kind !== 'Service') return [];
    const host = `${nameOf(object)}.${namespace}.svc`;
    return (object.spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => ({
      container_port: port,
      protocol,
      address: `${host}:${port}`,
    }));
  });

/** How a deployment stands after a pass that was to have it run. */
export async function outcomeOf(work: Work, seen: Seen, trouble: EngineFailure | undefined): Promise<Observation> {
  const { client, wanted, actions } = work;
  const clean = scrubberFor(wanted.manifest);
  const standings = await standingsOf(client, seen.pods, scrubberForPods(wanted.manifest));
  const anyRuns = standings.some(({ state }) => state.phase === 'running');
  const verdict = trouble ? troubled(trouble, { anyRuns, clean }) : verdictOn(work, { ...seen, clean }, standings);
  const claims = await volumesLeft(client, volumeNames(wanted));
  const waits = verdict.reason === 'Unschedulable' ? await whyUnbound(client, claims) : '';
  return {
    ...verdict,
    message: `${verdict.message}${cut(clean(waits))}`,
    instances: standings.map(instanceOf),
    endpoints: anyRuns ? endpointsOf(wanted, client.address.namespace) : [],
    volumes: claims.filter(({ phase }) => phase === 'Bound').map(({ name }) => name),
    actions,
    overtaken: false,
  };
}

const volumeNames = ({ manifest }: Running): string[] =>
  manifest.objects.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(nameOf);

/** What keeps a volume from being made, where its cluster says it. */
async function whyUnbound(client: KubernetesClient, claims: readonly Found[]): Promise<string> {
  const claim = claims.find(({ phase }) => phase === 'Pending');
  const said = await lastWarning(client, claim?.uid);
  return said && ` The volume ${claim?.name} waits: ${said}`;
}

interface SeenBy extends Seen {
  readonly clean: (text: string) => string;
}

function verdictOn({ client, wanted, awaited }: Work, seen: SeenBy, standings: readonly Standing[]): Verdict {
  const [first] = awaited;
  if (first !== undefined) return calm('starting', `Waits for ${first} to be gone.`, 'soon');
  const workload = wanted.manifest.objects.find(isWorkload);
  const isIt = ({ metadata }: { metadata?: { name?: string } }) => workload && metadata?.name === nameOf(workload);
  const deployment = workload?.kind === 'Deployment' ? seen.deployments.find(isIt) : undefined;
  const quietSince = client.now() - client.timing.overdue;
  if (deployment) return verdictOnDeployment(deployment, { ...seen, quietSince }, standings);
  const job = workload?.kind === 'Job' ? seen.jobs.find(isIt) : undefined;
  if (job) return verdictOnJob(job, standings);
  return calm('starting', 'It is gone again.', 'soon');
}
