import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readSettings, SettingsError } from '@svc/http';
import { createAuthority } from '@svc/testing';
import { z } from 'zod';
import { auditDeliveryRules, auditDeliverySettings } from '../src/index.ts';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'settings-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));
const authority = createAuthority(folder);
const [client, other] = [authority.issue(['client']), authority.issue(['other'])];
const pem = (file: string) => fs.readFileSync(file, 'utf8');
const schema = z.object(auditDeliverySettings).check(...auditDeliveryRules);
const AUDIT_DELIVERY = 'tls://syslog.example.com:6514';

function errorsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    readSettings(schema, environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.errors;
    throw error;
  }
}

test.each([
  ['tls://syslog.example.com', { host: 'syslog.example.com', port: 6514 }],
  ['tls://syslog.example.com:10514', { host: 'syslog.example.com', port: 10_514 }],
  ['tls://[2001:db8::1]:6514', { host: '2001:db8::1', port: 6514 }],
  ['stdout', 'stdout'],
])('the target %s is accepted', (AUDIT_DELIVERY, target) => {
  expect(readSettings(schema, { AUDIT_DELIVERY })).toMatchObject({ AUDIT_DELIVERY: target });
});

test.each([
  'syslog.example.com:6514',
  'tcp://syslog.example.com:514',
  'tls://',
  'tls://user:password@syslog.example.com',
  'tls://syslog.example.com/path',
  'tls://syslog.example.com:70000',
  'stderr',
])('the target %s is refused', (AUDIT_DELIVERY) => {
  expect(errorsOf({ AUDIT_DELIVERY })).toEqual([
    'AUDIT_DELIVERY: must be stdout, or tls://host:port of a syslog receiver',
  ]);
});

test('certificates and the key are read from files, and must belong together', () => {
  const files = {
    AUDIT_DELIVERY_CA_FILE: authority.certificate,
    AUDIT_DELIVERY_CERT_FILE: client.certificate,
    AUDIT_DELIVERY_KEY_FILE: client.key,
  };
  expect(errorsOf({ AUDIT_DELIVERY, ...files })).toEqual([]);
  expect(errorsOf({ AUDIT_DELIVERY, ...files, AUDIT_DELIVERY_KEY_FILE: other.key })).toEqual([
    'AUDIT_DELIVERY_KEY: must be the private key of the first certificate in AUDIT_DELIVERY_CERT',
  ]);
  expect(errorsOf({ AUDIT_DELIVERY, AUDIT_DELIVERY_CERT: pem(client.certificate) })).toEqual([
    'AUDIT_DELIVERY_KEY: is required: AUDIT_DELIVERY_CERT and AUDIT_DELIVERY_KEY must be set together',
  ]);
  expect(errorsOf({ AUDIT_DELIVERY: 'stdout', AUDIT_DELIVERY_CA_FILE: authority.certificate })).toEqual([
    'AUDIT_DELIVERY_CA: requires AUDIT_DELIVERY with the address of a syslog receiver',
  ]);
});

test('what is no certificate or key is refused without its text', () => {
  const errors = errorsOf({
    AUDIT_DELIVERY,
    AUDIT_DELIVERY_CA: 'secret',
    AUDIT_DELIVERY_CERT: 'secret',
    AUDIT_DELIVERY_KEY: 'secret',
  });
  expect(errors).toEqual([
    'AUDIT_DELIVERY_CA: must be certificates in PEM format',
    'AUDIT_DELIVERY_CERT: must be certificates in PEM format',
    'AUDIT_DELIVERY_KEY: must be a private key in PEM format, without a passphrase',
  ]);
});
