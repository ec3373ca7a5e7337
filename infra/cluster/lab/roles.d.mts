import type { Call } from './caller.d.mts';

export declare function createFleetAccount(call: Call, namespace: string): Promise<string>;
