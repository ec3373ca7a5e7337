import { expect, test } from '@jest/globals';
import { clientCommand, isLoopback, partsOf } from '../src/fleet/deployments/endpoints/client-command.ts';

test.each([
  [5432, 'TCP', '10.1.2.3:20001', 'psql -h 10.1.2.3 -p 20001 -U postgres'],
  [6379, 'TCP', '[2001:db8::5]:20001', 'redis-cli -h 2001:db8::5 -p 20001'],
  [27_017, 'TCP', '[2001:db8::5]:20001', 'mongosh mongodb://[2001:db8::5]:20001'],
  [7000, 'TCP', 'web.fleet.svc:7000', 'nc -vz web.fleet.svc 7000'],
  [53, 'UDP', '10.1.2.3:20001', 'nc -vzu 10.1.2.3 20001'],
  [38_412, 'SCTP', '10.1.2.3:20001', undefined],
])('the command for the container port %i/%s at %s is %s', (container_port, protocol, address, command) => {
  expect(clientCommand({ container_port, protocol, address })).toBe(command);
});

test.each([
  ['127.0.0.1', true],
  ['localhost', true],
  ['console.localhost', true],
  ['[::1]', true],
  ['10.1.2.3', false],
  ['localhost.example.com', false],
  ['127.example.com', false],
])('whether %s is the machine itself: %p', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test('an IPv6 address has no brackets without its port', () => {
  expect(partsOf('[::1]:80')).toEqual({ host: '::1', port: '80' });
});
