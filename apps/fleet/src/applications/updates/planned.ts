import { Problem } from '@svc/http';
import type { PlanContext } from '../../deployments/plans/several.ts';
import { presentAvailableUpgrade } from '../../resources/application-updates.ts';
import { readRow } from '../../resources/kind.ts';
import { refusalsByPart } from '../apply.ts';
import { decideChange } from '../change.ts';
import { presentOrigin } from '../origin.ts';
import { type ApplicationRow, applications } from '../rows.ts';
import { upgradeTo } from './upgrade.ts';

/** The plan of the upgrade of an application in a run; undefined if the application does not exist. */
export async function plannedUpgrade(context: PlanContext, id: string) {
  const row = await readIfExists(context, id);
  if (!row) return undefined;
  const known = { application_id: id, name: row.name };
  const skip = (skipped: string) => ({ ...known, skipped, refusals: [], template: null, expected: null });
  if (row.deleting) return skip('It is being deleted.');
  const upgrade = row.upgrade && presentAvailableUpgrade({ ...row.upgrade, hold: null }); // a run is the decision of a person
  if (upgrade === null) return skip('No update is available.');
  const template = { from_version: null, to_version: upgrade.to_version };
  if (upgrade.held) return { ...skip(upgrade.held.message), template };
  try {
    const { decided } = await decideChange(context, row, upgradeTo(await presentOrigin(context.transaction, row, [])));
    const refusals = refusalsByPart(decided.refusals);
    const refused = refusals.map(({ path, message }) => `${path} ${message}`).join('; ');
    const skipped = refused === '' ? null : `The update is refused: ${refused}.`;
    return { ...known, skipped, refusals, template, expected: skipped === null ? decided.digest : null };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return skip(error.message);
  }
}

async function readIfExists({ transaction }: PlanContext, id: string): Promise<ApplicationRow | undefined> {
  try {
    return await readRow(transaction, applications, id);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}
