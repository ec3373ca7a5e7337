import type { V1ContainerStateWaiting } from '@kubernetes/client-node';
import { pullTrouble } from '../pulls.ts';
import { oneLine } from '../words.ts';
import type { State } from './state.ts';

/** A pod whose image does not come, by what is said of it. */
export function imageTrouble(said: string): State {
  const { reason, meaning } = pullTrouble(said);
  return { phase: 'created', message: `waits for its image, which ${meaning}: ${said}`, reason };
}

const PULLING = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable', 'ImageInspectError'];
const UNMAKEABLE = ['InvalidImageName', 'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'];

/** Why a container waits to be started; undefined where it is on its way. `before` is how it ended the last time. */
export function waitingFor(
  { reason = '', message = '' }: V1ContainerStateWaiting,
  before: State | undefined,
): State | undefined {
  const said = oneLine(message) || reason;
  // Older clusters say no more than that they wait with the next try.
  if (PULLING.includes(reason)) return { ...imageTrouble(said), isVague: !/: ./.test(said) };
  if (!UNMAKEABLE.includes(reason)) return before;
  const isForGood = reason === 'InvalidImageName';
  return { phase: 'created', message: `can't be started as it is: ${said}`, reason: 'InvalidSpec', isForGood };
}
