import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jest } from '@jest/globals';
import { parseFields, text as textRule } from '@svc/contract';
import { execute } from '@svc/http';
import { acceptChain, inspectKeyring, publicKeyOfPem, readSignature, verifyTemplate } from '@svc/trust';
import { KEYRING, readKeyringFile } from '../../src/commands/publishing/keyring-file.ts';
import { readSignatures } from '../../src/commands/publishing/signed-folder.ts';
import { program } from '../../src/commands.ts';
import { startWorld } from '../world.ts';
import { HARDEST } from './hardest-texts.ts';

const STARTER = path.resolve(import.meta.dirname, '../../../../infra/catalog');
const folders = mkdtempSync(path.join(tmpdir(), 'publishing-'));
afterAll(() => rmSync(folders, { recursive: true }));
afterEach(() => jest.restoreAllMocks());

/** Runs a command. @returns what it printed, and its exit code */
async function run(...args: readonly string[]): Promise<{ readonly text: string; readonly code: number | undefined }> {
  const printed: unknown[] = [];
  jest.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(text));
  const code = await execute(program, args);
  return { text: printed.join('\n'), code };
}

let count = 0;
const aPath = (name: string) => path.join(folders, `${++count}-${name}`);

async function aKey(...options: readonly string[]) {
  const file = aPath('key.pem');
  await run('keys', 'new', file, ...options);
  const { kid } = await publicKeyOfPem(readFileSync(`${file}.pub`));
  return { file, publicFile: `${file}.pub`, kid };
}

/** A folder with two templates, without a keyring. */
function aFolder(): string {
  const folder = aPath('catalog');
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
  for (const slug of ['one', 'two']) writeTemplate(folder, slug, 'image_tag: "1"');
  return folder;
}

const writeTemplate = (folder: string, slug: string, more: string) =>
  writeFileSync(
    path.join(folder, 'templates', `${slug}.yaml`),
    `name: ${slug}\ncategory: tools\nimage_name: acme/${slug}\n${more}\n`,
  );

async function aSignedFolder() {
  const folder = aFolder();
  const root = await aKey();
  const key = await aKey();
  await run('keys', 'keyring', folder, '--publisher', 'acme', '--root', root.file, '--key', key.publicFile);
  await run('sign', folder, '--key', key.file);
  return { folder, root, key };
}

const statementsOf = (folder: string) =>
  Object.entries(readSignatures(folder).templates).map(([slug, [signature = '']]) => {
    const { kid, statement } = readSignature(signature);
    return { slug, kid, serial: statement.serial, publisher: statement.publisher };
  });

const keyringIn = async (folder: string) => (await inspectKeyring(readKeyringFile(folder).keyring)).keyring;

