import type { ApplicationPart } from '../application.ts';
import { Refused } from './context.ts';

const MAX_NAME = 255;
const NAME = /^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const REGISTRY = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$/;

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
  const isValid =
    NAME.test(name) &&
    name.length <= MAX_NAME &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest)) &&
    (!hasRegistry || REGISTRY.test(first));
  if (!isValid) throw new Refused(`has the image ${reference}, which is not valid`);
  return {
    ...(hasRegistry && first !== 'docker.io' && { registry_url: first }),
    image_name: name,
    ...(tag !== undefined && { image_tag: tag }),
    ...(digest !== undefined && { image_digest: digest }),
  };
}
