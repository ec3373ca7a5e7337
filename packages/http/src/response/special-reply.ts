/** The kind of a special reply. The key is a symbol, because a plain reply can have any member. */
export const kind = Symbol('kind');

/**
 * What a handler returns if the response is not the plain reply: more than it, or something else.
 */
export type SpecialReply<R = unknown> =
  | AlreadyExists<R>
  | WithCookies<R>
  | WithEtag<R>
  | Rendered
  | RenderedParts
  | File
  | Unchanged
  | Redirect
  | Streamed;

/** It reads the member instead of using `in`, which costs more if replies have many shapes. */
export const isSpecialReply = (handled: unknown): handled is SpecialReply =>
  // Any value can be asked for it.
  (handled as Partial<SpecialReply> | null | undefined)?.[kind] !== undefined;

interface AlreadyExists<R> {
  readonly [kind]: 'already-exists';
  readonly reply: R;
}

/**
 * A reply for an object that already existed. The response has the status `alsoStatus` of the
 * endpoint.
 */
export const alreadyExists = <R>(reply: R): AlreadyExists<R> => ({ [kind]: 'already-exists', reply });

interface WithCookies<R> {
  readonly [kind]: 'with-cookies';
  readonly reply: R;
  readonly cookies: readonly string[];
  readonly clearsCache: boolean;
}

/**
 * A reply that sets or deletes cookies: `cookies` are values of `Set-Cookie`. With `clearsCache`,
 * the browser also deletes the responses that it has stored, because the user signed out.
 */
export const withCookies = <R>(reply: R, cookies: readonly string[], { clearsCache = false } = {}): WithCookies<R> => ({
  [kind]: 'with-cookies',
  reply,
  cookies,
  clearsCache,
});

interface WithEtag<R> {
  readonly [kind]: 'with-etag';
  readonly reply: R;
  readonly etag: string;
}

/** A reply with an entity tag that the handler computed. */
export const withEtag = <R>(reply: R, etag: string): WithEtag<R> => ({ [kind]: 'with-etag', reply, etag });

/** A reply in JSON that is rendered already, with its entity tag. */
export interface Rendered {
  readonly [kind]: 'rendered';
  readonly body: string | Buffer;
  readonly etag: string;
}

/**
 * The schema of the reply is not applied to `body`: the handler has validated its content. A short
 * body is sent at a lower cost as a string, because Node sends it together with its head.
 */
export const renderedReply = (body: string | Buffer, etag: string): Rendered => ({ [kind]: 'rendered', body, etag });

/** A reply in JSON that is rendered in parts, with its entity tag. */
export interface RenderedParts {
  readonly [kind]: 'rendered-parts';
  readonly parts: readonly Buffer[];
  readonly bytes: number;
  readonly etag: string;
}

/** Larger responses are not compressed. */
export const MAX_COMPRESSED_BYTES = 4 * 1024 * 1024;

/**
 * As `renderedReply`, from parts. If they are too large to be compressed, they are not copied, and
 * are sent as fast as the client reads them.
 */
export function renderedInParts(parts: readonly Buffer[], etag: string): Rendered | RenderedParts {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= MAX_COMPRESSED_BYTES) return renderedReply(Buffer.concat(parts), etag);
  return { [kind]: 'rendered-parts', parts, bytes, etag };
}

/** The size of a reply that is rendered already. */
export const bytesOfRendered = (rendered: Rendered | RenderedParts): number =>
  'parts' in rendered ? rendered.bytes : Buffer.byteLength(rendered.body);

/** A file instead of JSON, with its entity tag. */
export interface File {
  readonly [kind]: 'file';
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

/** Someone else made the file: a browser that opens it runs nothing and loads nothing. */
export const fileReply = (body: Buffer, { contentType, etag }: Pick<File, 'contentType' | 'etag'>): File => ({
  [kind]: 'file',
  body,
  contentType,
  etag,
});

interface Unchanged {
  readonly [kind]: 'unchanged';
  readonly etag: string;
}

/** Instead of a reply that the client already has: 304. */
export const unchanged = (etag: string): Unchanged => ({ [kind]: 'unchanged', etag });

export interface Redirect {
  readonly [kind]: 'redirect';
  readonly location: string;
  readonly cookies: readonly string[];
}

/** Redirects the browser. `cookies` are values of `Set-Cookie`. */
export const redirectTo = (location: string, cookies: readonly string[] = []): Redirect => ({
  [kind]: 'redirect',
  location,
  cookies,
});

/**
 * The parts of a stream. A function is called only when the response is sent; `disconnected` aborts
 * when the client disconnects.
 */
export type Chunks = AsyncIterable<string | Buffer> | ((disconnected: AbortSignal) => AsyncIterable<string | Buffer>);

/** How fast a client must read a stream. The connection of a slower client is closed. */
export interface Pace {
  /** The maximum duration of the stream, in milliseconds. */
  readonly durationMs: number;
  /** Each chunk must be accepted at this rate. */
  readonly bytesPerSecond: number;
  /** The additional time for each chunk, in milliseconds. */
  readonly allowanceMs: number;
}

interface StreamOptions {
  readonly etag?: string;
  /** Without a pace, only the limits of the connection apply. */
  readonly pace?: Pace;
  /** Whether reverse proxies must pass on each chunk at once. */
  readonly withoutBuffering?: boolean;
  /** The name of the file in which browsers store the response; undefined: they show it. */
  readonly fileName?: string | undefined;
  /** Called once, when the stream has ended or if it is not sent. */
  readonly onEnd?: () => void;
}

/** A response that is sent while it is generated. */
export interface Streamed {
  readonly [kind]: 'streamed';
  readonly contentType: string;
  readonly chunks: Chunks;
  readonly options: StreamOptions;
}

/** The handler must format the chunks itself. */
export const streamedReply = (contentType: string, chunks: Chunks, options: StreamOptions = {}): Streamed => ({
  [kind]: 'streamed',
  contentType,
  chunks,
  options,
});

export const isStreamed = (handled: unknown): handled is Streamed =>
  isSpecialReply(handled) && handled[kind] === 'streamed';
