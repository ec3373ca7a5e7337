import { posix } from 'node:path';
import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Problem } from './env.ts';

/**
 * What a template may say and no engine takes, all of it at once. The renderers refuse such a workload; a deployment of
 * it is refused before.
 */
export const specProblems = (spec: WorkloadSpec): Problem[] => [
  ...imageProblems(spec),
  ...registryProblems(spec),
  ...mountProblems(spec),
  ...secretProblems(spec),
  ...spec.tolerations.flatMap((toleration, index) =>
    tolerationProblems(toleration).map((message) => ({ path: `tolerations.${index}`, message })),
  ),
];

/** @throws Error for a workload that no engine takes */
export function demandRenderable(spec: WorkloadSpec): void {
  const problems = specProblems(spec).map(({ path, message }) => `${path} ${message}`);
  if (problems.length > 0) throw new Error(`not to be rendered: ${problems.join('; ')}`);
}

// https://github.com/distribution/reference: host names, and path components with single separators.
const HOST = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*(?::(?<port>\d+))?$/i;
const PATH = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const MAX_REPOSITORY = 255;

function imageProblems({ image_name, registry_url }: WorkloadSpec): Problem[] {
  const says = (message: string): Problem[] => [{ path: 'image_name', message }];
  if (image_name === '') return says('must be given: there is nothing to run');
  if (!PATH.test(image_name)) return says('must have single separators, such as team/app');
  if (`${registry_url ?? ''}/library/${image_name}`.length <= MAX_REPOSITORY) return [];
  return says(`is too long: with its registry it has more than ${MAX_REPOSITORY} characters`);
}

function registryProblems({ registry_url }: WorkloadSpec): Problem[] {
  if (!registry_url) return [];
  const says = (message: string): Problem[] => [{ path: 'registry_url', message }];
  const [host = '', ...path] = registry_url.split('/');
  if (!canExist(host)) return says('must have a host name and a port that can exist');
  if (!/[.:]/.test(host) && host !== 'localhost') {
    return says('must have a dot or a port in its host: engines take anything else for a name on Docker Hub');
  }
  return path.length === 0 || PATH.test(path.join('/')) ? [] : says('must have single separators in its path');
}

const canExist = (host: string): boolean => {
  const named = HOST.exec(host);
  return named !== null && Number(named.groups?.port ?? 0) <= 65_535;
};

function mountProblems({ volume_mounts }: WorkloadSpec): Problem[] {
  const places = volume_mounts.map(({ mountPath }) => posix.normalize(mountPath).replace(/(.)\/$/, '$1'));
  return volume_mounts.flatMap(({ mountPath }, index) => {
    const says = (message: string): Problem[] => [{ path: `volume_mounts.${index}.mountPath`, message }];
    const place = places[index] ?? '';
    // Podman reads a mount as comma-separated options: a comma would begin another, and could make it a host path.
    if (/[,:"]/.test(mountPath)) return says('must not hold a comma, a colon or a quotation mark');
    if (place === '/') return says('must not be the root of the image');
    return places.indexOf(place) < index ? says('is taken by another mount') : [];
  });
}

function secretProblems({ secret_refs }: WorkloadSpec): Problem[] {
  const names = secret_refs.map(({ env }) => env);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: `secret_refs.${index}.env`, message: 'is filled by another secret' }] : [],
  );
}

function tolerationProblems(toleration: WorkloadSpec['tolerations'][number]): string[] {
  const { key, operator = 'Equal', value = '', effect, tolerationSeconds } = toleration;
  return [
    ...(!key && operator !== 'Exists' ? ['must have a key, or the operator Exists'] : []),
    ...(operator === 'Exists' && value !== '' ? ['must have no value where the operator is Exists'] : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute' ? ['has seconds for the effect NoExecute only'] : []),
  ];
}
