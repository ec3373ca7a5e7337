import { commitOf, descendsFrom, GIT_LIMITS, type GitSend, readFolder } from '../src/index.ts';
import { advertisement, CAPABILITIES, everything, memoryRepository, replaying, serverOf } from './memory-repository.ts';
import { packets, packOf, packResponse } from './packs.ts';
import { refusalOf } from './world.ts';

const repository = memoryRepository();
const commit = repository.commit({ 'a.yaml': 'kind: deployment\n' });
const read = (send: GitSend) => readFolder(send, { commit, folder: '', isWanted: everything });

const MALFORMED = 'The response of the server is incomplete, or not in the format of the git protocol.';
const NO_VERSION_2 =
  'The server does not support version 2 of the git protocol, which is required. Run `svc apply` in the CI of the repository instead.';

describe('a server', () => {
  it('can state its version with and without the name of the service', async () => {
    const [, ...responses] = [Buffer.alloc(0), packets(`${commit} refs/heads/main\n`, 'flush')];
    const short = packets('version 2\n', ...CAPABILITIES.map((line) => `${line}\n`), 'flush');
    expect(await commitOf(replaying([advertisement(), ...responses]), 'main')).toBe(commit);
    expect(await commitOf(replaying([short, ...responses]), 'main')).toBe(commit);
  });

  it.each([
    [
      'only version 0',
      packets(
        '# service=git-upload-pack\n',
        'flush',
        `${commit} HEAD\0multi_ack\n`,
        `${commit} refs/heads/main\n`,
        'flush',
      ),
      NO_VERSION_2,
    ],
    ['only version 1', packets('version 1\n', `${commit} HEAD\0multi_ack\n`, 'flush'), NO_VERSION_2],
    [
      'version 2 after another line',
      packets('version 1\n', 'version 2\n', 'fetch=shallow\n', 'ls-refs\n', 'flush'),
      NO_VERSION_2,
    ],
    ['no fetches', advertisement(['ls-refs']), NO_VERSION_2],
    ['no references', advertisement(['fetch=shallow']), NO_VERSION_2],
    [
      'no shallow fetches',
      advertisement(['ls-refs', 'fetch=filter']),
      /^The server does not support shallow fetches.*svc apply/,
    ],
    [
      'SHA-256',
      advertisement(['ls-refs', 'fetch=shallow', 'object-format=sha256']),
      /^The repository uses sha256 for the ids of its objects\. Only sha1 is supported\. Run `svc apply`/,
    ],
    ['a web page', Buffer.from('<!doctype html><title>Sign in</title>'), MALFORMED],
    ['nothing', Buffer.alloc(0), MALFORMED],
    ['half a line', advertisement().subarray(0, 60), MALFORMED],
    ['an error', packets('ERR access denied\n', 'flush'), 'The server reports: access denied'],
  ])('is refused with a reason if it sends %s', async (_what, response, reason) => {
    for (const work of [commitOf(replaying([response]), 'main'), read(replaying([response]))])
      expect(await refusalOf(work)).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
  });

  it('receives the format of ids only if it has stated one', async () => {
    const bodies: string[] = [];
    for (const capabilities of [CAPABILITIES, CAPABILITIES.slice(0, 3)])
      await commitOf(async ({ body }) => {
        if (body) bodies.push(Buffer.from(body).toString());
        return body ? packets('flush') : advertisement(capabilities);
      }, 'main');
    expect(bodies).toEqual([
      '0014command=ls-refs\n0017object-format=sha1\n0001001fref-prefix refs/heads/main\n0000',
      '0014command=ls-refs\n0001001fref-prefix refs/heads/main\n0000',
    ]);
  });
});

describe('the commit of a branch', () => {
  const answer = (...lines: string[]) => commitOf(replaying([advertisement(), packets(...lines)]), 'main');

  it('is that of the branch with exactly this name', async () => {
    const other = 'f'.repeat(40);
    expect(await answer(`${other} refs/heads/main-2\n`, `${commit} refs/heads/main symref-target:x\n`, 'flush')).toBe(
      commit,
    );
  });

  it('is undefined if the branch does not exist', async () => {
    expect(await answer('flush')).toBeUndefined();
    expect(await answer(`${commit} refs/heads/main-2\n`, 'flush')).toBeUndefined();
  });

  it.each([
    ['is incomplete', [`${commit} refs/heads/main\n`], MALFORMED],
    ['is incomplete and lacks the branch', [`${commit} refs/heads/another\n`], MALFORMED],
    ['has an invalid id', ['main refs/heads/main\n', 'flush'], MALFORMED],
    ['has an id of SHA-256', [`${'a'.repeat(64)} refs/heads/main\n`, 'flush'], MALFORMED],
    ['is an error', ['ERR not today\u001b[31m\n', 'flush'], 'The server reports: not today [31m'],
    ['is a long error', [`ERR ${'x'.repeat(5000)}\n`, 'flush'], `The server reports: ${'x'.repeat(199)}…`],
  ])('is refused if the response %s', async (_what, lines, reason) => {
    expect(await refusalOf(answer(...lines))).toBe(reason);
  });

  it('is not requested for an invalid name', async () => {
    await expect(commitOf(replaying([]), 'main\n0000')).rejects.toThrow(RangeError);
  });
});

