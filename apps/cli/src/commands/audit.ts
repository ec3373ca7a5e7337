import { setTimeout as pause } from 'node:timers/promises';
import { type Either, eitherOf, reply } from '../api.ts';
import { UsageError } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { print, writeLine } from '../output.ts';
import { oneLine, visible } from '../text.ts';

interface TailOptions extends Common {
  readonly follow?: boolean;
  readonly number: number;
}

/** The time between two reads, in milliseconds. */
const INTERVAL_MS = 2000;

/** An entry can be committed this long after its time, in milliseconds. */
const OVERLAP_MS = 60_000;

const PAGE_SIZE = 1000;

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly source: string | null;
  readonly actor?: string;
  readonly email?: string | null;
}

interface Query {
  readonly limit: number;
  readonly from?: string;
  readonly cursor?: string;
}

const readPage = (
  { service, client }: Either,
  query: Query,
): Promise<{ entries: Entry[]; next_cursor: string | null }> =>
  service === 'fleet'
    ? reply(client.GET('/api/v1/audit', { params: { query } }))
    : reply(client.GET('/api/v1/admin/audit', { params: { query } }));

/** Prints the newest entries of the audit log, the newest last, and with `follow` each further one. */
export const tail: Action<TailOptions> = async (_, { number, follow, ...options }) => {
  if (follow === true && options.output === 'yaml') throw new UsageError('With --follow, the output is table or json.');
  const either = await eitherOf(options);
  const { entries } = await readPage(either, { limit: number });
  if (follow !== true) {
    const shown = entries.toReversed();
    await print(shown, { format: options.output, as: () => tableOf(shown) });
    return undefined;
  }
  const printed = new Map<string, string>();
  let from = new Date(Date.now() - OVERLAP_MS).toISOString();
  for (let found = entries; ; found = await readSince(either, from)) {
    for (const entry of found.toReversed()) {
      if (printed.has(entry.id)) continue;
      printed.set(entry.id, entry.at);
      writeLine(options.output === 'json' ? visible(JSON.stringify(entry)) : lineOf(entry));
    }
    const newest = found[0]?.at;
    if (newest !== undefined) from = new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
    for (const [id, at] of printed) if (at < from) printed.delete(id);
    await pause(INTERVAL_MS);
  }
};

/** All entries since a time, newest first. */
async function readSince(either: Either, from: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await readPage(either, { limit: PAGE_SIZE, from, ...given({ cursor }) });
    entries.push(...page.entries);
    if (page.next_cursor === null) return entries;
    cursor = page.next_cursor;
  }
}

const cellsOf = ({ at, actor, email, method, path, status, source }: Entry) => [
  at,
  actor ?? email ?? '-',
  method,
  path,
  status,
  source,
];

const tableOf = (entries: readonly Entry[]) => ({
  columns: ['AT', 'ACTOR', 'METHOD', 'PATH', 'STATUS', 'SOURCE'],
  rows: entries.map(cellsOf),
});

const lineOf = (entry: Entry): string =>
  oneLine(
    cellsOf(entry)
      .map((cell) => String(cell ?? '-'))
      .join('  '),
  );
