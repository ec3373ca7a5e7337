import type { Endpoint } from '@svc/contract';
import type { WireRequest } from './wire.ts';

/** A request to send, and what may come of it. */
export interface HostileRequest extends WireRequest {
  readonly method: string;
  /** The address, by which the OpenAPI document knows the operation. */
  readonly target: string;
  /** What is sent is another address: a refusal may be that one's. */
  readonly elsewhere: boolean;
  /** For a person to send it again; the credential stands there by its caller's name. */
  readonly shown: string;
  /** It is no HTTP as Node's parser takes it: refused before any code of ours runs. */
  readonly unreadable: boolean;
}

/** Callers by name, with the value of their Authorization header. */
export type Callers = Readonly<Record<string, string | undefined>>;

export interface Parts {
  readonly method: string;
  readonly target: string;
  readonly caller: string;
  readonly authorization: string | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The simplest request of an endpoint. */
export const plainRequest = (endpoint: Endpoint, caller: string, authorizations: Callers): HostileRequest =>
  requestOf({
    method: endpoint.method.toUpperCase(),
    target: endpoint.path.replace(/:\w+/g, 'nothing-of-this-name'),
    caller,
    authorization: authorizations[caller],
    headers: [],
    body: endpoint.bodyLimit > 0 ? '{}' : '',
  });

const MAX_SHOWN = 4000;

/** The request of these parts, in bytes and for a person. */
export function requestOf({ method, target, caller, authorization, headers, body }: Parts): HostileRequest {
  const own = body === '' ? headers : [...headers, 'Content-Type: application/json'];
  const sent = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...own,
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ].join('\r\n');
  const flags = authorization === undefined ? own : [`Authorization: <${caller}>`, ...own];
  const shown = [
    `curl --path-as-is -X ${method} ${quoted(`$URL${target}`)}`,
    ...flags.map((header) => `-H ${quoted(header)}`),
    ...(body === '' ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' ');
  return {
    method,
    target,
    bytes: Buffer.concat([Buffer.from(`${sent}\r\n\r\n`, 'latin1'), Buffer.from(body)]),
    elsewhere: false,
    headOnly: method === 'HEAD',
    cut: false,
    shown: shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}… (${shown.length} characters)` : shown,
    unreadable: sent.length > MAX_HEAD,
  };
}

/** Less than the 16 KiB that Node's parser is given: it answers 431 by itself. */
const MAX_HEAD = 16_000;

const quoted = (text: string): string => `$'${text.replace(/[\\']/g, '\\$&').replace(/[^ -~]/g, escaped)}'`;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
