import type { Endpoint } from '@svc/contract';
import type { Request } from 'express';
import { etagOfBody, hasEtagOf } from './etag.ts';
import { JSON_TYPE, type PendingResponse } from './respond.ts';
import {
  type File,
  isSpecialReply,
  kind,
  type Rendered,
  type RenderedParts,
  type Streamed,
  streamedReply,
} from './special-reply.ts';

const VARY = 'Accept-Encoding, Authorization, Cookie, Origin';

/** What the presentation of a reply depends on. */
interface Presentation {
  readonly endpoint: Endpoint;
  readonly req: Request;
  readonly cacheControl: string;
}

/**
 * The response for what a handler returned. The reply schema removes members that are not part of
 * the API. Frequent responses state their headers in one literal, because spreading an object and
 * adding to it costs a microsecond.
 */
export function present(endpoint: Endpoint, handled: unknown, req: Request): PendingResponse {
  const cacheControl = cacheControlOf(endpoint, req);
  const presentation = { endpoint, req, cacheControl };
  if (!isSpecialReply(handled)) return presentReply(presentation, handled);
  switch (handled[kind]) {
    case 'with-etag':
      return presentReply(presentation, handled.reply, handled.etag);
    case 'already-exists':
      return {
        status: endpoint.alsoStatus ?? endpoint.status,
        headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': cacheControl, Vary: VARY },
        body: JSON.stringify(endpoint.reply.parse(handled.reply)),
      };
    case 'with-cookies': {
      const response = presentReply(presentation, handled.reply);
      const cleared = handled.clearsCache ? { 'Clear-Site-Data': '"cache"' } : {};
      return { ...response, headers: { ...response.headers, ...cleared, 'Set-Cookie': handled.cookies } };
    }
    case 'rendered':
      return presentRendered(presentation, handled);
    case 'rendered-parts':
      return presentParts(presentation, handled);
    case 'file':
      return presentFile(presentation, handled);
    case 'unchanged':
      return notModified(cacheControl, handled.etag);
    case 'redirect':
      return {
        status: endpoint.status,
        headers: {
          'Cache-Control': cacheControl,
          Vary: VARY,
          'Set-Cookie': handled.cookies,
          Location: handled.location,
        },
      };
    case 'streamed':
      return presentStreamed(endpoint, handled);
  }
}

function presentReply(
  { endpoint, req, cacheControl }: Presentation,
  reply: unknown,
  ownEtag?: string,
): PendingResponse {
  const { status } = endpoint;
  if (status === 204) return { status, headers: { 'Cache-Control': cacheControl, Vary: VARY } };
  const body = JSON.stringify(endpoint.reply.parse(reply));
  if (!isRevalidated(endpoint)) {
    return { status, headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': cacheControl, Vary: VARY }, body };
  }
  const etag = ownEtag ?? etagOfBody(body);
  if (hasEtagOf(req)(etag)) return notModified(cacheControl, etag);
  const headers = { 'Content-Type': JSON_TYPE, 'Cache-Control': cacheControl, Vary: VARY, ETag: etag };
  return { status, headers, body, isCompressible: true };
}

function presentRendered({ endpoint, req, cacheControl }: Presentation, { body, etag }: Rendered): PendingResponse {
  if (hasEtagOf(req)(etag)) return notModified(cacheControl, etag);
  return {
    status: endpoint.status,
    headers: { 'Cache-Control': cacheControl, Vary: VARY, 'Content-Type': JSON_TYPE, ETag: etag },
    body,
    isCompressible: isRevalidated(endpoint),
  };
}

function presentParts(
  { endpoint, req, cacheControl }: Presentation,
  { parts, bytes, etag }: RenderedParts,
): PendingResponse {
  if (hasEtagOf(req)(etag)) return notModified(cacheControl, etag);
  return {
    status: endpoint.status,
    headers: {
      'Cache-Control': cacheControl,
      Vary: VARY,
      'Content-Type': JSON_TYPE,
      ETag: etag,
      'Content-Length': String(bytes),
    },
    stream: streamedReply(JSON_TYPE, async function* () {
      yield* parts;
    }),
  };
}

/** The policy of a file that someone else made. `nosniff` is one of the headers of all responses. */
const FILE_POLICY = "default-src 'none'; sandbox";

function presentFile(
  { endpoint, req, cacheControl }: Presentation,
  { body, contentType, etag }: File,
): PendingResponse {
  if (hasEtagOf(req)(etag)) return notModified(cacheControl, etag);
  return {
    status: endpoint.status,
    headers: {
      'Cache-Control': cacheControl,
      Vary: VARY,
      'Content-Type': contentType,
      'Content-Security-Policy': FILE_POLICY,
      ETag: etag,
    },
    body,
  };
}

const notModified = (cacheControl: string, etag: string): PendingResponse => ({
  status: 304,
  headers: { 'Cache-Control': cacheControl, Vary: VARY, ETag: etag },
});

/**
 * Streams are not stored. Proxies that compress a stream delay its chunks, too; nginx reads the
 * other header.
 */
function presentStreamed({ status }: Endpoint, stream: Streamed): PendingResponse {
  const { etag, withoutBuffering = false, fileName } = stream.options;
  return {
    status,
    headers: {
      'Cache-Control': withoutBuffering ? 'no-store, no-transform' : 'no-store',
      Vary: VARY,
      'Content-Type': stream.contentType,
      ...(withoutBuffering ? { 'X-Accel-Buffering': 'no' } : {}),
      ...(etag === undefined ? {} : { ETag: etag }),
      ...(fileName === undefined ? {} : { 'Content-Disposition': `attachment; filename="${fileName}"` }),
    },
    stream,
  };
}

/**
 * Whether caches can store the response and must revalidate it. Responses to writes and with
 * secrets must not be stored.
 */
const isRevalidated = (endpoint: Endpoint) => endpoint.method === 'get' && !endpoint.secret;

function cacheControlOf(endpoint: Endpoint, req: Request): string {
  if (!isRevalidated(endpoint)) return 'no-store';
  const isAnonymous = req.headers.authorization === undefined && req.headers.cookie === undefined;
  return isAnonymous ? 'public, no-cache' : 'private, no-cache';
}
