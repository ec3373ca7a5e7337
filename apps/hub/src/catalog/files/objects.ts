import { adviceDefaults, catalogMembers, templateDefaults, templateFieldNames } from '@svc/contract';
import type { CatalogTransaction } from '../../database/catalog-write.ts';

/** The nouns of the objects that have a file of their own. */
export const objectNouns = ['template', 'application'] as const;
export type ObjectNoun = (typeof objectNouns)[number];

type Tables = Pick<CatalogTransaction, 'template' | 'application'>;

/** The table of objects. Both have the columns that imports and exports use by name. */
export const tableOf = (tables: Tables, noun: ObjectNoun): CatalogTransaction['template'] =>
  noun === 'template' ? tables.template : (tables.application as unknown as CatalogTransaction['template']); // the columns in common have the same types

const { status, status_message, replacement } = adviceDefaults;

/** The members of a file that are not content. */
export const STATUS = ['status', 'status_message', 'replacement'] as const;
const STATUS_DEFAULTS = { status, status_message, replacement };

const inCatalog = Object.fromEntries(catalogMembers.map((member) => [member, templateDefaults[member]]));

interface Noun {
  /** The members of a file beside its name, slug, category and owner, with their defaults. Undefined: required. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** The members that an import stores. */
  readonly stored: readonly string[];
}

export const nouns: Readonly<Record<ObjectNoun, Noun>> = {
  template: {
    defaults: { ...templateDefaults, ...STATUS_DEFAULTS },
    stored: ['name', ...templateFieldNames, ...STATUS, 'signatures'],
  },
  application: {
    defaults: { ...inCatalog, inputs: [], generated: [], parts: undefined, ...STATUS_DEFAULTS },
    stored: ['name', ...catalogMembers, 'inputs', 'generated', 'parts', ...STATUS, 'signatures'],
  },
};
