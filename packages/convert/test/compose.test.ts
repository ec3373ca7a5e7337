import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocument } from 'yaml';
import { convertCompose, type Entry, harmless } from '../src/index.ts';

const sampleOf = (name: string) =>
  readFileSync(path.join(import.meta.dirname, 'samples/compose', `${name}.yaml`), 'utf8');
const converted = (text: string, files?: ReadonlyMap<string, string>) =>
  convertCompose({ file: 'compose.yaml', text, name: 'example', ...(files && { files }) });
const service = (members: string, more = '') =>
  converted(`services:\n  app:\n    image: app:1\n    ${members}\n${more}`);
const fatesOf = (report: readonly Entry[]) =>
  report.map((entry) => `${entry.part ?? ''}.${entry.member} ${entry.class}`);

test('an application with a database becomes parts that find each other by name', () => {
  const { application, report } = converted(sampleOf('harmless-ghost'));
  expect(application).toEqual({
    name: 'Ghost',
    slug: 'ghost',
    inputs: [
      { name: 'public_url', label: 'PUBLIC_URL', type: 'text', required: false, default: 'http://localhost:8080' },
      { name: 'db_password', label: 'DB_PASSWORD', type: 'secret', required: true },
    ],
    parts: [
      {
        name: 'web',
        image_name: 'ghost',
        image_tag: '6-alpine',
        needs: [{ part: 'database', until: 'ready' }],
        ports: [{ containerPort: 2368, publish: true, host_port: 8080 }],
        env: [
          { name: 'url', value: `\${inputs.public_url}` },
          { name: 'database__client', value: 'mysql' },
          { name: 'database__connection__host', value: 'database' },
          { name: 'database__connection__user', value: 'ghost' },
          { name: 'database__connection__password', value: `\${inputs.db_password}` },
          { name: 'mail__from', value: '$literal' },
        ],
        volume_mounts: [{ name: 'content', mountPath: '/var/lib/ghost/content' }],
      },
      {
        name: 'database',
        image_name: 'mysql',
        image_tag: '8.0',
        command: ['--max-connections=50', '--innodb-buffer-pool-size=64M'],
        env: [
          { name: 'MYSQL_DATABASE', value: 'ghost' },
          { name: 'MYSQL_USER', value: 'ghost' },
          { name: 'MYSQL_PASSWORD', value: `\${inputs.db_password}` },
          { name: 'MYSQL_RANDOM_ROOT_PASSWORD', value: '1' },
          { name: 'SVC_HEALTH_CHECK', value: 'exec:mysqladmin ping -h 127.0.0.1' },
        ],
        volume_mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
      },
    ],
  });
  expect(new Set(report.map((entry) => entry.class))).toEqual(new Set(['same', 'harmless']));
});

test('the entries of the report state the line, the value and the reason', () => {
  const { report } = converted(sampleOf('harmless-ghost'));
  expect(report).toContainEqual({
    file: 'compose.yaml',
    line: 17,
    part: 'web',
    member: 'ports.0',
    value: '8080:2368',
    class: 'harmless',
    reason: harmless.host_port,
  });
  const reasons = new Set<string>(Object.values(harmless));
  for (const entry of report.filter((each) => each.class === 'harmless')) expect(reasons).toContain(entry.reason);
  expect(report.filter((each) => each.class === 'same').every(({ reason }) => reason === '')).toBe(true);
});

test('members without an equivalent are notes, and everything else of a service is converted', () => {
  const { application, report } = converted(sampleOf('note-everything'));
  expect(report.filter((entry) => entry.class === 'refused')).toEqual([]);
  const [app, migrate] = application?.parts ?? [];
  expect(app).toMatchObject({
    registry_url: 'ghcr.io',
    image_name: 'team/app',
    image_tag: '1.2',
    entrypoint: ['/entry', '--flag'],
    command: ['serve', 'a b', 'c'],
    working_dir: '/srv',
    run_as: '1000:1000',
    read_only_root: true,
    stop_grace_seconds: 90,
    cpu_limit: '2000m',
    cpu_request: '500m',
    memory_limit: '1024Mi',
    memory_request: '128Mi',
    gpu_count: 1,
    needs: [
      { part: 'migrate', until: 'finished' },
      { part: 'database', until: 'started' },
    ],
    tmpfs: [{ path: '/tmp', size: '64Mi' }, { path: '/cache' }],
    volume_mounts: [
      { name: 'shared', mountPath: '/shared', read_only: true, shared: true },
      { name: 'data', mountPath: '/data' },
      { name: 'own', mountPath: '/own', read_only: true },
    ],
  });
  expect(app?.ports?.map(({ containerPort, publish, host_port }) => [containerPort, publish, host_port])).toEqual([
    [9000, undefined, undefined],
    [8080, true, 8080],
    [53, true, 5353],
    [3000, true, undefined],
    [3001, true, undefined],
    [3002, true, undefined],
  ]);
  expect(migrate).toMatchObject({ kind: 'job', command: ['migrate'] });
});

