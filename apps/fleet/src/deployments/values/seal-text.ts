import type { Sealer } from '@svc/database';
import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type StoredEnv, type StoredValue, storedEnv } from '../../render/env.ts';
import { openValue, sealValue } from '../../resources/sealed-values.ts';
import { secretVariables } from '../../resources/workloads.ts';

const MINUTE_MS = 60_000;
const INTERVAL_MS = 10 * MINUTE_MS;

/** The maximum number of rows that one statement reads, or one transaction changes. */
const BATCH = 50;

interface Options {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  /** Milliseconds between two rounds. */
  readonly interval?: number;
}

/**
 * Seals text that deployments and workloads have for secret variables: text of version 0.1.0, and
 * text from before a template declared its variable secret. Instances keep the text in their
 * environment, so none is replaced. The API masks such text before it is sealed.
 *
 * Replicas can run this at the same time, and an interrupted round is continued by the next one.
 */
export function startSealing({ database, sealer, log, interval = INTERVAL_MS }: Options): PeriodicTask {
  return runPeriodically(0, async (ending) => {
    try {
      if (await isOldReplicaConnected(database)) {
        log.info('values of secret variables are sealed when no replica of version 0.1.0 is connected');
        return Math.min(MINUTE_MS, interval);
      }
      const sealed = await sealText({ database, sealer, ending });
      if (sealed > 0) log.info({ rows: sealed }, 'values of secret variables sealed');
    } catch (error) {
      log.warn({ err: error }, 'sealing values of secret variables failed; will retry');
    }
    return interval;
  });
}

/**
 * Delete after 0.2: the search for replicas of version 0.1.0, which cannot read sealed values and
 * does not reconcile deployments that have them. Nothing is sealed while one is connected.
 */
const OLD_APPLICATION = 'fleet'; // the name of its connections

async function isOldReplicaConnected({ client }: Database): Promise<boolean> {
  const rows = await client.$queryRaw<unknown[]>`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = ${OLD_APPLICATION} LIMIT 1`;
  return rows.length > 0;
}

interface Round {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly ending: AbortSignal;
}

/** @returns the number of changed rows */
const sealText = async (round: Round): Promise<number> =>
  (await sealAll(round, readWorkloadRevisions, sealWorkloadRevision)) +
  (await sealAll(round, readDeployments, sealDeployment));

interface Candidate {
  /** Whether it has text for a secret variable. */
  readonly has_text: boolean;
}

/**
 * Reads all candidates in pages, and seals each one with text in transactions of a limited size.
 */
