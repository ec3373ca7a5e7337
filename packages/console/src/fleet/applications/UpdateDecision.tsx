import type { Application } from '../api.ts';
import { RolloutDecision } from '../deployments/updates/RolloutDecision.tsx';

/** What a person can decide about an update that has not ended, or that has failed. */
export function UpdateDecision({ application }: { readonly application: Application }) {
  const { generation, good_generation, failed_generation, outcome, desired_state, phase } = application;
  const isHeld = outcome === 'failed';
  const isOpen = desired_state === 'running' && generation !== good_generation && (outcome === null || isHeld);
  const canReturn = good_generation !== null && failed_generation === null;
  if (!isOpen || phase === 'deleting' || (!isHeld && !canReturn)) return null;
  return (
    <RolloutDecision
      kind="application"
      of={application}
      generation={good_generation}
      canResume={isHeld}
      canReturn={canReturn}
    />
  );
}
