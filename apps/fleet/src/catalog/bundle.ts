import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CallError } from '@svc/contract';
import { MAX_UNPACKED_BUNDLE } from '@svc/contract/fleet';
import { hubReaderEndpoints, type ReadApplicationUpdates, type ReadUpdates } from '@svc/contract/hub';
import { Problem, structureProblem } from '@svc/http';
import { z } from 'zod';
import type { ApplicationSource, CatalogSource } from './hub.ts';

const header = z.object({
  format: z.literal('svc-catalog-bundle'),
  version: z.int(),
  /** null: the view of everybody. */
  organization: hubReaderEndpoints.getOwnOrganization.reply.shape.organization.nullable(),
});

/** The version of the format. A reader refuses others, because it could miss removals. */
const VERSION = 1;

/**
 * The lines of a bundle after its header: the responses of the hub to a full walk, in their order. Each entry of a response is read on
 * its own, as from a hub.
 */
const record = z.union([
  z.object({ page: hubReaderEndpoints.listTemplateUpdates.reply }),
  hubReaderEndpoints.listCategories.reply,
  hubReaderEndpoints.listPublishers.reply,
  z.object({ application_page: hubReaderEndpoints.listApplicationUpdates.reply }),
  z.object({ end: z.literal(true) }),
]);
type BundleRecord = z.output<typeof record>;

/** The maximum length of a line in bytes: a page of a hub is smaller. */
const MAX_LINE = 32 * 1024 * 1024;

/** What is known of a bundle before it is applied. */
export interface Bundle {
  readonly bytes: Uint8Array;
  readonly organization: z.output<typeof header>['organization'];
  /** The time of the hub at which its catalog was as the bundle shows it. */
  readonly checkedAt: Date;
  /** Whether it states applications. Those of the mirror stay otherwise. */
  readonly hasApplications: boolean;
}

const invalidBundle = (why: string) =>
  new Problem('bundle_invalid', `The file is not a complete bundle: ${why}. Nothing was changed.`);

/**
 * Reads a whole bundle without keeping it, so that an incomplete one is refused before anything changes.
 * @throws 422 `bundle_invalid`
 */
export async function inspectBundle(bytes: Uint8Array): Promise<Bundle> {
  const lines = linesOf(bytes);
  const first = await lines.next();
  const parsed = header.safeParse(first.done ? undefined : parseLine(first.value));
  if (!parsed.success) throw invalidBundle('its first line is not the header of a bundle');
  if (parsed.data.version !== VERSION) {
    throw invalidBundle(
      `its format has the version ${parsed.data.version}, and this fleet reads the version ${VERSION}`,
    );
  }
  const kinds: string[] = [];
  let last: ReadUpdates | undefined;
  let lastOfApplications: ReadApplicationUpdates | undefined;
  for await (const line of lines) {
    const read = readRecord(line);
    kinds.push(kindOf(read));
    if ('page' in read) {
      requireNext(last, read.page);
      last = read.page;
    } else if ('application_page' in read) {
      requireNext(lastOfApplications, read.application_page);
      lastOfApplications = read.application_page;
    }
  }
  const isComplete = /^(?:page )+categories publishers (?:application_page )*end$/.test(kinds.join(' '));
  if (last === undefined || last.has_more || lastOfApplications?.has_more || !isComplete)
    throw invalidBundle('lines are missing');
  return {
    bytes,
    organization: parsed.data.organization,
    checkedAt: new Date(last.checked_at),
    hasApplications: lastOfApplications !== undefined,
  };
}

type BundlePage = Pick<ReadUpdates, 'reset' | 'has_more'>;

/** Only the first page begins a walk, and each other one continues the page before. @throws 422 */
function requireNext(last: BundlePage | undefined, page: BundlePage): void {
  if (last === undefined ? !page.reset : page.reset || !last.has_more)
    throw invalidBundle('its pages do not follow each other');
}

/** A bundle as the hub whose responses it contains. They are read once, in their order. */
export function sourceOf({ bytes, organization: own }: Bundle) {
  const lines = linesOf(bytes);
  let isOpen = false;
  let position: string | undefined = 'start';
  let positionOfApplications: string | undefined = 'start';
  const next = async (): Promise<BundleRecord> => {
    if (!isOpen) await lines.next(); // the header
    isOpen = true;
    const { value, done } = await lines.next();
    if (done) throw invalidBundle('lines are missing');
    return readRecord(value);
  };
  const source: CatalogSource = {
    getOwnOrganization: async () => ({ organization: own }),
    listTemplateUpdates: async ({ query: { cursor } }) => {
      // A page that a walk before could not read completely.
      if (cursor !== position) throw new CallError('updates', { kind: 'refused', status: 400 });
      const read = await next();
      if (!('page' in read)) throw invalidBundle('lines are missing');
      position = read.page.has_more ? read.page.cursor : undefined;
      return read.page;
    },
    listCategories: async () => {
      const read = await next();
      return { categories: 'categories' in read ? read.categories : [] };
    },
    listPublishers: async () => {
      const read = await next();
      return { publishers: 'publishers' in read ? read.publishers : [] };
    },
  };
  const listApplicationUpdates: ApplicationSource['client']['listApplicationUpdates'] = async ({
    query: { cursor },
  }) => {
    if (cursor !== positionOfApplications) throw new CallError('updates', { kind: 'refused', status: 400 });
    let read = await next();
    if ('publishers' in read) read = await next(); // a fleet that trusts nobody does not ask for keyrings
    if (!('application_page' in read)) throw invalidBundle('lines are missing');
    positionOfApplications = read.application_page.has_more ? read.application_page.cursor : undefined;
    return read.application_page;
  };
  return { source, listApplicationUpdates, close: () => lines.return(undefined) };
}

const kindOf = (read: BundleRecord): string => Object.keys(read)[0] ?? '';

function readRecord(line: string): BundleRecord {
  const parsed = record.safeParse(parseLine(line));
  if (!parsed.success) throw invalidBundle('a line has another form');
  return parsed.data;
}

function parseLine(line: string): unknown {
  const problem = structureProblem(Buffer.from(line), MAX_LINE);
  if (problem !== undefined) throw invalidBundle(`a line ${problem}`);
  try {
    return JSON.parse(line);
  } catch {
    throw invalidBundle('a line is not JSON');
  }
}

/** The size of the parts in which a bundle is unpacked. */
const CHUNK = 256 * 1024;

/** @throws 422 for what is no gzip, and for more than the bounds */
async function* linesOf(bytes: Uint8Array): AsyncGenerator<string, void, undefined> {
  const unpacked = Readable.from([bytes]).pipe(createGunzip({ chunkSize: CHUNK }));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // The parts of a line whose end was not read yet. They are joined once, so that the time is linear.
  let parts: string[] = [];
  let length = 0;
  let total = 0;
  try {
    for await (const chunk of unpacked) {
      total += chunk.length;
      if (total > MAX_UNPACKED_BUNDLE) throw invalidBundle(`it has more than ${MAX_UNPACKED_BUNDLE} bytes unpacked`);
      const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
      parts.push(first);
      length += first.length;
      if (length > MAX_LINE) throw invalidBundle(`a line has more than ${MAX_LINE} characters`);
      const rest = others.pop();
      if (rest === undefined) continue;
      yield parts.join('');
      yield* others;
      parts = [rest];
      length = rest.length;
    }
    decoder.decode();
  } catch (error) {
    throw error instanceof Problem ? error : invalidBundle('it cannot be unpacked');
  } finally {
    unpacked.destroy();
  }
  if (length > 0) throw invalidBundle('its last line has no end');
}
