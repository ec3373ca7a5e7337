import { type Context, type Credential, readContexts, type Service } from './contexts.ts';
import { Failure, UsageError } from './errors.ts';

/** The options that select the service. */
export interface TargetOptions {
  /** The name of a context. */
  readonly at?: string | undefined;
}

/** The service that a command calls. */
export interface Target {
  /** The name of the context; undefined if environment variables state the service. */
  readonly name: string | undefined;
  readonly url: string;
  /** Undefined if it is not known: the command asks the service. */
  readonly service: Service | undefined;
  readonly credential: Credential | undefined;
}

/** A URL without a slash at its end. @throws UsageError */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new UsageError('The address of a service is an http or https URL, such as https://fleet.example.com.');
  }
  return `${url.origin}${url.pathname}`.replace(/\/$/, '');
}

const tokenInEnvironment = (): Credential | undefined => {
  const { SVC_TOKEN: token = '' } = process.env;
  return token === '' ? undefined : { kind: 'token', token };
};

/**
 * Selects the service of a command: the context of the option, then `SVC_URL`, then the current
 * context, then the only one of the service that the command needs. `SVC_TOKEN` replaces the
 * credential of a context.
 * @param needs the service that has the command; undefined: both have it
 * @throws UsageError
 */
export function targetOf({ at: name }: TargetOptions, needs?: Service): Target {
  const { SVC_URL: url = '' } = process.env;
  if (name === undefined && url !== '') {
    return { name: undefined, url: serviceUrl(url), service: needs, credential: tokenInEnvironment() };
  }
  const { current, contexts } = readContexts();
  if (name !== undefined) {
    const context = contexts[name];
    if (!context) throw new UsageError(`There is no context ${name}. ${namesOf(contexts)}`);
    if (needs && context.service !== needs) throw new UsageError(`The context ${name} is no ${needs}.`);
    return asTarget(name, context);
  }
  const chosen = contexts[current ?? ''];
  if (current !== null && chosen && (!needs || chosen.service === needs)) return asTarget(current, chosen);
  const [only, ...others] = Object.entries(contexts).filter(([, { service }]) => !needs || service === needs);
  if (only && others.length === 0) return asTarget(...only);
  const what = needs ?? 'service';
  if (only) throw new UsageError(`Choose a ${what} with --at. ${namesOf(Object.fromEntries([only, ...others]))}`);
  throw new UsageError(`Sign in to a ${what} first: svc login https://${what}.example.com`);
}

const asTarget = (name: string, { url, service, credential }: Context): Target => ({
  name,
  url,
  service,
  credential: tokenInEnvironment() ?? credential,
});

function namesOf(contexts: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(contexts);
  return names.length === 0 ? 'There are none: svc login adds one.' : `There are: ${names.join(', ')}.`;
}

/** @throws Failure if the service is not known and the response does not tell */
export function serviceIn(config: unknown, url: string): Service {
  const members = Object(config);
  if ('local' in members) return 'fleet';
  if ('audience' in members) return 'hub';
  throw new Failure(`${url} is no hub and no fleet.`);
}
