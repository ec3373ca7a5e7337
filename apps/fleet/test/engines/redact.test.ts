import { expect, test } from '@jest/globals';
import { redactorFor } from '../../src/engines/docker/status.ts';
import { registryAuth } from '../../src/render/image.ts';
import { aDeployment, aScript } from './world.ts';

const PEM = '-----BEGIN KEY-----\nabcd"efgh\n-----END KEY-----\n';

async function redactor(...values: readonly string[]) {
  const deployment = await aDeployment(aScript(''), { env: values.map((value, at) => ({ name: `V${at}`, value })) });
  const auth = registryAuth({ server: 'ghcr.io', username: 'customer', password: 'p4ssword' });
  return redactorFor({ ...(await deployment.manifest()), registryAuth: auth });
}

test('redacts values in text, the longest first', async () => {
  const clean = await redactor('secret', 'secret-and-more', '');
  expect(clean('it says secret-and-more, or secret')).toBe('it says •••, or •••');
});

test('redacts a value in each form that engines write: quoted, on one line, or one of its lines', async () => {
  const clean = await redactor(PEM);
  for (const text of [PEM, JSON.stringify(PEM), PEM.replaceAll('\n', ' '), 'abcd"efgh']) {
    expect(clean(`bad value: ${text}`)).not.toContain('efgh');
  }
});

test('redacts each line of a value with many spaces', async () => {
  const spaces = ' '.repeat(32_000);
  const clean = await redactor(`first${spaces}\n\t${spaces}second \r\n`);
  expect(clean('first second, second')).toBe('•••, •••');
});

test('redacts the registry credentials', async () => {
  expect((await redactor())('customer:p4ssword was refused')).toBe('•••:••• was refused');
});

test('does not redact values that are too short', async () => {
  expect((await redactor('1', 'no', 'on'))('nobody is on port 1')).toBe('nobody is on port 1');
});
