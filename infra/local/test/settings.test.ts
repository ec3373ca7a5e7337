import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parseSettings, repository } from '../src/settings.ts';

test('without an environment the documented ports and the data folder of the repository are used', () => {
  expect(parseSettings({})).toEqual({
    ports: { hub: 4100, fleet: 4200, identityProvider: 4300, postgres: 4400 },
    dataDir: path.join(repository, '.data'),
    passedOn: {},
    engineSockets: ['/var/run/docker.sock', '/run/podman/podman.sock'],
    startedByNpm: false,
  });
});

test('an engine is looked for where the usual variables say, and nowhere else then', () => {
  expect(parseSettings({ DOCKER_HOST: 'unix:///a.sock', CONTAINER_HOST: 'unix:///b.sock' }).engineSockets).toEqual([
    '/a.sock',
    '/b.sock',
  ]);
  expect(parseSettings({ DOCKER_HOST: 'tcp://elsewhere:2376', XDG_RUNTIME_DIR: '/run/user/7' }).engineSockets).toEqual([
    '/var/run/docker.sock',
    '/run/user/7/podman/podman.sock',
    '/run/podman/podman.sock',
  ]);
});

test.each(['0', '65536', '-1', '4100.5', '0x10', 'high'])('HUB_PORT=%s is refused with what is allowed', (HUB_PORT) => {
  expect(() => parseSettings({ HUB_PORT })).toThrow(`HUB_PORT is a port from 1 to 65535, not "${HUB_PORT}".`);
});

test('one port for two services is refused', () => {
  expect(() => parseSettings({ HUB_PORT: '4200' })).toThrow('must all be different');
});

test('services get what they may need of the environment, and no credential that is there by chance', () => {
  const { passedOn } = parseSettings({ PATH: '/bin', NODE_OPTIONS: '', RATE_LIMIT: 'off', AWS_SECRET_ACCESS_KEY: 'x' });
  expect(passedOn).toEqual({ PATH: '/bin', NODE_OPTIONS: '', RATE_LIMIT: 'off' });
});
