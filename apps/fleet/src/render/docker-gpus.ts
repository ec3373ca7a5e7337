import type { DeviceRequest } from './docker-body.ts';
import type { Host } from './host.ts';

// https://github.com/cncf-tags/container-device-interface: vendor/class=device.
const CDI_DEVICE = /^[A-Za-z][\w.-]*\/[A-Za-z][\w-]*=[A-Za-z0-9][\w.:-]*$/;
const PLAIN_ID = /^[A-Za-z0-9][\w.:-]*$/;
/** Whose GPUs a bare index or UUID speaks of where only CDI devices can be named. */
const CDI_GPU = 'nvidia.com/gpu';

/**
 * The devices of a container. Docker finds GPUs by their capability; Podman knows CDI devices only, and those from 5.4 on:
 * what it doesn't know, it leaves out without a word, so look whether they are there after the start.
 *
 * @throws Error for an id that names no device: Podman would take it for a path of the host
 */
export function deviceRequests(gpus: readonly string[], { engine }: Pick<Host, 'engine'>): DeviceRequest[] {
  const alien = gpus.find((id) => !CDI_DEVICE.test(id) && !PLAIN_ID.test(id));
  if (alien !== undefined) throw new Error(`the GPU "${alien}" has no id that an engine knows`);
  const isCdi = (id: string): boolean => engine === 'podman' || CDI_DEVICE.test(id);
  const named = gpus.filter(isCdi).map((id) => (CDI_DEVICE.test(id) ? id : `${CDI_GPU}=${id}`));
  const found = gpus.filter((id) => !isCdi(id));
  return [
    ...(named.length > 0 ? [{ Driver: 'cdi', DeviceIDs: named }] : []),
    ...(found.length > 0 ? [{ Driver: '', DeviceIDs: found, Capabilities: [['gpu']] }] : []),
  ];
}
