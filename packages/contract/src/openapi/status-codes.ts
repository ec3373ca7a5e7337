import { type ProblemCode, problemCodes, problems } from '../shared/problems.ts';
import type { Service } from './document.ts';
import { problemsOf } from './document.ts';
import { replaceTables } from './page-tables.ts';

/** What a problem means, and what a caller can do. */
interface Guide {
  readonly meaning: string;
  readonly action: string;
}

const CORRECT = 'Correct the request as `detail` and `errors` state';
const CORRECT_REFERENCE = 'Send the id or slug of an existing object';
const REPEAT = 'Repeat the request after `Retry-After` seconds';
const USE_ANOTHER = 'Use another value, or change the object that has it';

/** A code without an entry is a type error, so the page is complete. */
const guides: Readonly<Record<ProblemCode, Guide>> = {
  invalid_request: {
    meaning: 'a malformed header, URL or transfer; two Authorization headers; a token in the query',
    action: CORRECT,
  },
  validation_failed: { meaning: 'invalid input, with one entry per error in `errors`, at most 100', action: CORRECT },
  unauthenticated: {
    meaning: 'a credential is required and missing',
    action: 'Send `Authorization: Bearer …`. `WWW-Authenticate` names the scheme',
  },
  invalid_token: {
    meaning: 'the credential is unknown, expired, revoked or for another service; also on public routes',
    action: 'Sign in again, refresh the token, or replace the key',
  },
  invalid_credentials: {
    meaning: 'wrong username, e-mail address or password',
    action: 'Sign in with the correct ones',
  },
  invalid_grant: {
    meaning: 'a refresh token or an authorization code that is no longer valid',
    action: 'Start a new sign-in',
  },
  insufficient_scope: {
    meaning: 'the role is too low, or the kind of credential is not admitted',
    action: 'Use a credential with the required role; an administrator assigns roles',
  },
  origin_refused: {
    meaning: 'a request to the MCP endpoint from a web page of another origin',
    action: 'Add the origin of the page to `CORS_ORIGINS`',
  },
  wrong_origin: {
    meaning: 'the console sends a change from another origin than that of `PUBLIC_URL`',
    action: 'Open the console at the URL that `detail` states',
  },
  user_blocked: {
    meaning: 'an administrator has blocked the user',
    action: 'Contact an administrator of the service',
  },
  organization_suspended: {
    meaning:
      'the organization of the API key is suspended, or a member of a suspended organization tries to make a change',
    action: 'Contact the administrators of the hub',
  },
  not_found: {
    meaning:
      'the object does not exist, is not visible to the caller, or belongs to someone else, with identical responses; or there is nothing to return yet, as `detail` states',
    action: 'Check the path, and that the caller can see the object',
  },
  method_not_allowed: {
    meaning: 'the path exists, but not with this method',
    action: 'Use a method that `Allow` lists',
  },
  slug_taken: { meaning: 'the slug is already in use', action: USE_ANOTHER },
  name_taken: { meaning: 'the name is already in use', action: USE_ANOTHER },
  email_taken: { meaning: 'the e-mail address is already in use', action: USE_ANOTHER },
  category_in_use: {
    meaning: 'templates refer to the category; `detail` states how many',
    action: 'Move or delete these templates first',
  },
  key_revoked: { meaning: 'the API key to reissue or rename is revoked', action: 'Create another key' },
  too_many_keys: {
    meaning: 'the organization has the maximum number of API keys; `detail` states the number and the bound',
    action: 'Revoke a key that is not used, or reissue a key',
  },
  too_many_tokens: {
    meaning: 'the administrator has the maximum number of active service tokens; `detail` states the bound',
    action: 'Revoke a token that is not used',
  },
  too_many_deletions: {
    meaning:
      'an import with `prune` would delete more than `max_deletions`; `detail` states how many. Nothing was changed',
    action: 'Check the files with `plan=true`, or set `max_deletions`',
  },
  breaks_signature: {
    meaning:
      'the change would break the signatures of the template; `errors` names the members that the publisher signed. Nothing was changed',
    action: 'Import the signed files of the publisher, send the new `signatures`, or remove them with `[]`',
  },
  too_many_publishers: {
    meaning: 'the hub has as many publishers, or as large keyrings, as are allowed; `detail` states the bound',
    action: 'Delete a publisher whose templates the hub does not have',
  },
  too_many_webhooks: {
    meaning: 'there are as many webhooks as are allowed; `detail` states the bound',
    action: 'Delete a webhook that nobody needs, or add the events to another one',
  },
  webhook_disabled: {
    meaning: 'the webhook is disabled, so that nothing is sent',
    action: 'Enable it with `PUT /webhooks/{id}`',
  },
  too_many_sources: {
    meaning: 'there are as many sources as are allowed; `detail` states the bound',
    action: 'Delete a source that nobody needs, or read several folders with one source',
  },
  source_disabled: {
    meaning: 'the source is disabled, so that it is not checked',
    action: 'Enable it with `PUT /sources/{id}`',
  },
  already_extended: {
    meaning: 'the keyring was extended before, or there is none',
    action: 'Import a newer keyring of the publisher',
  },
  root_changed: {
    meaning: 'the given root key is another one than the trusted one; `detail` states both thumbprints',
    action: 'Compare the key with the publisher, and state the thumbprint of the trusted one in `replaces`',
  },
  keyring_outdated: {
    meaning: 'the keyring is older than the one that is known, or another one with its version',
    action: 'Send the newest keyring of the publisher',
  },
  bundle_outdated: {
    meaning: 'the bundle is older than the mirror; `detail` states both times',
    action: 'Import the newest bundle, or use `force` to return to an older one',
  },
  other_organization: {
    meaning: 'the mirror is of another organization than the bundle',
    action: 'Create the bundle for the organization of the fleet, or use `force` to replace the mirror',
  },
  hub_configured: {
    meaning: 'the fleet has a hub, from which it mirrors the catalog',
    action: 'Sync with the hub, remove its address from the settings, or use `force`',
  },
  found_empty: {
    meaning: 'the bundle contains no templates, but the mirror has some, and was kept',
    action: 'Import a bundle with templates. If the catalog is empty, import the bundle once more',
  },
  bundle_invalid: {
    meaning: 'the file is no bundle, is incomplete, or has another format; `detail` states what is wrong',
    action: 'Transfer the file again, or create it with a hub of the same version',
  },
  too_many_advisories: {
    meaning: 'the template has as many advisories as are allowed; `detail` states how many',
    action: 'Withdraw or change one of them',
  },
  advisory_withdrawn: { meaning: 'the advisory was withdrawn', action: 'Publish another advisory' },
  token_revoked: { meaning: 'the MCP token to reissue is revoked', action: 'Create another token' },
  password_exists: {
    meaning: 'the user to invite has a password, which an invitation does not replace',
    action: 'Set a new password',
  },
  role_managed_by_provider: {
    meaning: 'the role of the user comes from the identity provider',
    action: 'Change the role at the identity provider',
  },
  last_admin: {
    meaning: 'the change would leave no admin of the fleet',
    action: 'Give another user the role admin first',
  },
  oidc_not_configured: {
    meaning:
      'the fleet has no identity provider, or the hub no `OIDC_CLIENT_ID`, or the service no `PUBLIC_URL` for the redirect',
    action: 'Configure them, or sign in to the fleet locally',
  },
  browser_session_unavailable: {
    meaning: 'the console cannot sign in at this address: `PUBLIC_URL` is not set, or is neither https nor localhost',
    action: 'Set `PUBLIC_URL` to an https URL. Programs use `POST /auth/login`',
  },
  no_organization: {
    meaning: 'the operation requires an organization, and the caller does not belong to one',
    action: 'Create an organization, or ask an administrator to add you to one',
  },
  already_in_organization: {
    meaning: 'the caller already belongs to an organization',
    action: 'Use this organization, or ask an administrator to remove you from it',
  },
  too_many_organizations: {
    meaning: 'the caller has created the maximum number of organizations of a day; `detail` states it',
    action: 'Ask an administrator, or try again later',
  },
  outdated_decision: {
    meaning: 'what would be granted is not what the decision names: the category was replaced or changed',
    action: 'Read the request again, and decide on its category and version',
  },
  already_decided: {
    meaning: 'an administrator has decided the access request',
    action: 'Read the request again. Grants can be created and revoked without a request',
  },
  last_org_admin: {
    meaning: 'the change would leave no org_admin of the organization',
    action: 'Give another member the role org_admin first',
  },
  too_many_invitations: {
    meaning: 'the organization has the maximum number of open invitations; `detail` states the bound',
    action: 'Withdraw an invitation that is not needed',
  },
  too_many_requests: {
    meaning: 'the organization has the maximum number of open access requests; `detail` states the bound',
    action: 'Wait for the decision of an administrator',
  },
  last_superadmin: {
    meaning: 'the change would leave no superadmin of the hub',
    action: 'Give another user the role superadmin first',
  },
  in_use: {
    meaning: 'something refers to the object, or the host or cluster to abandon is online',
    action: 'Delete what `detail` names first',
  },
  read_only: {
    meaning: 'the host is a node of a cluster',
    action: 'Change the node in its cluster',
  },
  plan_outdated: {
    meaning:
      'what a plan was decided about has changed since the plan with the digest in `expected` or `digest` was made',
    action: 'Make a new plan, or read the one that `detail` names, and send its digest',
  },
  approval_required: {
    meaning: 'a person must approve the change: the token or the settings of the fleet require it',
    action: 'Make a plan, and have a signed-in operator or admin approve it: of a person, another person',
  },
  plan_closed: {
    meaning: 'the plan is refused, rejected, expired or outdated',
    action: 'Make a new plan',
  },
  too_many_plans: {
    meaning: 'as many plans as permitted can still be applied: 20 of a caller, 1,000 in all',
    action: 'Apply one, or wait until one expires, 24 hours after it was made',
  },
  update_held: {
    meaning: 'a generation of the deployment with the same configuration has failed',
    action: 'Remove the cause, then send `force`; or wait for another version of the template',
  },
  managed_by_application: {
    meaning: 'the deployment is a part of an application, which alone can change it',
    action: 'Change the application; a part that runs can be restarted alone',
  },
  not_scalable: {
    meaning: 'a part of the application is not made for several instances',
    action: 'Leave it at 1 replica, or change the specification',
  },
  too_many_runs: {
    meaning: 'as many update runs as permitted have not ended',
    action: 'Wait until a run has ended, or cancel one',
  },
  not_supported: {
    meaning: 'the operation does not exist for this object, such as a check of images on a cluster',
    action: 'Read `detail`, which states why',
  },
  no_rollout: {
    meaning: 'the deployment has no rollout that can be aborted or resumed',
    action: 'Read `rollout` of the deployment',
  },
  nothing_to_restore: {
    meaning: 'no other generation of the deployment is known to be good',
    action: 'Change the deployment, or roll it back to a generation of your choice',
  },
  encryption_not_configured: {
    meaning: 'the hub has no encryption keys, so that it cannot store signing secrets',
    action: 'Set `ENCRYPTION_KEYS` of the hub, and restart it',
  },
  hub_not_configured: { meaning: 'the fleet has no hub', action: 'Set the URL of the hub in the settings' },
  version_conflict: {
    meaning: 'the version in `If-Match` is not the current one',
    action: 'Read the object again, and repeat the change with its version',
  },
  payload_too_large: {
    meaning:
      'the body exceeds the limit of the endpoint: 100 KiB by default; 512 KiB for hosts and clusters; 1 MiB for templates, workloads, deployments and secrets; 16 MiB for an import. Or the catalog exceeds the limit of an import or export, which `detail` states',
    action: 'Send a smaller body. Use the commands of the hub for a larger catalog',
  },
  unsupported_media_type: {
    meaning: 'the content type, charset or content encoding is not that of plain JSON in UTF-8',
    action: 'Send uncompressed JSON with `Content-Type: application/json`',
  },
  unknown_category: { meaning: 'the category in the body does not exist', action: CORRECT_REFERENCE },
  unknown_organization: { meaning: 'the organization in the body does not exist', action: CORRECT_REFERENCE },
  unknown_workload: { meaning: 'the workload or its revision does not exist', action: CORRECT_REFERENCE },
  unknown_target: { meaning: 'the host or cluster does not exist', action: CORRECT_REFERENCE },
  signature_invalid: {
    meaning: 'a signature is malformed, or is about other content; `errors` states which one and why',
    action: 'Sign the files again, and send the signatures with the content that was signed',
  },
  keyring_invalid: {
    meaning: 'a keyring is refused; `errors` states why',
    action: 'Send a keyring that the root key of the publisher has signed',
  },
  template_untrusted: {
    meaning: 'the policy requires trust, and the template is not trusted; `errors` states why and who must act',
    action: 'Do what `errors` states, or ask an admin for an exception',
  },
  by_hand_refused: {
    meaning: 'the policy does not permit the deployment of a workload without a template',
    action: 'Deploy a template',
  },
  override_refused: {
    meaning: 'the policy does not permit that a workload changes what the publisher has signed',
    action: 'Use the values of the template',
  },
  template_blocked: {
    meaning: 'the publisher has blocked the template',
    action: 'Use another template; `errors` has the reason and the replacement',
  },
  template_flawed: {
    meaning: 'the template has critical advisories that the request does not acknowledge',
    action: 'Read the advisories in `errors`. Use a revision without them, or list their ids in `acknowledge`',
  },
  tier_too_low: {
    meaning: 'the template requires a higher tier than the organization has',
    action: 'Choose another template, or a higher tier; then sync the catalog',
  },
  no_placement: {
    meaning: 'no host or cluster is suitable; `errors` has the reasons for each',
    action: 'Free or add resources, or request less',
  },
  unknown_secret: {
    meaning: 'a secret that the workload requires, or one of its keys, does not exist',
    action: 'Create the secret, or add the key',
  },
  unknown_volume: {
    meaning: 'a volume or volume mount does not exist, the mount already has another volume or size, or it is not lost',
    action: CORRECT_REFERENCE,
  },
  invalid_env: {
    meaning: 'a required variable has no value, or the workload does not have the variable',
    action: CORRECT,
  },
  deployment_refused: {
    meaning: 'several of the errors of a deployment, or a specification that no engine accepts',
    action: `${CORRECT}. [Deployments](deployments.md) explains the errors`,
  },
  unsupported_value: {
    meaning:
      'the template, or the workload that was made from it, has values that this version of the fleet does not support; `errors` has them. Or the storage class of a volume does not allow a larger size',
    action: 'Upgrade the fleet, or create a workload that sets these members itself. Use another storage class',
  },
  no_template: {
    meaning: 'the deployment was not created from a template, or its template is no longer in the mirror',
    action: 'Change its workload, and deploy the new revision',
  },
  idempotency_key_reused: {
    meaning: 'the `Idempotency-Key` was used with another body',
    action: 'Use another key for another request',
  },
  not_adoptable: {
    meaning: 'neither the database nor the request contains what the orphan runs; `detail` states what is missing',
    action: 'Send what is missing, or remove the orphan',
  },
  not_revealable: {
    meaning:
      'the value of the variable is never shown: it is not generated, the template marks it as internal, or it is bound to a secret or another deployment; `detail` states the reason',
    action: 'Read the value where it comes from, or give the variable another one',
  },
  already_registered: {
    meaning: 'the same engine or cluster is already registered; `detail` names the other host or cluster',
    action: 'Use the one that is registered, or delete it first',
  },
  overloaded: {
    meaning:
      'the hub is sending or reading as many [large responses](sync.md#large-responses) and pages as are allowed, for the caller or for all callers; in the fleet, 256 changes of deployments or eight plans by the caller are waiting, a change or a plan has waited for ten seconds, or there are as many [streams of changes and waiting requests](changes.md#limits) as are allowed',
    action: REPEAT,
  },
  rate_limited: { meaning: 'too many requests, failed sign-ins or revealed values', action: REPEAT },
  internal: {
    meaning: 'a bug',
    action: 'Report it with the `request_id`, which identifies the entry in the log',
  },
  hub_unreachable: {
    meaning: 'the request needs the hub, which cannot be reached. Reads of the mirror are not affected',
    action: 'Repeat the request later',
  },
  unavailable: {
    meaning:
      'the database, the identity provider, the audit log or an engine is unavailable or too slow, or too many requests are waiting',
    action: REPEAT,
  },
};