test('every refused member has a reason, and no application is written', () => {
  const { application, report } = converted(sampleOf('refused-members'));
  expect(application).toBeUndefined();
  const refused = new Set(report.filter((entry) => entry.class === 'refused').map(({ member }) => member));
  const { services, ...rest } = parseDocument(sampleOf('refused-members')).toJS();
  for (const member of Object.keys(rest)) expect([...refused].some((each) => each.startsWith(member))).toBe(true);
  for (const member of Object.keys(services.app)) {
    const isRefused = [...refused].some((each) => each === member || each.startsWith(`${member}.`));
    expect({ member, isRefused }).toEqual({ member, isRefused: member !== 'image' });
  }
});

test.each(['harmless-ghost', 'note-everything', 'refused-members'])(
  'no key of the sample %s is without a fate',
  (name) => {
    const { report } = converted(sampleOf(name));
    const { services } = parseDocument(sampleOf(name), { merge: true }).toJS();
    for (const [part, members] of Object.entries<Record<string, unknown>>(services)) {
      for (const member of Object.keys(members)) {
        const entries = report.filter(
          (entry) => entry.part === part && (entry.member === member || entry.member.startsWith(`${member}.`)),
        );
        expect({ part, member, count: entries.length }).not.toEqual({ part, member, count: 0 });
      }
    }
  },
);

test('a dollar sign before a brace stays one in the application', () => {
  const { application } = service(`environment: { A: "$\${B}" }`);
  expect(application?.parts[0]?.env).toEqual([{ name: 'A', value: `$\${B}` }]);
});

test('values of variables with secret names are not in the report', () => {
  const { report } = service('environment: { DB_PASSWORD: hunter2 }');
  const asList = service('environment: ["DB_PASSWORD=hunter2"]');
  expect(JSON.stringify([report, asList.report])).not.toContain('hunter2');
  expect(report).toContainEqual(
    expect.objectContaining({ member: 'environment.DB_PASSWORD', class: 'harmless', value: '(secret)' }),
  );
});

test('a secret in the file becomes one input, also where a URL contains it', () => {
  const { application, report } = converted(sampleOf('harmless-secret'));
  expect(application?.inputs).toEqual([
    { name: 'mariadb_root_password', label: 'MARIADB_ROOT_PASSWORD', type: 'secret', required: true },
    { name: 'mariadb_password', label: 'MARIADB_PASSWORD', type: 'secret', required: true },
  ]);
  const [database, app] = application?.parts ?? [];
  expect(database?.env).toEqual([
    { name: 'MARIADB_ROOT_PASSWORD', value: `\${inputs.mariadb_root_password}` },
    { name: 'MARIADB_USER', value: 'app' },
    { name: 'MARIADB_PASSWORD', value: `\${inputs.mariadb_password}` },
    { name: 'MARIADB_PASSWORD_HASH_ITERATIONS', value: '1000' },
    { name: 'MARIADB_ALLOW_EMPTY_ROOT_PASSWORD', value: 'no' },
  ]);
  expect(app?.env).toEqual([
    { name: 'DATABASE_URL', value: `mysql://app:\${inputs.mariadb_password|url}@database/app` },
    { name: 'DB_PASSWORD', value: `\${inputs.mariadb_password}` },
  ]);
  expect(JSON.stringify(report)).not.toContain('example');
});

test('files beside the file are converted only if they are given', () => {
  const volumes = 'volumes: ["./conf/nginx.conf:/etc/nginx/nginx.conf"]';
  expect(service(volumes).application).toBeUndefined();
  const text = `services:\n  app:\n    image: app:1\n    ${volumes}\n`;
  const { application } = converted(text, new Map([['conf/nginx.conf', 'server {}']]));
  expect(application?.parts[0]?.files).toEqual([{ path: '/etc/nginx/nginx.conf', content: 'server {}' }]);
});

test.each([
  ['ports: ["80:http"]', 'ports.0'],
  ['ports: ["1-100:1-100"]', 'ports.0'],
  ['command: "\'unfinished"', 'command'],
  ['stop_grace_period: soon', 'stop_grace_period'],
  ['working_dir: relative', 'working_dir'],
  ['environment: { "A B": c }', 'environment.A B'],
  ['mem_limit: much', 'mem_limit'],
  ['volumes: ["data:relative"]', 'volumes.0'],
  ['healthcheck: { test: [OTHER, a] }', 'healthcheck.test'],
  [`environment: { A: "\${}" }`, 'environment.A'],
  [`environment: { A: "$$\${B}" }`, 'environment.A'],
  ['depends_on: { app: { condition: someday } }', 'depends_on.app'],
])('the invalid member %s is refused where it is', (members, member) => {
  expect(fatesOf(service(members).report)).toContain(`app.${member} refused`);
});

