import { type BoundVolume, type Rendering, said } from './rendering.ts';
import { secretVersions } from './secrets.ts';

/**
 * Room for a name of ours, so that no engine ever has to cut one: a pod is called `<deployment>-<10>-<5>`, that of a job
 * `<deployment>-<generation>-<5>`, and 63 characters is what a label and a host name hold.
 */
const MAX_OBJECT = 46;
const MAX_VOLUME = 63;

/** Random in every version of UUID that we make; the first digits of a version 7 are the time, alike in neighbours. */
const tail = (id: string): string => id.slice(-8);

/**
 * Readable and of one row only: the name, and the end of the id. A deployment that was deleted and made again under its
 * name gets other objects, so it can neither adopt what the old one left behind nor wait for its removal.
 */
function nameOf(row: { readonly id: string; readonly name: string }, max: number): string {
  // A Service must begin with a letter (RFC 1035), a name in the fleet need not.
  const named = /^[a-z]/.test(row.name) ? row.name : `d-${row.name}`;
  return `${named.slice(0, max - 9).replace(/-+$/, '')}-${tail(row.id)}`;
}

/** What the objects of a deployment are called. */
export const objectName = (rendering: Pick<Rendering, 'id' | 'name'>): string => nameOf(rendering, MAX_OBJECT);

/** What a volume is called, whichever deployments use it. */
export const volumeName = ({ id, name }: Pick<BoundVolume, 'id' | 'name'>): string => nameOf({ id, name }, MAX_VOLUME);

type Texts = Readonly<Record<string, string>>;

/** Keys of what we write on objects of every engine. */
export const KEYS = {
  name: 'app.kubernetes.io/name',
  managedBy: 'app.kubernetes.io/managed-by',
  deployment: 'fleet/deployment',
  storage: 'fleet/storage',
  generation: 'fleet/generation',
  ordinal: 'fleet/ordinal',
  body: 'fleet/body',
  secretVersions: 'fleet/secret-versions',
  restartedAt: 'fleet/restarted-at',
  concurrentJobs: 'fleet/concurrent-jobs',
  vram: 'fleet/vram-request',
  networkTypes: 'fleet/required-network-types',
} as const;

const MANAGED = { [KEYS.managedBy]: 'fleet' };

/** What selects the objects of a deployment. It never changes: Kubernetes takes no other selector later. */
export const selectorOf = ({ id }: Pick<Rendering, 'id'>): Texts => ({ [KEYS.deployment]: id });

/** What every object of a deployment is labelled with. */
export const labelsOf = ({ id, name }: Pick<Rendering, 'id' | 'name'>): Texts => ({
  [KEYS.name]: name,
  ...MANAGED,
  ...selectorOf({ id }),
});

/** A volume's labels name no deployment: it may serve several, and what removes a deployment's objects must spare it. */
export const volumeLabels = ({ id, name }: BoundVolume): Texts => ({
  [KEYS.name]: name,
  ...MANAGED,
  [KEYS.storage]: id,
});

/** Which generation an object was made for: a worker with an older one leaves it alone. */
export const generationOf = ({ generation }: Pick<Rendering, 'generation'>): Texts => ({
  [KEYS.generation]: String(generation),
});

/** What the placement went by, for people who look at the engine. */
export const wishesOf = ({ spec }: Rendering): Texts =>
  said({
    [KEYS.concurrentJobs]: String(spec.concurrent_jobs),
    [KEYS.vram]: spec.vram_request,
    [KEYS.networkTypes]: spec.required_network_types.join(),
  });

/** What must start anew although the workload stays as it is: a restart that was asked for, another version of a secret. */
export const startsAnewWith = (rendering: Rendering): Texts =>
  said({
    [KEYS.secretVersions]: secretVersions(rendering),
    [KEYS.restartedAt]: rendering.restarted_at ?? '',
  });
