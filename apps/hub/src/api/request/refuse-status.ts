import { statusProblems } from '@svc/contract';
import { invalid } from '@svc/http';

/** Refuses a status without its reason, or with a wrong replacement. @throws 400 */
export function refuseStatus(object: Parameters<typeof statusProblems>[0]): void {
  const problems = statusProblems(object);
  if (problems.length > 0) throw invalid(problems);
}
