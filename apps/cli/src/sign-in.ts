import { createHash, randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { Failure } from './errors.ts';
import { tell } from './output.ts';

/** The time in which the person allows it in the browser, in milliseconds. */
const LIMIT_MS = 2 * 60_000;

const random = () => randomBytes(32).toString('base64url');

/** The page that the browser shows at the end. It loads nothing. */
const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc</title><p>${text} You can close this page.</p></html>`;

/**
 * Lets the person connect this program in the console of a service (RFC 8252): waits on a port of
 * 127.0.0.1 for the redirect of the browser. The code is of no use without the verifier.
 * @param opens whether to open the browser; the address is printed in any case
 * @throws Failure if the person declines, or after two minutes
 */
export async function waitForCode(url: string, opens: boolean): Promise<{ code: string; verifier: string }> {
  const { createServer } = await import('node:http');
  const verifier = random();
  const state = random();
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const result = Promise.withResolvers<string>();
  const server = createServer((req, res) => {
    const { searchParams, pathname } = new URL(req.url ?? '/', 'http://127.0.0.1');
    const isIt = req.method === 'GET' && pathname === '/' && searchParams.get('state') === state;
    const code = searchParams.get('code');
    res.writeHead(isIt ? 200 : 404, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'",
      'Referrer-Policy': 'no-referrer',
      Connection: 'close',
    });
    res.end(isIt ? page(code === null ? 'svc was not connected.' : 'svc is connected.') : undefined);
    if (!isIt) return; // another page or program has sent it
    if (code === null) result.reject(new Failure('The sign-in was declined in the browser.'));
    else result.resolve(code);
  });
  const port = await listen(server);
  const timer = setTimeout(
    () => result.reject(new Failure(`Nobody has allowed the sign-in within ${LIMIT_MS / 60_000} minutes.`)),
    LIMIT_MS,
  );
  try {
    const address = `${url}/console/connect?${new URLSearchParams({ port: `${port}`, state, challenge })}`;
    tell(`Allow the sign-in in your browser:\n${address}`);
    if (opens) (await import('./browser.ts')).openInBrowser(address);
    return { code: await result.promise, verifier };
  } finally {
    clearTimeout(timer);
    server.close();
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
