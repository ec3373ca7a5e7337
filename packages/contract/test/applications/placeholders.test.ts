import { expect, test } from '@jest/globals';
import { applicationPieces } from '../../src/index.ts';

test.each([
  ['', []],
  ['plain $HOME and $$', ['plain $HOME and $$']],
  [`$\${HOME}`, [`\${`, 'HOME}']],
  [`\${inputs.a}`, [{ placeholder: { kind: 'input', name: 'a' }, isEncoded: false }]],
  [`\${generated.a_1|url}`, [{ placeholder: { kind: 'generated', name: 'a_1' }, isEncoded: true }]],
  [`\${application.name}`, [{ placeholder: { kind: 'application-name' }, isEncoded: false }]],
  [`http://\${parts.db-1.host}/`, ['http://', { placeholder: { kind: 'host', part: 'db-1' }, isEncoded: false }, '/']],
  [`\${parts.db.address.5432}`, [{ placeholder: { kind: 'address', part: 'db', port: 5432 }, isEncoded: false }]],
  [`\${parts.db.url.80}`, [{ placeholder: { kind: 'url', part: 'db', port: 80 }, isEncoded: false }]],
  [`\${self.url.8080}`, [{ placeholder: { kind: 'own-url', port: 8080 }, isEncoded: false }]],
])('the pieces of %j are %j', (text, pieces) => {
  expect(applicationPieces(text)).toEqual(pieces);
});

test.each([
  `\${}`,
  `\${inputs.a`,
  `\${ inputs.a }`,
  `\${INPUTS.a}`,
  `\${inputs.a|html}`,
  `\${inputs}`,
  `\${inputs.a.b}`,
  `\${parts.db}`,
  `\${parts.db.port}`,
  `\${parts.db.host.80}`,
  `\${parts.db.address.http}`,
  `\${parts.db.address.080}`,
  `\${parts.db.address.80.1}`,
  `\${self.url}`,
  `\${self.host.80}`,
  `\${application.id}`,
  `\${env.home}`,
])('the text %j contains no placeholder that exists', (text) => {
  expect(applicationPieces(text)).toBeUndefined();
});
