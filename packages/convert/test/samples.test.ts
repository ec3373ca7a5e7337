import { EXTRA } from '../src/caprover/caprover.ts';
import { INSTRUCTIONS } from '../src/caprover/dockerfile.ts';
import { SERVICE } from '../src/compose/service.ts';
import { FORMS } from '../src/coolify/generated.ts';
import { type Converted, harmless } from '../src/index.ts';
import { CONTAINER, DESCRIPTION } from '../src/portainer/portainer.ts';
import { formatProblems } from './format.ts';
import { convert, type Sample, samples } from './samples.ts';

const results = new Map(samples.map((sample) => [sample, convert(sample)]));

const resultOf = (sample: Sample) => results.get(sample) ?? convert(sample);

const RANKS = ['complete', 'harmless', 'note', 'refused'];
const rankOf = ({ report }: Converted) =>
  RANKS[Math.max(0, ...report.map((entry) => RANKS.indexOf(entry.class === 'same' ? 'complete' : entry.class)))];

const named = samples.map((sample) => [`${sample.kind}/${sample.file}`, sample] as const);

const convertedIn = (file: string) => {
  const [, sample] = named.find(([name]) => name === file) ?? [];
  return sample && convert(sample);
};
const applicationIn = (file: string) => convertedIn(file)?.application;

test('there are forty samples', () => {
  expect(samples.length).toBeGreaterThanOrEqual(40);
});

test.each(named)('%s has the class of its name, and an application unless it is refused', (_, sample) => {
  const result = resultOf(sample);
  expect({ class: rankOf(result), report: result.report }).toEqual({ class: sample.fate, report: result.report });
  expect(result.application === undefined).toBe(sample.fate === 'refused');
});

test.each(named)('no key of %s has two fates, and each difference has its reason', (_, sample) => {
  const { report } = resultOf(sample);
  const keys = report.map(({ file, part, member }) => `${file} ${part} ${member}`);
  expect(new Set(keys).size).toBe(keys.length);
  const known = new Set<string>(Object.values(harmless));
  for (const entry of report) {
    expect(entry.reason === '').toBe(entry.class === 'same');
    if (entry.class === 'harmless') expect(known).toContain(entry.reason);
    expect(entry.line).toBeGreaterThan(0);
  }
});

test.each(named.filter(([, { fate }]) => fate !== 'refused'))(
  'the application of %s has the format of the contract',
  (_, sample) => {
    const { application } = resultOf(sample);
    expect(application && formatProblems(application)).toEqual([]);
  },
);

const membersIn = (kind: string) =>
  new Set(
    [...results]
      .filter(([sample]) => sample.kind === kind)
      .flatMap(([, { report }]) => report.flatMap(({ member }) => member.split('.'))),
  );

test.each([
  ['compose', Object.keys(SERVICE)],
  ['caprover', [...Object.keys(EXTRA), 'captainVersion', 'displayName', 'instructions', 'isOfficial', 'variables']],
  ['portainer', [...Object.keys(CONTAINER), ...Object.keys(DESCRIPTION)]],
] as const)('the samples of %s contain each member that has a rule', (kind, members) => {
  const present = membersIn(kind);
  expect(members.filter((member) => !present.has(member))).toEqual([]);
});

const textOf = (kind: string) =>
  samples
    .filter((sample) => sample.kind === kind)
    .map(({ text }) => text)
    .join('\n');

test('the samples contain each value that Coolify generates, and each instruction of a Dockerfile', () => {
  const coolify = textOf('coolify');
  expect(Object.keys(FORMS).filter((form) => !coolify.includes(`SERVICE_${form}_`))).toEqual([]);
  const caprover = textOf('caprover');
  expect(INSTRUCTIONS.filter((instruction) => !caprover.includes(`${instruction} `))).toEqual([]);
});

test('the samples contain each harmless difference', () => {
  const reasons = new Set([...results.values()].flatMap(({ report }) => report.map(({ reason }) => reason)));
  expect(Object.entries(harmless).filter(([, reason]) => !reasons.has(reason))).toEqual([]);
});

test('a part of Coolify that uses its own address binds to it, and another one has an input', () => {
  const application = applicationIn('coolify/harmless-ghost.yaml');
  expect(application?.generated).toEqual([
    { name: 'user_mysql', length: 16, format: 'text' },
    { name: 'password_mysql', length: 32, format: 'text' },
    { name: 'password_64_root', length: 64, format: 'text' },
  ]);
  expect(application).toMatchObject({
    description: 'A program for blogs.',
    category: 'cms',
    tags: ['blog', 'content'],
  });
  const [ghost, mysql] = application?.parts ?? [];
  expect(ghost?.ports).toEqual([{ containerPort: 2368, publish: true }]);
  expect(ghost?.env).toContainEqual({ name: 'url', value: `\${self.url.2368}` });
  expect(mysql?.env).toContainEqual({
    name: 'SVC_HEALTH_CHECK',
    value: `exec:mysqladmin ping "-p$\${MYSQL_ROOT_PASSWORD}"`,
  });
});

