import type { Endpoint } from '@svc/contract';
import type { WireRequest } from './wire.ts';

/** A request to send, and its possible results. */
export interface HostileRequest extends WireRequest {
  readonly method: string;
  /** The target, which identifies the operation in the OpenAPI document. */
  readonly target: string;
  /** The sent target differs, so an error can be that of another operation. */
  readonly elsewhere: boolean;
  /** A command that repeats the request. The name of the caller replaces the credential. */
  readonly shown: string;
  /** Node's HTTP parser rejects it before the app receives it. */
  readonly unreadable: boolean;
}

/** The header lines that authenticate callers, by name. Nobody has none. */
export type Callers = Readonly<Record<string, readonly string[]>>;

export interface Parts {
  readonly method: string;
  readonly target: string;
  readonly caller: string;
  /** The header lines that authenticate the caller. */
  readonly credential: readonly string[];
  readonly headers: readonly string[];
  readonly body: string;
}

/** A minimal request of an endpoint. */
export const plainRequest = (endpoint: Endpoint, caller: string, callers: Callers): HostileRequest =>
  requestOf({
    method: endpoint.method.toUpperCase(),
    target: endpoint.path.replace(/:\w+/g, 'nothing-of-this-name'),
    caller,
    credential: callers[caller] ?? [],
    headers: [],
    body: endpoint.bodyLimit > 0 ? '{}' : '',
  });

const MAX_SHOWN = 4000;

/** Creates a request from its parts, as bytes and as a command. */
export function requestOf({ method, target, caller, credential, headers, body }: Parts): HostileRequest {
  const own = body === '' ? headers : [...headers, 'Content-Type: application/json'];
  const sent = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...credential,
    ...own,
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ].join('\r\n');
  const flags = credential.length === 0 ? own : [`Authorization: <${caller}>`, ...own];
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

/** Less than the limit of 16 KiB, above which Node's HTTP parser responds with 431. */
const MAX_HEAD = 16_000;

const quoted = (text: string): string => `$'${text.replace(/[\\']/g, '\\$&').replace(/[^ -~]/g, escaped)}'`;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
