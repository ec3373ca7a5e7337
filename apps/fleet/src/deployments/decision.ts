import { isDeepStrictEqual } from 'node:util';
import { tiers } from '@svc/contract';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Chosen, type Placement, place } from '../placement/place.ts';
import { type Needs, needsOf } from '../placement/requirements.ts';
import { resolveEnv } from '../render/env.ts';
import { keyOf } from '../render/secrets.ts';
import { specProblems } from '../render/spec-problems.ts';
import { readCandidates } from './candidates.ts';
import { type Draft, runsOf } from './draft.ts';
import { allocatedGpus } from './ports.ts';
import type { Refusal } from './refusals.ts';
import { type Mounted, mountVolumes } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

interface Placing {
  readonly draft: Draft;
  readonly needs: Needs;
  readonly mounted: readonly Mounted[];
}

/**
 * Finds the place of a draft. What it has of a place already it keeps, GPUs by name, whatever has become of the place since: only
 * what is more is placed. What asks for something else than before is placed as a whole, and what is stopped nowhere.
 */
async function placed(transaction: Transaction, { draft, needs, mounted }: Placing): Promise<Placement> {
  if (draft.desired === 'stopped') return { chosen: undefined, judged: [] };
  const held = await heldBy(transaction, draft, needs);
  if (held && held.gpus.length >= needs.replicas) return stays(held, needs.replicas);
  const candidates = await readCandidates(transaction, held ? undefined : draft.id);
  const volumes = mounted.map(({ name, access_mode, boundTo, attachedTo }) => ({
    name,
    access_mode,
    boundTo,
    attached_to: attachedTo,
  }));
  const target = draft.target ?? undefined;
  if (!held) return place({ ...needs, volumes, target }, candidates);
  const more = place({ ...needs, replicas: needs.replicas - held.gpus.length, volumes, target }, candidates);
  return more.chosen ? { ...more, chosen: { ...more.chosen, gpus: [...held.gpus, ...more.chosen.gpus] } } : more;
}

/** What a deployment has of its place. */
interface Held {
  readonly kind: 'host' | 'cluster';
  readonly id: string;
  readonly name: string;
  /** Of each replica that it was given room for. */
  readonly gpus: readonly (readonly string[])[];
}

/** What it runs with now, where a replica is to ask for the same as before. */
async function heldBy(transaction: Transaction, { id, target }: Draft, needs: Needs): Promise<Held | undefined> {
  const row = await transaction.deployment.findUnique({ where: { id }, include: { host: true, cluster: true } });
  if (!row || !target || row.desired_state === 'stopped') return undefined;
  const { spec } = await runsOf(transaction, row.workload_id, row.revision);
  const { replicas } = row;
  if (!isDeepStrictEqual(needsOf(spec, replicas), { ...needs, replicas })) return undefined;
  const gpus = await allocatedGpus(transaction, row);
  return { ...target, name: row.host?.name ?? row.cluster?.name ?? target.id, gpus };
}

const stays = ({ kind, id, name, gpus }: Held, replicas: number): Placement => ({
  chosen: { kind, id, gpus: gpus.slice(0, replicas) },
  judged: [{ kind, id, name, fits: true, reasons: ['chosen: it is there, and asks for no more than it has'] }],
});

/** A secret that a deployment needs, without its values. */
export interface KnownSecret {
  readonly name: string;
  readonly version: number;
  readonly keys: readonly string[];
}

/** What would come of a draft, and everything that stands against it. */
export interface Decision {
  readonly draft: Draft;
  readonly refusals: readonly Refusal[];
  readonly needs: Needs;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly mounted: readonly Mounted[];
  readonly secrets: readonly KnownSecret[];
  readonly placement: Placement;
  /** Where it is to be; undefined where nothing fits, or where it is stopped and was never anywhere. */
  readonly chosen: Chosen | undefined;
}

