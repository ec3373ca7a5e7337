import { z } from 'zod';
import { parseJson } from '../body.ts';
import { EngineFailure, notAnEngine, Permanent, Transient, Unreachable } from '../errors.ts';
import { oneLine } from '../redact.ts';

/** The verb and object of a request, for messages. */
export interface RequestInfo {
  /** `list`, `read`, `apply`, … */
  readonly verb: string;
  /** `deployments`, `pods/log`, … */
  readonly resource: string;
  /** '' for a list. */
  readonly name: string;
  /** '' for resources without a namespace. */
  readonly namespace: string;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PATCH: 'apply', DELETE: 'delete' };

/** The segments of a path after the group and version of the API. The path can have a prefix. */
function segmentsInApi(path: string): string[] {
  const segments = path.split('/');
  const start = segments.findIndex((segment, index) => isCoreApi(segments, index) || segment === 'apis');
  return start < 0 ? [] : segments.slice(start + (isCoreApi(segments, start) ? 2 : 3));
}

const isCoreApi = (segments: readonly string[], index: number) =>
  segments[index] === 'api' && segments[index + 1] === 'v1';

/** Derives the verb and object from the method and URL of a request. */
export function requestInfoOf(method: string, url: URL): RequestInfo {
  const segments = segmentsInApi(url.pathname);
  const namespace = segments[0] === 'namespaces' && segments.length > 2 ? (segments[1] ?? '') : '';
  const [resource = url.pathname, name = '', part] = namespace === '' ? segments : segments.slice(2);
  const reads = url.searchParams.has('watch') ? 'watch' : name === '' ? 'list' : 'read';
  return { verb: VERBS[method] ?? reads, resource: part ? `${resource}/${part}` : resource, name, namespace };
}

/** `apply deployments in the namespace fleet` */
const textOfRequest = ({ verb, resource, namespace }: RequestInfo): string =>
  `${verb} ${resource}${namespace && ` in the namespace ${namespace}`}`;

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  horizontalpodautoscalers: 'HorizontalPodAutoscaler',
  jobs: 'Job',
  networkpolicies: 'NetworkPolicy',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  poddisruptionbudgets: 'PodDisruptionBudget',
  secrets: 'Secret',
  services: 'Service',
};

/** `web-decade01 (Deployment)` */
const textOfObject = ({ resource, name }: RequestInfo): string =>
  name === '' ? resource : `${name} (${KINDS[resource] ?? resource})`;

/** The error response of an API server (`Status` of the Kubernetes API). */
const statusSchema = z.object({
  kind: z.literal('Status'),
  message: z.string().default(''),
  reason: z.string().default(''),
  details: z
    .object({
      kind: z.string().default(''),
      name: z.string().default(''),
      causes: z
        .array(
          z.object({
            reason: z.string().default(''),
            message: z.string().default(''),
            field: z.string().default(''),
          }),
        )
        .nullish(),
    })
    .nullish(),
});

/** A response with an error status, and its request. */
export interface ErrorResponse {
  readonly status: number;
  readonly text: string;
  readonly request: RequestInfo;
}

interface ApiFailure extends ErrorResponse {
  readonly apiStatus: z.output<typeof statusSchema>;
  readonly response: NonNullable<EngineFailure['response']>;
}

/**
 * The error for a response with an error status, for any request. A response without a `Status`
 * does not come from an API server.
 */
export function toEngineFailure({ status, text, request }: ErrorResponse): EngineFailure {
  if (status === 401) return unauthorized();
  if (status >= 300 && status < 400) return new Unreachable('It responds with a redirect. Redirects are not followed.');
  const { success, data: apiStatus } = statusSchema.safeParse(parseJson(text));
  if (!success) return intermediaryFailure(status, request);
  const apiFailure = {
    status,
    text,
    request,
    apiStatus,
    response: { status, engineMessage: withoutPreamble(oneLine(apiStatus.message)) },
  };
  if (status === 403) return forbidden(apiFailure);
  if (status === 409) return conflict(apiFailure);
  if (status === 400 || status === 422) return invalid(apiFailure);
  if (status === 500 && request.verb === 'apply' && apiStatus.message.includes(UNKNOWN_FIELD))
    return unknownField(apiFailure);
  if (status === 500 && failedWebhookIn(apiStatus.message) !== undefined) return webhookFailure(apiFailure);
  const message = `The cluster could not ${textOfRequest(request)} (${status}).`;
  const isPermanent = status < 500 && ![404, 408, 410, 429].includes(status);
  return new (isPermanent ? Permanent : Transient)(
    isPermanent ? 'InvalidSpec' : 'EngineError',
    message,
    apiFailure.response,
  );
}

/** API servers begin the message of a status 500 with this, also if another program has failed. */
const PREAMBLE = /Internal error occurred: /g;

/** A message of a cluster without the words that only state the status of the response. */
export const withoutPreamble = (engineMessage: string): string => engineMessage.replaceAll(PREAMBLE, '');

const FAILED_WEBHOOK = /failed calling (?:admission )?webhook "([^"]{1,253})"/;

/** The name of the admission webhook that did not answer, in a message of a cluster; undefined if it states none. */
export const failedWebhookIn = (engineMessage: string): string | undefined => FAILED_WEBHOOK.exec(engineMessage)?.[1];

