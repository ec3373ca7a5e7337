import { fleetEndpoints, MAX_SOURCES } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { isBranchName } from '@svc/git';
import { invalid, notFound, Problem, pickDefined } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { endProblems } from '../events/record.ts';
import type { Prisma, Source } from '../generated/prisma/client.ts';
import { approvalOf } from '../identity/approvals.ts';
import { creatorOf } from '../identity/authority.ts';
import { secretRequiredAgain, targetErrors } from '../identity/outbound-targets.ts';
import { lockSource, makeDue, readSource, readSources } from '../plans/sources/rows.ts';
import { isNotified, newHookSecret, openSourceSecrets, sealSourceSecrets } from '../plans/sources/secrets.ts';
import { releaseSet } from '../plans/stored.ts';
import { isUuid } from '../resources/kind.ts';
import { type ChangeContext, changeRoute } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';

type Transaction = Prisma.TransactionClient;

export const listSources = route(fleetEndpoints.listSources, ({ database }, { query }) =>
  readSources(database.client, query),
);

export const getSource = route(fleetEndpoints.getSource, async ({ database }, { params }) => ({
  source: await readSource(database.client, params.id),
}));

interface Given {
  readonly url?: string | undefined;
  readonly branch?: string | undefined;
}

/** @throws 400, 403 */
function refuseInvalid(context: Pick<RequestContext, 'principal' | 'refusalOf'>, { url, branch }: Given): void {
  const errors = url === undefined ? [] : targetErrors(context, 'url', new URL(url));
  if (branch !== undefined && !isBranchName(branch))
    errors.push({ path: 'branch', message: 'must be the name of a branch, such as main' });
  if (errors.length > 0) throw invalid(errors);
}

export const createSource = changeRoute(fleetEndpoints.createSource, async (context, { body }) => {
  const { transaction, principal, settings } = context;
  refuseInvalid(context, body);
  const creator = await creatorOf(transaction, principal);
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('sources'))`;
  if ((await transaction.source.count()) >= MAX_SOURCES)
    throw new Problem('too_many_sources', `A fleet has at most ${MAX_SOURCES} sources.`);
  const { set = body.name, token = null, ...members } = body;
  await refuseOtherOfSet(transaction, set);
  const [id, hook] = [uuidv7(), newHookSecret()];
  const sealed = await sealSourceSecrets(settings.sealer, id, { token, hook });
  await transaction.source.create({
    data: { id, ...members, set_name: set, ...sealed, approval: approvalOf(principal), ...creator },
  });
  return { source: { ...(await readSource(transaction, id)), hook_secret: hook } };
});

/** @throws 400 if another source feeds the set */
async function refuseOtherOfSet(transaction: Transaction, set: string): Promise<void> {
  const other = await transaction.source.findUnique({ where: { set_name: set }, select: { name: true } });
  if (other === null) return;
  throw invalid([{ path: 'set', message: `must be another set: the source ${other.name} has the set ${set}` }]);
}

/** The caller who changes a source decides what it applies. The source therefore ends with the rights of this caller. */
async function takeOver({ transaction, principal }: ChangeContext, id: string): Promise<Source> {
  const creator = await creatorOf(transaction, principal); // locks the caller before the source, as the end of the rights does
  const before = await lockSource(transaction, id);
  await transaction.source.update({
    where: { id },
    data: { ...creator, approval: approvalOf(principal), version: { increment: 1 } },
  });
  return before;
}

const MEMBERS = [
  'name',
  'url',
  'branch',
  'folder',
  'interval_seconds',
  'mode',
  'heal',
  'prune',
  'max_deletions',
  'user_name',
] as const;

/** The sealed columns of a source with another token. A secret of notifications that cannot be decrypted is replaced. */
async function withToken(sealer: Sealer, source: Source, token: string | null) {
  const hook = (await openSourceSecrets(sealer, source))?.hook ?? newHookSecret();
  return sealSourceSecrets(sealer, source.id, { hook, token });
}

export const updateSource = changeRoute(fleetEndpoints.updateSource, async (context, { params: { id }, body }) => {
  const { transaction, settings } = context;
  refuseInvalid(context, body);
  const before = await takeOver(context, id);
  const { url = before.url, token, enabled } = body;
  const isMoved = new URL(url).host !== new URL(before.url).host;
  if (isMoved && before.has_token && token === undefined) throw secretRequiredAgain('token', 'the server of url');
  const changes = pickDefined(body, MEMBERS);
  const sealed = token === undefined ? {} : await withToken(settings.sealer, before, token);
  const disabled =
    enabled === undefined
      ? {}
      : {
          disabled_at: enabled ? null : (before.disabled_at ?? new Date()),
          disabled_reason: enabled ? null : (before.disabled_reason ?? 'It was disabled by a caller.'),
        };
  // What was read before belongs to other settings. Only the commit that was applied is still compared.
  const reset = {
    commit: null,
    plan_id: null,
    settled: false,
    drift: null,
    failures: 0,
    failing_since: null,
    failure: null,
  };
  await transaction.source.update({ where: { id }, data: { ...changes, ...sealed, ...disabled, ...reset } });
  if (enabled) await endProblems(transaction, id);
  await makeDue(transaction, id);
  return { source: await readSource(transaction, id) };
});

export const deleteSource = changeRoute(fleetEndpoints.deleteSource, async (context, { params: { id } }) => {
  const { transaction, recording } = context;
  const { name, set_name } = await lockSource(transaction, id);
  recording.objectName = name;
  await endProblems(transaction, id);
  await releaseSet(transaction, set_name);
  await transaction.source.delete({ where: { id } });
  return undefined;
});

export const checkSource = changeRoute(fleetEndpoints.checkSource, async (context, { params: { id } }) => {
  const { transaction } = context;
  const { disabled_at, disabled_reason } = await lockSource(transaction, id);
  if (disabled_at !== null)
    throw new Problem('source_disabled', `The source is disabled: ${disabled_reason ?? ''} Enable it first.`);
  await makeDue(transaction, id);
  return { source: await readSource(transaction, id) };
});

export const rotateSource = changeRoute(fleetEndpoints.rotateSource, async (context, { params: { id } }) => {
  const { transaction, settings } = context;
  const before = await takeOver(context, id);
  const token = (await openSourceSecrets(settings.sealer, before))?.token ?? null;
  const hook = newHookSecret();
  await transaction.source.update({
    where: { id },
    data: await sealSourceSecrets(settings.sealer, id, { token, hook }),
  });
  return { source: { ...(await readSource(transaction, id)), hook_secret: hook } };
});

/** A server that does not know the secret does not learn whether the source exists. */
export const notifySource = changeRoute(fleetEndpoints.notifySource, async (context, { params: { id }, body }) => {
  const { transaction, settings, hookProof, recording } = context;
  const source = isUuid(id) ? await transaction.source.findUnique({ where: { id } }) : null;
  if (source === null) throw notFound();
  const secrets = await openSourceSecrets(settings.sealer, source);
  if (secrets === undefined || !isNotified(secrets.hook, body, hookProof)) throw notFound();
  recording.objectName = source.name;
  await makeDue(transaction, id);
  return undefined;
});
