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

  /** Appends text to the log of the container `main` of a pod, or of `<pod>/<container>`, with the time `at`. */
  write(pod: string, text: string, at = Date.now()): void {
    this.#lines.set(pod, [...(this.#lines.get(pod) ?? []), { at, text }]);
    for (const [response, name] of this.#followers) if (name === pod) response.write(text);
  }

  /** Ends the log of a pod for its followers. */
  end(pod: string): void {
    for (const [response, name] of this.#followers) if (name === pod) response.end();
  }

  /** Sends the log of a container of a pod that has these containers. */
  send(name: string, containers: readonly string[], { query }: Received, response: ServerResponse): void {
    const { container = 'main' } = query;
    if (!containers.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
    const pod = container === 'main' ? name : `${name}/${container}`;
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
