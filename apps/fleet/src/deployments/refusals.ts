import { Problem } from '@svc/http';

/** A reason to refuse a deployment. */
export interface Refusal {
  readonly code:
    | 'name_taken'
    | 'managed_by_application'
    | 'template_blocked'
    | 'template_flawed'
    | 'template_untrusted'
    | 'by_hand_refused'
    | 'override_refused'
    | 'tier_too_low'
    | 'no_placement'
    | 'unknown_secret'
    | 'unknown_volume'
    | 'invalid_env'
    | 'deployment_refused';
  readonly path: string;
  readonly message: string;
}

/**
 * @throws 422 with all refusals if there are any; 409 if all are `name_taken`. The code is theirs
 * if all have the same one, else `deployment_refused`.
 */
export function refuse(refusals: readonly Refusal[]): void {
  const [first] = refusals;
  if (!first) return;
  const codes = new Set(refusals.map(({ code }) => code));
  const errors = refusals.map(({ path, message }) => ({ path, message }));
  const detail = `Nothing was changed: ${refusals.map(({ path, message }) => `${path} ${message}`).join('; ')}.`;
  throw new Problem(codes.size === 1 ? first.code : 'deployment_refused', detail, { errors });
}

interface ManagedRow {
  readonly part: string | null;
  readonly application_name: string | null;
}

/** A deployment that is being deleted cannot be changed. */
export const refusalsOfDeletion = ({ deleting }: { readonly deleting: boolean }): Refusal[] =>
  deleting
    ? [{ code: 'deployment_refused', path: 'phase', message: 'is deleting; the deployment cannot be changed' }]
    : [];

/** A part of an application is changed only by it. */
export const refusalsOfPart = ({ part, application_name: application }: ManagedRow): Refusal[] =>
  application === null || part === null
    ? []
    : [
        {
          code: 'managed_by_application',
          path: 'name',
          message: `is that of the part ${part} of the application ${application}: change the application`,
        },
      ];

/** @throws 409 for a part of an application, which alone can change it */
export const refuseManaged = (row: ManagedRow): void => refuse(refusalsOfPart(row));