/** Looks at a draft from all sides; touches nothing. What is stopped needs no room. */
export async function decide(transaction: Transaction, draft: Draft): Promise<Decision> {
  const { runs } = draft;
  const { env, problems } = resolveEnv(runs.spec, draft.env);
  const secrets = await knownSecrets(transaction, runs.secretNames);
  const { mounted, refusals: ofVolumes } = await mountVolumes(transaction, draft);
  const needs = needsOf(runs.spec, draft.replicas);
  const placement = await placed(transaction, { draft, needs, mounted });
  return {
    draft,
    needs,
    env,
    mounted,
    secrets,
    placement,
    chosen: placement.chosen,
    refusals: [
      ...specProblems(runs.spec).map((problem) => ({ code: 'deployment_refused' as const, ...problem })),
      ...(await refusalsOfTier(transaction, draft)),
      ...problems.map((problem) => ({ code: 'invalid_env' as const, ...problem })),
      ...refusalsOfSecrets(draft, secrets),
      ...ofVolumes,
      ...refusalsOfPlacement(draft, placement),
    ],
  };
}

/** A template may ask more of an organization than it has: as the last sync knew it. */
async function refusalsOfTier(transaction: Transaction, { runs, isNewRevision }: Draft): Promise<Refusal[]> {
  if (!isNewRevision || runs.minTier === null) return [];
  const [row] = await transaction.$queryRaw<{ tier: string | null }[]>`
    SELECT organization->>'tier' AS tier FROM catalog_sync`;
  const tier = row?.tier ?? tiers[0];
  const rank = (name: string) => (tiers as readonly string[]).indexOf(name);
  if (rank(tier) >= rank(runs.minTier) && rank(runs.minTier) >= 0) return [];
  const message = `asks for the tier ${runs.minTier}, and your organization has ${tier}`;
  return [{ code: 'tier_too_low', path: 'template', message }];
}

/** The secrets of these names that are there. */
export async function knownSecrets(transaction: Transaction, names: readonly string[]): Promise<KnownSecret[]> {
  const rows = await transaction.secret.findMany({ where: { name: { in: [...names] } } });
  return rows.map(({ name, values_version, keys }) => ({ name, version: values_version, keys }));
}

function refusalsOfSecrets({ runs }: Draft, known: readonly KnownSecret[]): Refusal[] {
  const code = 'unknown_secret' as const;
  const find = (name: string) => known.find((secret) => secret.name === name);
  const absent = runs.secretNames
    .filter((name) => !find(name))
    .map((name) => ({ code, path: 'secret_refs', message: `needs the secret ${name}, which is not there` }));
  const keyless = runs.spec.secret_refs.flatMap((ref) => {
    const secret = find(ref.name);
    if (!secret || keyOf(ref, secret.keys) !== undefined) return [];
    const wanted = ref.key === undefined ? `a key for ${ref.env}` : `the key ${ref.key}`;
    return [
      {
        code,
        path: 'secret_refs',
        message: `needs ${wanted} of the secret ${ref.name}, which has ${secret.keys.join(', ')}`,
      },
    ];
  });
  const pull = find(runs.spec.registry_credentials ?? '');
  const isPull = !pull || ['username', 'password'].every((key) => pull.keys.includes(key));
  const message = `needs ${pull?.name} to be a secret of kind registry, with username and password`;
  return [...absent, ...keyless, ...(isPull ? [] : [{ code, path: 'registry_credentials', message }])];
}

function refusalsOfPlacement({ desired }: Draft, { chosen, judged }: Placement): Refusal[] {
  if (desired === 'stopped' || chosen) return [];
  const code = 'no_placement' as const;
  if (judged.length === 0) {
    return [{ code, path: 'target', message: 'has no place: no host and no cluster is registered' }];
  }
  return judged.map(({ kind, name, reasons }) => ({
    code,
    path: 'target',
    message: `can’t be ${kind} ${name}: ${reasons.join('; ')}`,
  }));
}
