import type { WorkloadSpec } from '@svc/contract/fleet';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { IVolumeMount } from 'kubernetes-models/v1/VolumeMount';
import { bytes } from '../../placement/quantities.ts';

type Temporary = Pick<WorkloadSpec, 'tmpfs'>;

/**
 * The temporary file systems of a container on a host: the options of each by its path. Everybody can write to them, as to those of a
 * pod. Podman would otherwise copy what the image has at the path.
 */
export const temporaryOnHost = (
  { tmpfs }: Temporary,
  engine: 'docker' | 'podman',
): Readonly<Record<string, string>> | undefined =>
  tmpfs.length === 0
    ? undefined
    : Object.fromEntries(
        tmpfs.map(({ path, size }) => [
          path,
          [`size=${bytes(size)}`, 'mode=1777', ...(engine === 'podman' ? ['notmpcopyup'] : [])].join(),
        ]),
      );

const nameOf = (index: number): string => `tmpfs-${index}`;

/** The volumes of a pod in memory. */
export const temporaryVolumes = ({ tmpfs }: Temporary): IVolume[] =>
  tmpfs.map(({ size }, index) => ({ name: nameOf(index), emptyDir: { medium: 'Memory', sizeLimit: size } }));

export const temporaryMounts = ({ tmpfs }: Temporary): IVolumeMount[] =>
  tmpfs.map(({ path }, index) => ({ name: nameOf(index), mountPath: path }));
