import { createHash } from 'node:crypto';
import type { WorkloadSpec } from '@svc/contract/fleet';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { IVolumeMount } from 'kubernetes-models/v1/VolumeMount';

type Files = Pick<WorkloadSpec, 'files'>;

/** The digest of the files; '' without files. A change of it restarts instances. */
export const digestOfFiles = ({ files }: Files): string =>
  files.length === 0 ? '' : createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 32);

/**
 * The type of the Secret with the files. Its content is no secret: everybody can read it in the workload. A ConfigMap would need
 * permissions that the credentials of existing clusters do not have.
 */
export const FILES_TYPE = 'fleet/files';

const VOLUME = 'files';

const keyOf = (index: number): string => `file-${index}`;

/** The data of the Secret with the files; undefined without files. */
export const dataOfFiles = ({ files }: Files): Pick<ISecret, 'type' | 'data'> | undefined =>
  files.length === 0
    ? undefined
    : {
        type: FILES_TYPE,
        data: Object.fromEntries(
          files.map(({ content }, index) => [keyOf(index), Buffer.from(content, 'utf8').toString('base64')]),
        ),
      };

/** The volume of a pod with the files of a Secret. */
export const volumesOfFiles = ({ files }: Files, secretName: string): IVolume[] =>
  files.length === 0
    ? []
    : [
        {
          name: VOLUME,
          secret: {
            secretName,
            items: files.map(({ mode }, index) => ({
              key: keyOf(index),
              path: keyOf(index),
              mode: Number.parseInt(mode, 8),
            })),
          },
        },
      ];

/** Each file is mounted alone, so that the other files of its folder remain those of the image. */
export const mountsOfFiles = ({ files }: Files): IVolumeMount[] =>
  files.map(({ path }, index) => ({ name: VOLUME, mountPath: path, subPath: keyOf(index), readOnly: true }));
