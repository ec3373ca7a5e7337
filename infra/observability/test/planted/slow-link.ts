import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A proxy between a service and its database that can delay each response. */
export interface SlowLink {
  readonly databaseUrl: string;
  /** The delay of responses from now on, in milliseconds. */
  delay(milliseconds: number): void;
  close(): void;
}

/** Starts a proxy to the server of a URL, on the loopback address. */
export async function startSlowLink(databaseUrl: string): Promise<SlowLink> {
  const url = new URL(databaseUrl);
  const { hostname, port } = url;
  let milliseconds = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    client.pipe(upstream);
    let written = Promise.resolve(); // keeps the order of responses when the delay changes
    upstream.on('data', (chunk) => {
      const due = wait(milliseconds);
      written = written.then(() => due).then(() => void (client.destroyed || client.write(chunk)));
    });
    upstream.on('end', () => void written.then(() => client.end()));
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen');
  url.hostname = '127.0.0.1';
  url.port = `${address.port}`;
  return {
    databaseUrl: url.href,
    delay: (given) => {
      milliseconds = given;
    },
    close: () => server.close(),
  };
}
