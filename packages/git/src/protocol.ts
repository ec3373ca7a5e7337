import type { Work } from './bounds.ts';
import { GitError, RUN_IN_CI, shownText } from './errors.ts';
import { DELIMITER, FLUSH, lineOf, malformed, type Packet, packetOf, packetsIn, SPECIAL } from './packet-lines.ts';

/** Sends a request of the smart HTTP protocol, relative to the URL of the repository. Rejects with the error of the transport. */
export type GitSend = (request: {
  readonly path: '/info/refs?service=git-upload-pack' | '/git-upload-pack';
  /** The body of a POST; a GET without. */
  readonly body?: Uint8Array;
}) => Promise<Uint8Array>;

/** What a server supports. */
export interface Features {
  /** Whether it can leave objects out of a pack. */
  readonly canFilter: boolean;
  /** Whether requests must state the format of ids. */
  readonly hasFormat: boolean;
}

const SERVICE = '# service=git-upload-pack';
const MAX_SHOWN = 200;

/**
 * Asks a server what it supports (gitprotocol-v2, "Capability Advertisement").
 * @throws GitError if it does not support version 2, shallow fetches and SHA-1
 */
export async function featuresOf(send: GitSend, work: Work): Promise<Features> {
  const response = asBuffer(await send({ path: '/info/refs?service=git-upload-pack' }));
  const features = new Map<string, string>();
  let version: 2 | 'other' | undefined;
  for await (const packets of batchesIn(response, work)) {
    for (const packet of packets) {
      if (typeof packet === 'string') continue;
      const line = lineOf(packet);
      failOnReport(line);
      if (version === 2) {
        const [name = '', value = ''] = splitAt(line, '=');
        features.set(name, value);
      } else if (line !== SERVICE) version ??= line === 'version 2' ? 2 : 'other';
    }
  }
  const fetching = features.get('fetch')?.split(' ');
  if (!features.has('ls-refs') || !fetching)
    throw new GitError(`The server does not support version 2 of the git protocol, which is required. ${RUN_IN_CI}`);
  const format = features.get('object-format') ?? 'sha1';
  if (format !== 'sha1')
    throw new GitError(
      `The repository uses ${shownText(format, 20)} for the ids of its objects. Only sha1 is supported. ${RUN_IN_CI}`,
    );
  if (!fetching.includes('shallow'))
    throw new GitError(`The server does not support shallow fetches, which are required. ${RUN_IN_CI}`);
  return { canFilter: fetching.includes('filter'), hasFormat: features.has('object-format') };
}

/** The body of a request with a command (gitprotocol-v2, "Command Request"). */
function commandOf(name: string, { hasFormat }: Features, args: readonly string[]): Buffer {
  const format = hasFormat ? packetOf('object-format=sha1') : '';
  const head = `${packetOf(`command=${name}`)}${format}${SPECIAL[DELIMITER]}`;
  return Buffer.from(`${head}${args.map(packetOf).join('')}${SPECIAL[FLUSH]}`);
}

/** The id of a reference, or undefined if it does not exist (gitprotocol-v2, "ls-refs"). */
export async function idOfReference(
  send: GitSend,
  { features, name }: { readonly features: Features; readonly name: string },
  work: Work,
): Promise<string | undefined> {
  const body = commandOf('ls-refs', features, [`ref-prefix ${name}`]);
  const response = asBuffer(await send({ path: '/git-upload-pack', body }));
  let found: string | undefined;
  // All lines are read, because an incomplete response must not look like one without the reference.
  for await (const packets of batchesIn(response, work)) {
    for (const packet of packets) {
      if (typeof packet === 'string') continue;
      const line = lineOf(packet);
      failOnReport(line);
      const [id = '', reference] = line.split(' ', 2);
      if (reference !== name) continue;
      if (!isId(id)) throw malformed();
      found ??= id;
    }
  }
  return found;
}

/** Bands of the part `packfile` of a response. A third one has messages about the progress. */
const [PACK_BAND, ERROR_BAND] = [1, 3];

/** Requests a pack (gitprotocol-v2, "fetch"). @throws GitError if the response is incomplete, or the server reports an error */
export async function fetchPack(
  send: GitSend,
  { features, args }: { readonly features: Features; readonly args: readonly string[] },
  work: Work,
): Promise<Buffer> {
  const body = commandOf('fetch', features, [...args, 'no-progress', 'ofs-delta', 'done']);
  const response = asBuffer(await send({ path: '/git-upload-pack', body }));
  // One buffer for all parts: a response can have millions of them, each of which would need an object.
  const pack = Buffer.allocUnsafe(response.length);
  let end = 0;
  let section = '';
  let hasPack = false;
  for await (const packets of batchesIn(response, work)) {
    for (const packet of packets) {
      if (typeof packet === 'string') section = '';
      else if (section === 'packfile') {
        if (packet[0] === ERROR_BAND) throw reported(packet.toString('utf8', 1));
        if (packet[0] === PACK_BAND) end += packet.copy(pack, end, 1);
      } else {
        const line = lineOf(packet);
        failOnReport(line);
        if (section === '') section = line;
        hasPack ||= section === 'packfile';
      }
    }
  }
  if (!hasPack) throw new GitError('The server has not sent a pack.');
  return pack.subarray(0, end);
}

const BATCH = 256;

/** The packets of a response in batches, between which other work of the process runs. @throws GitError if it is incomplete */
async function* batchesIn(response: Buffer, { portions }: Work): AsyncGenerator<readonly Packet[], void, void> {
  let batch: Packet[] = [];
  let last: Packet | undefined;
  for (const packet of packetsIn(response)) {
    batch.push(packet);
    last = packet;
    if (batch.length < BATCH) continue;
    if (portions.isOver()) await portions.next();
    yield batch;
    batch = [];
  }
  // The error of a server ends its response, and is more important than that it is incomplete.
  yield batch;
  if (last !== FLUSH) throw malformed();
}

/** @throws GitError if a line is the error of a server (gitprotocol-pack, "pkt-line ERR") */
function failOnReport(line: string): void {
  if (line.startsWith('ERR ')) throw reported(line.slice('ERR '.length));
}

const reported = (text: string) => new GitError(`The server reports: ${shownText(text, MAX_SHOWN)}`);

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The parts before and after a separator. */
function splitAt(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Whether a text is the id of an object: 40 hexadecimal digits. */
export const isId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);
