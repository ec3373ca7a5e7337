import { createHash } from 'node:crypto';
import {
  type Application,
  adviceDefaults,
  advisory,
  application,
  type Category,
  type ChangelogEntry,
  category,
  categoryDefaults,
  categoryFields,
  changelogEntry,
  fold,
  MAX_FOLDED,
  parseFields,
  parseTimestamp,
  slug,
  type Template,
  template,
  timestamp,
  uuid,
} from '@svc/contract';
import { MAX_CHANGES_LISTED } from '@svc/contract/fleet';
import type { ReadApplicationUpdates, ReadUpdates } from '@svc/contract/hub';
import { type ContentKind, applications as signedApplications, templates as signedTemplates } from '@svc/trust';
import { z } from 'zod';
import { isStorable } from '../database/storable.ts';
import { type Evidence, evidenceOf } from '../trust/evidence.ts';
import { version } from '../version.ts';

/** An entry of a response of the hub that this version of the fleet cannot read. */
export interface UnreadableEntry {
  /** Undefined if it cannot be read either. */
  readonly id: string | undefined;
  readonly slug: string | undefined;
  /** The first member that cannot be read, and what is allowed. */
  readonly reason: string;
}

export interface Entries<T> {
  readonly readable: readonly T[];
  readonly unreadable: readonly UnreadableEntry[];
}

/** A template as the mirror stores it. */
export interface MirroredTemplate extends Template {
  /** What was received of a signed template; null without signatures. */
  readonly signed: Evidence | null;
}

/** The same of an application. */
export interface MirroredApplication extends Application {
  readonly signed: Evidence | null;
}

/** What a page of changes states beside its objects. */
interface Page extends Pick<ReadUpdates, 'checked_at' | 'cursor' | 'reset' | 'has_more'> {
  /** The ids of removed objects. */
  readonly removed: readonly string[];
  /** A removal has no readable id. Only a full walk shows which object was removed. */
  readonly hasUnreadableRemoval: boolean;
}

/** A page of changes, of which each entry was read on its own. */
export interface TemplatePage extends Page {
  /** The cursor with which the page was requested. */
  readonly requestedCursor: string;
  readonly templates: Entries<MirroredTemplate>;
}

/** The same for applications. */
export interface ApplicationPage extends Page {
  readonly applications: Entries<MirroredApplication>;
}

const TOO_LONG = `must have at most ${MAX_FOLDED} characters, which an index of the database can store`;
const isIndexable = (value: string) => Math.max(value.length, fold(value).length) <= MAX_FOLDED;
const indexed = z.string().refine(isIndexable, TOO_LONG);
const existing = timestamp.refine((at) => parseTimestamp(at) !== undefined, 'must be a time that exists');

/** Rejects text that PostgreSQL cannot store. */
function checkText({ value, issues }: z.core.ParsePayload<object>): void {
  for (const [member, content] of Object.entries(value)) {
    if (isStorable(content)) continue;
    const message = 'must not contain NUL or half of a surrogate pair';
    issues.push({ code: 'custom', path: [member], message, input: content });
  }
}

const MAX_PATH = 100;
const MAX_INTEGER = 2 ** 31 - 1;
const revision = z.int().min(0).max(MAX_INTEGER);
const lastRevision = revision.nullable().prefault(null);

const storableAdvisory = advisory.extend({ id: uuid, first_revision: revision, last_revision: lastRevision });

/**
 * A template that the mirror can store. Members that the hub leaves out have their declared
 * default.
 */
const storable = template
  .extend({
    id: uuid,
    category_id: uuid,
    category_slug: indexed,
    slug: indexed,
    name: indexed,
    tags: template.shape.tags.refine((tags) => tags.every(isIndexable), `each tag ${TOO_LONG}`),
    revision: revision.nullable().prefault(adviceDefaults.revision),
    advisories: z.array(storableAdvisory).prefault(adviceDefaults.advisories),
    created_at: existing,
    updated_at: existing,
  })
  .check(checkText);

/** An application that the mirror can store. */
const storableApplication = application
  .extend({
    id: uuid,
    category_id: uuid,
    category_slug: indexed,
    slug: indexed,
    name: indexed,
    tags: application.shape.tags.refine((tags) => tags.every(isIndexable), `each tag ${TOO_LONG}`),
    revision: revision.nullable().prefault(adviceDefaults.revision),
    advisories: z.array(storableAdvisory).prefault(adviceDefaults.advisories),
    created_at: existing,
    updated_at: existing,
  })
  .check(checkText);

const MAX_MESSAGE = 1000;
const MAX_MEMBERS = 100;

