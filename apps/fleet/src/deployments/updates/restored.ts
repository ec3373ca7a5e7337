import { z } from 'zod';
import { podSettings } from '../../render/pod-settings.ts';
import type { Form } from '../draft.ts';

/** An image on a host, as a row stores it. */
export const hostImage = z.object({ reference: z.string(), id: z.string(), digest: z.string().nullable() });

/** The form in which the instances of a generation were rendered, as its revision stores it. */
export const storedForm = z.object({
  defaults_version: z.int(),
  default_memory_bytes: z.string().transform(BigInt).nullable(),
  default_processes: z.int().nullable(),
  pod_settings: podSettings.nullable(),
  restarted_at: z.string().nullable(),
  host_image: hostImage.nullable().default(null),
});

/** What a return restores beside the specification and the variables, so that instances that still run are current. */
export interface Restored {
  readonly failedGeneration: number;
  /** undefined: not known. The instances are rendered with the present defaults. */
  readonly form: Form | undefined;
  readonly restartedAt: Date | null;
  readonly hostImage: z.output<typeof hostImage> | null;
}