test('a part of Coolify publishes the port of the header, and those of the variables that the platform sets', () => {
  expect(applicationIn('coolify/harmless-header.yaml')?.parts[0]?.ports).toEqual([
    { containerPort: 8080, publish: true },
  ]);
  expect(applicationIn('coolify/harmless-storage.yaml')?.parts[0]).toMatchObject({
    ports: [
      { containerPort: 9000, publish: true },
      { containerPort: 9001, publish: true },
    ],
    env: [
      { name: 'MINIO_SERVER_URL', value: `\${self.url.9000}` },
      { name: 'MINIO_BROWSER_REDIRECT_URL', value: `\${self.url.9001}` },
    ],
  });
});

test('an app of CapRover without a port has that of its image, or those of its Dockerfile, and is not published', () => {
  expect(applicationIn('caprover/harmless-database.yml')?.parts[0]?.ports).toEqual([{ containerPort: 5432 }]);
  expect(applicationIn('caprover/harmless-dockerfile.yml')?.parts[0]?.ports).toEqual([
    { containerPort: 81, protocol: 'UDP' },
    { containerPort: 80, publish: true },
  ]);
});

test('apps of CapRover find each other by the names of parts, and share generated values', () => {
  const application = applicationIn('caprover/harmless-ghost.yml');
  expect(application).toMatchObject({
    name: 'Ghost',
    inputs: [
      { name: 'root_domain', type: 'text', required: true },
      { name: 'host', label: 'Host', required: true },
      { name: 'mail_password', type: 'secret', required: false },
      { name: 'mail_port', default: '587', required: false },
    ],
    generated: [{ name: 'db_password', length: 16, format: 'hex' }],
    parts: [
      {
        name: 'harmless-ghost',
        image_tag: '6-alpine',
        needs: [{ part: 'db', until: 'started' }],
        ports: [{ containerPort: 2368, publish: true }],
      },
      { name: 'db', ports: [{ containerPort: 3306, publish: true, host_port: 3306 }] },
    ],
  });
  expect(application?.parts[0]?.env).toEqual(
    expect.arrayContaining([
      { name: 'url', value: `https://\${application.name}.\${inputs.root_domain}` },
      { name: 'database__connection__host', value: `\${parts.db.host}` },
    ]),
  );
});

test('a member that CapRover does not use changes nothing', () => {
  const { kind, command } = applicationIn('caprover/harmless-members.yml')?.parts[0] ?? {};
  expect({ kind, command }).toEqual({ kind: undefined, command: undefined });
});

test('lines of a Dockerfile that only start the program become members of the part', () => {
  const application = applicationIn('caprover/harmless-dockerfile.yml');
  expect(application?.parts).toMatchObject([
    {
      registry_url: 'ghcr.io',
      image_name: 'team/app',
      image_tag: '1',
      entrypoint: ['/entry', '--flag'],
      command: ['/bin/sh', '-c', `serve --name "\${application.name}"`],
      working_dir: '/srv',
      run_as: '0',
      env: [
        { name: 'MODE', value: 'own' },
        { name: 'OTHER', value: 'a b' },
        { name: 'THIRD', value: `\${application.name}` },
      ],
    },
    { name: 'worker', entrypoint: ['work'] },
  ]);
});

test('variables of a template of Portainer are inputs of the container or its stack', () => {
  const container = applicationIn('portainer/harmless-container.json');
  const stack = applicationIn('portainer/harmless-stack.json');
  expect(container?.inputs).toEqual([
    { name: 'title', label: 'Title', type: 'text', required: false, default: 'My $files' },
    { name: 'level', label: 'Level', type: 'choice', choices: ['1', '2'], required: false, default: '2' },
    { name: 'admin_password', label: 'Password', type: 'secret', required: true },
    { name: 'plain', label: 'PLAIN', type: 'text', required: false },
  ]);
  expect(container?.parts[0]?.env).toContainEqual({ name: 'MODE', value: 'server' });
  expect(stack).toMatchObject({
    name: 'Blog',
    inputs: [{ name: 'db_password', label: 'Password of the database', type: 'secret' }],
    parts: [{ env: [{ name: 'DB_PASSWORD' }, { name: 'DB_NAME', value: 'blog' }] }],
  });
});

test('a part whose address is used has the ports that its file states, or those that others use', () => {
  const parts = applicationIn('caprover/harmless-ports.yml')?.parts ?? [];
  expect(
    Object.fromEntries(parts.map(({ name, ports = [] }) => [name, ports.map((port) => port.containerPort)])),
  ).toEqual({
    'harmless-ports': [80],
    postgres: [5432],
    node: [8332, 8334],
    queue: [7711],
    cache: [6379],
    configured: [5433],
    pages: [8080],
  });
});

test('an address of a part without a known port is refused at the service', () => {
  const report = convertedIn('caprover/refused-port.yml')?.report ?? [];
  expect(report.filter((entry) => entry.class === 'refused')).toEqual([
    expect.objectContaining({
      line: 6,
      part: '$$cap_appname-metrics',
      reason: 'Other services use its address, but no port of it is known: state the port in expose.',
    }),
  ]);
});