const storableChange = changelogEntry
  .extend({
    revision,
    version: z.string().max(MAX_MESSAGE),
    message: z.string().transform((text) => text.slice(0, MAX_MESSAGE)),
    changed: z.array(z.string().max(MAX_PATH)).max(MAX_MEMBERS).nullable().catch(null),
  })
  .check(checkText);

/** The entries of a changelog that this version can read and store. */
export const readChangelogEntries = (entries: readonly unknown[]): readonly ChangelogEntry[] =>
  entries.slice(0, MAX_CHANGES_LISTED).flatMap((entry) => {
    const { success, data } = storableChange.safeParse(entry);
    return success ? [data] : [];
  });

const storableCategory = category
  .extend({
    id: uuid,
    description: category.shape.description.prefault(categoryDefaults.description),
    icon: category.shape.icon.prefault(categoryDefaults.icon),
    sort_order: categoryFields.sort_order.prefault(categoryDefaults.sort_order),
    is_private: category.shape.is_private.prefault(categoryDefaults.is_private),
    template_count: category.shape.template_count.prefault(0),
    created_at: existing,
    updated_at: existing,
  })
  .check(checkText);

const identity = z
  .object({ id: uuid.optional().catch(undefined), slug: slug.optional().catch(undefined) })
  .catch({ id: undefined, slug: undefined });

/** The path of a member, without keys that the hub chose. */
const declaredPath = (path: string) => (/^\w+(?:\.\d+(?:\.\w+)?)?/.exec(path)?.[0] ?? '').slice(0, MAX_PATH);

/** Reads each entry on its own. If several entries have the same id, the last one applies. */
function readEntries<T>(schema: z.ZodType<T>, rows: readonly unknown[]): Entries<T> {
  const readable = new Map<string | symbol, T>();
  const unreadable = new Map<string | symbol, UnreadableEntry>();
  for (const row of rows) {
    const named = identity.parse(row);
    const key = named.id ?? Symbol('an entry without a readable id');
    readable.delete(key);
    unreadable.delete(key);
    const result = parseFields(schema, row);
    if (result.success) readable.set(key, result.data);
    else unreadable.set(key, { id: named.id, slug: named.slug, reason: reasonOf(result.errors) });
  }
  return { readable: [...readable.values()], unreadable: [...unreadable.values()] };
}

/** Reads objects, with what was received of those that are signed. */
function readSigned<T extends { readonly id: string; readonly updated_at: string }>(
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  kind: ContentKind,
): Entries<T & { readonly signed: Evidence | null }> {
  const received = new Map(rows.map((row) => [identity.parse(row).id, row]));
  const { readable, unreadable } = readEntries(schema, rows);
  const withEvidence = readable.map((object) => ({
    ...object,
    signed: evidenceOf(Object(received.get(object.id)), object.updated_at, kind),
  }));
  return { readable: withEvidence, unreadable };
}

const reasonOf = ([first]: readonly { readonly path: string; readonly message: string }[]) =>
  first ? `${declaredPath(first.path)} ${first.message}`.trim() : 'is not valid';

export const readCategories = (rows: readonly unknown[]): Entries<Category> => readEntries(storableCategory, rows);

function pageOf(updates: Omit<ReadUpdates, 'templates'>): Page {
  const { checked_at, cursor, reset, has_more } = updates;
  const removed = updates.removed.map((row) => identity.parse(row).id);
  return {
    checked_at,
    cursor,
    reset,
    has_more,
    removed: removed.filter((id) => id !== undefined),
    hasUnreadableRemoval: removed.includes(undefined),
  };
}

export const readPage = ({ templates, ...updates }: ReadUpdates, requestedCursor: string): TemplatePage => ({
  ...pageOf(updates),
  requestedCursor,
  templates: readSigned(storable, templates, signedTemplates),
});

export const readApplicationPage = ({ applications, ...updates }: ReadApplicationUpdates): ApplicationPage => ({
  ...pageOf(updates),
  applications: readSigned(storableApplication, applications, signedApplications),
});

const hash = (...values: readonly unknown[]) => createHash('sha256').update(JSON.stringify(values)).digest('base64url');

/** Changes with each release, and with the members of a template or an application. */
const readerOf = () =>
  hash(
    version,
    ...[storable, storableApplication].map((schema) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })),
  );
let reader: string | undefined;

/**
 * Identifies the reader of the entries up to a cursor. If the stored value differs, another version
 * of the fleet has stored the mirror since, and only a full walk shows what this version reads
 * differently.
 */
export function cursorReaderOf(cursor: string | null): string {
  reader ??= readerOf();
  return hash(reader, cursor);
}
