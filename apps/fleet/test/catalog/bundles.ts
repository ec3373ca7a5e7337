import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Api } from '@svc/testing';

export const ACME = { id: randomUUID() as string, name: 'Acme', slug: 'acme', tier: 'free', status: 'active' };

interface Content {
  readonly templates?: readonly object[];
  /** Undefined: the bundle states none. */
  readonly applications?: readonly object[] | undefined;
  readonly categories?: readonly object[];
  readonly publishers?: readonly object[];
  readonly organization?: object | null;
  readonly checked_at?: string;
  /** The most templates of a page. */
  readonly pageSize?: number;
}

/** The lines of a bundle, as the command `bundle` of the hub writes them. */
export function linesOf({
  templates = [],
  applications,
  categories = [],
  publishers = [],
  organization = ACME,
  checked_at = '2026-06-01T00:00:00.000Z',
  pageSize = 2,
}: Content): object[] {
  const count = Math.max(1, Math.ceil(templates.length / pageSize));
  const pages = Array.from({ length: count }, (_, index) => ({
    page: {
      templates: templates.slice(index * pageSize, (index + 1) * pageSize),
      removed: [],
      checked_at: index === count - 1 ? checked_at : '1970-01-01T00:00:00.000Z',
      cursor: `page-${index}`,
      reset: index === 0,
      has_more: index < count - 1,
    },
  }));
  const header = { format: 'svc-catalog-bundle', version: 1, organization };
  const ofApplications = applications && [
    { application_page: { applications, removed: [], checked_at, cursor: 'end', reset: true, has_more: false } },
  ];
  return [header, ...pages, { categories }, { publishers }, ...(ofApplications ?? []), { end: true }];
}

export const packed = (lines: readonly (object | string)[]): Buffer =>
  gzipSync(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''), { level: 1 });

export const aBundle = (content: Content): Buffer => packed(linesOf(content));

export const importBundle = (api: Api, bytes: Buffer, query = '') =>
  api.post(`/api/v1/catalog/bundle${query}`, bytes, { 'Content-Type': 'application/gzip' });
