// Runs in the threads of hashing.ts.
import { hashSync, type Options, verifySync } from '@node-rs/argon2';

export const hash = ({ password, cost }: { readonly password: string; readonly cost: Options }): string =>
  hashSync(password, cost);

export const verify = ({ hash, password }: { readonly hash: string; readonly password: string }): boolean =>
  verifySync(hash, password);
