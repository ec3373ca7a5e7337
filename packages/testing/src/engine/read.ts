import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Reads an object of an engine with its API, which takes a small part of the processor time of its command-line client.
 * @param path the path and query without the version of the API
 * @returns the JSON of the response
 * @throws Error if the status is 400 or above
 */
export async function readEngine(endpoint: string, path: string) {
  const asked = get({ socketPath: new URL(endpoint).pathname, path, agent: false });
  const [answer]: IncomingMessage[] = await once(asked, 'response');
  const body = answer ? await text(answer) : '';
  if ((answer?.statusCode ?? 500) >= 400) throw new Error(`GET ${path}: ${answer?.statusCode} ${body}`);
  return JSON.parse(body);
}
