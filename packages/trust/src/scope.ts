import { repositoryOf, templateReply } from '@svc/contract';
import { z } from 'zod';
import type { Members } from './canonical.ts';
import { Untrusted } from './reasons.ts';

/** What a publisher may publish to a fleet. The fleet sets it. Each pattern is exact, or ends with `*`, which stands for any text. */
export interface Scope {
  readonly slugs: readonly string[];
  /** Repositories as they are rendered, such as `docker.io/library/redis`. */
  readonly images: readonly string[];
  /** Names of secrets of the fleet. */
  readonly secrets: readonly string[];
}

/** Whether a pattern matches a text. No other character than a final `*` is special. */
export const matches = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;

const isIn = (patterns: readonly string[], text: string) => patterns.some((pattern) => matches(pattern, text));

const { registry_url, image_name, image_digest, secret_refs, registry_credentials } = templateReply;
const imageMembers = z.object({ registry_url, image_name });
const secretMembers = z.object({ secret_refs, registry_credentials });
const digestMember = z.object({ image_digest });

/**
 * Refuses what is outside the scope of a publisher. Members whose form this version does not know are outside every scope.
 * @throws Untrusted
 */
export function refuseOutside({ slugs, images, secrets }: Scope, slug: string, members: Members): void {
  if (!isIn(slugs, slug)) throw new Untrusted('slug_out_of_scope', slug);
  const image = imageMembers.safeParse(members);
  if (!image.success) throw new Untrusted('image_out_of_scope', 'its form is not known');
  const repository = repositoryOf(image.data);
  if (!isIn(images, repository)) throw new Untrusted('image_out_of_scope', repository);
  const used = secretMembers.safeParse(members);
  if (!used.success) throw new Untrusted('secret_out_of_scope', 'their form is not known');
  const names = [...used.data.secret_refs.map(({ name }) => name), used.data.registry_credentials ?? []].flat();
  const outside = names.filter((name) => !isIn(secrets, name));
  if (outside.length > 0) throw new Untrusted('secret_out_of_scope', outside.join(', '));
}

/** Whether a template names its image by digest. */
export function isPinned(members: Members): boolean {
  const parsed = digestMember.safeParse(members);
  return parsed.success && /^sha256:[0-9a-f]{64}$/.test(parsed.data.image_digest ?? '');
}
