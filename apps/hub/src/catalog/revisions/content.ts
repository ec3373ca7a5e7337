import { isDeepStrictEqual } from 'node:util';
import {
  type ApplicationContent,
  applicationContent,
  catalogMembers,
  restoredApplication,
  restoredContent,
  type TemplateContent,
  templateContent,
  templateDefaults,
} from '@svc/contract';
import type { z } from 'zod';
import { applications, type Kind, templates } from '../kinds.ts';

/** What the contents of all kinds have. */
export interface CatalogContent {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly tags: string[];
}

/** A kind of objects that have revisions. */
export interface Revised {
  readonly kind: Kind;
  /** The members of the content, in the order in which replies have them. */
  readonly members: readonly string[];
  /** The content with which an object begins. Its other members have no default. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** The same, with the type of the content: what the publisher of an object writes. */
export interface RevisedKind<Content extends CatalogContent> extends Revised {
  readonly schema: z.ZodType<Content>;
  /** The rules for content that is written again. */
  readonly restored: z.ZodType<Omit<CatalogContent, 'slug'> & { readonly slug?: string | undefined }>;
}

export const revisedTemplates: RevisedKind<TemplateContent> = {
  kind: templates,
  members: Object.keys(templateContent.shape),
  defaults: { ...templateDefaults, owner_org_id: null },
  schema: templateContent,
  restored: restoredContent,
};

const catalogDefaults = Object.fromEntries(catalogMembers.map((member) => [member, templateDefaults[member]]));

export const revisedApplications: RevisedKind<ApplicationContent> = {
  kind: applications,
  members: Object.keys(applicationContent.shape),
  defaults: { ...catalogDefaults, inputs: [], generated: [], owner_org_id: null },
  schema: applicationContent,
  restored: restoredApplication,
};

/** Content as a revision stores it. A member that was added later has its default. */
export const readContent = <Content extends CatalogContent>(
  { schema }: Pick<RevisedKind<Content>, 'schema'>,
  stored: unknown,
  documentation: string,
): Content => schema.parse({ owner_org_id: null, ...Object(stored), documentation });

interface MemberChange {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * The members in which two contents differ. Undefined: the object did not exist, or is deleted. It then had the
 * defaults, and has no values.
 */
export function changesOf(
  { members, defaults }: Revised,
  before: object | undefined,
  after: object | undefined,
): MemberChange[] {
  const first = new Map<string, unknown>(Object.entries(before ?? defaults));
  const second = new Map<string, unknown>(Object.entries(after ?? defaults));
  return members
    .filter((member) => !isDeepStrictEqual(first.get(member), second.get(member)))
    .map((member) => ({
      member,
      before: first.get(member) ?? null,
      after: after === undefined ? null : (second.get(member) ?? null),
    }));
}
