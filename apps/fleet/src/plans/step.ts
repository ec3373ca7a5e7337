import { isDeepStrictEqual } from 'node:util';
import type { DocumentKind, ObjectDocument } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { ApplicationChange } from '../applications/change.ts';
import type { Wanted } from '../applications/decision/decide.ts';
import type { ApplicationRow } from '../applications/rows.ts';
import type { Requested } from '../deployments/plans/several.ts';
import type { Refusal } from '../deployments/refusals.ts';
import type { Place, PlacedDocument } from './documents.ts';
import type { ManagedObject } from './stored.ts';

/** What becomes of objects that were changed by hand since the same documents were applied, if not all of it is reverted. */
export const keptDrifts = ['keep', 'keep_rolled_back'] as const;

/** What a plan may do, beside what documents describe. */
export interface PlanOptions {
  readonly set: string;
  readonly prune: boolean;
  readonly max_deletions: number;
  readonly adopt: boolean;
  /** Undefined: changes by hand of what the documents state are reverted. */
  readonly drift?: (typeof keptDrifts)[number] | undefined;
}

/** What is to be decided about an object. */
export type ObjectRequest =
  | { readonly kind: 'deployment'; readonly requested: Requested }
  | { readonly kind: 'application'; readonly requested: RequestedApplication };

export type RequestedApplication =
  | { readonly kind: 'creation'; readonly wanted: Wanted; readonly onFailure: 'auto' | 'roll_back' | 'stop' }
  | { readonly kind: 'change'; readonly row: ApplicationRow; readonly change: ApplicationChange }
  | { readonly kind: 'deletion'; readonly row: ApplicationRow };

/** A change of one object by a plan. */
export interface Step extends Place {
  readonly kind: DocumentKind;
  readonly name: string;
  /** Null: it is created. */
  readonly id: string | null;
  readonly action: 'create' | 'change' | 'delete' | 'release';
  readonly cause: 'file' | 'drift' | 'removed';
  readonly lineOf: (path: string) => number;
  /** What is to be decided; undefined: nothing, or it is refused already. */
  readonly request: ObjectRequest | undefined;
  readonly problems: readonly Refusal[];
  /** Of a deletion: the deployments that it deletes, and whether the data of their volumes is deleted. */
  readonly removed: readonly { readonly id: string; readonly name: string }[];
  readonly deletesData: boolean;
  /** The names of the deployments whose values or addresses it receives, and of those that it runs. */
  readonly needs: readonly string[];
  readonly runs: readonly string[];
}

/** A document whose object exists. */
export interface Existing<D extends ObjectDocument = ObjectDocument> {
  readonly placed: PlacedDocument<D>;
  readonly object: ManagedObject;
  /** The document of the same set that was applied before; undefined: none. */
  readonly previous: D | undefined;
}

/** The members of a step that its document determines. */
export const stepOf = ({ document: { kind, name }, file, line, lineOf }: PlacedDocument) => ({
  kind,
  name,
  file,
  line,
  lineOf,
  deletesData: false,
  removed: [],
});

/** The members of a step that removes an object. */
export const removalOf = ({ kind, id, name, file, line }: ManagedObject) => ({
  kind,
  id,
  name,
  file: file ?? '',
  line: line ?? 1,
  lineOf: () => line ?? 1,
  cause: 'removed' as const,
  problems: [],
});

/** Why an object that exists is changed. */
export const causeOf = ({ placed, previous }: Existing): 'file' | 'drift' =>
  previous !== undefined && isDeepStrictEqual(previous, placed.document) ? 'drift' : 'file';

/** What a problem states, as refusals. @throws any other error */
export function refusalsIn(error: unknown): Refusal[] {
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  const { errors = [{ path: '', message: error.message }] } = error;
  return errors.map(({ path, message }) => ({ code: 'deployment_refused', path, message }));
}
