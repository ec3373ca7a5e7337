import type { Sealer } from '@svc/database';
import { type Log, runPeriodically, type WakeableTask } from '@svc/http';
import { z } from 'zod';
import type { Database } from '../../database/client.ts';
import { latestImage } from '../../engines/docker/images.ts';
import { redactorFor } from '../../engines/docker/status.ts';
import { EngineFailure } from '../../engines/errors.ts';
import { messageOfFailure } from '../../engines/redact.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { imageReference, pullCredentials, registryAuth } from '../../render/image.ts';
import { secretsWithValues } from '../../render/secrets.ts';
import { openValues } from '../../resources/secrets.ts';
import { followsImage, isCheckOf } from '../../resources/updates.ts';
import { storedSpec } from '../../resources/workloads.ts';
import { refuseOtherRegistry } from '../desired.ts';
import type { HostClients } from '../engine-clients.ts';
import { countImageCheck } from '../metrics.ts';
import { hostOfDeployment } from '../targets.ts';
import type { ReconcilerTimings } from '../timings.ts';
import { takeTurn } from './turns.ts';

/** The maximum number of checks at the same time on a host, of all replicas. */
const MAX_PER_HOST = 2;
/** The maximum number of checks at the same time of this process. */
const MAX_CHECKS = 16;

export interface ImageCheckContext {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly hosts: HostClients;
  readonly timings: Pick<
    ReconcilerTimings,
    'imageChecks' | 'imageCheck' | 'imageCheckRetry' | 'lease' | 'afterError' | 'searchPause'
  >;
}

/**
 * Asks registries, through the engines of hosts, which images the tags of deployments name, until stopped: on request, and at
 * intervals for deployments that are updated automatically. A tag is checked once for all deployments of a host that use it.
 */
export function startImageChecks(context: ImageCheckContext): WakeableTask {
  const { log, timings } = context;
  const checks = new Set<Promise<void>>();
  const stopped = new AbortController();
  const start = (claim: Claim) => {
    const check = checkTag(context, claim, stopped.signal)
      .catch((error: unknown) => {
        if (!stopped.signal.aborted) log.warn({ err: error }, 'checking the tag of an image failed; will retry');
      })
      .finally(() => {
        checks.delete(check);
        search.wake(); // the host can have other checks that are due
      });
    checks.add(check);
  };
  const search = runPeriodically(Math.random() * timings.imageChecks, async () => {
    try {
      await addAutomatic(context);
      const { claims, isOwn } = await claimDue(context, MAX_CHECKS - checks.size);
      for (const claim of claims) start(claim);
      return isOwn ? timings.imageChecks : timings.searchPause;
    } catch (error) {
      log.warn({ err: error }, 'searching for tags of images to check failed; will retry');
      return timings.afterError;
    }
  });
  return {
    wake: search.wake,
    stop: async () => {
      stopped.abort();
      await search.stop();
      await Promise.all(checks);
    },
  };
}

/** Adds the tags that deployments follow automatically, and that have not been checked yet. */
const addAutomatic = ({ database: { client } }: ImageCheckContext) => client.$executeRaw`
  INSERT INTO image_checks (host_id, registry_url, image_name, image_tag)
  SELECT DISTINCT r.host_id, coalesce(v.spec->>'registry_url', ''), v.spec->>'image_name', v.spec->>'image_tag'
  FROM deployments r JOIN workload_revisions v ON v.workload_id = r.workload_id AND v.revision = r.revision
  WHERE ${followsImage} AND ${hasTag} AND NOT EXISTS (SELECT FROM image_checks c WHERE ${isCheckOf})
  ON CONFLICT DO NOTHING`;

/** Whether a deployment `r` with the revision `v` of its workload runs the image of a tag on a host, which can be pulled. */
const hasTag = Prisma.sql`(r.host_id IS NOT NULL AND r.desired_state = 'running' AND NOT r.deleting AND r.pull <> 'never'
  AND v.spec->>'image_digest' IS NULL)`;

/** A tag on a host that this process checks. */
const claimed = z.object({
  host_id: z.string(),
  registry_url: z.string(),
  image_name: z.string(),
  image_tag: z.string(),
  owner: z.string(),
  /** Whether a caller requests the check. */
  requested: z.boolean(),
});
type Claim = z.output<typeof claimed>;

const isClaim = ({
  host_id,
  registry_url,
  image_name,
  image_tag,
  owner,
}: Claim) => Prisma.sql`host_id = ${host_id}::uuid
  AND registry_url = ${registry_url} AND image_name = ${image_name} AND image_tag = ${image_tag} AND lease_owner = ${owner}::uuid`;

/**
 * Claims the checks that are due on hosts that are online, those first that have been due for the longest time. One replica at a
 * time does, so that replicas together stay within the maximum of each host. @returns whether no other replica does
 */
async function claimDue(
  { database: { client }, timings }: ImageCheckContext,
  limit: number,
): Promise<{ readonly claims: readonly Claim[]; readonly isOwn: boolean }> {
  if (limit <= 0) return { claims: [], isOwn: true };
  return client.$transaction(async (transaction) => {
    if (!(await takeTurn(transaction, 'image checks'))) return { claims: [], isOwn: false };
    const rows = await transaction.$queryRaw<unknown[]>`
      WITH busy AS (SELECT host_id, count(*) AS count FROM image_checks WHERE lease_until > now() GROUP BY host_id),
      due AS (
        SELECT c.*, coalesce(b.count, 0) + row_number() OVER (PARTITION BY c.host_id ORDER BY c.due_at) AS place
        FROM image_checks c JOIN hosts h ON h.id = c.host_id AND h.reachability = 'online' LEFT JOIN busy b ON b.host_id = c.host_id
        WHERE c.due_at <= now() AND coalesce(c.lease_until < now(), true)),
      chosen AS (SELECT * FROM due WHERE place <= ${MAX_PER_HOST} ORDER BY due_at LIMIT ${limit})
      UPDATE image_checks c
      SET lease_owner = gen_random_uuid(), lease_until = now() + make_interval(secs => ${timings.lease / 1000})
      FROM chosen
      WHERE (c.host_id, c.registry_url, c.image_name, c.image_tag)
        = (chosen.host_id, chosen.registry_url, chosen.image_name, chosen.image_tag)
      RETURNING c.host_id, c.registry_url, c.image_name, c.image_tag, c.lease_owner::text AS owner, c.requested`;
    return { claims: z.array(claimed).parse(rows), isOwn: true };
  });
}

