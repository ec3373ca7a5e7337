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

/** The tables of the catalog, in which `template` is the table of the kind. */
export function tablesOf(kind: ObjectKind, tables: CatalogTransaction): CatalogTransaction {
  if (kind === 'templates') return tables;
  const { application } = tables;
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
  return new Proxy(tables, {
    get: (target, member) => {
      if (member === 'template') return template;
      const value = Reflect.get(target, member);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The caller, whose requests for templates are requests for objects of the kind. */
export function apiOfKind(kind: ObjectKind, api: Api): Api {
  if (kind === 'templates') return api;
  return {
    ...api,
    get: async (path, ...rest) => {
      const response = await api.get(path.replace('/catalog/templates', '/catalog/applications'), ...rest);
      const { applications, ...body } = response.body ?? {};
      return applications ? { ...response, body: { ...body, templates: applications } } : response;
    },
  };
}
