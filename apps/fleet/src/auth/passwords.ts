import { randomBytes } from 'node:crypto';
import { hash as hashArgon2, hashSync, type Options, parseOptions, verify as verifyArgon2 } from '@node-rs/argon2';
import { unavailable } from '@svc/http';
import pLimit from 'p-limit';
import { refuseObvious } from './password-strength.ts';

export interface SemaphoreBounds {
  /** Calls that run at the same time. */
  readonly concurrent: number;
  /** Calls that wait for their turn. */
  readonly waiting: number;
}

/** Limits concurrency. Waiting calls run in order. @throws 503 unavailable if too many calls wait already */
export function createSemaphore({ concurrent, waiting }: SemaphoreBounds): <T>(work: () => Promise<T>) => Promise<T> {
  const limit = pLimit(concurrent);
  return async (work) => {
    if (limit.activeCount >= concurrent && limit.pendingCount >= waiting) {
      throw unavailable(`More than ${concurrent + waiting} sign-ins at this moment. Try again shortly.`);
    }
    return limit(work);
  };
}

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

type Cost = Pick<Required<Options>, 'memoryCost' | 'timeCost' | 'parallelism'>;

/** The Argon2id parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two iterations, one lane. */
const DEFAULT_COST: Cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** No hash of ours costs more: one that asks for terabytes would end the process. */
const MOST = { memoryCost: 1024 * 1024, timeCost: 50 };

const ARGON2ID = /^\$argon2id\$v=19\$/;

interface PasswordOptions extends Partial<SemaphoreBounds> {
  /** The cost of new hashes. No setting selects it: tests that are not about passwords pass a lower one. */
  readonly cost?: Cost;
  /** The library's verification. A test passes one that counts. */
  readonly verifyHash?: typeof verifyArgon2;
}

/** Hashing takes 19 MiB and a processor for a while: `concurrent` at once, and `waiting` more in a queue. */
export function createPasswords({
  concurrent = 2,
  waiting = 100,
  cost: currentCost = DEFAULT_COST,
  verifyHash = verifyArgon2,
}: PasswordOptions = {}): Passwords {
  const semaphore = createSemaphore({ concurrent, waiting });
  const placeholder = hashSync(randomBytes(32), currentCost); // verified where there is no hash: the same work, no match
  const isOutdated = (cost: HashCost | undefined) =>
    cost !== undefined && (cost.memoryCost < currentCost.memoryCost || cost.timeCost < currentCost.timeCost);
  const verify = async (hash: string, password: string) => {
    const cost = costOf(hash);
    const matches = await verifyHash(cost ? hash : placeholder, normalised(password));
    return { matches: matches && cost !== undefined, outdated: matches && isOutdated(cost) };
  };
  return {
    hash: (password) => semaphore(() => hashArgon2(normalised(password), currentCost)),
    verify: (hash = '', password) => semaphore(() => verify(hash, password)),
    refuseObvious: (password, about) => refuseObvious(normalised(password), about),
  };
}

/**
 * The same password is other characters on other keyboards: an `é` comes as one or as two, a full-width `Ａ` from a
 * Japanese one. All forms of it are one password (NFKC, as NIST SP 800-63B advises).
 */
const normalised = (password: string) => password.normalize('NFKC');

type HashCost = Omit<Cost, 'parallelism'>;

/** What a hash of ours costs (it says so: PHC string format); undefined where it is none. */
function costOf(hash: string): HashCost | undefined {
  if (!ARGON2ID.test(hash)) return undefined;
  try {
    const cost = parseOptions(hash);
    return cost.memoryCost <= MOST.memoryCost && cost.timeCost <= MOST.timeCost ? cost : undefined;
  } catch {
    return undefined; // it can't be read
  }
}