async function sealAll<C extends Candidate>(
  { database: { client }, sealer, ending }: Round,
  readPage: (reader: Reader, after: C | undefined) => Promise<readonly C[]>,
  seal: (transaction: Prisma.TransactionClient, sealer: Sealer, candidate: C) => Promise<number>,
): Promise<number> {
  let rows = 0;
  for (let page = await readPage(client, undefined); page.length > 0; page = await readPage(client, page.at(-1))) {
    for (const candidate of page.filter(({ has_text }) => has_text)) {
      for (let sealed = 1; sealed > 0 && !ending.aborted; rows += sealed) {
        sealed = await client.$transaction((transaction) => seal(transaction, sealer, candidate));
      }
    }
    if (ending.aborted) break;
  }
  return rows;
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** Before the ids of all rows. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

interface WorkloadCandidate extends Candidate {
  readonly workload_id: string;
  readonly revision: number;
}

/** The names of the secret variables of a revision `v` of a workload. */
const names = Prisma.sql`CROSS JOIN LATERAL (SELECT ${secretVariables} AS names) s`;

const specHasText = Prisma.sql`(s.names <> '[]' AND EXISTS (
  SELECT FROM jsonb_array_elements(v.spec->'env') e WHERE e->>'value' <> '' AND s.names ? (e->>'name')))`;

const readWorkloadRevisions = (
  reader: Reader,
  { workload_id, revision }: Omit<WorkloadCandidate, 'has_text'> = { workload_id: NO_ID, revision: 0 },
): Promise<WorkloadCandidate[]> => reader.$queryRaw`
  SELECT v.workload_id, v.revision, ${specHasText} AS has_text
  FROM (SELECT * FROM workload_revisions WHERE (workload_id, revision) > (${workload_id}::uuid, ${revision}::int)
        ORDER BY workload_id, revision LIMIT ${BATCH}) v ${names}
  ORDER BY v.workload_id, v.revision`;

/** A variable of a stored specification. */
interface SpecVariable {
  readonly name: string;
  readonly value?: string;
  readonly sealed?: string;
}

interface SpecRow {
  readonly names: string[];
  readonly env: SpecVariable[];
  readonly has_override: boolean;
}

async function sealWorkloadRevision(
  transaction: Prisma.TransactionClient,
  sealer: Sealer,
  { workload_id, revision }: WorkloadCandidate,
): Promise<number> {
  const [row] = await transaction.$queryRaw<SpecRow[]>`
    SELECT s.names, v.spec->'env' AS env, v.overrides ? 'env' AS has_override FROM workload_revisions v ${names}
    WHERE v.workload_id = ${workload_id}::uuid AND v.revision = ${revision} AND ${specHasText} FOR UPDATE OF v`;
  if (!row) return 0;
  const sealText = await textSealer(transaction, sealer, { workload_id });
  const env: SpecVariable[] = [];
  for (const variable of row.env) {
    const { name, value = '' } = variable;
    const isText = value !== '' && row.names.includes(name);
    env.push(isText ? { name, sealed: await sealText(name, value) } : variable);
  }
  // The overrides contain the same variables as the specification, if any.
  const json = Prisma.sql`jsonb_build_object('env', ${JSON.stringify(env)}::jsonb)`;
  await transaction.$executeRaw`SELECT set_config('fleet.seals_values', 'on', true)`;
  return transaction.$executeRaw`
    UPDATE workload_revisions SET spec = spec || ${json},
      overrides = CASE WHEN ${row.has_override} THEN overrides || ${json} ELSE overrides END
    WHERE workload_id = ${workload_id}::uuid AND revision = ${revision}`;
}

interface DeploymentCandidate extends Candidate {
  readonly id: string;
}

/** Whether an environment has text for one of the `names`. */
const hasText = (env: Prisma.Sql) => Prisma.sql`EXISTS (
  SELECT FROM jsonb_each(${env}) e WHERE jsonb_typeof(e.value) = 'string' AND e.value <> '""' AND s.names ? e.key)`;

const ofDeployment = Prisma.sql`v.workload_id = d.workload_id AND v.revision = d.revision`;

const deploymentHasText = Prisma.sql`(s.names <> '[]' AND (${hasText(Prisma.sql`d.env`)} OR EXISTS (
  SELECT FROM deployment_revisions r WHERE r.deployment_id = d.id AND ${hasText(Prisma.sql`r.env`)})))`;

const readDeployments = (
  reader: Reader,
  { id }: Pick<DeploymentCandidate, 'id'> = { id: NO_ID },
): Promise<DeploymentCandidate[]> => reader.$queryRaw`
  SELECT d.id, ${deploymentHasText} AS has_text
  FROM (SELECT * FROM deployments WHERE id > ${id}::uuid ORDER BY id LIMIT ${BATCH}) d
  JOIN workload_revisions v ON ${ofDeployment} ${names} ORDER BY d.id`;

/**
 * Seals the text of a deployment and of a batch of its generations. Equal text of a variable is
 * sealed once.
 */
async function sealDeployment(
  transaction: Prisma.TransactionClient,
  sealer: Sealer,
  { id }: DeploymentCandidate,
): Promise<number> {
  const [row] = await transaction.$queryRaw<{ names: string[]; env: unknown }[]>`
    SELECT s.names, d.env FROM deployments d JOIN workload_revisions v ON ${ofDeployment} ${names}
    WHERE d.id = ${id}::uuid AND ${deploymentHasText} FOR UPDATE OF d`;
  if (!row) return 0;
  const generations = await transaction.$queryRaw<{ generation: number; env: unknown }[]>`
    SELECT r.generation, r.env FROM deployment_revisions r, (SELECT ${JSON.stringify(row.names)}::jsonb AS names) s
    WHERE r.deployment_id = ${id}::uuid AND ${hasText(Prisma.sql`r.env`)} LIMIT ${BATCH}`;
  const sealText = await textSealer(transaction, sealer, { deployment_id: id });
  const sealedEnv = (env: unknown) => sealEnv(storedEnv.parse(env), row.names, sealText);
  await transaction.$executeRaw`
    UPDATE deployments SET env = ${JSON.stringify(await sealedEnv(row.env))}::jsonb WHERE id = ${id}::uuid`;
  for (const { generation, env } of generations) {
    await transaction.$executeRaw`
      UPDATE deployment_revisions SET env = ${JSON.stringify(await sealedEnv(env))}::jsonb
      WHERE deployment_id = ${id}::uuid AND generation = ${generation}`;
  }
  return 1 + generations.length;
}

type SealText = (variable: string, value: string) => Promise<string>;

async function sealEnv(env: StoredEnv, names: readonly string[], sealText: SealText): Promise<StoredEnv> {
  const sealed: [string, StoredValue][] = [];
  for (const [name, value] of Object.entries(env)) {
    const isText = typeof value === 'string' && value !== '' && names.includes(name);
    sealed.push([name, isText ? { sealed: await sealText(name, value), inline: true } : value]);
  }
  return Object.fromEntries(sealed);
}

/**
 * A function that seals a text of a variable for an owner. It returns the id, which is the same for
 * equal text.
 */
async function textSealer(
  transaction: Prisma.TransactionClient,
  sealer: Sealer,
  owner: { readonly deployment_id: string } | { readonly workload_id: string },
): Promise<SealText> {
  const existing = await transaction.sealedValue.findMany({ where: owner });
  const keyOf = (variable: string, value: string) => JSON.stringify([variable, value]);
  const ids = new Map<string, string>();
  for (const row of existing) ids.set(keyOf(row.variable, await openValue(sealer, row)), row.id);
  return async (variable, value) => {
    const known = ids.get(keyOf(variable, value));
    if (known !== undefined) return known;
    const id = uuidv7();
    await sealValue(transaction, sealer, { id, owner, variable, value, revealable: false });
    ids.set(keyOf(variable, value), id);
    return id;
  };
}
