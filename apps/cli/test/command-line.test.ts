// Exit codes, refusals, and the requests that each command needs.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { placesOf } from '../src/commands/completion.ts';
import { createProgram } from '../src/program.ts';
import { aService, svc } from './svc.ts';

const service = await aService();
afterAll(() => service.stop());

const env = { SVC_URL: service.url, SVC_TOKEN: 'a-token' };
const ID = '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10';
const deployment = {
  id: ID,
  name: 'web',
  phase: 'running',
  message: '',
  target_name: 'machine',
  replicas: 1,
  version: 3,
  endpoints: [{ address: '192.0.2.1:8080', scheme: 'http' }],
};
const page = { pagination: { page: 1, limit: 2, total: 1, totalPages: 1 } };
const found = { body: { deployments: [deployment], ...page } };
const none = { body: { deployments: [], secrets: [], tokens: [], ...page } };

describe('wrong usage ends with 2, and sends nothing:', () => {
  test.each<readonly [string, RegExp, readonly string[]]>([
    ['an unknown command', /unknown command/, ['frobnicate']],
    ['a misspelled command', /Did you mean deploy/, ['deplo', 'redis']],
    ['a missing argument', /missing required argument/, ['scale', 'web']],
    ['too many arguments', /too many arguments/, ['restart', 'web', 'other', '-y']],
    ['an unknown option', /unknown option/, ['status', '--colour']],
    ['another form of output', /table, json, yaml/, ['status', '-o', 'xml']],
    ['a number that is none', /must be an integer/, ['scale', 'web', 'many', '-y']],
    ['a change without --yes', /needs --yes/, ['scale', 'web', '2']],
    ['a deployment without --yes', /needs --yes/, ['deploy', 'redis']],
    ['an update without --yes', /needs --yes/, ['update', 'web']],
    ['a token as an argument', /never an argument/, ['login', service.url, '--token', 'svcm_secret-text']],
    ['the value of a secret as an argument', /stdin/, ['secret', 'set', 'db', 'password=secret-text', '-y']],
    ['two targets', /--host or --cluster/, ['deploy', 'redis', '--host', 'a', '--cluster', 'b', '-y']],
    ['a host without an address', /--docker-context/, ['host', 'add', 'machine', '-y']],
    ['a cluster without a context', /--context/, ['cluster', 'add', 'lab', '-y']],
    ['a shell without completion', /bash, zsh and fish/, ['completion', 'tcsh']],
    ['YAML that does not end', /table or json/, ['audit', 'tail', '--follow', '-o', 'yaml']],
    ['a folder without a catalog', /has no categories\.yaml/, ['hub', 'import', 'none', '-y']],
    ['an address that is none', /http or https URL/, ['login', 'fleet.example.com']],
    ['a context that does not exist', /no context other/, ['status', '--at', 'other']],
  ])('%s', async (_, message, args) => {
    service.answer({ 'GET /api/v1/auth/config': { body: { local: true, browser_session_refusal: null } } });
    const { code, stdout, stderr } = await svc(args, { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('secret-text');
    expect(service.requests()).toEqual([]);
  });
});

test('without a context, the message states how to sign in', async () => {
  const { code, stderr } = await svc(['deployments']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'Sign in to a fleet first: svc login https://fleet.example.com\n',
  });
});

const [digestBefore, digestAfter] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`];
const upgradePlan = {
  image: { reference: 'docker.io/library/web:1', from_digest: digestBefore, to_digest: digestAfter },
  ok: true,
  refusals: [],
  advice: null,
  dry_run: [],
  digest: 'the-digest',
  template: { from_version: '1.0.0', to_version: '1.1.0' },
  values: [{ path: 'image', from: 'web:1', to: 'web:2' }],
  outage: { expected: true, reason: 'The only instance ends first.' },
  new_variables: [{ name: 'MODE', required: true }],
  data: [],
  held: null,
};

describe('a command sends only the requests that it needs:', () => {
  const byName = `GET /api/v1/deployments?name=web&limit=2&view=summary`;

  test.each<readonly [readonly string[], readonly string[]]>([
    [
      ['scale', 'web', '2', '-y'],
      [byName, `POST /api/v1/deployments/${ID}/scale`],
    ],
    [['scale', ID, '2', '-y'], [`POST /api/v1/deployments/${ID}/scale`]],
    [
      ['restart', 'web', '-y'],
      [byName, `POST /api/v1/deployments/${ID}/restart`],
    ],
    [
      ['rollback', 'web', '--to', '1', '-y'],
      [byName, `POST /api/v1/deployments/${ID}/rollback`],
    ],
    [
      ['update', 'web', '-y'],
      [byName, 'POST /api/v1/deployments/plan', `POST /api/v1/deployments/${ID}/upgrade`],
    ],
    [
      ['rollout', 'abort', 'web', '-y'],
      [byName, `POST /api/v1/deployments/${ID}/rollout/abort`],
    ],
    [
      ['rollout', 'resume', 'web', '-y'],
      [byName, `POST /api/v1/deployments/${ID}/rollout/resume`],
    ],
    [['open', 'web', '--no-browser'], [byName]],
    [['open'], []],
    [['deploy', 'redis', '-y'], ['POST /api/v1/deployments']],
    [['deployments'], ['GET /api/v1/deployments?page=1&limit=100&sort=name&view=summary']],
    [['token', 'create', 'ci', '-y'], ['POST /api/v1/tokens']],
    [
      ['secret', 'set', 'db', 'password=-', '-y'],
      ['GET /api/v1/secrets?name=db&limit=2', 'POST /api/v1/secrets'],
    ],
    [['completion', 'bash'], []],
    [['context', 'list'], []],
    [['--version'], []],
  ])('%j: %j', async (args, requests) => {
    service.answer({
      'GET /api/v1/deployments': found,
      'GET /api/v1/secrets': none,
      'POST /api/v1/tokens': { status: 201, body: { token: { name: 'ci', secret: 'svcm_x', expires_at: null } } },
      'POST /api/v1/secrets': { status: 201, body: { secret: { name: 'db', keys: [], used_by: [] } } },
      'POST /api/v1/deployments/plan': { body: upgradePlan },
      'POST /api/v1/deployments': { body: { deployment, generated: [] } },
    });
    const { code, stderr } = await svc(args, { env, stdin: 'value\n' });
    expect({ code, requests: service.requests() }).toEqual({ code: 0, requests });
    expect(service.received.every(({ token }) => token === 'a-token')).toBe(true);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

test('a value from stdin has no newline at its end, and the command prints none of it', async () => {
  service.answer({
    'GET /api/v1/secrets': none,
    'POST /api/v1/secrets': { status: 201, body: { secret: { name: 'db', keys: ['password'], used_by: [] } } },
  });
  const { stdout, stderr } = await svc(['secret', 'set', 'db', 'password=-', '-y'], { env, stdin: 'hidden value\n' });
  expect(service.received.at(-1)?.body).toEqual({ name: 'db', kind: 'opaque', values: { password: 'hidden value' } });
  expect(stdout + stderr).not.toContain('hidden');
});

test('a secret is not replaced if this would remove keys, unless the command states it', async () => {
  const secret = { id: ID, name: 'db', kind: 'opaque', keys: ['password', 'user'], used_by: [], version: 4 };
  const answers = {
    'GET /api/v1/secrets': { body: { secrets: [secret], ...page } },
    [`PUT /api/v1/secrets/${ID}`]: { body: { secret } },
  };
  service.answer(answers);
  const refused = await svc(['secret', 'set', 'db', 'password=-', '-y'], { env, stdin: 'x' });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('also has user') });
  expect(service.requests()).toHaveLength(1);
  expect((await svc(['secret', 'set', 'db', 'password=-', '--replace', '-y'], { env, stdin: 'x' })).code).toBe(0);
});

test('a refusal ends with 1, and prints the detail, the members and the request id without control characters', async () => {
  const problem = {
    detail: 'The name is taken.\u001b[31m',
    code: 'name_taken',
    request_id: 'r-1',
    errors: [{ path: 'name', message: 'must be different' }],
  };
  service.answer({ 'POST /api/v1/deployments': { status: 409, body: problem } });
  const { code, stdout, stderr } = await svc(['deploy', 'redis', '-y'], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe('The name is taken.\\u001b[31m\n  name: must be different\n(name_taken, request r-1)\n');
});

test('a name that no object has, or that several have, is refused before a change', async () => {
  service.answer({
    'GET /api/v1/deployments': none,
    'GET /api/v1/tokens': { body: { tokens: [{ id: ID }, { id: 'other' }], ...page } },
  });
  expect(await svc(['scale', 'web', '2', '-y'], { env })).toMatchObject({
    code: 1,
    stderr: 'There is no deployment web.\n',
  });
  const ambiguous = await svc(['token', 'revoke', 'ci', '-y'], { env });
  expect(ambiguous).toMatchObject({ code: 1, stderr: expect.stringContaining(`Use an id: ${ID}, other`) });
  expect(service.requests().filter((request) => !request.startsWith('GET'))).toEqual([]);
});

test('--dry-run ends with 3 if something would change, and changes nothing', async () => {
  const plan = {
    ok: true,
    refusals: [],
    placement: { target: null, candidates: [] },
    changes: [{ action: 'create', object: 'container web', paths: [] }],
  };
  service.answer({ 'GET /api/v1/deployments': found, 'POST /api/v1/deployments/plan': { body: plan } });
  expect((await svc(['deploy', 'redis', '--dry-run'], { env })).code).toBe(3);
  expect((await svc(['scale', 'web', '2', '--dry-run'], { env })).code).toBe(3);
  expect((await svc(['scale', 'web', '1', '--dry-run'], { env })).code).toBe(0);
  expect(service.requests().filter((request) => !request.includes('/plan') && !request.startsWith('GET'))).toEqual([]);
});

test.each([
  [null, '-'],
  [{ kinds: ['template', 'image'], held: null }, 'template, image'],
  [{ kinds: ['image'], held: { reason: 'CrashLoop' } }, 'held'],
])('the list of deployments shows the available update %j as %s', async (update, shown) => {
  service.answer({ 'GET /api/v1/deployments': { body: { deployments: [{ ...deployment, update }], ...page } } });
  const { stdout } = await svc(['deployments'], { env });
  const [heading = '', row = ''] = stdout.split('\n');
  expect(row.slice(heading.indexOf('UPDATE'), heading.indexOf('REASON')).trim()).toBe(shown);
});

describe('an update', () => {
  const upgraded = `POST /api/v1/deployments/${ID}/upgrade`;
  const full = { ...deployment, env: { NAME: 'x', KEY: { generate: 32 } } };
  const answers = {
    [`GET /api/v1/deployments/${ID}`]: { body: { deployment: full } },
    'GET /api/v1/deployments': found,
    'POST /api/v1/deployments/plan': { body: upgradePlan },
    [upgraded]: { body: { deployment, generated: [{ name: 'TOKEN', value: 'shown-once' }] } },
  };

  test('is applied as it was planned, with the variables of the deployment and those of the options', async () => {
    service.answer(answers);
    const args = ['update', 'web', '--set', 'MODE=new', '-g', 'TOKEN=32', '--acknowledge', ID, '-y'];
    const { code, stdout, stderr } = await svc(args, { env });
    const members = {
      env: { NAME: 'x', KEY: { generate: 32 }, MODE: 'new', TOKEN: { generate: 32 } },
      acknowledge: [ID],
    };
    const [planned, applied] = service.received.slice(-2).map(({ body }) => body);
    expect(planned).toEqual({ deployment_id: ID, upgrade: true, ...members });
    expect(applied).toEqual({ ...members, expected: 'the-digest', force: false });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('shown-once') });
    const image = `Image of docker.io/library/web:1: ${digestBefore} to ${digestAfter}`;
    for (const text of ['1.0.0 to 1.1.0', image, 'The only instance ends first.', 'MODE, required'])
      expect(stderr).toContain(text);
  });

  test('with --dry-run only shows the values before and after, and ends with 3', async () => {
    service.answer(answers);
    const { code, stdout } = await svc(['update', 'web', '--dry-run'], { env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(/image +web:1 +web:2/) });
    expect(service.requests().at(-1)).toBe('POST /api/v1/deployments/plan');
  });

  test.each([
    [null, 0],
    [2, 1],
  ])('that is waited for, with the failed generation %j, ends with %i', async (failed_generation, code) => {
    const generations = { generation: 3, observed_generation: 3 };
    const after = { ...full, ...generations, rollout: { state: 'progressing', failed_generation } };
    service.answer({ ...answers, [`GET /api/v1/deployments/${ID}`]: { body: { deployment: after } } });
    expect(await svc(['update', 'web', '--wait', '-y'], { env })).toMatchObject({ code });
  });

  test('to a configuration that has failed needs --force', async () => {
    const held = {
      generation: 2,
      reason: 'CrashLoop',
      message: 'Generation 2 failed.',
      at: '2026-11-25T00:00:00.000Z',
    };
    service.answer({ ...answers, 'POST /api/v1/deployments/plan': { body: { ...upgradePlan, held } } });
    const refused = await svc(['update', 'web', '-y'], { env });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Generation 2 failed. Use --force') });
    expect((await svc(['update', 'web', '--force', '-y'], { env })).code).toBe(0);
    expect(service.received.at(-1)?.body).toMatchObject({ force: true });
  });
});

test('a service that does not respond, and a redirect, which could lead elsewhere, are failures that name the address', async () => {
  const closed = await svc(['deployments'], { env: { ...env, SVC_URL: 'http://127.0.0.1:1' } });
  expect(closed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be reached: /),
  });
  service.answer({ GET: { status: 302, headers: { Location: 'http://127.0.0.1:1/' } } });
  const redirected = await svc(['deployments'], { env });
  expect(redirected).toMatchObject({ code: 1, stderr: expect.stringContaining('answers with a redirect') });
});

/** All commands that do something. */
const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

const wordsOf = (command: Command): string =>
  command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`;

const leaves = leavesOf(createProgram({ code: 0 })).map((command) => [wordsOf(command)] as const);

test.each(leaves)('%s has help with examples, and the documentation names it', async (words) => {
  const { code, stdout } = await svc([...words.split(' ').slice(1), '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: ${words}`));
  expect(stdout).toMatch(/^Examples:\n( {2}\$ svc .+\n?)+/m);
  const documentation = readFileSync(path.resolve(import.meta.dirname, '../../../docs/command-line.md'), 'utf8');
  expect(documentation).toContain(`\`${words}`);
});

test('each place of the command line has its commands and options', () => {
  const places = placesOf(createProgram({ code: 0 }));
  expect(places[0]?.commands).toContain('deploy');
  const scale = places.find(({ words }) => words === 'svc scale');
  expect(scale?.options).toEqual(expect.arrayContaining(['--yes', '--wait', '--dry-run', '--at', '--help']));
});