describe('the response with a pack', () => {
  const send = (...lines: (string | Uint8Array)[]) => read(replaying([advertisement(), packets(...lines)]));

  it.each([
    ['has no pack', ['shallow-info\n', `shallow ${commit}\n`, 'flush'], 'The server has not sent a pack.'],
    ['is empty', ['flush'], 'The server has not sent a pack.'],
    ['has no end', ['packfile\n', '\u0001PACK'], MALFORMED],
    [
      'has an error beside the pack',
      ['packfile\n', '\u0003out of memory', 'flush'],
      'The server reports: out of memory',
    ],
    [
      'is an error, after which nothing follows',
      [`ERR upload-pack: not our ref ${commit}`],
      `The server reports: upload-pack: not our ref ${commit}`,
    ],
    ['has a pack that is not one', ['packfile\n', '\u0001tomorrow', 'flush'], /incomplete or damaged/],
    [
      'has a pack without the commit',
      ['packfile\n', Buffer.concat([Buffer.from([1]), packOf([])]), 'flush'],
      `The server has not sent the commit ${commit}.`,
    ],
  ])('is refused if it %s', async (_what, lines, reason) => {
    expect(await refusalOf(send(...lines))).toEqual(
      typeof reason === 'string' ? reason : expect.stringMatching(reason),
    );
  });

  it('can consist of millions of empty packets, which need no memory each', async () => {
    const empty = Buffer.alloc(5 * 400_000, '0005\u0001');
    const many = Buffer.concat([packets('packfile\n'), empty, packets('flush')]);
    expect(await refusalOf(read(replaying([advertisement(), many])))).toMatch(/incomplete or damaged/);
    const endless = Buffer.alloc(4 * 400_000, '0004');
    expect(await refusalOf(read(replaying([advertisement(), endless])))).toBe(MALFORMED);
  });

  it('lets other work run while it is read', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const many = memoryRepository();
    const large = many.commit({ 'a.yaml': 'x' });
    for (let index = 0; index < 20_000; index += 1) many.add({ type: 'blob', data: Buffer.from(`blob ${index}`) });
    const response = Buffer.from(
      await serverOf(many.objects)({ path: '/git-upload-pack', body: Buffer.from('deepen') }),
    );
    turns = 0;
    const folder = await readFolder(replaying([advertisement(), response]), {
      commit: large,
      folder: '',
      isWanted: everything,
    });
    clearInterval(timer);
    expect(folder?.files).toEqual([{ path: 'a.yaml', text: 'x' }]);
    expect(turns).toBeGreaterThan(2);
  });
});

it('accepts only ids as commits, and 1 to 100 generations', async () => {
  const unused = replaying([]);
  const folder = { folder: '', isWanted: everything };
  for (const wrong of ['', 'main', 'A'.repeat(40), `${commit}\n`, commit.slice(1)]) {
    await expect(readFolder(unused, { commit: wrong, ...folder })).rejects.toThrow(RangeError);
    await expect(descendsFrom(unused, { commit: wrong, ancestor: commit })).rejects.toThrow(RangeError);
    await expect(descendsFrom(unused, { commit, ancestor: wrong })).rejects.toThrow(RangeError);
  }
  for (const most of [0, 101, 1.5, Number.NaN])
    await expect(descendsFrom(unused, { commit, ancestor: 'a'.repeat(40), most })).rejects.toThrow(RangeError);
});

it('cannot tell whether a commit descends from another one if the commits between them exceed a bound', async () => {
  const many = replaying([advertisement(), packResponse(packOf([], GIT_LIMITS.objects + 1))]);
  expect(await descendsFrom(many, { commit, ancestor: 'a'.repeat(40) })).toBe(false);
});

it('does not descend from a commit that descends from it, so that the server sends nothing', async () => {
  const nothing = replaying([advertisement(), packResponse(packOf([]))]);
  expect(await descendsFrom(nothing, { commit, ancestor: 'a'.repeat(40) })).toBe(false);
});
