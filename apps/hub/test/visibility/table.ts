// The expected visibility of templates and categories, written out by hand. A new kind of caller,
// template, owner or category does not compile until this table contains it.

/**
 * `granted` and `ungranted` are API keys of organizations with and without a grant. `member` is a
 * user in `granted`.
 */
export type AdmittedCaller = 'anonymous' | 'member' | 'admin' | 'superadmin' | 'granted' | 'ungranted';
export type RefusedCaller = 'suspended' | 'revoked key' | 'expired key';
export type Caller = AdmittedCaller | RefusedCaller;

export type Owner = 'none' | 'granted' | 'ungranted' | 'another';
export type Privacy = 'open' | 'private';
type Publicity = 'public' | 'hidden';
export type Kind = `${Publicity}, ${Privacy}, owner ${Owner}`;

export type Row = Readonly<Record<AdmittedCaller, boolean>>;

const O = true;
const x = false;

/** Whether a caller sees a template. `granted` has a grant for the private category. */
export const templates: Readonly<Record<Kind, Row>> = {
  'public, open, owner none': { anonymous: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, open, owner granted': { anonymous: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, open, owner ungranted': { anonymous: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, open, owner another': { anonymous: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'hidden, open, owner none': { anonymous: x, member: x, admin: O, superadmin: O, granted: x, ungranted: x },
  'hidden, open, owner granted': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, open, owner ungranted': { anonymous: x, member: x, admin: O, superadmin: O, granted: x, ungranted: O },
  'hidden, open, owner another': { anonymous: x, member: x, admin: O, superadmin: O, granted: x, ungranted: x },
  'public, private, owner none': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'public, private, owner granted': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'public, private, owner ungranted': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, private, owner another': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, private, owner none': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, private, owner granted': { anonymous: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, private, owner ungranted': { anonymous: x, member: x, admin: O, superadmin: O, granted: x, ungranted: O },
  'hidden, private, owner another': { anonymous: x, member: x, admin: O, superadmin: O, granted: x, ungranted: x },
};

/**
 * The `template_count` of a category with one template of each kind. Undefined if the caller does
 * not see the category.
 */
export const categories: Readonly<Record<Privacy, Readonly<Record<AdmittedCaller, number | undefined>>>> = {
  open: { anonymous: 4, member: 4, admin: 8, superadmin: 8, granted: 5, ungranted: 5 },
  private: { anonymous: undefined, member: undefined, admin: 8, superadmin: 8, granted: 6, ungranted: undefined },
};

/** The response to callers that every endpoint rejects. */
export const refusals: Readonly<Record<RefusedCaller, { readonly status: number; readonly code: string }>> = {
  suspended: { status: 403, code: 'organization_suspended' },
  'revoked key': { status: 401, code: 'invalid_token' },
  'expired key': { status: 401, code: 'invalid_token' },
};

export const visibleToNone: Row = { anonymous: x, member: x, admin: x, superadmin: x, granted: x, ungranted: x };
// The keys of a Record over AdmittedCaller.
export const admittedCallers = Object.keys(visibleToNone) as AdmittedCaller[];
export const kinds = Object.keys(templates) as Kind[]; // the keys of a Record over Kind

/** The kinds of templates that a caller sees. */
export const kindsSeenBy = (caller: AdmittedCaller): Kind[] => kinds.filter((kind) => templates[kind][caller]);
