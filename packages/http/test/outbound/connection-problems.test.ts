import { expect, test } from '@jest/globals';
import { failedConnection, OutboundRefused } from '../../src/index.ts';

const failure = (code: string) => new Error('failed', { cause: Object.assign(new Error('inner'), { code }) });

test.each([
  [
    'ECONNREFUSED',
    'no_response',
    'The hub does not respond (ECONNREFUSED). The connection to its address was refused.',
  ],
  [
    'ENOTFOUND',
    'no_response',
    'The hub does not respond (ENOTFOUND). The host name of its address cannot be resolved.',
  ],
  [
    'UND_ERR_SOCKET',
    'no_response',
    'The hub does not respond (UND_ERR_SOCKET). It closed the connection without a response.',
  ],
  ['EWHATEVER', 'no_response', 'The hub does not respond (EWHATEVER).'],
  ['CERT_HAS_EXPIRED', 'tls', 'The TLS connection to the hub cannot be established. Its certificate has expired.'],
  [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'tls',
    'The TLS connection to the hub cannot be established. Its certificate is not signed by an authority that this service trusts. Add the certificate of the authority to the file in NODE_EXTRA_CA_CERTS.',
  ],
  [
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'tls',
    'The TLS connection to the hub cannot be established. It does not respond with TLS.',
  ],
])('the code %s is named', (code, kind, text) => {
  expect(failedConnection('the hub', failure(code))).toEqual({ kind, text });
});

test('a timeout, an unknown error and a refusal by this service are named', () => {
  expect(failedConnection('the hub', new DOMException('', 'TimeoutError')).text).toBe(
    'The hub does not respond in time.',
  );
  expect(failedConnection('the hub', new Error('secret')).text).toBe('The hub does not respond.');
  const refusal = new OutboundRefused(['private']);
  expect(failedConnection('the hub', new Error('', { cause: refusal }))).toEqual({
    kind: 'refused',
    text: refusal.message,
  });
});
