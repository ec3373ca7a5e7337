import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parseSettings, repository } from '../../src/settings.ts';

test('the defaults are the documented ports and the data folder of the repository', () => {
  expect(parseSettings({})).toEqual({
    ports: { hub: 4100, fleet: 4200, identityProvider: 4300, postgres: 4400 },
    dataDir: path.join(repository, '.data'),
    passedOn: {},
    engineSockets: ['/var/run/docker.sock', '/run/podman/podman.sock'],
    demo: false,
    startedByNpm: false,
  });
});

test('if DOCKER_HOST or CONTAINER_HOST is set, an engine is only searched there', () => {
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

test.each(['0', '65536', '-1', '4100.5', '0x10', 'high'])(
  'HUB_PORT=%s is rejected with what is allowed',
  (HUB_PORT) => {
    expect(() => parseSettings({ HUB_PORT })).toThrow(`HUB_PORT must be a port from 1 to 65535, not "${HUB_PORT}".`);
  },
);

test('--demo is the only option', () => {
  expect(parseSettings({}, ['--demo']).demo).toBe(true);
  expect(() => parseSettings({}, ['--dmeo'])).toThrow(
    'Unknown option --dmeo. The only option is --demo: npm start -- --demo',
  );
});

test('the same port for two services is rejected', () => {
  expect(() => parseSettings({ HUB_PORT: '4200' })).toThrow('must all be different');
});

test('services receive only the known variables of the environment', () => {
  const { passedOn } = parseSettings({ PATH: '/bin', NODE_OPTIONS: '', RATE_LIMIT: 'off', AWS_SECRET_ACCESS_KEY: 'x' });
  expect(passedOn).toEqual({ PATH: '/bin', NODE_OPTIONS: '', RATE_LIMIT: 'off' });
});
