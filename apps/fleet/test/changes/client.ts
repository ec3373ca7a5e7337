import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@svc/testing';
import type { Express } from 'express';

/** An event of a stream. Comments and events without data have no `event`. */
export interface SentEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data?: { readonly kind: string; readonly id: string; readonly operation: string; readonly object: unknown };
}

function parseEvent(block: string): SentEvent {
  const fields = block.split('\n').flatMap((line): [string, string][] => {
    const colon = line.indexOf(': ');
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 2)]] : [];
  });
  const { data, ...rest } = Object.fromEntries(fields);
  return { ...rest, ...(data === undefined ? {} : { data: JSON.parse(data) }) };
}

/** A stream of changes, with all that it has received. */
export class Watch {
  readonly answer: IncomingMessage;
  readonly received: SentEvent[] = [];
  #text = '';

  constructor(answer: IncomingMessage) {
    this.answer = answer.setEncoding('utf8').on('error', () => undefined);
    answer.on('data', (chunk: string) => {
      this.#text += chunk;
      const blocks = this.#text.split('\n\n');
      this.#text = blocks.pop() ?? '';
      this.received.push(...blocks.map(parseEvent));
    });
  }

  get changes(): SentEvent[] {
    return this.received.filter(({ event }) => event === 'change');
  }

  /** Objects in the order of their events, as `<kind> <id>`. */
  get objects(): string[] {
    return this.changes.map(({ data }) => `${data?.kind} ${data?.id}`);
  }

  /** The last position. */
  get position(): string {
    return this.received.findLast(({ id }) => id !== undefined)?.id ?? '';
  }

  /** Resolves when the condition is true. `what` is the condition as a sentence. */
  async until(what: string, condition: (watch: Watch) => boolean): Promise<void> {
    await eventually(what, () => this.received.slice(-10), { until: () => condition(this) });
  }

  /** The events of one object, when there are `count` of them. */
  async ofObject(id: string, count = 1): Promise<SentEvent[]> {
    const ofId = () => this.changes.filter(({ data }) => data?.id === id);
    return eventually(`the stream has ${count} events of ${id}`, ofId, { until: ({ length }) => length >= count });
  }

  /** Resolves when the stream ended. */
  async ended(): Promise<{ readonly complete: boolean }> {
    await eventually('the stream has ended', () => this.answer.destroyed || this.answer.complete);
    return { complete: this.answer.complete };
  }

  end(): void {
    this.answer.destroy();
  }
}

/** Sends requests to a port. */
export function clientOf(port: number) {
  type Headers = Readonly<Record<string, string>>;
  /** `credential`: a bearer token, or the headers of a browser. */
  const request = async (path: string, credential: string | Headers, headers: Headers = {}) => {
    const authorization = typeof credential === 'string' ? { Authorization: `Bearer ${credential}` } : credential;
    const asked = get({ port, host: '127.0.0.1', path, headers: { ...authorization, ...headers }, agent: false });
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    if (!answer) throw new Error('no response');
    return answer;
  };
  return {
    request,
    /** The status and the JSON of a response, which can take long. */
    read: async (path: string, credential: string) => {
      const answer = await request(path, credential);
      let text = '';
      for await (const chunk of answer) text += chunk;
      return { status: answer.statusCode, body: JSON.parse(text) };
    },
    /** Opens a stream, and waits for its beginning. */
    watch: async (credential: string | Headers, query = '', headers: Headers = {}): Promise<Watch> => {
      const answer = await request(`/api/v1/changes?${query}`, credential, headers);
      if (answer.statusCode !== 200) {
        answer.destroy();
        throw new Error(`the stream answered ${answer.statusCode}`);
      }
      const watch = new Watch(answer);
      await watch.until('the stream has begun', ({ received }) => received.length > 0);
      return watch;
    },
  };
}

/** A replica on a port, for streams and for requests that wait. */
export async function listenFor(app: Express) {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens
  return {
    port,
    ...clientOf(port),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
