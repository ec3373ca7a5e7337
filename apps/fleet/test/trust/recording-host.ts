import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onLoopback } from '@svc/testing';
import { aSimulatedHost } from '../reconciler/simulated-host.ts';

/** A digest of an image, by a name for it. */
export const digestOf = (name: string): string => `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0')}`;

/** The path of a question about an image. */
const IMAGE = /^\/v[\d.]+\/images\/(.+)\/json$/;

/**
 * A simulated host that records every request that it receives. All tags of its registry name one image, which can be another one
 * later. What was pulled before keeps its digest.
 */
export async function aRecordingHost(named: string) {
  const host = await aSimulatedHost();
  const { hostname, port } = new URL(host.endpoint.replace('tcp:', 'http:'));
  const requests: string[] = [];
  const images = new Set<string>();
  const digests = new Map<string, string>();
  let digest = digestOf(named);

  const forward = (req: IncomingMessage, res: ServerResponse, body: string, present: (found: object) => object) => {
    const { method, url: path, headers } = req;
    const isRead = method === 'GET' && IMAGE.test(path ?? '');
    const forwarded = request({ hostname, port, path, method, headers, agent: false }, (answered) => {
      if (!isRead || answered.statusCode !== 200) {
        res.writeHead(answered.statusCode ?? 502, answered.headers);
        res.flushHeaders();
        answered.pipe(res).once('close', () => forwarded.destroy());
        return;
      }
      void text(answered).then((found) => res.end(JSON.stringify(present(JSON.parse(found)))));
    });
    forwarded.once('error', () => res.destroy());
    res.once('close', () => forwarded.destroy());
    forwarded.end(body);
  };
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await text(req);
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://host.test');
    const path = decodeURIComponent(pathname);
    requests.push(`${req.method} ${path} ${decodeURIComponent(String(searchParams))} ${body}`);
    if (path.includes('/distribution/')) return void res.end(JSON.stringify({ Descriptor: { digest }, Platforms: [] }));
    const pulled = path.endsWith('/images/create') ? searchParams.get('fromImage') : null;
    if (pulled !== null) {
      images.add(pulled);
      digests.set(pulled, pulled.split('@')[1] ?? digest);
    }
    if (path.endsWith('/containers/create')) images.add(String(JSON.parse(body).Image));
    const [, name = ''] = IMAGE.exec(path) ?? [];
    const [repository] = name.split(/[:@]/);
    forward(req, res, body, (found) => ({ ...found, RepoDigests: [`${repository}@${digests.get(name) ?? digest}`] }));
  };
  const server = await onLoopback((req, res) => void answer(req, res).catch(() => res.destroy()));
  return {
    endpoint: server.url.replace('http:', 'tcp:'),
    requests: requests as readonly string[],
    creationsOf: host.creationsOf,
    /** All tags name another image from now on. */
    moveTags: (to: string) => {
      digest = digestOf(to);
    },
    /** The images that it was asked to pull or to run, each once. */
    images: (): string[] => [...images].sort(),
    stop: async () => {
      await server.stopListening();
      await host.stop();
    },
  };
}
