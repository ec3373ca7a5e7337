import { expect, test } from '@jest/globals';
import { newTemplate, readHealthCheck, readHttpPorts, readShmSize } from '../src/index.ts';

const minimal = { name: 'My App', category_id: '0190c5a0-0000-7000-8000-000000000000' };

test.each([
  ['1Mi', 2 ** 20],
  ['256Gi', 256 * 2 ** 30],
  ['257Gi', undefined],
  ['0Mi', undefined],
  ['1.5Gi', undefined],
  ['1G', undefined],
  ['', undefined],
])('the size of shared memory %p is %p bytes', (value, bytes) => {
  expect(readShmSize(value)).toBe(bytes);
});

test.each([
  ['http:80', { kind: 'http', port: 80, path: '/' }],
  ['http:8080/v1/health?deep=1', { kind: 'http', port: 8080, path: '/v1/health?deep=1' }],
  ['tcp:65535', { kind: 'tcp', port: 65_535 }],
  ['exec:redis-cli ping | grep PONG', { kind: 'exec', command: 'redis-cli ping | grep PONG' }],
])('the health check %s is allowed', (value, check) => {
  expect(readHealthCheck(value)).toEqual(check);
});

test.each([
  'http:0/',
  'http:65536/',
  'http:80/a b',
  "http:80/'$(id)'",
  'http:80/\n',
  'tcp:80/path',
  'tcp:',
  'exec:',
  'exec: ',
  'exec:a\nb',
  'ftp:21',
  `exec:${'x'.repeat(1024)}`,
])('the health check %p is not allowed', (value) => {
  expect(readHealthCheck(value)).toBeUndefined();
});

test.each([
  ['3000', [{ port: 3000, scheme: 'http' }]],
  [
    ' 3000,8443/https, 80/http',
    [
      { port: 3000, scheme: 'http' },
      { port: 8443, scheme: 'https' },
      { port: 80, scheme: 'http' },
    ],
  ],
])('the ports with web pages %p are allowed', (value, ports) => {
  expect(readHttpPorts(value)).toEqual(ports);
});

test.each(['0', '65536', '3000/tcp', '3000/', '3000;3001', '3000,', 'http:3000', Array(17).fill('80').join()])(
  'the ports with web pages %p are not allowed',
  (value) => {
    expect(readHttpPorts(value)).toBeUndefined();
  },
);

test.each([
  ['env', [{ name: 'SVC_SHM_SIZE', value: '1G' }], 'env.0.value'],
  ['env_schema', [{ name: 'SVC_HEALTH_CHECK', default_value: 'ping' }], 'env_schema.0.default_value'],
  ['env', [{ name: 'SVC_HTTP_PORTS', value: 'all' }], 'env.0.value'],
  ['secret_refs', [{ name: 'secret', env: 'SVC_SHM_SIZE' }], 'secret_refs.0.env'],
  ['secret_refs', [{ name: 'secret', env: 'SVC_HTTP_PORTS' }], 'secret_refs.0.env'],
])('a template with an invalid option of the container in %s is rejected', (member, value, path) => {
  const issues = newTemplate.safeParse({ ...minimal, [member]: value }).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

test('an option of the container can be without a value', () => {
  const env_schema = [{ name: 'SVC_SHM_SIZE' }];
  expect(newTemplate.safeParse({ ...minimal, env_schema }).success).toBe(true);
});
