import { isDeepStrictEqual } from 'node:util';
import { type TemplateContent, templateContent, templateDefaults } from '@svc/contract';

/** The members of the content, in the order in which replies have them. */
// Object.keys returns string[].
export const contentMembers = Object.keys(templateContent.shape) as (keyof TemplateContent)[];

/** The content with which a template begins. Its other members have no default. */
export const defaultContent: Partial<TemplateContent> = { ...templateDefaults, owner_org_id: null };

/** Content as a revision stores it. A member that was added later has its default. */
export const readContent = (stored: unknown, documentation: string): TemplateContent =>
  templateContent.parse({ owner_org_id: null, ...Object(stored), documentation });

interface MemberChange {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * The members in which two contents differ. Undefined: the template did not exist, or is deleted. It then had the
 * defaults, and has no values.
 */
export function changesOf(before: TemplateContent | undefined, after: TemplateContent | undefined): MemberChange[] {
  const first = before ?? defaultContent;
  const second = after ?? defaultContent;
  return contentMembers
    .filter((member) => !isDeepStrictEqual(first[member], second[member]))
    .map((member) => ({ member, before: first[member] ?? null, after: after?.[member] ?? null }));
}