describe('keys new', () => {
  it.each(['Ed25519', 'ES256'])(
    'writes a private key of type %s for its owner only, and the public one',
    async (type) => {
      const { file, publicFile, kid } = await aKey('--algorithm', type);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(await publicKeyOfPem(readFileSync(file))).toMatchObject({ alg: type, kid });
      expect(readFileSync(publicFile, 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    },
  );

  it('never overwrites a file', async () => {
    const { file, publicFile } = await aKey();
    const before = readFileSync(file, 'utf8');
    await expect(run('keys', 'new', file)).rejects.toThrow('A key is never overwritten');
    rmSync(file);
    await expect(run('keys', 'new', file)).rejects.toThrow(publicFile);
    expect(existsSync(file)).toBe(false);
    expect(before).toContain('PRIVATE KEY');
  });

  it('refuses another algorithm', async () => {
    await expect(run('keys', 'new', aPath('k'), '--algorithm', 'RSA')).rejects.toThrow('must be Ed25519 or ES256');
  });
});

describe('sign', () => {
  it('signs each template once, so that a second run changes nothing', async () => {
    const { folder, key } = await aSignedFolder();
    expect(statementsOf(folder)).toEqual(
      ['one', 'two'].map((slug) => ({ slug, kid: key.kid, serial: 1, publisher: 'acme' })),
    );
    const before = readFileSync(path.join(folder, 'signatures.json'), 'utf8');
    expect((await run('sign', folder, '--key', key.file)).text).toBe('0 signed, 2 unchanged');
    expect(readFileSync(path.join(folder, 'signatures.json'), 'utf8')).toBe(before);
  });

  it('signs what has changed with the next serial, and all templates with --all', async () => {
    const { folder, key } = await aSignedFolder();
    writeTemplate(folder, 'two', 'image_tag: "2"');
    const { text } = await run('sign', folder, '--key', key.file);
    expect(text).toBe('sign two\n1 signed with the serial 2, 1 unchanged');
    expect(statementsOf(folder).map(({ serial }) => serial)).toEqual([1, 2]);
    await run('sign', folder, '--key', key.file, '--all');
    expect(statementsOf(folder).map(({ serial }) => serial)).toEqual([3, 3]);
    expect(readSignatures(folder).serial).toBe(3);
  });

  it('does not sign again for what belongs to the hub', async () => {
    const { folder, key } = await aSignedFolder();
    writeTemplate(folder, 'two', 'image_tag: "1"\ntags: [other]\nis_featured: true');
    expect((await run('sign', folder, '--key', key.file)).text).toBe('0 signed, 2 unchanged');
  });

  it('removes the signature of a template without a file', async () => {
    const { folder, key } = await aSignedFolder();
    rmSync(path.join(folder, 'templates', 'two.yaml'));
    expect((await run('sign', folder, '--key', key.file)).text).toContain('remove the signature of two');
    expect(statementsOf(folder).map(({ slug }) => slug)).toEqual(['one']);
  });

  it('keeps signatures of other publishers while they are about the content', async () => {
    const { folder, key } = await aSignedFolder();
    const other = await aSignedFolder();
    const file = readSignatures(folder);
    const keyring = readKeyringFile(other.folder);
    cpSync(path.join(folder, 'templates'), path.join(other.folder, 'templates'), { recursive: true });
    writeFileSync(path.join(other.folder, 'signatures.json'), JSON.stringify(file));
    rmSync(path.join(other.folder, KEYRING));
    const { root, key: otherKey } = other;
    await run(
      'keys',
      'keyring',
      other.folder,
      '--publisher',
      'zeta',
      '--root',
      root.file,
      '--key',
      otherKey.publicFile,
    );
    await run('sign', other.folder, '--key', otherKey.file);
    expect(keyring.publisher).toBe('acme');
    const publishers = (readSignatures(other.folder).templates.one ?? []).map(
      (signature) => readSignature(signature).statement.publisher,
    );
    expect(publishers).toEqual(['acme', 'zeta']);
    writeTemplate(other.folder, 'one', 'image_tag: "5"');
    await run('sign', other.folder, '--key', otherKey.file);
    expect(readSignatures(other.folder).templates.one).toHaveLength(1);
    expect(key.kid).not.toBe(otherKey.kid);
  });

  it('refuses a key that the keyring does not list as one in use', async () => {
    const { folder, root, key } = await aSignedFolder();
    const stranger = await aKey();
    await expect(run('sign', folder, '--key', stranger.file)).rejects.toThrow('does not list it');
    await expect(run('sign', folder, '--key', root.file)).rejects.toThrow('does not list it');
    await run('keys', 'rotate', folder, '--root', root.file, '--key', stranger.publicFile);
    await expect(run('sign', folder, '--key', key.file)).rejects.toThrow('lists it as retired');
    await run('keys', 'revoke', folder, '--root', root.file, `--kid=${key.kid}`);
    await expect(run('sign', folder, '--key', key.file)).rejects.toThrow('lists it as revoked');
    await expect(run('sign', folder, '--key', key.publicFile)).rejects.toThrow('must contain a private key');
  });

  it('refuses a folder without a keyring, with an invalid template, or with an invalid file of signatures', async () => {
    const { folder, key } = await aSignedFolder();
    await expect(run('sign', aFolder(), '--key', key.file)).rejects.toThrow(
      'Create it with the command "keys keyring"',
    );
    writeFileSync(path.join(folder, 'signatures.json'), '{ "serial": -1, "templates": {} }');
    await expect(run('sign', folder, '--key', key.file)).rejects.toThrow('serial');
    rmSync(path.join(folder, 'signatures.json'));
    writeFileSync(path.join(folder, 'templates', 'one.yaml'), 'category: tools\n');
    await expect(run('sign', folder, '--key', key.file)).rejects.toThrow('name');
  });
});

describe('a program that signs', () => {
  /** A program that signs with a key file. Its output is raw, or DER as OpenSSL and most services write it. */
  function aProgram(privateFile: string, encoding: 'ieee-p1363' | 'der', hash: string | null): string {
    const script = aPath('signer.mjs');
    writeFileSync(
      script,
      `import { readFileSync } from 'node:fs';
       import { sign } from 'node:crypto';
       const key = { key: readFileSync(${JSON.stringify(privateFile)}), dsaEncoding: '${encoding}' };
       process.stdout.write(sign(${JSON.stringify(hash)}, readFileSync(0), key));`,
    );
    return `"${process.execPath}" "${script}"`;
  }

  it.each([
    ['Ed25519', 'ieee-p1363', null],
    ['ES256', 'ieee-p1363', 'sha256'],
    ['ES256', 'der', 'sha256'],
  ] as const)('signs templates with a key of type %s, and prints %s', async (type, encoding, hash) => {
    const { folder, root } = await aSignedFolder();
    const key = await aKey('--algorithm', type);
    await run('keys', 'rotate', folder, '--root', root.file, '--key', key.publicFile);
    const signer = aProgram(key.file, encoding, hash);
    await run('sign', folder, '--key', key.publicFile, '--signer', signer, '--all');
    expect((await run('verify', folder, '--root', root.publicFile)).code).toBe(0);
  });

  it('signs keyrings', async () => {
    const root = await aKey();
    const key = await aKey();
    const folder = aFolder();
    const options = ['--root', root.publicFile, '--signer', aProgram(root.file, 'ieee-p1363', null)];
    await run('keys', 'keyring', folder, '--publisher', 'acme', '--key', key.publicFile, ...options);
    expect((await keyringIn(folder)).version).toBe(1);
  });

  it('refuses a program that fails, prints other bytes, or has another key', async () => {
    const { folder, key } = await aSignedFolder();
    const other = await aKey();
    const refusal = async (signer: string) =>
      run('sign', folder, '--all', '--key', key.publicFile, '--signer', signer).then(
        () => 'signed',
        ({ message }: Error) => message,
      );
    expect(await refusal('echo "no card" >&2; exit 3')).toMatch(/did not sign \(exit code 3\): no card/);
    expect(await refusal('printf x')).toContain('It printed 1 bytes.');
    expect(await refusal(aProgram(other.file, 'ieee-p1363', null))).toContain('does not verify with the public key');
    expect(statementsOf(folder).map(({ serial }) => serial)).toEqual([1, 1]);
  });
});

describe('keys keyring, rotate and revoke', () => {
  it('renews the keyring with the same keys, for the given days', async () => {
    const { folder, root } = await aSignedFolder();
    const before = await keyringIn(folder);
    expect((await run('keys', 'keyring', folder, '--root', root.file, '--days', '10')).text).toBe(
      'keyring.json: version 2, valid for 10 days',
    );
    const after = await keyringIn(folder);
    expect(after.keys).toEqual(before.keys);
    expect(Date.parse(after.expires_at) - Date.parse(after.issued_at)).toBe(10 * 86_400_000);
  });

  it('retires a key for later serials, so that what it has signed stays valid', async () => {
    const { folder, root, key } = await aSignedFolder();
    const next = await aKey();
    await run('keys', 'rotate', folder, '--root', root.file, '--key', next.publicFile);
    expect((await keyringIn(folder)).keys).toMatchObject([{ kid: key.kid, last_serial: 1 }, { kid: next.kid }]);
    expect((await run('verify', folder, '--root', root.publicFile)).code).toBe(0);
    writeTemplate(folder, 'two', 'image_tag: "2"');
    await run('sign', folder, '--key', next.file);
    expect(statementsOf(folder)).toMatchObject([
      { kid: key.kid, serial: 1 },
      { kid: next.kid, serial: 2 },
    ]);
    expect((await run('verify', folder, '--root', root.publicFile)).code).toBe(0);
  });

  it('revokes a key with floors, and the folder is valid after it is signed again', async () => {
    const { folder, root, key } = await aSignedFolder();
    const next = await aKey();
    await run('keys', 'keyring', folder, '--root', root.file, '--key', next.publicFile);
    const { text } = await run('keys', 'revoke', folder, '--root', root.file, `--kid=${key.kid}`);
    expect(text).toContain('Sign the folder again');
    expect(await keyringIn(folder)).toMatchObject({
      keys: [{ kid: key.kid, revoked: true }, { kid: next.kid }],
      floors: { one: 1, two: 1 },
    });
    const refused = await run('verify', folder, '--root', root.publicFile);
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('one: REFUSED: key_revoked')]);
    await run('sign', folder, '--key', next.file);
    expect(statementsOf(folder).map(({ serial }) => serial)).toEqual([2, 2]);
    expect((await run('verify', folder, '--root', root.publicFile)).code).toBe(0);
  });

  it('announces another root, which signs the next keyring, and a fleet with the old one follows', async () => {
    const { folder, root } = await aSignedFolder();
    const next = await aKey();
    const early = run('keys', 'keyring', folder, '--root', next.file);
    await expect(early).rejects.toThrow('neither the root key of the keyring nor the one that it announces');
    await run('keys', 'rotate', folder, '--root', root.file, '--next-root', next.publicFile);
    await run('keys', 'keyring', folder, '--root', next.file);
    const { publisher, keyring, transitions } = readKeyringFile(folder);
    const old = { publisher, root: await publicKeyOfPem(readFileSync(root.publicFile)) };
    expect((await acceptChain(old, { transitions, keyring }, { now: new Date() })).root.kid).toBe(next.kid);
    for (const each of [root, next]) expect((await run('verify', folder, '--root', each.publicFile)).code).toBe(0);
    await expect(run('keys', 'keyring', folder, '--root', root.file)).rejects.toThrow('neither the root key');
  });

  it.each([
    ['a first keyring without a publisher', ['keyring', '--key', 'KEY'], '--publisher'],
    ['a first keyring without a key', ['keyring', '--publisher', 'acme'], '--key'],
    ['the root key as a signing key', ['keyring', '--publisher', 'acme', '--key', 'ROOT'], 'must not be a signing key'],
    ['a keyring for too many days', ['keyring', '--publisher', 'acme', '--key', 'KEY', '--days', '401'], '1 to 400'],
    ['a rotation of nothing', ['rotate'], 'keyring.json does not exist|Specify either'],
    ['a key file that does not exist', ['keyring', '--publisher', 'acme', '--key', '/nowhere'], 'cannot be read'],
  ])('refuses %s', async (_name, [command = '', ...given], message) => {
    const root = await aKey();
    const key = await aKey();
    const named = given.map((each) => ({ KEY: key.publicFile, ROOT: root.publicFile })[each] ?? each);
    const folder = aFolder();
    await expect(run('keys', command, folder, '--root', root.file, ...named)).rejects.toThrow(new RegExp(message));
    expect(existsSync(path.join(folder, KEYRING))).toBe(false);
  });

  it('refuses another publisher, an unknown key, and a stranger as the root', async () => {
    const { folder, root } = await aSignedFolder();
    const stranger = await aKey();
    const before = readFileSync(path.join(folder, KEYRING), 'utf8');
    const refused = (...args: readonly string[]) =>
      expect(run('keys', args[0] ?? '', folder, ...args.slice(1))).rejects;
    await refused('keyring', '--root', root.file, '--publisher', 'zeta').toThrow('cannot change');
    await refused('revoke', '--root', root.file, `--kid=${stranger.kid}`).toThrow('does not list');
    await refused('keyring', '--root', stranger.file).toThrow('neither the root key');
    await refused('rotate', '--root', root.file).toThrow('Specify either');
    expect(readFileSync(path.join(folder, KEYRING), 'utf8')).toBe(before);
  });
});

