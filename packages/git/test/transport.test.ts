import { createOutbound, OutboundRefused, refusalIn } from '@svc/http';
import { aGitServer, byDepth, describeWithGit, type GitFault, type GitServer, seed } from '@svc/testing';
import fc from 'fast-check';
import { commitOf, GIT_OUTBOUND, GitError, gitOver, readFolder } from '../src/index.ts';
import { advertisement, everything } from './memory-repository.ts';
import { packets } from './packs.ts';
import { aTarget, refusalOf } from './world.ts';

const outbound = createOutbound(GIT_OUTBOUND);
afterAll(() => outbound.close());

describe('the URL of a repository', () => {
  test.each([
    ['ssh://git@example.test/a.git', /must begin with https:\/\/.*`svc apply`/],
    ['git://example.test/a.git', /must begin with https:\/\//],
    ['file:///srv/a.git', /must begin with https:\/\//],
    ['https://user:word@example.test/a.git', /must not contain a user or a password\. Set the token instead/],
    ['https://user@example.test/a.git', /must not contain a user/],
    ['https://example.test/a.git?x=y', /must not contain a query/],
    ['https://example.test/a.git#x', /must not contain a query or a fragment/],
  ])('cannot be %s', (url, reason) => {
    const make = () => gitOver({ outbound, url: new URL(url) });
    expect(make).toThrow(GitError);
    expect(make).toThrow(reason);
  });

  test.each(['', 'a:b'])('cannot have a token of the user %j', (user) => {
    expect(() => gitOver({ outbound, url: new URL('https://example.test'), token: 'x', user })).toThrow(GitError);
  });
});

describe('a request', () => {
  test('has the version of the protocol, and the token for the host of the URL', async () => {
    const target = await aTarget(({ method }, res) => {
      const type = `application/x-git-upload-pack-${method === 'POST' ? 'result' : 'advertisement'}`;
      res.setHeader('Content-Type', `${type}; charset=utf-8`);
      res.end(method === 'POST' ? packets('flush') : advertisement());
    });
    const url = new URL(`${target.url}/group/a.git//`);
    expect(await commitOf(gitOver({ outbound, url, token: 't\u00f6ken' }), 'main')).toBeUndefined();
    expect(await commitOf(gitOver({ outbound, url, token: 'x', user: 'oauth2' }), 'main')).toBeUndefined();
    expect(await commitOf(gitOver({ outbound, url }), 'main')).toBeUndefined();
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const asked = target.requests.map(({ method, url, headers }) => [method, url, headers.authorization]);
    const [GET, POST] = ['/group/a.git/info/refs?service=git-upload-pack', '/group/a.git/git-upload-pack'];
    expect(asked).toEqual([
      ['GET', GET, basic('x-access-token:t\u00f6ken')],
      ['POST', POST, basic('x-access-token:t\u00f6ken')],
      ['GET', GET, basic('oauth2:x')],
      ['POST', POST, basic('oauth2:x')],
      ['GET', GET, undefined],
      ['POST', POST, undefined],
    ]);
    const { headers } = target.requests[1] ?? {};
    expect(headers).toMatchObject({
      'git-protocol': 'version=2',
      'content-type': 'application/x-git-upload-pack-request',
    });
    await target.stop();
  });

  test.each([
    [301, /status 301, a redirect\. Redirects are not followed: set the URL to which it leads\.$/],
    [302, /status 302, a redirect/],
    [307, /status 307, a redirect/],
    [308, /status 308, a redirect/],
    [401, /status 401\. The token is (missing|wrong, expired), or may not read this repository\.$/],
    [403, /status 403\. The token is (missing|wrong, expired), or may not read this repository, or the server refuses/],
    [404, /status 404\. The repository does not exist, or (a token is required|the token is expired)/],
    [204, /status 204 instead of 200\.$/],
    [429, /status 429 instead of 200\.$/],
    [500, /status 500 instead of 200\.$/],
  ])('that receives the status %p fails with what it means, with and without a token', async (status, reason) => {
    const other = await aTarget((_req, res) => res.end());
    const target = await aTarget((_req, res) => res.writeHead(status, { Location: `${other.url}/internal` }).end());
    const messages = await Promise.all(
      [undefined, 'secret-token'].map((token) =>
        refusalOf(commitOf(gitOver({ outbound, url: new URL(target.url), token }), 'main')),
      ),
    );
    for (const message of messages) expect(message).toMatch(reason);
    expect(messages.join()).not.toContain('secret-token');
    if ([401, 403, 404].includes(status)) expect(messages[0]).not.toBe(messages[1]);
    expect(other.requests).toEqual([]);
    await Promise.all([target.stop(), other.stop()]);
  });

  test.each(['text/html; charset=utf-8', 'application/octet-stream', 'text/plain', undefined])(
    'that receives the content type %p fails',
    async (type) => {
      const target = await aTarget((_req, res) => {
        if (type) res.setHeader('Content-Type', type);
        res.end(advertisement());
      });
      expect(await refusalOf(commitOf(gitOver({ outbound, url: new URL(target.url) }), 'main'))).toMatch(
        /^The URL is not a git repository served over HTTP/,
      );
      await target.stop();
    },
  );

  test.each([
    'http://169.254.169.254/a.git',
    'http://127.0.0.1:1/a.git',
    'https://10.0.0.1/a.git',
    'http://example.test/a.git',
  ])('to %s is refused by an outbound for addresses that users set', async (url) => {
    const restricted = createOutbound({ ...GIT_OUTBOUND, restrictTo: new Set() });
    const error: unknown = await commitOf(gitOver({ outbound: restricted, url: new URL(url) }), 'main').catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(GitError);
    expect(refusalIn(error)).toBeInstanceOf(OutboundRefused);
    await restricted.close();
  });
});

describeWithGit('a repository of git over HTTP', () => {
  let server: GitServer | undefined;
  const outbounds: ReturnType<typeof createOutbound>[] = [];
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    for (const each of outbounds.splice(0)) await each.close();
  });

  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`fleet/${index}.yaml`, `number: ${index}\n`]),
  );
  async function aRepository({ token }: { readonly token?: string } = {}) {
    server = await aGitServer(token === undefined ? {} : { token });
    const [commit = ''] = await server.commit({ files });
    const { url } = server;
    const read = async (
      limits: Partial<typeof GIT_OUTBOUND | { timeoutMs: number; maxBytes: number }> = {},
      given = token,
    ) => {
      const own = createOutbound({ ...GIT_OUTBOUND, ...limits });
      outbounds.push(own);
      const send = gitOver({ outbound: own, url: new URL(url), token: given });
      const found = await commitOf(send, 'main');
      return found === undefined
        ? undefined
        : readFolder(send, { commit: found, folder: 'fleet', isWanted: everything });
    };
    return { server, commit, read };
  }

  test('is read with its token only', async () => {
    const { server, commit, read } = await aRepository({ token: 'right' });
    expect(await read()).toMatchObject({ commit });
    expect(new Set(server.requests.map(({ user }) => user))).toEqual(new Set(['x-access-token']));
    expect(await refusalOf(read({}, 'wrong'))).toMatch(/status 401\. The token is wrong/);
    server.settings.token = 'another';
    expect(await refusalOf(read())).toMatch(/status 401/);
  });

  test.each<[string, GitFault, RegExp]>([
    [
      'a redirect to a metadata service',
      { kind: 'response', status: 302, headers: { Location: 'http://169.254.169.254/' } },
      /302/,
    ],
    ['an error', { kind: 'response', status: 500 }, /status 500/],
    ['a body without an end', { kind: 'endless' }, /^The response of the server is larger than 1 MiB\.$/],
    ['a large body', { kind: 'body', body: Buffer.alloc(2 ** 20 + 1) }, /larger than 1 MiB/],
    ['an empty body', { kind: 'body', body: Buffer.alloc(0) }, /incomplete/],
  ])('is not read if each of its responses is %s', async (_what, fault, reason) => {
    const { server, read } = await aRepository();
    for (const skip of [0, 1, 2, 3, 4]) {
      server.failWith(fault, skip);
      expect(await refusalOf(read({ maxBytes: 2 ** 20 }))).toMatch(reason);
    }
  });

  test.each<[string, GitFault]>([
    ['a body of a byte at a time', { kind: 'slow' }],
    ['a body that is cut', { kind: 'cut', afterBytes: 10 }],
  ])('is not read if each of its responses is %s', async (_what, fault) => {
    const { server, read } = await aRepository();
    server.failWith(fault);
    await expect(read({ timeoutMs: 200 })).rejects.toThrow();
  });

  test('never has fewer files because of a response that ends anywhere', async () => {
    const { server, read } = await aRepository();
    const complete = await read();
    expect(complete?.files).toHaveLength(30);
    const faults = fc.record({
      kind: fc.constantFrom('cut' as const, 'short' as const),
      bytes: fc.nat({ max: 2500 }),
      skip: fc.nat({ max: 4 }),
    });
    let failures = 0;
    for (const { kind, bytes, skip } of fc.sample(faults, {
      seed,
      numRuns: byDepth({ short: 15, full: 200, long: 1000 }),
    })) {
      server.failWith(kind === 'cut' ? { kind, afterBytes: bytes } : { kind, bytes }, skip);
      const found = await read().catch((error: unknown) => error);
      if (found instanceof Error) failures += 1;
      else expect(found).toEqual(complete);
    }
    expect(failures).toBeGreaterThan(0);
  });
});
