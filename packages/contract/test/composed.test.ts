import { composedPieces } from '../src/fleet/index.ts';

test.each([
  ['', []],
  ['plain $HOME and $$', ['plain $HOME and $$']],
  [`$\${name}`, [`\${`, 'name}']],
  [`\${a}\${b|url}c`, [{ name: 'a', isEncoded: false }, { name: 'b', isEncoded: true }, 'c']],
  [`a$\${b\${c}`, ['a', `\${`, 'b', { name: 'c', isEncoded: false }]],
])('the pieces of %j are %j', (text, pieces) => {
  expect(composedPieces(text)).toEqual(pieces);
});

test.each([`\${}`, `\${A}`, `\${a|html}`, `\${a`, `\${ a }`, `\${9a}`])('the text %j is not well-formed', (text) => {
  expect(composedPieces(text)).toBeUndefined();
});
