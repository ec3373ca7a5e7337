import { randomBytes } from 'node:crypto';
import { type Options, parseOptions } from '@node-rs/argon2';
import { HASHING_THREADS, type Hashing } from './hashing.ts';
import { type CallerClass, createPasswordQueue, type QueueBounds } from './queue.ts';
import { findWeakness, normalised } from './strength.ts';

/** Passwords of local users. */
export interface Passwords {
  /**
   * Hashes the password of a known caller. @throws 503 unavailable while too many passwords are
   * hashed or verified
   */
  hash(password: string): Promise<string>;
  /**
   * Verifies a password. It takes the same time with and without a hash. `outdated`: the password
   * matches, but must be hashed again because the cost has increased. Calls for known callers do
   * not wait for those of unknown callers.
   * @throws 503 unavailable while too many passwords are hashed or verified
   */
  verify(
    hash: string | undefined,
    password: string,
    caller: CallerClass,
  ): Promise<{ matches: boolean; outdated: boolean }>;
  /**
   * The reason to reject a password; undefined if it is accepted. `about`: the e-mail address and
   * name of the user.
   */
  findWeakness(password: string, about: readonly string[]): Promise<string | undefined>;
}

type Cost = Pick<Required<Options>, 'memoryCost' | 'timeCost' | 'parallelism'>;

/**
 * The Argon2id parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two iterations, one
 * lane.
 */
const DEFAULT_COST: Cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * The maximum cost of a hash that is verified. A hash with a memory cost of terabytes would end the
 * process.
 */
const MAX_COST = { memoryCost: 1024 * 1024, timeCost: 50 };

const ARGON2ID = /^\$argon2id\$v=19\$/;

interface PasswordOptions extends Partial<QueueBounds> {
  /**
   * The cost of new hashes. It is not configurable. Tests that are not about passwords pass a lower
   * one.
   */
  readonly cost?: Cost;
  readonly hashing: Hashing;
}

/**
 * Hashing needs 19 MiB and CPU time, so at most `concurrent` calls run at the same time, and
 * `waiting` calls of each class of callers wait.
 */
export function createPasswords({
  concurrent = HASHING_THREADS,
  waiting = { known: 100, unknown: 100 },
  cost: currentCost = DEFAULT_COST,
  hashing,
}: PasswordOptions): Passwords {
  const enqueue = createPasswordQueue({ concurrent, waiting });
  const placeholder = hashOfNoPassword(currentCost);
  const isOutdated = (cost: HashCost | undefined) =>
    cost !== undefined && (cost.memoryCost < currentCost.memoryCost || cost.timeCost < currentCost.timeCost);
  const verify = async (hash: string, password: string) => {
    const cost = costOf(hash);
    const matches = await hashing.verify(cost ? hash : placeholder, normalised(password));
    return { matches: matches && cost !== undefined, outdated: matches && isOutdated(cost) };
  };
  return {
    hash: (password) => enqueue('known', () => hashing.hash(normalised(password), currentCost)),
    verify: (hash = '', password, caller) => enqueue(caller, () => verify(hash, password)),
    findWeakness,
  };
}

/**
 * A hash with a random result, which matches no password. It is verified if a user has no hash, so that the response takes
 * the same time.
 */
function hashOfNoPassword({ memoryCost, timeCost, parallelism }: Cost): string {
  const [salt, result] = [randomBytes(16), randomBytes(32)].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${result}`;
}

type HashCost = Omit<Cost, 'parallelism'>;

/**
 * The cost of a hash, from its PHC string format; undefined if it is not an Argon2id hash within
 * the maximum cost.
 */
function costOf(hash: string): HashCost | undefined {
  if (!ARGON2ID.test(hash)) return undefined;
  try {
    const cost = parseOptions(hash);
    return cost.memoryCost <= MAX_COST.memoryCost && cost.timeCost <= MAX_COST.timeCost ? cost : undefined;
  } catch {
    return undefined; // not a valid PHC string
  }
}
