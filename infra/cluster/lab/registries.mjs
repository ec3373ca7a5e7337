import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { CONTROL_PLANE, REGISTRY_PORTS } from './network.mjs';

/** The user and the password of the registry with a password, and the line of its htpasswd file (bcrypt of the password). */
const USER = { name: 'puller', password: 'password-of-the-test-registry' };
const PRIVATE_IMAGE = `${CONTROL_PLANE}:${REGISTRY_PORTS.withPassword}/private/busybox:1`;
const HTPASSWD = 'puller:$2b$04$h5w32m5FYCc62mUPlYD7sOkjd1QWCk3LKLBf1Q5qCLz/eaxGFRsE2';

/** Starts two registries: an open one, which answers for all others, and one with a password. */
export function startRegistries({ programs, programAt, at }) {
  writeFileSync(at('htpasswd'), `${HTPASSWD}\n`);
  for (const [name, port] of Object.entries(REGISTRY_PORTS)) {
    const auth = name === 'withPassword' ? { auth: { htpasswd: { realm: 'test', path: at('htpasswd') } } } : {};
    const file = at(`registry-${port}.json`);
    const settings = {
      ...{ version: '0.1', log: { level: 'error' }, http: { addr: `${CONTROL_PLANE}:${port}` }, ...auth },
      storage: { filesystem: { rootdirectory: at('registries', String(port)) } },
    };
    writeFileSync(file, JSON.stringify(settings));
    programs.run(`registry-${port}`, programAt('docker-registry'), ['serve', file]);
  }
}

/** Pushes an image of a node to the registry with a password, and removes its name from the node, so that pods must pull it. */
export function pushPrivateImage({ programAt, socket, image }) {
  const images = (...args) =>
    execFileSync(programAt('ctr'), ['--address', socket, '--namespace', 'k8s.io', 'images', ...args]);
  images('tag', image, PRIVATE_IMAGE);
  images('push', '--plain-http', '--user', `${USER.name}:${USER.password}`, PRIVATE_IMAGE);
  images('remove', PRIVATE_IMAGE);
}
