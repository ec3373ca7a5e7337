import { uuid } from '@svc/contract';

/** Whether a path names a row at all; anything else is absent. */
export const isUuid = (id: string): boolean => uuid.safeParse(id).success;
