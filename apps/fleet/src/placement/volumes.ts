import type { Candidate, TargetRef } from './candidates.ts';
import type { Wish, WishedVolume } from './demand.ts';

/** What a target is called; its id where nobody knows it. */
export type NameOf = (target: TargetRef) => string;

/** Why the volumes keep a deployment from a place: one lives elsewhere, or another deployment has it for itself. */
export const volumeReasons = (wish: Wish, candidate: Candidate, nameOf: NameOf): string[] =>
  wish.volumes.flatMap((volume) => [...livesElsewhere(volume, candidate, nameOf), ...isTaken(volume)]);

/** What to know about volumes where the deployment does fit. */
export const volumeNotes = (wish: Wish, { kind }: Candidate): string[] =>
  wish.volumes
    .filter(({ access_mode }) => kind === 'cluster' && wish.replicas > 1 && access_mode === 'ReadWriteOnce')
    .map(({ name }) => `volume ${name} is ReadWriteOnce: its ${wish.replicas} replicas must share one node`);

function livesElsewhere({ name, boundTo }: WishedVolume, candidate: Candidate, nameOf: NameOf): string[] {
  if (!boundTo || (boundTo.kind === candidate.kind && boundTo.id === candidate.id)) return [];
  return [`volume ${name} lives on ${boundTo.kind} ${nameOf(boundTo)}`];
}

function isTaken({ name, access_mode, attached_to }: WishedVolume): string[] {
  if (attached_to === undefined || access_mode !== 'ReadWriteOnce') return [];
  return [`volume ${name} is ReadWriteOnce and attached to deployment ${attached_to}`];
}
