// Who sees what, written out by hand: the table of the catalog's visibility. A new kind of caller, template, owner or
// category does not compile until it is in here.

/** `granted` and `ungranted` are keys of organizations with and without a grant; `member` is a person of `granted`. */
export type Seer = 'nobody' | 'member' | 'admin' | 'superadmin' | 'granted' | 'ungranted';
export type Refused = 'suspended' | 'revoked key' | 'expired key';
export type Caller = Seer | Refused;

export type Owner = 'nobody' | 'granted' | 'ungranted' | 'another';
export type Privacy = 'open' | 'private';
type Publicity = 'public' | 'hidden';
export type Kind = `${Publicity}, ${Privacy}, of ${Owner}`;

export type Row = Readonly<Record<Seer, boolean>>;

const O = true;
const x = false;

/** Whether a template is seen; of the private categories, `granted` holds a grant. */
export const templates: Readonly<Record<Kind, Row>> = {
  'public, open, of nobody': { nobody: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, open, of granted': { nobody: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, open, of ungranted': { nobody: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, open, of another': { nobody: O, member: O, admin: O, superadmin: O, granted: O, ungranted: O },
  'hidden, open, of nobody': { nobody: x, member: x, admin: O, superadmin: O, granted: x, ungranted: x },
  'hidden, open, of granted': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, open, of ungranted': { nobody: x, member: x, admin: O, superadmin: O, granted: x, ungranted: O },
  'hidden, open, of another': { nobody: x, member: x, admin: O, superadmin: O, granted: x, ungranted: x },
  'public, private, of nobody': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'public, private, of granted': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'public, private, of ungranted': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: O },
  'public, private, of another': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, private, of nobody': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, private, of granted': { nobody: x, member: x, admin: O, superadmin: O, granted: O, ungranted: x },
  'hidden, private, of ungranted': { nobody: x, member: x, admin: O, superadmin: O, granted: x, ungranted: O },
  'hidden, private, of another': { nobody: x, member: x, admin: O, superadmin: O, granted: x, ungranted: x },
};

/** The `template_count` of a category that holds one template of each kind; undefined where the category is not listed. */
export const categories: Readonly<Record<Privacy, Readonly<Record<Seer, number | undefined>>>> = {
  open: { nobody: 4, member: 4, admin: 8, superadmin: 8, granted: 5, ungranted: 5 },
  private: { nobody: undefined, member: undefined, admin: 8, superadmin: 8, granted: 6, ungranted: undefined },
};

/** Who is refused, everywhere. */
export const refused: Readonly<Record<Refused, { readonly status: number; readonly code: string }>> = {
  suspended: { status: 403, code: 'organization_suspended' },
  'revoked key': { status: 401, code: 'invalid_token' },
  'expired key': { status: 401, code: 'invalid_token' },
};

export const nowhere: Row = { nobody: x, member: x, admin: x, superadmin: x, granted: x, ungranted: x };
export const seers = Object.keys(nowhere) as Seer[]; // of a Record over Seer
export const kinds = Object.keys(templates) as Kind[]; // of a Record over Kind

/** The kinds that a seer sees. */
export const seenBy = (seer: Seer): Kind[] => kinds.filter((kind) => templates[kind][seer]);
