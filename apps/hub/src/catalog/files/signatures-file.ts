import { newSignatures, parseFields, slug } from '@svc/contract';
import { z } from 'zod';
import { highestSerial } from '../trust/signatures.ts';

/** The file with the signatures of the templates of a catalog. */
export const SIGNATURES = 'signatures.json';

/** Signatures by the slug of their template. */
export type Signatures = Readonly<Record<string, readonly string[]>>;

const signaturesFile = z.strictObject({
  /**
   * The serial of the newest signature. Each run of `sign` changes this line, so that branches that
   * both sign conflict.
   */
  serial: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  templates: z.record(slug, newSignatures),
});
export type SignaturesFile = z.output<typeof signaturesFile>;

/** Reads the text of the file. @returns what is wrong with it otherwise */
export function readSignaturesFile(
  text: string,
): { readonly file: SignaturesFile } | { readonly problems: readonly string[] } {
  const value = parseJson(text);
  if (value === undefined) return { problems: ['must be a JSON object, as the command sign writes it'] };
  const parsed = parseFields(signaturesFile, value);
  if (parsed.success) return { file: parsed.data };
  return { problems: parsed.errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of the file. The templates are in the order of their slugs, one signature per line. */
export function formatSignaturesFile({ serial, templates }: SignaturesFile): string {
  const sorted = Object.entries(templates).sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify({ serial, templates: Object.fromEntries(sorted) }, undefined, 2)}\n`;
}

/** A file with signatures of a hub. Its serial is the highest of any publisher. */
export const signaturesFileOf = (templates: Record<string, string[]>): SignaturesFile => ({
  serial: highestSerial(Object.values(templates).flat()),
  templates,
});
