// Members of a template that are valid on their own, but not together.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { importCatalog } from '../../src/commands/import.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
const { id: category_id } = await world.aCategory({ slug: 'tools' });
const folder = mkdtempSync(path.join(tmpdir(), 'conflicts-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.stop();
});

const PATH = '/api/v1/admin/templates';
const errorsOf = (body: { errors: { path: string; message: string }[] }) =>
  body.errors.map(({ path, message }) => `${path} ${message}`);

const variable = { name: 'A', value: '1' };
const aFile = (path: string) => ({ path, content: '', mode: '0444' });
const conflicts = [
  {
    what: 'a registry in the name of its image',
    given: { image_name: 'ghcr.io/team/app' },
    error: /^image_name must not contain the registry: the registry is "ghcr.io", and the image "team\/app"$/,
  },
  {
    what: 'localhost in the name of its image',
    given: { image_name: 'localhost/app' },
    error: /^image_name must not contain the registry: the registry is "localhost"/,
  },
  {
    what: 'the same variable twice in env',
    given: { env: [variable, variable] },
    error: /^env\.1\.name declares the variable of env\.0\.name again/,
  },
  {
    what: 'the same variable in env and in env_schema',
    given: { env: [variable], env_schema: [{ name: 'B' }, { name: 'A' }] },
    error: /^env_schema\.1\.name declares the variable of env\.0\.name again/,
  },
  {
    what: 'the same variable in env_schema and in secret_refs',
    given: { env_schema: [{ name: 'A' }], secret_refs: [{ name: 'secret', env: 'A' }] },
    error: /^secret_refs\.0\.env declares the variable of env_schema\.0\.name again/,
  },
  {
    what: 'the same mount path twice',
    given: {
      volume_mounts: [
        { name: 'one', mountPath: '/data' },
        { name: 'two', mountPath: '/data/../data/' },
      ],
    },
    error: /^volume_mounts\.1\.mountPath is already the path of another mount$/,
  },
  {
    what: 'two temporary directories at one path',
    given: {
      tmpfs: [
        { path: '/tmp', size: '64Mi' },
        { path: '/tmp', size: '1Mi' },
      ],
    },
    error: /^tmpfs\.1\.path is already the path of another mount$/,
  },
  {
    what: 'a temporary directory at the path of a volume',
    given: { volume_mounts: [{ name: 'data', mountPath: '/data/' }], tmpfs: [{ path: '/data', size: '64Mi' }] },
    error: /^tmpfs\.0\.path is already the path of another mount$/,
  },
  {
    what: 'temporary directories that are larger than its memory',
    given: { memory_limit: '64Mi', tmpfs: [{ path: '/tmp', size: '65Mi' }] },
    error: /^tmpfs must together not be larger than the memory of the container, which is 64Mi, /,
  },
  {
    what: 'a file in a volume',
    given: { volume_mounts: [{ name: 'data', mountPath: '/data' }], files: [aFile('/data/a.conf')] },
    error: /^files\.0\.path must not be in the volume data$/,
  },
  {
    what: 'a file in a temporary directory',
    given: { tmpfs: [{ path: '/tmp', size: '1Mi' }], files: [aFile('/tmp/a')] },
    error: /^files\.0\.path must not be in the temporary file system \/tmp$/,
  },
  {
    what: 'the same file twice',
    given: { files: [aFile('/a'), aFile('/a')] },
    error: /^files\.1\.path must not be in the file \/a$/,
  },
  {
    what: 'a file that is the folder of another one',
    given: { files: [aFile('/a/b'), aFile('/a')] },
    error: /^files\.1\.path must not be a directory, because it contains the file \/a\/b$/,
  },
  {
    what: 'a limit of CPU below the request',
    given: { cpu_request: '2', cpu_limit: '1500m' },
    error: /^cpu_limit must not be less than the requested CPU, which is 2$/,
  },
  {
    what: 'a limit of memory below the request',
    given: { memory_request: '1Gi', memory_limit: '512Mi' },
    error: /^memory_limit must not be less than the requested memory, which is 1Gi$/,
  },
  {
    what: 'the user root with the profile restricted',
    given: { security_profile: 'restricted', run_as: '0' },
    error: /^run_as must not be 0, because the security profile restricted does not permit root$/,
  },
];

test.each(conflicts)('rejects a new template with $what', async ({ given, error }) => {
  const { status, body } = await admin.post(PATH, { name: 'Conflict', category_id, ...given });
  expect({ status, errors: errorsOf(body) }).toEqual({ status: 400, errors: [expect.stringMatching(error)] });
});

test.each(conflicts)('rejects a change to $what', async ({ given, error }) => {
  const { id } = await world.aTemplate();
  for (const [member, value] of Object.entries(given).slice(0, -1)) await admin.put(PATH, { id, [member]: value });
  const { status, body } = await admin.put(PATH, { id, ...given });
  expect({ status, errors: errorsOf(body) }).toEqual({ status: 400, errors: [expect.stringMatching(error)] });
});

test.each(conflicts)('rejects the import of a template with $what', async ({ given, error }) => {
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  writeFileSync(path.join(folder, 'categories.yaml'), '[]');
  writeFileSync(
    path.join(folder, 'templates', 'bad.yaml'),
    JSON.stringify({ name: 'Bad', category: 'tools', ...given }), // JSON is YAML
  );
  const imported = importCatalog(world.database, { folder, dryRun: false });
  await expect(imported).rejects.toThrow(new RegExp(error.source.slice(1).replace(' ', ': ').replace(/\$$/, '')));
});

test('accepts a path with a dot in a registry that is given', async () => {
  const given = { image_name: 'team.one/app', registry_url: 'registry.example.test' };
  const { status, body } = await admin.post(PATH, { name: 'Dotted', category_id, ...given });
  expect({ status, template: body.template }).toMatchObject({ status: 201, template: given });
  const removed = await admin.put(PATH, { id: body.template.id, registry_url: null });
  expect(removed.status).toBe(400);
});

test('shows a stored template with conflicts, and changes its other members', async () => {
  const env = [variable, variable];
  const { id, slug } = await world.aTemplate({ env, image_name: 'ghcr.io/team/app' });
  expect((await admin.get(`/api/v1/catalog/templates/${slug}`)).body).toMatchObject({ env });
  const { status, body } = await admin.put(PATH, { id, description: 'edited' });
  expect({ status, template: body.template }).toMatchObject({ status: 200, template: { env, description: 'edited' } });
});
