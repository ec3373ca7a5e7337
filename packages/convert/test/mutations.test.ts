import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { formatProblems } from './format.ts';
import { convert, samples } from './samples.ts';

const linesOf = samples.flatMap(({ text }) => text.split('\n'));
const values = [
  '',
  'null',
  '[]',
  '{}',
  '~',
  '-1',
  '99999',
  'true',
  '"x"',
  'a: b',
  '- a',
  '[a, { b: c }]',
  'a:b:c:d',
  '/',
  '..',
  '//',
  'é',
  '${',
  '$$',
  `\${A:-\${B}}`,
  `\${A:?}`,
  '&x y',
  '*x',
  '!!tag z',
  '"\\0"',
  '$$cap_x',
  'srv-captain--',
  `\${SERVICE_URL_X_1}`,
];

/** A change of one line. `place` is its position as a share of the lines. */
const change = fc.record({
  place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  edit: fc.oneof(
    fc.constant({ kind: 'remove' as const }),
    fc.constant({ kind: 'repeat' as const }),
    fc.record({ kind: fc.constant('insert' as const), line: fc.constantFrom(...linesOf) }),
    fc.record({ kind: fc.constant('replace' as const), value: fc.constantFrom(...values) }),
  ),
});
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

function changed(text: string, changes: readonly Change[]): string {
  const lines = text.split('\n');
  for (const { place, edit } of changes) {
    const at = Math.floor(place * lines.length);
    const line = lines[at] ?? '';
    if (edit.kind === 'remove') lines.splice(at, 1);
    else if (edit.kind === 'repeat') lines.splice(at, 0, line);
    else if (edit.kind === 'insert') lines.splice(at, 0, edit.line);
    else lines[at] = `${line.slice(0, line.indexOf(':') + 1)} ${edit.value}`;
  }
  return lines.join('\n');
}

test('each changed file is refused with a reason, or becomes an application that the contract accepts', () => {
  fc.assert(
    fc.property(fc.constantFrom(...samples), fc.array(change, { minLength: 1, maxLength: 3 }), (sample, changes) => {
      const { application, report } = convert({ ...sample, text: changed(sample.text, changes) });
      const isRefused = report.some((entry) => entry.class === 'refused' && entry.reason !== '');
      if (sample.kind !== 'portainer' || application) expect(application === undefined).toBe(isRefused); // a list can be empty
      expect(application ? formatProblems(application) : []).toEqual([]);
      const keys = report.map(({ file, part, member }) => `${file} ${part} ${member}`);
      expect(new Set(keys).size).toBe(keys.length);
    }),
    seeded({ numRuns: byDepth({ short: 200, full: 2000, long: 50_000 }) }),
  );
});
