import { pathOf } from '@svc/http';

/** The maximum length of what a client states about itself, in the log. */
const MAX_LENGTH = 40;
/** More than the length of a credential, so that none is cut before it is recognized. */
const MAX_READ = 4096;

/**
 * What the log of requests has of a message: its method, the tool, and the name of the client,
 * which is not verified.
 */
export function logEntryOf(message: unknown): Readonly<Record<string, string>> {
  const params = memberOf(message, 'params');
  const meta = memberOf(params, '_meta');
  const client = memberOf(meta, 'io.modelcontextprotocol/clientInfo') ?? memberOf(params, 'clientInfo');
  const method = memberOf(message, 'method');
  const members = {
    method,
    tool: method === 'tools/call' ? memberOf(params, 'name') : undefined,
    client: memberOf(client, 'name'),
  };
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (typeof value === 'string' ? [[name, printable(value)]] : [])),
  );
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name] // it has the member
    : undefined;

/** Without credentials, which a client may have put there by mistake. */
const printable = (text: string) =>
  pathOf(text.slice(0, MAX_READ))
    .slice(0, MAX_LENGTH)
    .replace(/[^\x20-\x7e]/g, '?');
