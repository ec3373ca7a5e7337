import { createSharedValue } from '../../api/shared-value.ts';

/** Whether the list of keys is shown. */
export const keysShown = createSharedValue(false);
