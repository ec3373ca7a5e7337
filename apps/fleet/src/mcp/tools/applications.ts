import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import type { Ask } from '@svc/mcp';
import { refusalsByPart } from '../../applications/apply.ts';

const { createApplication, planApplication } = fleetEndpoints;

type Given = Readonly<Record<string, unknown>>;

/** The arguments that an application takes. */
const MEMBERS = ['application', 'name', 'labels', 'inputs', 'volumes', 'target', 'desired_state'];

/** @throws 400 for arguments that applications or deployments do not have */
function refuseOthers(given: Given): void {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (given.application === undefined) {
    if (names.includes('inputs'))
      throw invalid([{ path: 'inputs', message: 'must be given only with application; a template takes env' }]);
    return;
  }
  const others = names.filter((name) => !MEMBERS.includes(name));
  const message = `must not be given with application, which takes ${MEMBERS.slice(1).join(', ')}`;
  if (others.length > 0) throw invalid(others.map((path) => ({ path, message })));
}

/** Whether arguments are those of an application. @throws 400 for arguments that contradict each other */
export function isApplication(given: Given): boolean {
  refuseOthers(given);
  return given.application !== undefined;
}

/** The plan of a new application in the form of that of a deployment, with its parts. */
export async function plannedApplication(
  ask: Ask,
  body: Given,
  { manifest: isWanted }: { readonly manifest: boolean },
) {
  const { placement, parts, refusals, ...plan } = await ask(planApplication, { body });
  const { target, rejected } = placement;
  return {
    ...plan,
    refusals: refusalsByPart(refusals),
    placement: {
      target,
      candidates: rejected.map(({ reason, ...candidate }) => ({ ...candidate, fits: false, reasons: [reason] })),
      omitted: { suitable: 0, rejected: 0 },
    },
    parts,
    ...(isWanted && { manifest: parts.flatMap(({ manifest }) => manifest) }),
  };
}

/** Creates an application. Its generated values are no part of the result. */
export async function createdApplication(ask: Ask, body: Given, idempotencyKey: string | undefined) {
  const { application } = await ask(createApplication, { body, idempotencyKey });
  return { application };
}
