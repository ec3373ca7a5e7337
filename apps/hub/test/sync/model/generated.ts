import fc from 'fast-check';
import { ORGANIZATIONS } from '../../visibility/generated.ts';
import { callers } from './catalog.ts';
import { type InitialState, SLOTS } from './history.ts';
import type { Write } from './writes.ts';

const CATEGORIES = 3;
export const WALKERS = 2;

const slot = fc.nat(SLOTS - 1);
const rank = fc.nat(9);
const category = fc.nat(CATEGORIES - 1);
export const organization = fc.nat(ORGANIZATIONS - 1);
const isPublic = fc.constantFrom(true, true, false);
const isPrivate = fc.constantFrom(false, false, true);
const owner = fc.option(organization, { nil: undefined });
const scope = fc.record({ isPublic, category, owner });
export const caller = fc.constantFrom(...callers);

export const initialStates: fc.Arbitrary<InitialState> = fc.record({
  privacy: fc.array(isPrivate, { minLength: CATEGORIES, maxLength: CATEGORIES }),
  templates: fc.array(fc.record({ rank, scope }), { minLength: 3, maxLength: SLOTS, size: 'max' }),
  grants: fc.uniqueArray(fc.tuple(organization, category), { selector: String, maxLength: 6, size: 'max' }),
  walkers: fc.array(caller, { minLength: WALKERS, maxLength: WALKERS }),
});

const kind = <K extends string>(name: K) => fc.constant(name);

/** Writes, most of which change visibility. */
export const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('create'), slot, rank, scope }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('edit'), slot, text: fc.nat(9) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('set scope'),
      slot,
      scope: fc.oneof(fc.record({ category }), fc.record({ isPublic }), fc.record({ owner }), scope),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kind('delete'), slot }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('set status', 'advise', 'withdraw'), slot, text: fc.nat(9) }),
  },
  fc.record({ kind: kind('swap slugs'), slot, with: slot }),
  { weight: 2, arbitrary: fc.record({ kind: kind('rename'), category, name: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('set privacy'), category, isPrivate: fc.boolean() }) },
  fc.record({ kind: kind('replace'), category }),
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('grant', 'revoke'), organization, category }) },
);