/** The API server could not ask an admission webhook. A request succeeds when the webhook answers again. */
const webhookFailure = ({ apiStatus, request, response }: ApiFailure): EngineFailure =>
  new Transient(
    'EngineError',
    `The cluster could not ${textOfRequest(request)}, because its admission webhook ${failedWebhookIn(apiStatus.message)} did not answer. Repair the webhook, or exclude the namespace from it.`,
    response,
  );

/**
 * The error for a response of an intermediary, such as a load balancer, in front of the API server.
 */
function intermediaryFailure(status: number, request: RequestInfo): EngineFailure {
  if (status === 403) return notPermitted(request);
  return status === 429 || status >= 502
    ? new Unreachable(`An intermediary reports that the API server is unavailable (${status}).`)
    : notAnEngine('Kubernetes API server');
}

const unauthorized = () =>
  new Permanent('AuthFailed', 'The cluster does not accept the credentials.', {
    status: 401,
    engineMessage: '',
  });

const notPermitted = (request: RequestInfo) =>
  new Permanent('AuthFailed', `The credentials lack permission to ${textOfRequest(request)}.`, {
    status: 403,
    engineMessage: '',
  });

/**
 * The request was forbidden by RBAC, by a quota, or by an admission policy, or its namespace is
 * terminating.
 */
function forbidden({ apiStatus, request, response }: ApiFailure): EngineFailure {
  const isTerminating = apiStatus.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating');
  if (isTerminating) return new Transient('EngineError', `The namespace ${request.namespace} is being deleted.`);
  if (/exceeded quota/.test(apiStatus.message)) {
    return new Transient('Unschedulable', `${textOfObject(request)} exceeds a resource quota.`, response);
  }
  const isReading = ['list', 'read', 'watch'].includes(request.verb);
  return isReading || / cannot \w+ (?:resource|path) /.test(apiStatus.message)
    ? notPermitted(request)
    : new Permanent('InvalidSpec', `A policy of the cluster rejects ${textOfObject(request)}.`, response);
}

/**
 * Causes are used only for applies: only these have fields, and only their values are known and can
 * be redacted.
 */
const causesOf = ({ apiStatus, request }: Pick<ApiFailure, 'apiStatus' | 'request'>) =>
  request.verb === 'apply' ? (apiStatus.details?.causes ?? []) : [];

/** A user must resolve conflicts with other field managers. Conflicts of versions are retried. */
function conflict({ apiStatus, request, response }: ApiFailure): EngineFailure {
  const owned = causesOf({ apiStatus, request }).filter(({ reason }) => reason === 'FieldManagerConflict');
  if (owned.length === 0)
    return new Transient('EngineError', `${textOfObject(request)} was changed concurrently.`, response);
  const which = owned.slice(0, MAX_FIELDS).map(({ field, message }) => `${field || 'a field'} (${managerIn(message)})`);
  const more = owned.length > MAX_FIELDS ? ` and ${owned.length - MAX_FIELDS} more` : '';
  const message = `Other field managers own fields of ${textOfObject(request)}: ${which.join(', ')}${more}.`;
  return new Permanent('FieldConflict', message, { status: response.status, engineMessage: '' });
}

const MAX_FIELDS = 5;
const managerIn = (message: string): string => oneLine(/conflict with "([^"]+)"/.exec(message)?.[1] ?? 'unknown');

function invalid({ apiStatus, request, response }: ApiFailure): EngineFailure {
  const fields = [
    ...new Set(
      causesOf({ apiStatus, request })
        .map(({ field }) => field)
        .filter(Boolean),
    ),
  ];
  const where = fields.length > 0 ? `: ${fields.slice(0, MAX_FIELDS).join(', ')}` : '';
  return new Permanent('InvalidSpec', `The cluster rejects ${textOfObject(request)} as invalid${where}.`, response);
}

const UNKNOWN_FIELD = ': field not declared in schema';

/** Server-side apply reports an unknown field with status 500. */
function unknownField({ apiStatus, request, response }: ApiFailure): EngineFailure {
  const [start = ''] = apiStatus.message.split(UNKNOWN_FIELD, 1);
  const field = start.split(/\s/).at(-1);
  return new Permanent(
    'InvalidSpec',
    `The cluster does not support the field ${field} of ${textOfObject(request)}.`,
    response,
  );
}

/** Whether a request failed because the namespace does not exist. */
export const isNamespaceMissing = (error: unknown, namespace: string): boolean =>
  error instanceof EngineFailure &&
  error.response?.status === 404 &&
  error.response.engineMessage.startsWith(`namespaces "${namespace}" not found`);

/** Whether a request failed because the credentials do not permit it. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof EngineFailure && error.reason === 'AuthFailed' && error.response?.status === 403;

/** Awaits a request. @returns undefined if the credentials do not permit it */
export async function unlessForbidden<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Whether a request failed because it changes an immutable field. */
export const isImmutableField = (error: unknown): boolean =>
  error instanceof EngineFailure && error.response?.status === 422 && /is immutable/.test(error.response.engineMessage);

/** Whether an object was changed or replaced concurrently. */
export const isConflict = (error: unknown): boolean => error instanceof Transient && error.response?.status === 409;
