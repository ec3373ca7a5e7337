import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '@svc/contract';
import { clusterPolicyNames, type clusterPolicyReply } from '@svc/contract/fleet';
import { Problem, pickDefined } from '@svc/http';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { DEFAULT_ACCOUNT, userOfAccount } from '../render/pod-settings.ts';
import type { Dependent } from './field-errors.ts';

type Policies = {
  [K in Exclude<keyof typeof clusterPolicyReply, 'fleet_account'>]: z.output<(typeof clusterPolicyReply)[K]>;
};

/** The policies in a row or body. */
export const policiesOf = (row: Policies): Policies =>
  // fromEntries loses which name has which value.
  Object.fromEntries(clusterPolicyNames.map((name) => [name, row[name]])) as unknown as Policies;

/**
 * Only an admin changes the policies of a cluster. The present ones are accepted, so that a body can
 * be sent back as it was read. @throws 403
 */
export function refusePolicies(
  given: { readonly [K in keyof Policies]?: Policies[K] | undefined },
  present: Policies,
  isAdmin: boolean,
): void {
  const changed = pickDefined(given, clusterPolicyNames);
  const names = clusterPolicyNames.filter(
    (name) => changed[name] !== undefined && !isDeepStrictEqual(changed[name], present[name]),
  );
  if (isAdmin || names.length === 0) return;
  throw new Problem('insufficient_scope', `Only an admin can set ${names.join(', ')} of a cluster.`);
}

interface Accounts extends Pick<Policies, 'service_account' | 'allow_service_account_tokens'> {
  readonly namespace: string;
  /** The user as which the cluster knows the fleet; null: not known. */
  readonly fleet_account: string | null;
}

/** The account of the pods, if they use it: it is named, or they can receive its token. */
const accountInUse = ({ service_account, allow_service_account_tokens }: Accounts): string | undefined =>
  service_account ?? (allow_service_account_tokens ? DEFAULT_ACCOUNT : undefined);

/**
 * Why pods must not run with their account: it is that of the fleet, so that a program could do
 * everything that the fleet can. Undefined if it is another one, or if it is not known.
 */
export function problemOfAccount(accounts: Accounts): string | undefined {
  const account = accountInUse(accounts);
  if (account === undefined) return undefined;
  if (accounts.fleet_account !== userOfAccount(accounts.namespace, account)) return undefined;
  return `is the account of the fleet itself, so that its pods could do everything that the fleet can: use another account than ${account}`;
}

/** The error of a request that sets the account of the fleet. */
export function accountErrors(accounts: Accounts): FieldError[] {
  const message = problemOfAccount(accounts);
  return message === undefined ? [] : [{ path: 'service_account', message }];
}

/** The condition for the account of the pods; none if they use no account. */
export function accountConditions(accounts: Accounts) {
  const account = accountInUse(accounts);
  if (account === undefined) return [];
  const type = 'AccountSeparate';
  if (problemOfAccount(accounts) !== undefined) {
    const message = `The account ${account} of the pods is the account of the fleet. Deployments that would start here are refused. Set another service_account, or give the fleet another account.`;
    return [{ type, status: 'False', reason: 'AccountOfFleet', message }];
  }
  if (accounts.fleet_account !== null) return [{ type, status: 'True', reason: 'OtherAccount', message: '' }];
  const message = `Neither the credentials nor the cluster state which account the fleet uses. Make sure that it is not ${account}, with which pods run.`;
  return [{ type, status: 'Unknown', reason: 'NotKnown', message }];
}

/** The deployments on a cluster whose pods have a token of their account. */
export const deploymentsWithToken = (
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  clusterId: string,
): Promise<Dependent[]> =>
  reader.$queryRaw<Dependent[]>(Prisma.sql`
    SELECT 'deployment' AS kind, d.name FROM deployments d
    JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    WHERE d.cluster_id = ${clusterId}::uuid AND d.desired_state = 'running' AND v.spec->'service_account_token' = 'true'
    ORDER BY d.name`);
