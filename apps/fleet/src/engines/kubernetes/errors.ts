import { z } from 'zod';
import { jsonOf } from '../body.ts';
import { EngineFailure, notAnEngine, Permanent, Transient, Unreachable } from '../errors.ts';
import { oneLine } from '../redact.ts';

/** What a request is about, for sentences. */
export interface Asked {
  /** `list`, `read`, `apply`, … */
  readonly verb: string;
  /** `deployments`, `pods/log`, … */
  readonly resource: string;
  /** '' for a list. */
  readonly name: string;
  /** '' for what is in none. */
  readonly namespace: string;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PATCH: 'apply', DELETE: 'delete' };
const API =
  /\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** Reads off a request what it is about. */
export function askedOf(method: string, url: URL): Asked {
  const [, namespace = '', resource = url.pathname, name = '', part] = API.exec(url.pathname) ?? [];
  const reads = url.searchParams.has('watch') ? 'watch' : name === '' ? 'list' : 'read';
  return { verb: VERBS[method] ?? reads, resource: part ? `${resource}/${part}` : resource, name, namespace };
}

/** `apply deployments in the namespace fleet` */
const wordsFor = ({ verb, resource, namespace }: Asked): string =>
  `${verb} ${resource}${namespace && ` in the namespace ${namespace}`}`;

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  jobs: 'Job',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  secrets: 'Secret',
  services: 'Service',
};

/** `web-decade01 (Deployment)` */
const thingOf = ({ resource, name }: Asked): string =>
  name === '' ? resource : `${name} (${KINDS[resource] ?? resource})`;

/** How an API server says no. */
const failure = z.object({
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

/** An answer that says no, and to what. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly asked: Asked;
}

interface Said extends Refusal {
  readonly said: z.output<typeof failure>;
  readonly answer: NonNullable<EngineFailure['answer']>;
}

/** The error for an answer that says no, whatever was asked. What no API server would say is nobody's answer. */
export function refusedWith({ status, text, asked }: Refusal): EngineFailure {
  if (status === 401) return unknown();
  if (status >= 300 && status < 400) return new Unreachable('It answers with a redirect, and those are not followed.');
  const { success, data: said } = failure.safeParse(jsonOf(text));
  if (!success) return strangerWith(status, asked);
  const it = { status, text, asked, said, answer: { status, said: oneLine(said.message) } };
  if (status === 403) return forbidden(it);
  if (status === 409) return conflict(it);
  if (status === 400 || status === 422) return invalid(it);
  if (status === 500 && asked.verb === 'apply' && UNDECLARED.test(said.message)) return undeclared(it);
  const message = `The cluster could not ${wordsFor(asked)} (${status}).`;
  const isForGood = status < 500 && ![404, 408, 410, 429].includes(status);
  return new (isForGood ? Permanent : Transient)(isForGood ? 'InvalidSpec' : 'EngineError', message, it.answer);
}

/** What stands before an API server answers for it while it is away, in words of its own. */
function strangerWith(status: number, asked: Asked): EngineFailure {
  if (status === 403) return mayNot(asked);
  return status === 429 || status >= 502
    ? new Unreachable(`What stands before the API server answers that it is away (${status}).`)
    : notAnEngine('Kubernetes API server');
}

const unknown = () =>
  new Permanent('AuthFailed', 'The cluster does not accept the credentials that were given.', {
    status: 401,
    said: '',
  });

const mayNot = (asked: Asked) =>
  new Permanent('AuthFailed', `The credentials that were given may not ${wordsFor(asked)}.`, { status: 403, said: '' });

/** By who may do what, or by a rule of the cluster for what is made in it. */
function forbidden({ said, asked, answer }: Said): EngineFailure {
  const isEnding = said.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating');
  if (isEnding) return new Transient('EngineError', `The namespace ${asked.namespace} is being deleted.`);
  if (/exceeded quota/.test(said.message)) {
    return new Transient('Unschedulable', `A quota leaves no room for ${thingOf(asked)}.`, answer);
  }
  const isReading = ['list', 'read', 'watch'].includes(asked.verb);
  return isReading || / cannot \w+ (?:resource|path) /.test(said.message)
    ? mayNot(asked)
    : new Permanent('InvalidSpec', `A rule of the cluster forbids ${thingOf(asked)}.`, answer);
}

/** Only what is applied has fields; and only there it is known what must not be repeated of them. */
const causesOf = ({ said, asked }: Pick<Said, 'said' | 'asked'>) =>
  asked.verb === 'apply' ? (said.details?.causes ?? []) : [];

/** Somebody else's field is for a person to decide; what changed meanwhile is looked at again. */
function conflict({ said, asked, answer }: Said): EngineFailure {
  const owned = causesOf({ said, asked }).filter(({ reason }) => reason === 'FieldManagerConflict');
  if (owned.length === 0) return new Transient('EngineError', `${thingOf(asked)} changed meanwhile.`, answer);
  const which = owned.slice(0, MOST).map(({ field, message }) => `${field || 'a field'} (${managerIn(message)})`);
  const more = owned.length > MOST ? ` and ${owned.length - MOST} more` : '';
  const message = `Somebody else has set fields of ${thingOf(asked)}: ${which.join(', ')}${more}.`;
  return new Permanent('FieldConflict', message, { status: answer.status, said: '' });
}

const MOST = 5;
const managerIn = (message: string): string => oneLine(/conflict with "([^"]+)"/.exec(message)?.[1] ?? 'unknown');

function invalid({ said, asked, answer }: Said): EngineFailure {
  const fields = [
    ...new Set(
      causesOf({ said, asked })
        .map(({ field }) => field)
        .filter(Boolean),
    ),
  ];
  const where = fields.length > 0 ? `: ${fields.slice(0, MOST).join(', ')}` : '';
  return new Permanent('InvalidSpec', `The cluster does not take ${thingOf(asked)} as it is${where}.`, answer);
}

const UNDECLARED = /(\S*): field not declared in schema/;

/** Server-side apply says it with a status that is for what goes wrong by itself. */
function undeclared({ said, asked, answer }: Said): EngineFailure {
  const [, field = ''] = UNDECLARED.exec(said.message) ?? [];
  return new Permanent('InvalidSpec', `The cluster knows no field ${field} of ${thingOf(asked)}.`, answer);
}

/** Whether it is for the lack of a namespace that something can't be made. */
export const lacksNamespace = (error: unknown, namespace: string): boolean =>
  error instanceof EngineFailure &&
  error.answer?.status === 404 &&
  error.answer.said.startsWith(`namespaces "${namespace}" not found`);

/** Whether it is for who asks that nothing was answered. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof EngineFailure && error.reason === 'AuthFailed' && error.answer?.status === 403;

/** Whether what was to be changed was changed, or replaced, by somebody else meanwhile. */
export const changedMeanwhile = (error: unknown): boolean => error instanceof Transient && error.answer?.status === 409;
