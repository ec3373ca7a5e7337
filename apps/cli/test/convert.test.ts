import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { svc } from './svc.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'svc-convert-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};

const COMPOSE = `services:
  web:
    image: nginx:1.29
    depends_on: [api]
    ports: ["8080:80"]
    volumes: ["./nginx.conf:/etc/nginx/nginx.conf"]
  api:
    image: team/api:2
    volumes: ["/srv/api:/data"]
`;

test('a converted file is printed with the notes that a person must read', async () => {
  const file = write('compose.yaml', COMPOSE);
  write('nginx.conf', 'events {}');
  const report = path.join(folder, 'report.json');
  const { code, stdout, stderr } = await svc(['convert', file, '--with-files', '--report', report]);
  expect(code).toBe(0);
  expect(parse(stdout)).toMatchObject({
    parts: [
      { name: 'web', needs: [{ part: 'api', until: 'started' }], files: [{ content: 'events {}' }] },
      { name: 'api', image_name: 'team/api', image_tag: '2' },
    ],
  });
  expect(stderr).toContain('compose.yaml:9: note: api.volumes.0: A folder of the host becomes a new, empty volume.');
  expect(stderr).toContain('4 the same, 1 harmless, 1 to read, 0 refused');
  expect(JSON.parse(readFileSync(report, 'utf8'))).toHaveLength(6);
});

test('a refused file prints nothing, and exits with 1', async () => {
  const { code, stdout, stderr } = await svc(['convert', write('other.yaml', COMPOSE)]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('other.yaml:6: refused: web.volumes.0: It mounts a file beside this one');
});

const LIST = JSON.stringify({
  version: '3',
  templates: [
    { type: 1, title: 'Redis', image: 'redis:7', ports: ['6379:6379/tcp'] },
    { type: 1, title: 'Agent', image: 'agent:1', privileged: true },
    { type: 3, title: 'Blog', repository: { url: 'https://example.com/team/list', stackfile: 'stacks/blog.yml' } },
  ],
});

test('templates of a list are printed without those that are refused, and the exit code is 1', async () => {
  const file = write('templates.json', LIST);
  mkdirSync(path.join(folder, 'stacks'), { recursive: true });
  write('stacks/blog.yml', 'services: { blog: { image: "blog:1" } }');
  const { code, stdout, stderr } = await svc(['convert', file, '--from', 'portainer', '--with-files']);
  expect(code).toBe(1);
  expect(parse(stdout)).toMatchObject([{ name: 'Redis' }, { name: 'Blog', parts: [{ image_name: 'blog' }] }]);
  expect(stderr).toContain(
    'templates.json:1: refused: templates.1.privileged: This gives the program root on the host',
  );
});

test('one template of a list is printed by its title', async () => {
  const file = write('templates.json', LIST);
  const { code, stdout } = await svc(['convert', file, '--from', 'portainer', '--only', 'Redis', '-o', 'json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'Redis',
    parts: [{ ports: [{ containerPort: 6379, publish: true, host_port: 6379 }] }],
  });
});

test('a file of another platform becomes a file of a catalog, which is not overwritten', async () => {
  const file = write(
    'blog.yaml',
    '# port: 80\nservices: { blog: { image: "blog:1", environment: [SERVICE_URL_BLOG] } }',
  );
  const words = ['convert', file, '--from', 'coolify', '--write', path.join(folder, 'catalog')];
  expect(await svc(words)).toMatchObject({ code: 0, stdout: '' });
  const written = readFileSync(path.join(folder, 'catalog/applications/blog.yaml'), 'utf8');
  expect(parse(written)).toMatchObject({ slug: 'blog', parts: [{ ports: [{ containerPort: 80, publish: true }] }] });
  const again = await svc(words);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('blog.yaml exists already');
});

test('an app of CapRover is printed', async () => {
  const file = write(
    'app.yml',
    'captainVersion: 4\nservices: { $$cap_appname: { image: "app:1" } }\ncaproverOneClickApp: { displayName: App }\n',
  );
  const { code, stdout } = await svc(['convert', file, '--from', 'caprover']);
  expect(code).toBe(0);
  expect(parse(stdout)).toMatchObject({ name: 'App', parts: [{ name: 'app', ports: [{ containerPort: 80 }] }] });
});

test.each([
  [
    'a title that the list does not have',
    () => ['convert', write('list.json', LIST), '--from', 'portainer', '--only', 'x'],
  ],
  ['a title without a list', () => ['convert', write('one.yaml', COMPOSE), '--only', 'x']],
  ['a file that does not exist', () => ['convert', path.join(folder, 'missing.yaml')]],
  ['a folder', () => ['convert', folder]],
  ['an unknown kind', () => ['convert', write('one.yaml', COMPOSE), '--from', 'helm']],
  ['no file', () => ['convert']],
])('%s is wrong usage, and exits with 2', async (_, words) => {
  const { code, stdout } = await svc(words());
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
