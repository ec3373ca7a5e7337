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
export const wordsFor = ({ verb, resource, namespace }: Asked): string =>
  `${verb} ${resource}${namespace && ` in the namespace ${namespace}`}`;

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  jobs: 'Job',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  secrets: 'Secret',
  services: 'Service',
};

/** `web-decade01 (Deployment)` */
export const thingOf = ({ resource, name }: Asked): string =>
  name === '' ? resource : `${name} (${KINDS[resource] ?? resource})`;
