import { updatesReply } from '@svc/contract/fleet';
import { type PeriodicTask, runPeriodically } from '@svc/http';
import { z } from 'zod';
import { isOpen } from '../../deployments/updates/window.ts';
import { automaticApplications } from './automatic-applications.ts';
import { automaticDeployments } from './automatic-deployments.ts';
import type { AutomaticContext } from './begin.ts';

/**
 * Updates deployments and applications automatically whose policy says so, until stopped. One replica at a time decides, in the transaction that makes
 * the update, so that replicas together stay within the concurrency.
 */
export const startAutomaticUpdates = (context: AutomaticContext): PeriodicTask =>
  runPeriodically(Math.random() * context.timings.automaticUpdates, async (ending) => {
    try {
      await updateAutomatically(context, ending);
      return context.timings.automaticUpdates;
    } catch (error) {
      context.log.warn({ err: error }, 'updating automatically failed; will retry');
      return context.timings.afterError;
    }
  });

/** The number of objects that are read at once, and that one pass examines. */
const PAGE = 100;
const MAX_EXAMINED = 1000;

/** A pass: starts the updates that can begin now, and stores why others are held. */
export async function updateAutomatically(context: AutomaticContext, ending: AbortSignal): Promise<void> {
  for (const kind of [automaticDeployments, automaticApplications])
    if ((await updateKind(context, kind, ending)) === 'full') return;
}

/** Objects that are updated automatically. */
interface AutomaticKind {
  /** Those after an id that have an automatic update, by id. */
  readonly read: (context: AutomaticContext, page: { after: string; limit: number }) => Promise<unknown[]>;
  /** Updates an object, or stores why that is held. `full`: no further update can begin now. */
  readonly update: (context: AutomaticContext, id: string) => Promise<'full' | 'done'>;
}

const candidate = z.object({ id: z.string(), updates: updatesReply.pick({ window: true }).partial(), now: z.date() });
type Candidate = z.output<typeof candidate>;

const isInWindow = ({ updates: { window }, now }: Candidate): boolean => window == null || isOpen(window, now);

async function updateKind(context: AutomaticContext, { read, update }: AutomaticKind, ending: AbortSignal) {
  let after = '00000000-0000-0000-0000-000000000000';
  for (let examined = 0; examined < MAX_EXAMINED && !ending.aborted; ) {
    const page = z.array(candidate).parse(await read(context, { after, limit: PAGE }));
    for (const found of page) {
      if (ending.aborted) return 'done';
      after = found.id;
      if (!isInWindow(found)) continue;
      examined += 1;
      if ((await update(context, found.id)) === 'full') return 'full';
    }
    if (page.length < PAGE) return 'done';
  }
  return 'done';
}
