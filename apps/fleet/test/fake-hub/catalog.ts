import { randomUUID } from 'node:crypto';
import type { Application, Category, Template } from '@svc/contract';

/** The catalog that is visible to the organization of the fleet at one time. */
export interface Catalog {
  readonly clock: number;
  /** One for each write, oldest first. */
  readonly commits: readonly string[];
  readonly shown: ReadonlyMap<string, { readonly template: Template; readonly at: number }>;
  readonly withdrawn: ReadonlyMap<string, number>;
  readonly categories: readonly Category[];
  /** Applications, as templates. */
  readonly applications: ReadonlyMap<string, { readonly application: Application; readonly at: number }>;
  readonly withdrawnApplications: ReadonlyMap<string, number>;
}

const EMPTY: Catalog = {
  clock: Date.parse('2026-05-01T00:00:00.000Z'),
  commits: [randomUUID()],
  shown: new Map(),
  withdrawn: new Map(),
  categories: [],
  applications: new Map(),
  withdrawnApplications: new Map(),
};

/** A catalog that can be written to: each write is one transaction with one stamp. */
export function createCatalog() {
  let now = EMPTY;
  const write = (change: (at: number) => Partial<Catalog>) => {
    const clock = now.clock + 1;
    now = { ...now, clock, commits: [...now.commits, randomUUID()], ...change(clock) };
  };
  const withdraw = (...templates: readonly { readonly id: string }[]) =>
    write((at) => {
      const gone = templates.filter(({ id }) => now.shown.has(id)).map(({ id }) => id);
      return {
        shown: new Map([...now.shown].filter(([id]) => !gone.includes(id))),
        withdrawn: new Map([...now.withdrawn, ...gone.map((id) => [id, at] as const)]),
      };
    });
  return {
    now: () => now,
    /** New, changed, or shown again. */
    publish: (...templates: readonly Template[]) =>
      write((at) => ({
        shown: new Map([...now.shown, ...templates.map((template) => [template.id, { template, at }] as const)]),
        withdrawn: new Map([...now.withdrawn].filter(([id]) => !templates.some((template) => template.id === id))),
      })),
    withdraw,
    withdrawAll: () => withdraw(...[...now.shown.values()].map(({ template }) => template)),
    setCategories: (...categories: readonly Category[]) => write(() => ({ categories })),
    publishApplications: (...applications: readonly Application[]) =>
      write((at) => ({
        applications: new Map([
          ...now.applications,
          ...applications.map((application) => [application.id, { application, at }] as const),
        ]),
      })),
    withdrawApplications: (...applications: readonly { readonly id: string }[]) =>
      write((at) => {
        const ids = applications.map(({ id }) => id);
        return {
          applications: new Map([...now.applications].filter(([id]) => !ids.includes(id))),
          withdrawnApplications: new Map([...now.withdrawnApplications, ...ids.map((id) => [id, at] as const)]),
        };
      }),
    /** Restores a former state, as from a backup: all later writes are lost. */
    restore: (backup: Catalog) => {
      now = backup;
    },
    /** Everything that is visible to the organization of the fleet, ordered by ID. */
    shown: () => [...now.shown.values()].map(({ template }) => template).sort((a, b) => (a.id < b.id ? -1 : 1)),
    checkedAt: () => new Date(now.clock).toISOString(),
  };
}