test.each([
  ['services: [', 1],
  ['services:\n  a: &a\n    b: *c\n', 3],
  ['', 1],
  ['text', 1],
  ['services:\n  a:\n    image: "a\\0:1"\n', 3],
])('a file that cannot be read, %j, is refused with its line', (text, line) => {
  const { application, report } = converted(text);
  expect(application).toBeUndefined();
  expect(report).toEqual([expect.objectContaining({ class: 'refused', line })]);
});

test('aliases cannot make a file larger than its bound', () => {
  const levels = Array.from(
    { length: 12 },
    (_, index) => `x-${index + 1}: &l${index + 1} [${Array.from({ length: 9 }, () => `*l${index}`).join(', ')}]`,
  );
  const { application, report } = converted(
    ['x-0: &l0 [a]', ...levels, 'services: { app: { image: "app:1" } }'].join('\n'),
  );
  expect(application).toBeUndefined();
  expect(report[0]?.reason).toContain('must have at most');
});

test('texts that aliases repeat are bounded before they are converted', () => {
  const items = Array.from({ length: 1000 }, () => '      - *text').join('\n');
  const { application, report } = converted(
    `x-text: &text "A=${'a'.repeat(2000)}"\nservices:\n  app:\n    image: app:1\n    environment:\n${items}\n`,
  );
  expect(application).toBeUndefined();
  expect(report).toEqual([
    expect.objectContaining({ class: 'refused', reason: expect.stringContaining('characters of text') }),
  ]);
});

test('a part with too many variables is refused at the first that is too many', () => {
  const variables = Array.from({ length: 300 }, (_, index) => `A${index}: b`).join(', ');
  const refused = service(`environment: { ${variables} }`).report.filter((entry) => entry.class === 'refused');
  expect(refused[0]?.member).toBe('environment.A256');
  expect(refused[0]?.reason).toContain('more than the 256 variables');
});

test('services that wait for each other are refused', () => {
  const { report } = converted(
    'services: { a: { image: "x:1", depends_on: [b] }, b: { image: "x:1", depends_on: [a] } }',
  );
  expect(report).toContainEqual(
    expect.objectContaining({ member: 'services', class: 'refused', reason: 'The services a, b wait for each other.' }),
  );
});

test.each(['app:', 'app:a b', 'App:1', 'app@sha256:12', '-x.example/app:1'])('the image %j is refused', (image) => {
  const { report } = converted(`services: { app: { image: ${JSON.stringify(image)} } }`);
  expect(fatesOf(report)).toContain('app.image refused');
});

test('two services whose names differ only in their characters are refused', () => {
  const { report } = converted('services: { a_b: { image: "x:1" }, a.b: { image: "x:1" } }');
  expect(report.filter((entry) => entry.class === 'refused').map(({ part }) => part)).toEqual(['a_b', 'a.b']);
});

test('a service with another name is replaced where it is the host of an address', () => {
  const { application } = converted(sampleOf('harmless-names'));
  const host = `\${parts.main-db.host}`;
  expect(application?.parts[0]).toMatchObject({
    name: 'web-server',
    env: [
      { name: 'DB_HOST', value: host },
      { name: 'DATABASE_URL', value: `postgres://app@${host}:5432/app,//${host}` },
      { name: 'ADDRESS', value: `${host}:5432` },
    ],
  });
});

test('the command of a health check reads values from variables of the part, and is one line', () => {
  const { application } = converted(sampleOf('harmless-health'));
  const checks = application?.parts.map(({ env = [] }) => env.find(({ name }) => name === 'SVC_HEALTH_CHECK')?.value);
  expect(checks).toEqual([
    `exec:redis-cli -a "$\${REDIS_PASSWORD}" ping`,
    `exec:eval "$(printf %b 'for name in a b\\ndo echo \\0047$name\\0047\\ndone')"`,
    `exec:pg_isready -U $\${DB_USER} -d $\${DB_NAME}`,
    `exec:check "$\${HEALTH_CHECK_1}"`,
  ]);
  expect(application?.parts.at(-1)?.env).toContainEqual({ name: 'HEALTH_CHECK_1', value: `\${inputs.unknown}` });
  const [, script = ''] = /^exec:(.*)$/.exec(checks?.[1] ?? '') ?? [];
  expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })).toBe('$name\n$name\n');
});
