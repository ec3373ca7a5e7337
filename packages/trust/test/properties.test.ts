import { isDeepStrictEqual } from 'node:util';
import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { acceptKeyring, canonicalForm, coveredMembers, digestOf, type Members, matches } from '../src/index.ts';
import { acme, content, first, good, keyring, NOW, outcomeOf, sealed, second, signed, verify } from './world.ts';

const runs = byDepth({ short: 60, full: 1000, long: 20_000 });
const value = fc.jsonValue({ maxDepth: 2 });

/** The paths of all values in a value, with those of lists and objects. */
function pathsIn(found: unknown, at: readonly string[] = []): (readonly string[])[] {
  const entries = typeof found === 'object' && found !== null ? Object.entries(found) : [];
  return [at, ...entries.flatMap(([key, each]) => pathsIn(each, [...at, key]))];
}

function withValue(found: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy: unknown = structuredClone(found);
  if (typeof copy !== 'object' || copy === null) return copy;
  return Object.assign(copy, { [key]: withValue(Reflect.get(copy, key), rest, replacement) });
}

const template = await signed({
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
  node_selector: { zone: 'b' },
  env_schema: [{ name: 'B', required: true, default_value: 'x', description: 'why' }],
});
const covered = pathsIn(template.members).filter(([member = '']) => coveredMembers.includes(member));

it('refuses a template of which any one value is another one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...covered), value, async (path, replacement) => {
      const members = withValue(template.members, path, replacement);
      fc.pre(!isDeepStrictEqual(canonicalForm(members), canonicalForm(template.members)));
      // `withValue` returns an object for each path of a member.
      const changed = { members: members as Members, signatures: template.signatures };
      expect(await outcomeOf(verify(changed))).toBe('content_changed');
    }),
    seeded({ numRuns: runs }),
  );
});

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
const other = (text: string, index: number, letter: string) => text.slice(0, index) + letter + text.slice(index + 1);
const newest = await sealed(keyring(2, [first.key, second.key]));

it.each([
  ['statement', String(good.signatures[0]), (jws: string) => verify({ members: content, signatures: [jws] })],
  ['keyring', newest, (jws: string) => acceptKeyring(acme, jws, { now: NOW })],
])('refuses a signed %s of which any one character is another one', async (_name, jws, use) => {
  // The last character contains bits that no byte has.
  const position = fc.nat({ max: jws.length - 2 });
  await fc.assert(
    fc.asyncProperty(position, fc.constantFrom(...BASE64URL), async (index, letter) => {
      fc.pre(jws[index] !== letter);
      expect(['signature_invalid', 'unknown_key']).toContain(await outcomeOf(use(other(jws, index, letter))));
    }),
    seeded({ numRuns: runs }),
  );
});

function reversed(found: unknown): unknown {
  if (Array.isArray(found)) return found.map(reversed);
  if (typeof found !== 'object' || found === null) return found;
  return Object.fromEntries(
    Object.entries(found)
      .reverse()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

it('gives equal values the same canonical form, and others another one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, two) => {
      const form = canonicalForm(one);
      expect(JSON.parse(form ?? '')).toEqual(JSON.parse(JSON.stringify(one)));
      expect(digestOf(reversed(one))).toBe(digestOf(one));
      const isEqual = isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(two)));
      expect(digestOf(two) === digestOf(one)).toBe(isEqual);
    }),
    seeded({ numRuns: runs }),
  );
});

it('matches a text with a pattern as a regular expression does in which only a final * is special', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '\\'), maxLength: 6 });
  fc.assert(
    fc.property(text, text, (pattern, tried) => {
      const [, start = '', any] = /^(.*?)(\*?)$/.exec(pattern) ?? [];
      const expression = new RegExp(`^${start.replace(/[.*\\/]/g, '\\$&')}${any ? '.*' : ''}$`);
      expect(matches(pattern, tried)).toBe(expression.test(tried));
    }),
    seeded({ numRuns: runs }),
  );
});
