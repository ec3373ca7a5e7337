import type { Members } from './canonical.ts';
import { type Type, types } from './jws.ts';
import { applicationForm, type ContentForm, templateForm } from './members.ts';
import { refuseOutside, refuseOutsideInParts, refuseUnpinned, refuseUnpinnedParts, type Scope } from './scope.ts';

/** A kind of content that publishers sign, each with a `typ` of its own. */
export interface ContentKind extends ContentForm {
  readonly typ: Type;
  /** What messages call the content. */
  readonly noun: string;
  /** What a memory calls the content with a slug: contents of several kinds can have the same slug. */
  readonly keyOf: (slug: string) => string;
  /** Refuses content outside the scope of its publisher. @throws Untrusted */
  readonly refuseOutside: (scope: Scope, slug: string, members: Members) => void;
  /** Refuses content that does not name its images by digest. @throws Untrusted */
  readonly refuseUnpinned: (members: Members) => void;
}

export const templates: ContentKind = {
  ...templateForm,
  typ: types.template,
  noun: 'template',
  keyOf: (slug) => slug,
  refuseOutside,
  refuseUnpinned,
};

export const applications: ContentKind = {
  ...applicationForm,
  typ: types.application,
  noun: 'application',
  keyOf: (slug) => `application/${slug}`,
  refuseOutside: refuseOutsideInParts,
  refuseUnpinned: refuseUnpinnedParts,
};
