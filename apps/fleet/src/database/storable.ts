import { isStorable as isStorableText } from '@svc/auth';

/** Whether PostgreSQL can store a value as JSON: no text in it contains NUL or half of a surrogate pair. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((each) => isStorable(each));
  return Object.entries(value).every(([name, each]) => isStorable(name) && isStorable(each));
}
