import { expect, test } from '@jest/globals';
import { scrubberFor } from '../../src/engines/docker/status.ts';
import { registryAuth } from '../../src/render/image.ts';
import { aDeployment, aScript } from './world.ts';

const PEM = '-----BEGIN KEY-----\nabcd"efgh\n-----END KEY-----\n';

async function scrubber(...values: readonly string[]) {
  const it = await aDeployment(aScript(''), { env: values.map((value, at) => ({ name: `V${at}`, value })) });
  const auth = registryAuth({ server: 'ghcr.io', username: 'customer', password: 'p4ssword' });
  return scrubberFor({ ...(await it.manifest()), registryAuth: auth });
}

test('values are taken out of text, the longest first', async () => {
  const clean = await scrubber('secret', 'secret-and-more', '');
  expect(clean('it says secret-and-more, or secret')).toBe('it says •••, or •••');
});

test('values are taken out as engines write them: quoted, in one line, or a line of it', async () => {
  const clean = await scrubber(PEM);
  for (const said of [PEM, JSON.stringify(PEM), PEM.replaceAll('\n', ' '), 'abcd"efgh']) {
    expect(clean(`bad value: ${said}`)).not.toContain('efgh');
  }
});

test('who pulls is taken out', async () => {
  expect((await scrubber())('customer:p4ssword was refused')).toBe('•••:••• was refused');
});

test('what is too short to be looked for leaves the words as they are', async () => {
  expect((await scrubber('1', 'no', 'on'))('nobody is on port 1')).toBe('nobody is on port 1');
});
