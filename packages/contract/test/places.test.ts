import { describe, expect, test } from '@jest/globals';
import { fleetEndpoints } from '../src/fleet/index.ts';
import { templateConflicts, templateDefaults, templateFields } from '../src/index.ts';

const messagesOf = (member: 'files' | 'tmpfs' | 'working_dir', value: unknown) =>
  templateFields[member].safeParse(value).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ??
  [];
const file = (given: object) => ({ path: '/etc/app.conf', content: 'a = 1\n', ...given });

describe('the files of a template', () => {
  test.each(['/a', '/etc/app/app.conf', '/srv/with space/ä', '/...', '/.hidden', '/developers/a'])(
    'can be at %s',
    (path) => {
      expect(messagesOf('files', [file({ path })])).toEqual([]);
    },
  );

  test.each([
    '',
    'a',
    '/',
    '/a/',
    '/a//b',
    '/a/./b',
    '/../a',
    '/a/..',
    '/a:b',
    '/a,b',
    '/a"b',
    '/dev/shm/a',
    '/proc/self',
    '/sys',
  ])('cannot be at %p', (path) => {
    expect(messagesOf('files', [file({ path })])).toEqual([expect.stringMatching(/^0\.path must be an absolute path/)]);
  });

  test('are at most 32, of at most 64 KiB each and 256 KiB together, in UTF-8', () => {
    const files = (count: number, content: string) =>
      Array.from({ length: count }, (_, index) => file({ path: `/f${index}`, content }));
    expect(messagesOf('files', files(4, 'x'.repeat(65_536)))).toEqual([]);
    expect(messagesOf('files', files(32, 'x'))).toEqual([]);
    expect(messagesOf('files', files(33, 'x'))).toEqual([' must have at most 32 entries']);
    expect(messagesOf('files', files(1, 'x'.repeat(65_537)))).toContain('0.content must have at most 65536 characters');
    expect(messagesOf('files', files(1, 'ä'.repeat(32_769)))).toEqual([
      '0.content must have at most 64 KiB, which is 65536 bytes in UTF-8',
    ]);
    expect(messagesOf('files', files(5, 'x'.repeat(65_536)))).toEqual([
      ' must have at most 256 KiB together, which is 262144 bytes in UTF-8',
    ]);
  });

  test('can be read, and only programs are run', () => {
    expect(templateFields.files.parse([file({})])).toMatchObject([{ mode: '0444' }]);
    expect(messagesOf('files', [file({ mode: '0555' })])).toEqual([]);
    expect(messagesOf('files', [file({ mode: '0777' })])).toEqual(['0.mode must be 0444, or 0555 for a program']);
    expect(messagesOf('files', [file({ content: 'a\0' })])).toEqual(['0.content must not contain control characters']);
  });
});

test.each(['1Mi', '64Mi', '999999Mi', '1Gi', '999Gi'])('a temporary directory can have %s', (size) => {
  expect(messagesOf('tmpfs', [{ path: '/tmp', size }])).toEqual([]);
});

test.each(['', '0Mi', '64', '64M', '1Ki', '1.5Gi', '1000Gi', '1000000Mi', '1Ti'])(
  'a temporary directory cannot have %p',
  (size) => {
    expect(messagesOf('tmpfs', [{ path: '/tmp', size }])).toEqual([
      '0.size must be a size such as 64Mi or 1Gi, of at most 999999Mi or 999Gi',
    ]);
  },
);

test('a temporary directory without a size has 64 MiB', () => {
  expect(templateFields.tmpfs.parse([{ path: '/tmp' }])).toEqual([{ path: '/tmp', size: '64Mi' }]);
});

test('there are at most 8 temporary directories', () => {
  const tmpfs = (count: number) => Array.from({ length: count }, (_, index) => ({ path: `/t${index}`, size: '1Mi' }));
  expect(messagesOf('tmpfs', tmpfs(8))).toEqual([]);
  expect(messagesOf('tmpfs', tmpfs(9))).toEqual([' must have at most 8 entries']);
});

test('a working directory is an absolute path', () => {
  expect(messagesOf('working_dir', '/srv')).toEqual([]);
  expect(messagesOf('working_dir', 'srv')).toEqual([' must be an absolute path']);
});

test('a mount without a statement about writing has no such member, so that copies and signatures of it stay valid', () => {
  const mount = { name: 'data', mountPath: '/data' };
  expect(
    fleetEndpoints.createDeployment.body.parse({ name: 'a', spec: { volume_mounts: [mount] } }).spec?.volume_mounts,
  ).toEqual([mount]);
});

test.each([
  [{ path: '/data/a' }, { name: 'data', mountPath: '/data' }, 'must not be in the volume data'],
  [{ path: '/data' }, { name: 'data', mountPath: '/data/../data/' }, 'must not be in the volume data'],
  [
    { path: '/data' },
    { name: 'data', mountPath: '/data/x' },
    'must not be a directory, because it contains the volume data',
  ],
  [{ path: '/database' }, { name: 'data', mountPath: '/data' }, undefined],
])('the file %p and the mount %p', (given, mount, message) => {
  const conflicts = templateConflicts({ ...templateDefaults, files: [file(given)], volume_mounts: [mount] });
  expect(conflicts.map((conflict) => conflict.message)).toEqual(message === undefined ? [] : [message]);
});
