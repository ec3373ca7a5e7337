import { continueApplication } from '../../src/reconciler/applications.ts';
import { workerContextOf } from '../deployments/updates/passes.ts';
import type { Body } from '../deployments/world.ts';
import type { startApplicationWorld } from './world.ts';

/** Helpers for applications with a good generation. */
export function updatesIn(fleet: Awaited<ReturnType<typeof startApplicationWorld>>) {
  const worker = workerContextOf(fleet);
  /** A pass of the worker of applications. */
  const observe = (id: string) => continueApplication(worker, id);
  return {
    worker,
    observe,
    /** An application whose first generation is good. */
    aGoodOne: async (given: Body = {}): Promise<string> => {
      await fleet.aMeshHost();
      const { application } = await fleet.created(given);
      for (const { name } of application.parts) await fleet.proven(application.id, name);
      await observe(application.id);
      expect(await fleet.application(application.id)).toMatchObject({
        good_generation: 1,
        outcome: 'good',
        phase: 'running',
      });
      return application.id;
    },
  };
}
