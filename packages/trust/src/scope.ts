import { repositoryOf, templateReply } from '@svc/contract';
import { z } from 'zod';
import type { Members } from './canonical.ts';
import { partsIn } from './parts.ts';
import { type Reason, Untrusted } from './reasons.ts';

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
export function refuseOutside(scope: Scope, slug: string, members: Members): void {
  if (!isIn(scope.slugs, slug)) throw new Untrusted('slug_out_of_scope', slug);
  refuseOutsideImages(scope, members);
}

/** The same for an application, whose parts have images and secrets. @throws Untrusted with the part */
export function refuseOutsideInParts(scope: Scope, slug: string, members: Members): void {
  if (!isIn(scope.slugs, slug)) throw new Untrusted('slug_out_of_scope', slug);
  for (const [name, part] of partsIn(members) ?? []) refuseOutsideImages(scope, part, name);
}

function refuseOutsideImages({ images, secrets }: Scope, members: Members, part?: string): void {
  const image = imageMembers.safeParse(members);
  if (!image.success) throw outside('image_out_of_scope', 'its form is not known', part);
  const repository = repositoryOf(image.data);
  if (!isIn(images, repository)) throw outside('image_out_of_scope', repository, part);
  const used = secretMembers.safeParse(members);
  if (!used.success) throw outside('secret_out_of_scope', 'their form is not known', part);
  const names = [...used.data.secret_refs.map(({ name }) => name), used.data.registry_credentials ?? []].flat();
  const others = names.filter((name) => !isIn(secrets, name));
  if (others.length > 0) throw outside('secret_out_of_scope', others.join(', '), part);
}

const outside = (reason: Reason, detail: string, part: string | undefined): Untrusted =>
  part === undefined ? new Untrusted(reason, detail) : new Untrusted(reason, `part ${part}: ${detail}`, [part]);

/** Refuses a template that does not name its image by digest. @throws Untrusted */
export function refuseUnpinned(members: Members): void {
  if (!isPinned(members)) throw new Untrusted('image_not_pinned');
}

/** Refuses an application with parts that do not name their images by digest. @throws Untrusted with the parts */
export function refuseUnpinnedParts(members: Members): void {
  const unpinned = (partsIn(members) ?? []).filter(([, part]) => !isPinned(part)).map(([name]) => name);
  if (unpinned.length > 0) throw new Untrusted('image_not_pinned', `part ${unpinned.join(', ')}`, unpinned);
}

function isPinned(members: Members): boolean {
  const parsed = digestMember.safeParse(members);
  return parsed.success && /^sha256:[0-9a-f]{64}$/.test(parsed.data.image_digest ?? '');
}
