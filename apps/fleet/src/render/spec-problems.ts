import { posix } from 'node:path';
import { limitsBelowRequests, placeConflicts, repeatedPaths, restrictedRoot } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import type { SpecProblem } from './env.ts';

/**
 * All values in a specification that a template can have but no engine accepts. Deployments of such
 * a workload are refused, and the renderers throw.
 */
export const specProblems = (spec: WorkloadSpec): SpecProblem[] => [
  ...imageProblems(spec),
  ...registryProblems(spec),
  ...mountProblems(spec),
  ...secretProblems(spec),
  ...[...placeConflicts(spec), ...limitsBelowRequests(spec), ...restrictedRoot(spec)].map(({ path, message }) => ({
    path,
    message,
  })),
  ...spec.tolerations.flatMap((toleration, index) =>
    tolerationProblems(toleration).map((message) => ({ path: `tolerations.${index}`, message })),
  ),
];

/** @throws Error for a workload that no engine accepts */
export function assertRenderable(spec: WorkloadSpec): void {
  const problems = specProblems(spec).map(({ path, message }) => `${path} ${message}`);
  if (problems.length > 0) throw new Error(`cannot be rendered: ${problems.join('; ')}`);
}

// https://github.com/distribution/reference: host names, and path components with single
// separators.
const HOST = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*(?::(?<port>\d+))?$/i;
const PATH = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const MAX_REPOSITORY = 255;

function imageProblems({ image_name, registry_url }: WorkloadSpec): SpecProblem[] {
  const problem = (message: string): SpecProblem[] => [{ path: 'image_name', message }];
  if (image_name === '') return problem('is required');
  if (!PATH.test(image_name))
    return problem('must be an image name in lower case without repeated slashes or dots, such as team/app');
  if (`${registry_url ?? ''}/library/${image_name}`.length <= MAX_REPOSITORY) return [];
  return problem(`is too long: with its registry, it must have at most ${MAX_REPOSITORY} characters`);
}

function registryProblems({ registry_url }: WorkloadSpec): SpecProblem[] {
  if (!registry_url) return [];
  const problem = (message: string): SpecProblem[] => [{ path: 'registry_url', message }];
  const [host = '', ...path] = registry_url.split('/');
  if (!canExist(host)) return problem('must start with a valid host name, optionally with a port up to 65535');
  if (!/[.:]/.test(host) && host !== 'localhost') {
    return problem('must have a dot or a port in its host: engines treat other names as paths on Docker Hub');
  }
  return path.length === 0 || PATH.test(path.join('/'))
    ? []
    : problem('must have a path in lower case without repeated slashes or dots');
}

const canExist = (host: string): boolean => {
  const named = HOST.exec(host);
  return named !== null && Number(named.groups?.port ?? 0) <= 65_535;
};

function mountProblems({ volume_mounts }: WorkloadSpec): SpecProblem[] {
  const unsupported = volume_mounts.flatMap(({ mountPath }, index) => {
    const problem = (message: string): SpecProblem[] => [{ path: `volume_mounts.${index}.mountPath`, message }];
    // Podman parses a mount as comma-separated options: a comma would start another option, which
    // could mount a host path.
    if (/[,:"]/.test(mountPath)) return problem('must not contain a comma, a colon or a quotation mark');
    return posix.resolve('/', mountPath) === '/' ? problem('must not be the root directory') : [];
  });
  const paths = new Set(unsupported.map(({ path }) => path));
  return [...unsupported, ...repeatedPaths({ volume_mounts }).filter(({ path }) => !paths.has(path))];
}

function secretProblems({ secret_refs }: WorkloadSpec): SpecProblem[] {
  const names = secret_refs.map(({ env }) => env);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [{ path: `secret_refs.${index}.env`, message: 'is already set by another secret' }]
      : [],
  );
}

function tolerationProblems(toleration: WorkloadSpec['tolerations'][number]): string[] {
  const { key, operator = 'Equal', value = '', effect, tolerationSeconds } = toleration;
  return [
    ...(!key && operator !== 'Exists' ? ['must have a key, or the operator Exists'] : []),
    ...(operator === 'Exists' && value !== '' ? ['must not have a value with the operator Exists'] : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? ['must not have tolerationSeconds with an effect other than NoExecute']
      : []),
  ];
}
