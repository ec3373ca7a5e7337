import { tiers } from '@svc/contract';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Needs, needsOf } from '../placement/demand.ts';
import type { Chosen, Placement } from '../placement/place.ts';
import { resolveEnv } from '../render/env.ts';
import { keyOf } from '../render/secrets.ts';
import { specProblems } from '../render/spec-problems.ts';
import type { Draft } from './draft.ts';
import { placed } from './placing.ts';
import type { Refusal } from './refusals.ts';
import { type Mounted, mountVolumes } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

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
