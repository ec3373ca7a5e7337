import { templateDefaults } from '@svc/contract';
import type { Members } from './canonical.ts';
import { type Type, types } from './jws.ts';
import { type ContentForm, coveredMembers } from './members.ts';
import { isPinned, refuseOutside, type Scope } from './scope.ts';

/** A kind of content that publishers sign, each with a `typ` of its own. */
export interface ContentKind extends ContentForm {
  readonly typ: Type;
  /** Refuses content outside the scope of its publisher. @throws Untrusted */
  readonly refuseOutside: (scope: Scope, slug: string, members: Members) => void;
  /** Whether the content names its images by digest. */
  readonly isPinned: (members: Members) => boolean;
}

export const templates: ContentKind = {
  typ: types.template,
  covered: coveredMembers,
  defaults: templateDefaults,
  refuseOutside,
  isPinned,
};