/** The deployment with whose credentials a tag is checked. */
const subject = z.object({
  spec: storedSpec,
  /** Whether a deployment follows the tag automatically. */
  is_followed: z.boolean(),
  host: hostOfDeployment,
});

/** A deployment on the host that uses the tag, with credentials if one has them; undefined if none uses it any more. */
async function readSubject({ client }: Database, claim: Claim): Promise<z.output<typeof subject> | undefined> {
  const [row] = await client.$queryRaw<unknown[]>`
    SELECT v.spec, bool_or(${followsImage}) OVER () AS is_followed,
      jsonb_build_object('id', h.id, 'engine', h.engine, 'endpoint', h.endpoint, 'sealed', h.sealed, 'by_admin', h.by_admin,
        'addresses', h.addresses) AS host
    FROM image_checks c JOIN hosts h ON h.id = c.host_id JOIN deployments r ON r.host_id = c.host_id
      JOIN workload_revisions v ON v.workload_id = r.workload_id AND v.revision = r.revision
    WHERE ${hasTag} AND ${isCheckOf} AND (c.host_id, c.registry_url, c.image_name, c.image_tag, c.lease_owner) =
      (${claim.host_id}::uuid, ${claim.registry_url}, ${claim.image_name}, ${claim.image_tag}, ${claim.owner}::uuid)
    ORDER BY v.spec->>'registry_credentials' IS NULL, r.id LIMIT 1`;
  return row === undefined ? undefined : subject.parse(row);
}

/** Checks a tag that a caller or a policy asks for, and stores the result. A tag that no deployment uses any more is deleted. */
async function checkTag(context: ImageCheckContext, claim: Claim, signal: AbortSignal): Promise<void> {
  const { client } = context.database;
  const release = keepLease(context, claim);
  try {
    const found = await readSubject(context.database, claim);
    if (!found) await client.$executeRaw`DELETE FROM image_checks WHERE ${isClaim(claim)}`;
    else if (claim.requested || found.is_followed) await store(context, claim, await ask(context, found, signal));
    else await store(context, claim, {});
  } finally {
    release();
    // What has no result, such as after a failure of the database, is repeated.
    if (!signal.aborted)
      await client.$executeRaw`
      UPDATE image_checks SET lease_owner = NULL, lease_until = NULL, due_at = now() + make_interval(secs => ${context.timings.afterError / 1000})
      WHERE ${isClaim(claim)}`;
  }
}

/** Renews the lease of a check, which can take as long as a pull. @returns how to end it */
function keepLease({ database: { client }, timings }: ImageCheckContext, claim: Claim): () => void {
  const renew = () => client.$executeRaw`
    UPDATE image_checks SET lease_until = now() + make_interval(secs => ${timings.lease / 1000}) WHERE ${isClaim(claim)}`;
  // A lease that is not renewed ends, and the check is repeated.
  const timer = setInterval(() => void renew().catch(() => undefined), timings.lease / 3);
  timer.unref();
  return () => clearInterval(timer);
}

/** What a check has found. `{}`: it was not made, because no deployment follows the tag any more. */
type Result =
  | { readonly latest: Awaited<ReturnType<typeof latestImage>> }
  | { readonly error: string }
  | Readonly<Record<string, never>>;

async function ask(
  { database: { client }, sealer, hosts }: ImageCheckContext,
  { spec, host }: z.output<typeof subject>,
  signal: AbortSignal,
): Promise<Result> {
  const names = spec.registry_credentials === null ? [] : [spec.registry_credentials];
  const opened = await openValues(client, sealer, names);
  let auth: string | undefined;
  try {
    refuseOtherRegistry(spec, opened);
    const credentials = opened.length === 0 ? undefined : pullCredentials({ spec, secrets: secretsWithValues(opened) });
    auth = credentials && registryAuth(credentials);
    const engine = (await hosts.of(host)).withSignal(signal);
    return { latest: await latestImage(engine, { reference: imageReference(spec), registryAuth: auth }) };
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    return { error: messageOfFailure(error, redactorFor({ containers: [], ...(auth && { registryAuth: auth }) })) };
  }
}

/** Stores a result, and when the tag is checked next. */
async function store(
  { database: { client }, timings }: ImageCheckContext,
  claim: Claim,
  result: Result,
): Promise<void> {
  const columns =
    'latest' in result
      ? Prisma.sql`digest = ${result.latest.digest}, image_id = ${result.latest.id}, checked_at = now(), error = NULL,`
      : 'error' in result
        ? Prisma.sql`error = ${result.error},`
        : Prisma.empty;
  const wait = ('error' in result ? timings.imageCheckRetry : timings.imageCheck) * (0.9 + 0.2 * Math.random());
  await client.$executeRaw`
    UPDATE image_checks SET ${columns} lease_owner = NULL, lease_until = NULL, requested = false,
      due_at = now() + make_interval(secs => ${wait / 1000})
    WHERE ${isClaim(claim)}`;
  if ('latest' in result || 'error' in result) countImageCheck('latest' in result ? 'done' : 'failed');
}
