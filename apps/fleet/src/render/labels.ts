import type { BoundVolume, Rendering } from './rendering.ts';
import { said } from './said.ts';
import { secretVersions } from './secrets.ts';

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
