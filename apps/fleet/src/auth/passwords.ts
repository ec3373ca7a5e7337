import { randomBytes } from 'node:crypto';
import { hash as hashArgon2, hashSync, type Options, parseOptions, verify as verifyArgon2 } from '@node-rs/argon2';
import { type Bounds, fewAtOnce } from './few-at-once.ts';
import { refuseObvious } from './obvious-passwords.ts';

/** Passwords of local users. */
export interface Passwords {
  /** @throws 503 unavailable while too many passwords are hashed or verified */
  hash(password: string): Promise<string>;
  /**
   * Does the same work whether there is a hash or not. `outdated`: it matches, and is to be hashed anew, as today.
   * @throws 503 unavailable while too many passwords are hashed or verified
   */
  verify(hash: string | undefined, password: string): Promise<{ matches: boolean; outdated: boolean }>;
  /** Why a password is not accepted; `about`: the person's e-mail address and name. */
  refuseObvious(password: string, about: readonly string[]): Promise<string | undefined>;
}

/** The library's algorithm is argon2id unless it is told otherwise. */
const TODAY = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;

/** No hash of ours costs more: one that asks for terabytes would end the process. */
const MOST = { memoryCost: 1024 * 1024, timeCost: 50 };

const ARGON2ID = /^\$argon2id\$v=19\$/;

/** Hashing takes 19 MiB and a processor for a while: `concurrent` at once, and `waiting` more in a queue. */
export function createPasswords({ concurrent = 2, waiting = 100 }: Partial<Bounds> = {}): Passwords {
  const inTurn = fewAtOnce({ concurrent, waiting });
  const nobodys = hashSync(randomBytes(32), TODAY); // what is verified where there is no hash: the same work, no match
  const verify = async (hash: string, password: string) => {
    const cost = costOf(hash);
    const matches = await verifyArgon2(cost ? hash : nobodys, normalised(password));
    return { matches: matches && cost !== undefined, outdated: matches && isOutdated(cost) };
  };
  return {
    hash: (password) => inTurn(() => hashArgon2(normalised(password), TODAY)),
    verify: (hash = '', password) => inTurn(() => verify(hash, password)),
    refuseObvious: (password, about) => refuseObvious(normalised(password), about),
  };
}

/**
 * The same password is other characters on other keyboards: an `é` comes as one or as two, a full-width `Ａ` from a
 * Japanese one. All forms of it are one password (NFKC, as NIST SP 800-63B advises).
 */
const normalised = (password: string) => password.normalize('NFKC');

type Cost = Pick<Required<Options>, 'memoryCost' | 'timeCost'>;

/** What a hash of ours costs (it says so: PHC string format); undefined where it is none. */
function costOf(hash: string): Cost | undefined {
  if (!ARGON2ID.test(hash)) return undefined;
  try {
    const cost = parseOptions(hash);
    return cost.memoryCost <= MOST.memoryCost && cost.timeCost <= MOST.timeCost ? cost : undefined;
  } catch {
    return undefined; // it can't be read
  }
}

const isOutdated = (cost: Cost | undefined) =>
  cost !== undefined && (cost.memoryCost < TODAY.memoryCost || cost.timeCost < TODAY.timeCost);
