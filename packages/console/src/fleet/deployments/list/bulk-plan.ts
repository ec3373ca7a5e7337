import { codeOf } from '../../../shared/api/problem.ts';
import { t } from '../../../shared/texts/texts.ts';
import { type Deployment, fleet } from '../../api.ts';

export type BulkAction = 'start' | 'stop' | 'restart' | 'delete';

export type SelectedDeployment = Pick<Deployment, 'id' | 'name' | 'version'>;

/** What an action does to one deployment. */
export interface Foreseen {
  readonly deployment: SelectedDeployment;
  /** What will happen, as sentences. */
  readonly effects: readonly string[];
  /** The name of the workload that is deleted too, unless the user keeps it. */
  readonly workload?: string;
  /** Why nothing will happen. */
  readonly blocked?: string;
}

/** The number of requests at the same time. */
const CONCURRENT = 4;

/** Works on the items, a few at a time. The results have the order of the items. */
export async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  return results;
}

const VOLUMES_PER_DEPLOYMENT = 100;

/** What will happen to a deployment as it is now. Starts are planned, and volumes are read. */
export async function foresee(action: BulkAction, selected: SelectedDeployment): Promise<Foreseen> {
  const deployment = await readCurrent(selected);
  const blocked = (reason: string): Foreseen => ({ deployment: deployment ?? selected, effects: [], blocked: reason });
  if (!deployment) return blocked(t('It does not exist any more.'));
  const { phase, desired_state } = deployment;
  if (phase === 'deleting') return blocked(t('It is being deleted already.'));
  const isStopped = desired_state === 'stopped';
  switch (action) {
    case 'start':
      return isStopped ? foreseeStart(deployment) : blocked(t('It is started already.'));
    case 'stop':
      return isStopped ? blocked(t('It is stopped already.')) : { deployment, effects: effectsOfStop(deployment) };
    case 'restart':
      return isStopped
        ? blocked(t('It is stopped.'))
        : { deployment, effects: [t('All replicas are replaced. Data outside of volumes is lost.')] };
    case 'delete':
      return {
        deployment,
        effects: await effectsOfDeletion(deployment),
        ...(deployment.deletes_workload && { workload: deployment.workload_name }),
      };
  }
}

async function readCurrent({ id }: SelectedDeployment): Promise<Deployment | undefined> {
  try {
    return (await fleet.call('getDeployment', { params: { id } })).deployment;
  } catch (error) {
    if (codeOf(error) === 'not_found') return undefined;
    throw error;
  }
}

async function foreseeStart(deployment: Deployment): Promise<Foreseen> {
  const { ok, refusals, placement } = await fleet.call('planDeployment', {
    body: { deployment_id: deployment.id, desired_state: 'running', dry_run: false },
  });
  if (!ok) return { deployment, effects: [], blocked: refusals.map(({ message }) => message).join(' ') };
  const { host_id, cluster_id } = placement.target ?? {};
  const target = placement.candidates.find(({ id }) => id === host_id || id === cluster_id);
  return {
    deployment,
    effects: [target ? t('It runs on {name}.', { name: target.name }) : t('It waits for a target.')],
  };
}

const effectsOfStop = ({ volumes }: Deployment): readonly string[] => [
  t('Its containers are removed, and its CPU, memory and GPUs are released.'),
  Object.keys(volumes).length > 0
    ? t('Its volumes and their data remain.')
    : t('It has no volumes: data in its containers is lost.'),
];

async function effectsOfDeletion(deployment: Deployment): Promise<readonly string[]> {
  const query = { deployment_id: deployment.id, limit: VOLUMES_PER_DEPLOYMENT };
  const { storage } = await fleet.call('listStorage', { query });
  const isOnlyHere = (volume: (typeof storage)[number]) =>
    volume.attached_to.every(({ deployment_id }) => deployment_id === deployment.id);
  const deleted = storage.filter((volume) => volume.reclaim === 'delete' && isOnlyHere(volume));
  const remaining = Object.entries(deployment.volumes).filter(
    ([, { storage_id }]) => !deleted.some(({ id }) => id === storage_id),
  );
  return [
    t('Its containers, generated values and history are deleted.'),
    ...deleted.map(({ name, size }) => t('The volume {name} ({size}) is deleted with its data.', { name, size })),
    ...remaining.map(([mount, { size }]) => t('The volume {mount} ({size}) remains.', { mount, size })),
  ];
}

/** Performs an action on the version of the deployment for which it was planned. `keepsWorkload` applies to a deletion. */
export async function perform(
  action: BulkAction,
  { id, version }: SelectedDeployment,
  { keepsWorkload }: { readonly keepsWorkload: boolean },
): Promise<void> {
  const input = { params: { id }, ifMatch: version };
  switch (action) {
    case 'start':
      await fleet.call('startDeployment', input);
      return;
    case 'stop':
      await fleet.call('stopDeployment', input);
      return;
    case 'restart':
      await fleet.call('restartDeployment', input);
      return;
    case 'delete':
      await fleet.call('deleteDeployment', { ...input, query: { keep_workload: keepsWorkload } });
  }
}
