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

/** The members of a kind of content. */
export interface ContentForm {
  /** Those that a publisher signs and a verifier compares. */
  readonly covered: readonly string[];
  /** The values that every reader assumes for absent members. */
  readonly defaults: Members;
}

const templateForm: ContentForm = { covered: coveredMembers, defaults: templateDefaults };

/** Whether a member is absent, or has the value that every reader assumes for an absent one. */
export const isDefault = (name: string, value: unknown, { defaults } = templateForm): boolean =>
  value === undefined || (Object.hasOwn(defaults, name) && digestOf(value) === digestOf(defaults[name]));

/** Content with its defaults written out, as a publisher signs it. Members that are not covered are left out. */
export const signedForm = (content: Members, { covered, defaults } = templateForm): Members =>
  Object.fromEntries(
    covered.flatMap((name) => {
      const value = content[name] ?? defaults[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
