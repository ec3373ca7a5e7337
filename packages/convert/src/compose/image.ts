import type { ApplicationPart } from '../application.ts';
import { Refused } from './context.ts';

/** The members of an image reference such as `ghcr.io/team/app:1.2@sha256:…`. @throws Refused */
export function imageOf(
  reference: string,
): Pick<ApplicationPart, 'registry_url' | 'image_name' | 'image_tag' | 'image_digest'> {
  const [named = '', digest] = reference.split('@');
  const lastSlash = named.lastIndexOf('/');
  const colon = named.indexOf(':', lastSlash + 1);
  const path = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  const [first = '', ...rest] = path.split('/');
  const hasRegistry = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost');
  const name = hasRegistry ? rest.join('/') : path;
  if (!/^[a-z0-9][a-z0-9._/-]*$/.test(name) || tag === '')
    throw new Refused(`has the image ${reference}, which is not valid`);
  return {
    ...(hasRegistry && first !== 'docker.io' && { registry_url: first }),
    image_name: name,
    ...(tag !== undefined && { image_tag: tag }),
    ...(digest !== undefined && { image_digest: digest }),
  };
}
