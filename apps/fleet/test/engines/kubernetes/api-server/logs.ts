import type { ServerResponse } from 'node:http';
import { badRequest } from './refusal.ts';
import type { Received } from './request.ts';

interface Line {
  readonly at: number;
  readonly text: string;
}

/** The logs of containers. */
export class Logs {
  readonly #lines = new Map<string, Line[]>();
  readonly #followers = new Map<ServerResponse, string>();

  get followers(): number {
    return this.#followers.size;
  }

  /** Appends text to the log of a pod, with the time `at`. */
  write(pod: string, text: string, at = Date.now()): void {
    this.#lines.set(pod, [...(this.#lines.get(pod) ?? []), { at, text }]);
    for (const [response, name] of this.#followers) if (name === pod) response.write(text);
  }

  /** Ends the log of a pod for its followers. */
  end(pod: string): void {
    for (const [response, name] of this.#followers) if (name === pod) response.end();
  }

  send(pod: string, { query }: Received, response: ServerResponse): void {
    if (query.container !== undefined && query.container !== 'main') {
      throw badRequest(`container ${query.container} is not valid for pod ${pod}`);
    }
    const since = query.sinceTime ? Date.parse(query.sinceTime) : 0;
    const written = (this.#lines.get(pod) ?? []).filter(({ at }) => at >= since).map(({ text }) => text);
    const lines = written.join('').split(/(?<=\n)/);
    const last = query.tailLines === undefined ? lines : lines.slice(-Number(query.tailLines) || lines.length);
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.flushHeaders();
    if (last.join('') !== '') response.write(last.join(''));
    if (query.follow !== 'true') {
      response.end();
      return;
    }
    this.#followers.set(response, pod);
    response.once('close', () => this.#followers.delete(response));
  }
}
