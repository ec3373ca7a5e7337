import { invalid } from '@svc/http';

/** What is wrong with a member of a request. */
export interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** @throws 400 where there are any, with all of them */
export function refuseAll(complaints: readonly Complaint[]): void {
  if (complaints.length > 0) throw invalid(complaints);
}