describe('verify', () => {
  it('states for each template who signed it, or why it is refused, and exits with 1', async () => {
    const { folder, root, key } = await aSignedFolder();
    const accepted = await run('verify', folder, '--root', root.publicFile);
    expect(accepted).toEqual({
      code: 0,
      text: `one: acme, serial 1, key ${key.kid}\ntwo: acme, serial 1, key ${key.kid}\n2 accepted, 0 refused`,
    });
    writeTemplate(folder, 'two', 'image_tag: "2"');
    const refused = await run('verify', folder, '--root', root.publicFile);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain('two: REFUSED: content_changed (image_tag). The template is not what the publisher');
    const pinned = await run('verify', folder, '--root', root.publicFile, '--require-digest');
    expect(pinned.text).toContain('one: REFUSED: image_not_pinned');
    const stranger = await aKey();
    await expect(run('verify', folder, '--root', stranger.publicFile)).rejects.toThrow('unknown_key');
  });
});

describe('a signed catalog', () => {
  let folder = '';
  let verification: Parameters<typeof verifyTemplate>[2];
  const start = startWorld();
  afterAll(async () => (await start).stop());

  beforeAll(async () => {
    folder = aPath('starter');
    cpSync(STARTER, folder, { recursive: true });
    const allowed = HARDEST.filter((text) => parseFields(textRule(4000), text).success);
    allowed.forEach((documentation, index) => {
      const given = { name: `Hard ${index}`, category: 'inference', documentation, image_name: 'acme/hard' };
      writeFileSync(path.join(folder, 'templates', `hard-${index}.yaml`), JSON.stringify(given));
    });
    const root = await aKey();
    const key = await aKey();
    await run('keys', 'keyring', folder, '--publisher', 'acme', '--root', root.file, '--key', key.publicFile);
    await run('sign', folder, '--key', key.file);
    const { publisher, keyring } = readKeyringFile(folder);
    const now = new Date();
    const pinned = { publisher, root: await publicKeyOfPem(readFileSync(root.publicFile)) };
    const state = await acceptChain(pinned, { transitions: [], keyring }, { now });
    verification = { publishers: [{ ...state, slugs: ['*'], images: ['*'], secrets: ['*'] }], now };
  });

  it('verifies as the hub shows it after an import, and after an export and an import', async () => {
    const world = await start;
    process.env.DATABASE_URL = world.databaseUrl;
    expect((await run('import', folder)).text).toContain('update the keyring of acme');
    const templates = async () => (await world.anonymous.get('/api/v1/catalog/templates?limit=100')).body.templates;
    const all = await templates();
    expect(all.length).toBeGreaterThan(60);
    for (const { signatures, ...members } of all) {
      expect(await verifyTemplate(members, signatures, verification)).toMatchObject({ publisher: 'acme', serial: 1 });
    }
    const copy = aPath('copy');
    expect((await run('export', copy)).text).toContain('create signatures.json');
    expect(readSignatures(copy)).toEqual(readSignatures(folder));
    expect((await run('import', copy)).text).toMatch(/^0 created, 0 updated, \d+ unchanged$/m);
    expect((await run('export', copy)).text).toContain(': 0 files changed');
    expect((await run('import', folder)).text).toMatch(/^0 created, 0 updated, \d+ unchanged$/m);
  });

  it('is not imported when a template has changed since its signature, or loses its signature silently', async () => {
    const world = await start;
    process.env.DATABASE_URL = world.databaseUrl;
    const changed = aPath('changed');
    cpSync(folder, changed, { recursive: true });
    writeFileSync(
      path.join(changed, 'templates', 'hard-0.yaml'),
      JSON.stringify({ name: 'Hard 0', category: 'inference', image_name: 'acme/other' }),
    );
    await expect(run('import', changed)).rejects.toThrow(
      /signatures\.json: hard-0: must be about this content; it differs in/,
    );
    rmSync(path.join(changed, 'signatures.json'));
    await expect(run('import', changed)).rejects.toThrow(
      /hard-0\.yaml:\d+: the template of the hub is signed, and its/,
    );
    writeFileSync(path.join(changed, 'signatures.json'), '{ "serial": 2, "templates": { "hard-0": [] } }');
    expect((await run('import', changed)).text).toContain('update template hard-0 (');
    const { body } = await world.anonymous.get('/api/v1/catalog/templates/hard-0');
    expect([body.image_name, body.signatures]).toEqual(['acme/other', []]);
  });
});
