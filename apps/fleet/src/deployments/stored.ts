import type { Prisma } from '../generated/prisma/client.ts';
import { resolveEnv } from '../render/env.ts';
import type { Rendering, Secrecy, Secrets } from '../render/rendering.ts';
import { type Draft, draftOf, runsOf } from './draft.ts';
import type { DeploymentRow } from './rows.ts';
import { type Mounted, mountVolumes } from './volumes.ts';

/** A deployment with all that it is rendered from, but its secrets. */
export interface Renderable extends Pick<Rendering, 'env' | 'generation'> {
  readonly draft: Draft;
  readonly mounted: readonly Mounted[];
  readonly restarted_at: Date | null;
}

/** A deployment as it is now. */
export async function storedOf(transaction: Prisma.TransactionClient, row: DeploymentRow): Promise<Renderable> {
  const runs = await runsOf(transaction, row.workload_id, row.revision);
  const draft = draftOf(row, { runs });
  const { mounted } = await mountVolumes(transaction, draft);
  const { env } = resolveEnv(runs.spec, row.env);
  return { draft, env, mounted, generation: row.generation, restarted_at: row.restarted_at };
}

/** What the renderers are given of a deployment: with values of secrets only where they are given. */
export const renderingOf = <S extends Secrecy>(
  { draft, env, mounted, generation, restarted_at }: Renderable,
  secrets: Secrets<S>,
): Rendering<S> => ({
  id: draft.id,
  name: draft.name,
  generation,
  replicas: draft.desired === 'stopped' ? 0 : draft.replicas,
  restarted_at: restarted_at?.toISOString() ?? null,
  spec: draft.runs.spec,
  env,
  volumes: mounted,
  secrets,
});
