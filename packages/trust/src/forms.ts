import { z } from 'zod';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;

/** The slug of a publisher or a template. */
export const slug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/);

/** A counter that begins with 1. */
export const serial = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** A time in UTC that exists. */
export const time = z.string().regex(TIME).refine(exists);

function exists(text: string): boolean {
  const at = Date.parse(text);
  // Date.parse moves the 31st of a shorter month to the next month.
  return Number.isFinite(at) && new Date(at).toISOString().slice(0, 19) === text.slice(0, 19);
}

/** The names of the members that do not have their form, for a detail. */
export const wrongMembers = ({ issues }: z.ZodError): string =>
  [...new Set(issues.map(({ path }) => path.slice(0, 3).join('.')))].slice(0, 5).join(', ');
