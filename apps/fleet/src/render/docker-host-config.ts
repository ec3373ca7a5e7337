import { bytes, milli } from '../placement/quantity.ts';
import { bindingsOf, gpusOf } from './allocation.ts';
import type { HostConfig } from './docker-body.ts';
import { deviceRequests } from './docker-gpus.ts';
import type { Host } from './host.ts';
import { volumeName } from './names.ts';
import { isJob, mountsOf, type Rendering } from './rendering.ts';

/** How often an engine starts a failing container again; after that the fleet does, and waits longer each time. */
const RETRIES = 3;
/** The least that Docker takes. */
const LEAST_MILLI = 10;
const LEAST_BYTES = 6 * 1024 * 1024;

/** What a container may use of its host: counted out, and nothing of the host's own. */
export function hostConfig(rendering: Rendering, host: Host, ordinal: number): HostConfig {
  const devices = deviceRequests(gpusOf(rendering, host, ordinal), host);
  return {
    ...limits(rendering),
    RestartPolicy: isJob(rendering)
      ? { Name: 'no', MaximumRetryCount: 0 }
      : { Name: 'on-failure', MaximumRetryCount: RETRIES },
    Mounts: mountsOf(rendering).map(({ volume, mountPath }) => ({
      Type: 'volume',
      Source: volumeName(volume),
      Target: mountPath,
      ReadOnly: volume.access_mode === 'ReadOnlyMany',
    })),
    PortBindings: Object.fromEntries(
      bindingsOf(rendering, host, ordinal).map(({ key, hostPort, hostIp }) => [
        key,
        [{ ...(hostIp !== undefined && { HostIp: hostIp }), HostPort: hostPort }],
      ]),
    ),
    SecurityOpt: ['no-new-privileges'],
    LogConfig: logs(host),
    ...(devices.length > 0 && { DeviceRequests: devices }),
  };
}

/** What is asked for is what there is: nothing else keeps the containers of a host from each other's share. */
function limits({ spec }: Rendering): Pick<HostConfig, 'NanoCpus' | 'Memory' | 'MemoryReservation'> {
  const cpu = milli(spec.cpu_request);
  const memory = bytes(spec.memory_request);
  const Memory = Math.max(memory, LEAST_BYTES);
  return {
    ...(cpu > 0 && { NanoCpus: Math.min(Math.max(cpu, LEAST_MILLI) * 1_000_000, Number.MAX_SAFE_INTEGER) }),
    ...(memory > 0 && { Memory, MemoryReservation: Memory }),
  };
}

/** At most some 30 MB a container: engines of single machines limit nothing by themselves. */
const logs = ({ engine }: Host): HostConfig['LogConfig'] =>
  engine === 'podman'
    ? { Type: 'k8s-file', Config: { 'max-size': '30m' } }
    : { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } };
