import { fleetEndpoints, trustPolicy } from '@svc/contract/fleet';
import { invalid, notFound } from '@svc/http';
import { applications, templates } from '@svc/trust';
import { planPolicy } from '../../deployments/templates/trust-plan.ts';
import { callerKey } from '../../identity/principal.ts';
import { readPolicy, writePolicy } from '../../trust/policy.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';

const DAY_MS = 86_400_000;
const MAX_EXCEPTION_DAYS = 90;

export const getTrustPolicy = route(fleetEndpoints.getTrustPolicy, ({ database }) => readPolicy(database.client));

export const setTrustPolicy = changeRoute(fleetEndpoints.setTrustPolicy, async ({ transaction }, { body }) => {
  refuseLongExceptions(body.exceptions.map(({ expires_at }) => expires_at));
  return writePolicy(transaction, body);
});

/** @throws 400 */
function refuseLongExceptions(expiries: readonly Date[]): void {
  const limit = Date.now() + MAX_EXCEPTION_DAYS * DAY_MS;
  const errors = expiries.flatMap((expiry, index) =>
    expiry.getTime() > limit
      ? [{ path: `exceptions.${index}.expires_at`, message: `must be at most ${MAX_EXCEPTION_DAYS} days from now` }]
      : [],
  );
  if (errors.length > 0) throw invalid(errors);
}

/** What a policy would refuse, before it is set. */
export const planTrust = route(fleetEndpoints.planTrust, ({ database, planQueue, principal }, { body }) =>
  planQueue.run(callerKey(principal), () => planPolicy(database.client, trustPolicy.parse(body))),
);

const kinds = { template: templates, application: applications } as const;

export const assignSlug = changeRoute(
  fleetEndpoints.assignSlug,
  async ({ transaction, recording }, { params, body }) => {
    const { slug } = params;
    const { publisher, kind } = body;
    const key = kinds[kind].keyOf(slug);
    if (!(await transaction.trustPublisher.findUnique({ where: { slug: publisher } }))) throw notFound();
    await transaction.trustSlug.upsert({
      where: { slug: key },
      create: { slug: key, publisher },
      update: { publisher },
    });
    recording.objectName = slug;
    return { slug, publisher };
  },
);
