import { type Matches, Problem } from '@svc/http';

/** Checks the version of an object that is locked for a change. @throws 412 if `If-Match` does not permit the version */
export function requireVersion(matches: Matches, version: number): void {
  if (matches(version)) return;
  throw new Problem('version_conflict', `The object has version ${version} now. Read it again and repeat the change.`);
}
