import { setImmediate } from 'node:timers/promises';
import { type FieldError, nearestName, parseFields } from '@svc/contract';
import {
  type DocumentKind,
  documentKinds,
  documentSchemas,
  type ObjectDocument,
  planLimits,
} from '@svc/contract/fleet';
import { countLexemes, documentsIn, readYamlText, TOO_COMPLEX } from '@svc/documents';
import { invalid } from '@svc/http';
import { LRUCache } from 'lru-cache';

/** A file of a plan. */
export interface PlanFile {
  readonly path: string;
  readonly text: string;
}

/** The place of a document. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** A document with its place. */
export interface PlacedDocument<D extends ObjectDocument = ObjectDocument> extends Place {
  readonly document: D;
  /** The line of a member, or of the innermost object on its path that the document has. */
  readonly lineOf: (path: string) => number;
}

/** A problem of a file, with its line. */
interface Found {
  readonly line: number;
  readonly message: string;
}

/** The number of documents after which other work of the process runs. */
const PORTION = 50;

/**
 * Reads the documents of all files. Each error has the path `<file>:<line>`.
 * @throws 400 for too many or too long files and documents, and for documents that are not valid
 */
export async function readDocuments(files: readonly PlanFile[]): Promise<PlacedDocument[]> {
  refuseExcess(files);
  const documents: PlacedDocument[] = [];
  const errors: FieldError[] = [];
  let count = 0;
  for (const { path: file, text } of files) {
    for (const { text: part, line } of documentsIn(text)) {
      count += 1;
      if (count > planLimits.documents) throw invalid([{ path: 'files', message: TOO_MANY }]);
      if (count % PORTION === 0) await setImmediate();
      const read = readDocument(part, line);
      if ('problems' in read)
        errors.push(...read.problems.map((found) => ({ path: `${file}:${found.line}`, message: found.message })));
      else documents.push({ ...read, file });
    }
  }
  errors.push(...repeatedNames(documents));
  if (errors.length > 0) throw invalid(errors);
  if (documents.length === 0) throw invalid([{ path: 'files', message: 'must contain at least 1 document' }]);
  return documents;
}

const TOO_MANY = `must contain at most ${planLimits.documents} documents. Divide the files into several sets`;

function refuseExcess(files: readonly PlanFile[]): void {
  const size = files.reduce((sum, { text }) => sum + text.length, 0);
  if (size > planLimits.text)
    throw invalid([
      { path: 'files', message: `must have at most ${planLimits.text} characters in all files together` },
    ]);
  const paths = new Set<string>();
  for (const [index, { path }] of files.entries()) {
    if (paths.has(path)) throw invalid([{ path: `files.${index}.path`, message: 'must not be repeated' }]);
    paths.add(path);
  }
}

/** A valid document, whatever its place. */
interface ReadDocument {
  readonly document: ObjectDocument;
  /** The number of lines before its first member. */
  readonly before: number;
}

/** The characters of documents that are kept in memory, because most documents of a set do not change between two plans. */
const MAX_KEPT = 8 * 2 ** 20;
const kept = new LRUCache<string, ReadDocument>({
  maxSize: MAX_KEPT,
  sizeCalculation: (_, text) => text.length,
  maxEntrySize: 2 ** 16,
});

/** Reads a document that begins at a line of its file. */
function readDocument(
  text: string,
  line: number,
): Omit<PlacedDocument, 'file'> | { readonly problems: readonly Found[] } {
  const known = kept.get(text);
  const read = known ?? parseDocument(text, line);
  if ('problems' in read) return read;
  if (!known) kept.set(text, read);
  const { document, before } = read;
  return { document, line: line + before, lineOf: (path) => readYamlText(text, line).lineOf(path) };
}

function parseDocument(text: string, line: number): ReadDocument | { readonly problems: readonly Found[] } {
  if (countLexemes(text) === undefined) return { problems: [{ line, message: TOO_COMPLEX }] };
  const { value, problems, lineOf } = readYamlText(text, line);
  if (problems.length > 0) return { problems };
  const kind = kindOf(value);
  if (typeof kind === 'object') return { problems: [{ line: lineOf('kind'), message: kind.problem }] };
  const parsed = parseFields(documentSchemas[kind], value);
  if (!parsed.success) {
    return {
      problems: parsed.errors.map(({ path, message }) => ({
        line: lineOf(path),
        message: `${path} ${message}`.trim(),
      })),
    };
  }
  // As it is stored and read again.
  return { document: JSON.parse(JSON.stringify(parsed.data)), before: lineOf('kind') - line };
}

/** The kind of a document, or why it has none. */
function kindOf(value: unknown): DocumentKind | { readonly problem: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: 'must be an object with the member kind' };
  const given = 'kind' in value ? value.kind : undefined;
  const known = documentKinds.find((kind) => kind === given);
  if (known) return known;
  const nearest = typeof given === 'string' ? nearestName(given, documentKinds) : undefined;
  const suggestion = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return {
    problem: given === undefined ? 'kind is required' : `kind must be one of: ${documentKinds.join(', ')}${suggestion}`,
  };
}

/** How a plan names an object. */
export const keyOf = ({ kind, name }: Pick<ObjectDocument, 'kind' | 'name'>): string => `${kind} ${name}`;

/** An error for each document with the name of an earlier one. Applications and deployments share their names. */
function repeatedNames(documents: readonly PlacedDocument[]): FieldError[] {
  const first = new Map<string, PlacedDocument>();
  return documents.flatMap((placed) => {
    const { document, file, lineOf } = placed;
    const earlier = first.get(document.name);
    if (!earlier) first.set(document.name, placed);
    const message = `name must not be repeated: ${earlier && keyOf(earlier.document)} is also in ${earlier?.file}:${earlier?.lineOf('name')}`;
    return earlier ? [{ path: `${file}:${lineOf('name')}`, message }] : [];
  });
}
