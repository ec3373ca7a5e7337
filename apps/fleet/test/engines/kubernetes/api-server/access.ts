import { qualified } from './kinds.ts';
import { forbidden, Refusal } from './refusal.ts';
import { type Received, type Target, verbOf } from './request.ts';

/** Forbidden operations, as verb and resource: `create namespaces`, `list nodes`, `* secrets`. */
export type Forbidden = Set<string>;

const isForbidden = (rules: Forbidden, verb: string, resource: string): boolean =>
  rules.has(`${verb} ${resource}`) || rules.has(`* ${resource}`);

/** @throws Refusal with 401 for an unknown user, with 403 for a forbidden operation */
export function assertAccess(rules: Forbidden, request: Received, target: Target | undefined): void {
  if (request.user === undefined) throw new Refusal(401, 'Unauthorized', { message: 'Unauthorized' });
  if (!target) return;
  const verb = verbOf(request, target);
  const { kind, namespace, name, part } = target;
  const resource = part ? `${kind.resource}/${part}` : kind.resource;
  if (!isForbidden(rules, verb, resource)) return;
  const [, group = ''] = qualified(kind).split(/\.(.*)/);
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = `User "${request.user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
  throw forbidden({ kind, name }, why);
}

interface Review {
  readonly spec: {
    readonly resourceAttributes: { readonly verb: string; readonly resource: string; readonly subresource?: string };
  };
}

/** The result of a SelfSubjectAccessReview: whether the user may perform the operation. */
export function reviewed(rules: Forbidden, { body }: Received): object {
  const review = JSON.parse(body) as Review;
  const { verb, resource, subresource } = review.spec.resourceAttributes;
  const allowed = !isForbidden(rules, verb, subresource ? `${resource}/${subresource}` : resource);
  return { ...review, kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status: { allowed } };
}

/** The result of a SelfSubjectReview: who the user is. */
export const callerOf = ({ user }: Received): object => ({
  kind: 'SelfSubjectReview',
  apiVersion: 'authentication.k8s.io/v1',
  metadata: { creationTimestamp: null },
  status: { userInfo: { username: user, groups: ['system:authenticated'] } },
});
