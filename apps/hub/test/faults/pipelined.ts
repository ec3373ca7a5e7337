import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** A response to a pipelined request: its status, and its text with headers. */
export interface PipelinedResponse {
  readonly status: number;
  readonly text: string;
}

interface Requests {
  readonly url: string;
  readonly connections: number;
  /** The number of requests on each connection. All are sent at once. */
  readonly each: number;
}

/**
 * Sends many GET requests without waiting for responses, so that few connections are sufficient.
 */
export async function sendPipelined({ url, connections, each }: Requests): Promise<readonly PipelinedResponse[]> {
  const { hostname, port, host, pathname } = new URL(url);
  const request = (isLast: boolean) =>
    `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${isLast ? 'Connection: close\r\n' : ''}\r\n`;
  const requests = request(false).repeat(each - 1) + request(true);
  const received = await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect({ host: hostname, port: Number(port), timeout: 20_000 });
      socket.on('timeout', () => socket.destroy(new Error('no response for 20 s')));
      socket.write(requests);
      return text(socket);
    }),
  );
  return received
    .flatMap((all) => all.split(/(?=HTTP\/1\.1 \d{3} )/))
    .map((response) => ({ status: Number(response.slice(9, 12)), text: response }));
}
