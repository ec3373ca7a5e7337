import { Registry } from 'prom-client';

/**
 * The metrics of this process, which all of its services share. A module that counts something
 * registers its metrics here when it is loaded.
 */
export const processMetrics = new Registry();
