// The values of a secret: once stored, they appear nowhere, in no form.
import { type Canary, type Haystacks, leaks } from '../secrets/encoded-forms.ts';
import { aPair } from './certificates.ts';
import { pathOf, type Shown, startResources } from './resources.ts';

const world = await startResources();
const { aName, aRoomyCluster, aRoomyHost, aWorkload, asAdmin, asOperator, asViewer, client } = world;
afterAll(() => world.stop());

const PASSWORD = 'correct-horse-"battery"-staple-ünïcode';
const ROTATED = 'another-horse-<battery>-staple-\\backslash';
const TOKEN = 'token-of-a-cluster-that-nobody-sees';
const own = aPair();
const engines = aPair();
const lineOf = (pem: string) => pem.split('\n')[1] ?? '';
const canaries: readonly Canary[] = [
  { name: 'password', value: PASSWORD },
  { name: 'rotated password', value: ROTATED },
  { name: 'key of a secret', value: lineOf(own.key) },
  { name: 'key of an engine', value: lineOf(engines.key) },
  { name: 'token of a cluster', value: TOKEN },
];

/** The contents of the database by table. */
async function dump(): Promise<Record<string, string>> {
  const tables = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`;
  const rows = tables.map(async ({ name }) => {
    const [all] = await client.$queryRawUnsafe<{ text: string | null }[]>(
      `SELECT string_agg(t::text || to_jsonb(t)::text, E'\\n') AS text FROM "${name}" t`,
    );
    return [name, all?.text ?? ''];
  });
  return Object.fromEntries(await Promise.all(rows));
}

test('values of secrets are in no response about related resources, and in no table', async () => {
  const answers: Record<string, string> = {};
  const asked = async (what: string, answer: Promise<{ text: string; body: Shown; status: number }>) => {
    const { text, body, status } = await answer;
    expect(what).toEqual(what);
    expect(status).toBeLessThan(300);
    answers[what] = text;
    return body;
  };
  const name = aName('secret');
  const tlsName = aName('secret');
  const { secret } = await asked(
    'created',
    asAdmin.post(pathOf('secrets'), { name, values: { password: PASSWORD, again: PASSWORD } }),
  );
  const values = { 'tls.crt': own.certificate, 'tls.key': own.key };
  const tls = { name: tlsName, kind: 'tls', purposes: ['private_key'], values };
  await asked('created tls', asAdmin.post(pathOf('secrets'), tls));
  const credentials = { ca_certificate: engines.certificate, ...engines };
  const host = await aRoomyHost({ credentials });
  const cluster = await aRoomyCluster({ auth: { kind: 'token', token: TOKEN } });
  const workload = await aWorkload({
    secret_refs: [
      { name, key: 'password', env: 'PASSWORD' },
      { name: tlsName, key: 'tls.key', env: 'KEY' },
    ],
  });
  for (const target of [{ host_id: host.id }, { cluster_id: cluster.id }]) {
    const what = Object.keys(target).join();
    const body = { name: aName('uses'), workload_id: workload.id, target };
    await asked(`plan on ${what}`, asOperator.post(`${pathOf('deployments')}/plan`, body));
    const { deployment } = await asked(`deployed on ${what}`, asOperator.post(pathOf('deployments'), body));
    await asked(`rotated under ${what}`, asAdmin.put(pathOf('secrets', secret.id), { values: { password: ROTATED } }));
    for (const part of ['manifest', 'events', 'revisions']) {
      const read = asAdmin.get(`${pathOf('deployments', deployment.id)}/${part}`);
      expect(JSON.stringify(await asked(`${part} on ${what}`, read)).length).toBeGreaterThan(60);
    }
    const change = { deployment_id: deployment.id, replicas: 1, env: {} };
    await asked(`planned change on ${what}`, asOperator.post(`${pathOf('deployments')}/plan`, change));
  }
  for (const plural of ['hosts', 'clusters', 'workloads', 'deployments', 'storage', 'secrets'] as const) {
    await asked(plural, asAdmin.get(pathOf(plural)));
  }
  await asked('secret', asViewer.get(pathOf('secrets', secret.id)));
  await asked('audit', asAdmin.get('/api/v1/audit'));
  const tables = await dump();
  expect(tables.secrets).toContain(name);
  expect(tables.hosts).toContain(host.name);
  expect(leaks(canaries, { ...answers, ...tables } satisfies Haystacks)).toEqual([]);
});

test('the search finds a value that is stored in plain text: the dump can be searched', async () => {
  await world.make('hosts', {
    engine: 'docker',
    endpoint: 'tcp://a.example.test:1',
    labels: { found: 'by-its-words' },
  });
  expect(leaks([{ name: 'label', value: 'by-its-words' }], await dump())).toContain('label is in hosts, plain');
});

describe('the response does not repeat a value of a secret', () => {
  const problems = async (path: string, method: string, body: unknown, headers = {}) => {
    const answer = await asAdmin.send({ method, path, body, headers });
    return { status: answer.status, text: `${answer.text}${JSON.stringify(answer.headers)}` };
  };
  const text = (values: unknown) => JSON.stringify({ name: 'wrong', values });

  test.each<[string, string]>([
    ['as the only member', text(PASSWORD)],
    ['in an array', text([PASSWORD])],
    ['in an array under its key', text({ password: [PASSWORD] })],
    ['too deeply nested', text({ password: { password: PASSWORD } })],
    ['with a control character', text({ password: `${PASSWORD}\u0000` })],
    ['with half of a surrogate pair', text({ password: PASSWORD }).replace('correct', '\\ud800correct')],
    ['too long', text({ password: PASSWORD.repeat(3000) })],
    ['under an invalid key', text({ 'not a key': PASSWORD })],
    ['beside the others', JSON.stringify({ name: 'wrong', values: { a: 'b' }, password: PASSWORD })],
    ['as a label', JSON.stringify({ name: 'wrong', values: { a: 'b' }, labels: { password: PASSWORD } })],
    ['as a name', JSON.stringify({ name: PASSWORD, values: { a: 'b' } })],
    ['as a kind', JSON.stringify({ name: 'wrong', kind: PASSWORD, values: { a: 'b' } })],
    ['for another kind', JSON.stringify({ name: 'wrong', kind: 'registry', values: { password: PASSWORD } })],
    [
      'as a certificate',
      JSON.stringify({ name: 'wrong', kind: 'tls', values: { 'tls.crt': PASSWORD, 'tls.key': '' } }),
    ],
    ['as a key', JSON.stringify({ name: 'wrong', kind: 'tls', values: { 'tls.crt': '', 'tls.key': PASSWORD } })],
    ['in incomplete JSON', text({ password: PASSWORD }).slice(0, -3)],
    ['in invalid JSON', text({ password: PASSWORD }).replace('"values"', 'values')],
    ['in a body that is too large', text({ password: PASSWORD.repeat(40_000) })],
  ])('that is sent %s', async (_, body) => {
    const secret = await world.aSecret({ kind: 'tls', values: { 'tls.crt': own.certificate, 'tls.key': own.key } });
    const answers = {
      made: await problems(pathOf('secrets'), 'POST', body),
      changed: await problems(pathOf('secrets', secret.id), 'PUT', body),
      typed: await problems(pathOf('secrets'), 'POST', body, { 'Content-Type': 'text/plain' }),
      taken: await problems(pathOf('secrets'), 'POST', body.replace('"wrong"', `"${secret.name}"`)),
    };
    const texts = Object.fromEntries(Object.entries(answers).map(([what, answer]) => [what, answer.text]));
    expect(Object.values(answers).every(({ status }) => status >= 400 && status < 500)).toBe(true);
    expect(leaks(canaries, texts)).toEqual([]);
  });

  test('that is sent for a former version, or a name that is in use', async () => {
    const { id, name } = await world.aSecret();
    const values = { password: PASSWORD };
    const stale = await asAdmin.put(pathOf('secrets', id), { values }, { 'If-Match': '"7"' });
    const taken = await asAdmin.post(pathOf('secrets'), { name, values });
    const denied = await asOperator.post(pathOf('secrets'), { name: aName('denied'), values });
    expect(stale.status).toBe(412);
    expect(taken.status).toBe(409);
    expect(denied.status).toBe(403);
    expect(leaks(canaries, { stale: stale.text, taken: taken.text, denied: denied.text })).toEqual([]);
  });
});

test('the same value sealed twice differs, and can be opened only in its own row', async () => {
  const one = await world.aSecret();
  const other = await world.aSecret();
  const sealedOf = async ({ id }: Shown) => (await client.secret.findUniqueOrThrow({ where: { id } })).sealed;
  expect(await sealedOf(one)).not.toBe(await sealedOf(other));
  const elsewhere = { table: 'secrets', column: 'sealed', row: other.id };
  await expect(world.sealer.open(elsewhere, await sealedOf(one))).rejects.toThrow();
});
