import { newSignatures, parseFields, slug } from '@svc/contract';
import { z } from 'zod';
import { highestSerial, kinds } from '../trust/signatures.ts';
import type { ObjectNoun } from './objects.ts';

/** The file with the signatures of the templates and applications of a catalog. */
export const SIGNATURES = 'signatures.json';

/** Signatures by the slug of their template or application. */
type Signatures = Readonly<Record<string, readonly string[]>>;

/** Those of all objects. */
export type SignaturesOfNouns = Readonly<Record<ObjectNoun, Signatures>>;

export const NO_SIGNATURES: SignaturesOfNouns = { template: {}, application: {} };

const signaturesFile = z.strictObject({
  /**
   * The serial of the newest signature. Each run of `sign` changes this line, so that branches that
   * both sign conflict.
   */
  serial: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  templates: z.record(slug, newSignatures),
  applications: z.record(slug, newSignatures).default({}),
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

export const signaturesOfFile = ({ templates, applications }: SignaturesFile): SignaturesOfNouns => ({
  template: templates,
  application: applications,
});

/**
 * The text of the file. The templates and applications are in the order of their slugs, one signature per line. Without signed
 * applications, earlier versions can read it.
 */
export function formatSignaturesFile({ serial, templates, applications }: SignaturesFile): string {
  const file = {
    serial,
    templates: bySlug(templates),
    ...(Object.keys(applications).length > 0 && { applications: bySlug(applications) }),
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

const bySlug = (signatures: Signatures) =>
  Object.fromEntries(Object.entries(signatures).sort(([one], [other]) => (one < other ? -1 : 1)));

/** A file with signatures of a hub. Its serial is the highest of any publisher. */
export const signaturesFileOf = (given: Pick<SignaturesFile, 'templates' | 'applications'>): SignaturesFile => ({
  serial: Math.max(
    highestSerial(Object.values(given.templates).flat(), kinds.template),
    highestSerial(Object.values(given.applications).flat(), kinds.application),
  ),
  ...given,
});
