import { z } from 'zod';
import { fieldCodes } from './field-codes.ts';

/** All problems of both services. Callers can rely on the code; the title is only for people. */
export const problems = {
  invalid_request: { status: 400, title: 'Malformed request' },
  validation_failed: { status: 400, title: 'Invalid input' },
  unauthenticated: { status: 401, title: 'Authentication required' },
  invalid_token: { status: 401, title: 'Invalid credential' },
  invalid_credentials: { status: 401, title: 'Sign-in failed' },
  invalid_grant: { status: 401, title: 'Invalid grant' },
  insufficient_scope: { status: 403, title: 'Not permitted' },
  origin_refused: { status: 403, title: 'Origin refused' },
  wrong_origin: { status: 403, title: 'Wrong origin' },
  approval_required: { status: 403, title: 'Approval required' },
  user_blocked: { status: 403, title: 'User blocked' },
  organization_suspended: { status: 403, title: 'Organization suspended' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  slug_taken: { status: 409, title: 'Slug taken' },
  name_taken: { status: 409, title: 'Name taken' },
  email_taken: { status: 409, title: 'E-mail taken' },
  category_in_use: { status: 409, title: 'Category in use' },
  key_revoked: { status: 409, title: 'Key revoked' },
  too_many_keys: { status: 409, title: 'Too many keys' },
  too_many_tokens: { status: 409, title: 'Too many tokens' },
  too_many_advisories: { status: 409, title: 'Too many advisories' },
  advisory_withdrawn: { status: 409, title: 'Advisory withdrawn' },
  breaks_signature: { status: 409, title: 'Breaks a signature' },
  too_many_publishers: { status: 409, title: 'Too many publishers' },
  too_many_webhooks: { status: 409, title: 'Too many webhooks' },
  webhook_disabled: { status: 409, title: 'Webhook disabled' },
  too_many_sources: { status: 409, title: 'Too many sources' },
  source_disabled: { status: 409, title: 'Source disabled' },
  already_extended: { status: 409, title: 'Already extended' },
  root_changed: { status: 409, title: 'Root key changed' },
  keyring_outdated: { status: 409, title: 'Keyring outdated' },
  bundle_outdated: { status: 409, title: 'Bundle outdated' },
  other_organization: { status: 409, title: 'Bundle of another organization' },
  hub_configured: { status: 409, title: 'Hub configured' },
  found_empty: { status: 409, title: 'Bundle empty' },
  too_many_deletions: { status: 409, title: 'Too many deletions' },
  token_revoked: { status: 409, title: 'Token revoked' },
  password_exists: { status: 409, title: 'Password exists' },
  role_managed_by_provider: { status: 409, title: 'Role managed by the identity provider' },
  last_admin: { status: 409, title: 'Last admin' },
  oidc_not_configured: { status: 409, title: 'No identity provider configured' },
  browser_session_unavailable: { status: 409, title: 'No sessions for browsers' },
  no_organization: { status: 409, title: 'No organization' },
  already_in_organization: { status: 409, title: 'Already in an organization' },
  too_many_organizations: { status: 409, title: 'Too many organizations' },
  outdated_decision: { status: 409, title: 'Outdated decision' },
  already_decided: { status: 409, title: 'Already decided' },
  last_org_admin: { status: 409, title: 'Last administrator of the organization' },
  too_many_invitations: { status: 409, title: 'Too many invitations' },
  too_many_requests: { status: 409, title: 'Too many access requests' },
  last_superadmin: { status: 409, title: 'Last superadmin' },
  in_use: { status: 409, title: 'In use' },
  not_adoptable: { status: 409, title: 'Not adoptable' },
  not_revealable: { status: 409, title: 'Value not shown' },
  already_registered: { status: 409, title: 'Already registered' },
  read_only: { status: 409, title: 'Read-only' },
  plan_outdated: { status: 409, title: 'Plan outdated' },
  plan_closed: { status: 409, title: 'Plan closed' },
  too_many_plans: { status: 409, title: 'Too many plans' },
  update_held: { status: 409, title: 'Update held' },
  managed_by_application: { status: 409, title: 'Part of an application' },
  not_scalable: { status: 409, title: 'Not scalable' },
  not_supported: { status: 409, title: 'Not supported' },
  no_rollout: { status: 409, title: 'No rollout' },
  too_many_runs: { status: 409, title: 'Too many update runs' },
  nothing_to_restore: { status: 409, title: 'Nothing to restore' },
  encryption_not_configured: { status: 409, title: 'No encryption keys configured' },
  hub_not_configured: { status: 409, title: 'No hub configured' },
  version_conflict: { status: 412, title: 'Version conflict' },
  payload_too_large: { status: 413, title: 'Body too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  bundle_invalid: { status: 422, title: 'Bundle not valid' },
  unknown_category: { status: 422, title: 'Unknown category' },
  unknown_organization: { status: 422, title: 'Unknown organization' },
  unknown_workload: { status: 422, title: 'Unknown workload' },
  unknown_target: { status: 422, title: 'Unknown target' },
  signature_invalid: { status: 422, title: 'Invalid signature' },
  keyring_invalid: { status: 422, title: 'Invalid keyring' },
  template_untrusted: { status: 422, title: 'Template not trusted' },
  by_hand_refused: { status: 422, title: 'Workload made by hand' },
  override_refused: { status: 422, title: 'Changed program' },
  template_blocked: { status: 422, title: 'Template blocked' },
  template_flawed: { status: 422, title: 'Template flawed' },
  tier_too_low: { status: 422, title: 'Tier too low' },
  no_placement: { status: 422, title: 'No suitable target' },
  unknown_secret: { status: 422, title: 'Unknown secret' },
  unknown_volume: { status: 422, title: 'Unknown volume' },
  invalid_env: { status: 422, title: 'Invalid environment' },
  deployment_refused: { status: 422, title: 'Deployment refused' },
  unsupported_value: { status: 422, title: 'Unsupported value' },
  no_template: { status: 422, title: 'No template' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key reused' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  hub_unreachable: { status: 502, title: 'Hub unreachable' },
  overloaded: { status: 503, title: 'Overloaded' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

// Object.keys loses the names of the members, and that there is at least one.
export const problemCodes = Object.keys(problems) as [ProblemCode, ...ProblemCode[]];

/** The body of an error response (RFC 9457, `application/problem+json`). */
export const problemDocument = z
  .object({
    type: z.string().meta({ description: 'Always `about:blank`; `code` identifies the problem' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong, and what is allowed' }),
    code: z.enum(problemCodes),
    request_id: z.string(),
    errors: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          code: z
            .enum(fieldCodes)
            .optional()
            .meta({ description: 'Of messages that use names of the API, for clients that show other words' }),
        }),
      )
      .optional()
      .meta({ description: 'One entry per invalid member or parameter' }),
  })
  .meta({ id: 'Problem' });

export type ProblemDocument = z.infer<typeof problemDocument>;
