import type { Api } from '@svc/testing';
import type { CatalogTransaction } from '../src/database/catalog-write.ts';

/**
 * The kinds of objects of the catalog. Tests of rules that are the same for all kinds are written for templates, and run
 * for applications with these adapters.
 */
export const objectKinds = ['templates', 'applications'] as const;
export type ObjectKind = (typeof objectKinds)[number];

/** The smallest list of parts. */
export const PARTS = [{ name: 'web', image_name: 'library/server' }];

const withParts = (data: unknown): unknown =>
  // The data of a row is an object.
  Array.isArray(data) ? data.map(withParts) : { parts: PARTS, ...(data as object) };

/** The arguments of a call for advisories about templates, for those about applications. */
const ofApplication = (given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given).map(([member, value]) => {
      if (member === 'template_id') return ['application_id', value];
      return [member, member === 'data' || member === 'where' ? ofApplication(Object(value)) : value];
    }),
  );

/** The tables of the catalog, in which `template` is the table of the kind, and `templateAdvisory` that of its advisories. */
export function tablesOf(kind: ObjectKind, tables: CatalogTransaction): CatalogTransaction {
  if (kind === 'templates') return tables;
  const { application, applicationAdvisory } = tables;
  const template = new Proxy(application, {
    get: (target, method) => {
      const call = Reflect.get(target, method);
      if (typeof call !== 'function') return call;
      // The tests pass one argument, with the columns of the rows in `data` or `create`.
      return (given: { data?: unknown; create?: unknown } = {}) =>
        call.call(target, {
          ...given,
          ...(String(method).startsWith('create') && { data: withParts(given.data) }),
          ...(method === 'upsert' && { create: withParts(given.create) }),
        });
    },
  });
  const templateAdvisory = new Proxy(applicationAdvisory, {
    get: (target, method) => {
      const call = Reflect.get(target, method);
      if (typeof call !== 'function') return call;
      return (given: Record<string, unknown> = {}) => call.call(target, ofApplication(given));
    },
  });
  return new Proxy(tables, {
    get: (target, member) => {
      if (member === 'template') return template;
      if (member === 'templateAdvisory') return templateAdvisory;
      const value = Reflect.get(target, member);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A GET request whose paths of templates are those of objects of the kind. */
export function getOfKind<Rest extends unknown[], Response extends { readonly body: object | undefined }>(
  kind: ObjectKind,
  get: (path: string, ...rest: Rest) => Promise<Response>,
): (path: string, ...rest: Rest) => Promise<Response> {
  if (kind === 'templates') return get;
  return async (path, ...rest) => {
    const response = await get(path.replace('/catalog/templates', '/catalog/applications'), ...rest);
    // The body of a list has the objects as a member.
    const { applications, ...body } = (response.body ?? {}) as { readonly applications?: unknown };
    return applications ? { ...response, body: { ...body, templates: applications } } : response;
  };
}

/** The caller, whose requests for templates are requests for objects of the kind. */
export const apiOfKind = (kind: ObjectKind, api: Api): Api => ({ ...api, get: getOfKind(kind, api.get) });
