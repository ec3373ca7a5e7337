import { templateDefaults, workloadMembers } from '@svc/contract';
import { digestOf, type Members } from './canonical.ts';

/**
 * The members that a publisher signs: what people read, and everything that specifies what runs. All others belong to the
 * hub, which can change them.
 */
export const coveredMembers: readonly string[] = [
  'name',
  'slug',
  'description',
  'documentation',
  'version',
  ...workloadMembers,
].sort();

const defaults: Members = templateDefaults;

/** Whether a member is absent, or has the value that every reader assumes for an absent one. */
export const isDefault = (name: string, value: unknown): boolean =>
  value === undefined || (Object.hasOwn(defaults, name) && digestOf(value) === digestOf(defaults[name]));

/** A template with its defaults written out, as a publisher signs it. Members that are not covered are left out. */
export const signedForm = (template: Members): Members =>
  Object.fromEntries(
    coveredMembers.flatMap((name) => {
      const value = template[name] ?? defaults[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