/** The meaning of each status of a successful response. */
const successes: Readonly<Record<number, string>> = {
  200: 'success. Revoking a key or token returns it; creating a grant that already exists returns the existing grant',
  201: 'created',
  204: 'success without a body. OPTIONS also answers 204, with `Allow`',
  302: 'redirect to `Location`, in the sign-in with an identity provider',
  304: 'the `ETag` in `If-None-Match` is current',
};

/** Problems that are sent for a path or method without an endpoint, and by the MCP endpoint. */
const WITHOUT_ENDPOINT: readonly ProblemCode[] = ['not_found', 'method_not_allowed', 'origin_refused'];

/** The table of all problems, with the services that can send them. */
function problemTable(services: readonly Service[]): string[] {
  const codesOf = (service: Service) =>
    new Set([...WITHOUT_ENDPOINT, ...Object.values(service.endpoints).flatMap((each) => problemsOf(each, service))]);
  const senders = services.map((service) => ({ name: service.title.toLowerCase(), codes: codesOf(service) }));
  const rows = problemCodes
    .toSorted((one, other) => problems[one].status - problems[other].status)
    .map((code) => {
      const names = senders.filter(({ codes }) => codes.has(code)).map(({ name }) => name);
      const { meaning, action } = guides[code];
      return `| ${problems[code].status} | \`${code}\` | ${names.join(', ')} | ${meaning} | ${action} |`;
    });
  return ['| status | code | sent by | meaning | what to do |', '|---|---|---|---|---|', ...rows];
}

/**
 * The table of the statuses of successful responses.
 * @throws if a status of an endpoint has no meaning
 */
function successTable(services: readonly Service[]): string[] {
  const endpoints = services.flatMap((service) => Object.values(service.endpoints));
  const sent = new Set([...endpoints.flatMap(({ status, alsoStatus = status }) => [status, alsoStatus]), 304]);
  const rows = [...sent]
    .toSorted((one, other) => one - other)
    .map((status) => {
      const meaning = successes[status];
      if (meaning === undefined) throw new Error(`the status ${status} has no meaning in status-codes.ts`);
      return `| ${status} | ${meaning} |`;
    });
  return ['| status | meaning |', '|---|---|', ...rows];
}

/**
 * Replaces the generated tables of docs/status-codes.md.
 * @throws if the page has no place for a table
 */
export function withTables(page: string, services: readonly Service[]): string {
  const tables = { problems: problemTable(services), successes: successTable(services) };
  return replaceTables('docs/status-codes.md', page, tables);
}
