import {
  dockerConfigJson,
  imageReference,
  pullPolicyOf,
  registryAuth,
  registryServer,
} from '../../src/render/image.ts';

test.each<[string, string | null, string, string]>([
  ['an official image', null, 'postgres', 'docker.io/library/postgres:1'],
  ['an image of a user of Docker Hub', null, 'grafana/grafana', 'docker.io/grafana/grafana:1'],
  ['Docker Hub by its name', 'docker.io', 'postgres', 'docker.io/library/postgres:1'],
  ['Docker Hub by another of its names', 'index.docker.io', 'postgres', 'docker.io/library/postgres:1'],
  ['a user of Docker Hub', 'docker.io/grafana', 'grafana', 'docker.io/grafana/grafana:1'],
  ['another registry', 'ghcr.io', 'app', 'ghcr.io/app:1'],
  ['a path of another registry', 'ghcr.io/team', 'app', 'ghcr.io/team/app:1'],
  ['a registry with a port', 'registry.example.com:5000', 'app', 'registry.example.com:5000/app:1'],
  ['a registry in capitals', 'GHCR.io/team', 'app', 'ghcr.io/team/app:1'],
  ['an empty registry', '', 'postgres', 'docker.io/library/postgres:1'],
])('the image reference of %s is complete', (_, registry_url, image_name, expected) => {
  expect(imageReference({ registry_url, image_name, image_tag: '1', image_digest: null })).toBe(expected);
});

test('a reference with a digest has no tag, and is not pulled again', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  const image = { registry_url: 'ghcr.io', image_name: 'app', image_tag: 'latest', image_digest: digest };
  expect(imageReference(image)).toBe(`ghcr.io/app@${digest}`);
  expect(pullPolicyOf(image, 'auto')).toBe('missing');
  expect(pullPolicyOf({ ...image, image_digest: null }, 'auto')).toBe('if_possible');
});

test.each<[string | null, string]>([
  [null, 'https://index.docker.io/v1/'],
  ['docker.io/team', 'https://index.docker.io/v1/'],
  ['ghcr.io/team', 'ghcr.io'],
  ['registry.example.com:5000', 'registry.example.com:5000'],
])('registry credentials for %s are stored under %s', (registry_url, expected) => {
  expect(registryServer({ registry_url })).toBe(expected);
});

const credentials = { server: 'ghcr.io', username: 'ada', password: 'pä?>ss' };

test('a pull secret has the format that `docker login` writes', () => {
  expect(JSON.parse(dockerConfigJson(credentials))).toEqual({
    auths: { 'ghcr.io': { username: 'ada', password: 'pä?>ss', auth: Buffer.from('ada:pä?>ss').toString('base64') } },
  });
});

test('X-Registry-Auth is encoded as base64url with padding', () => {
  const header = registryAuth({ ...credentials, password: '???>>>ÿÿ' });
  expect(header).toMatch(/^[A-Za-z0-9_-]+={1,2}$/);
  expect(header.length % 4).toBe(0);
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({
    username: 'ada',
    password: '???>>>ÿÿ',
    serveraddress: 'ghcr.io',
  });
});
