import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

test('a converted file is printed, and what a person must read is told', async () => {
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

test.each([
  ['a file that does not exist', () => ['convert', path.join(folder, 'missing.yaml')]],
  ['a folder', () => ['convert', folder]],
  ['an unknown kind', () => ['convert', write('one.yaml', COMPOSE), '--from', 'helm']],
  ['no file', () => ['convert']],
])('%s is wrong usage, and exits with 2', async (_, words) => {
  const { code, stdout } = await svc(words());
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
