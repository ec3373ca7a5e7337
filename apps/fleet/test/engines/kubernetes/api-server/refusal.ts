import { type KindOf, qualified } from './kinds.ts';

interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** An error response of the API server. */
export class Refusal extends Error {
  readonly code: number;
  readonly body: object;
  constructor(code: number, reason: string, o: { message: string; details?: object }) {
    super(o.message);
    this.code = code;
    this.body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...o, reason, code };
  }
}

interface Which {
  readonly kind: KindOf;
  readonly name: string;
}

export const notFound = ({ kind, name }: Which): Refusal =>
  new Refusal(404, 'NotFound', {
    message: `${qualified(kind)} "${name}" not found`,
    details: { name, kind: kind.resource },
  });

export const conflict = ({ kind, name }: Which, why: string): Refusal =>
  new Refusal(409, 'Conflict', {
    message: `Operation cannot be fulfilled on ${qualified(kind)} "${name}": ${why}`,
    details: { name, kind: kind.resource },
  });

export function invalid({ kind, name }: Which, causes: readonly (Cause & { readonly field: string })[]): Refusal {
  const all = causes.map(({ field, message }) => `${field}: ${message}`);
  const details = all.length === 1 ? all[0] : `[${all.join(', ')}]`;
  return new Refusal(422, 'Invalid', {
    message: `${qualified(kind)} "${name}" is invalid: ${details}`,
    details: { name, kind: kind.kind, causes },
  });
}

export const forbidden = ({ kind, name }: Which, why: string, causes?: readonly Cause[]): Refusal =>
  new Refusal(403, 'Forbidden', {
    message: `${qualified(kind)}${name && ` "${name}"`} is forbidden: ${why}`,
    details: { name, kind: kind.resource, ...(causes && { causes }) },
  });

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', { message });

/** The message for a write with an outdated resource version. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const mismatch = (requested: string, there: string) =>
  `Precondition failed: UID in precondition: ${requested}, UID in object meta: ${there}`;
