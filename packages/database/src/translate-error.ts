import { Problem, unavailable } from '@svc/http';

/** What each refusal of a named constraint or index means to the caller. */
export type ConstraintProblems = Readonly<Record<string, (error: unknown) => Problem>>;

/** What Prisma, its adapter and pg tell about a failure, each in its own members. */
type Failure = {
  prismaCode: string;
  kind: string;
  sqlState: string;
  constraint: string;
  systemCode: string;
  text: string;
};

const away = "The database can't be reached at the moment: try again shortly.";
const slow = 'The database took too long: try again shortly.';
const noChanges = 'The database takes no changes at the moment: try again shortly.';
const crossed = 'Another change was made at the same moment: try again.';

/** PostgreSQL's codes, or the class that they begin with (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const bySqlState: readonly (readonly [string, string])[] = [
  ['08', away], // connection exception
  ['28', away], // our own credentials are refused
  ['3D000', away], // the database isn't there
  ['57P', away], // shutdown, crash, starting up, dropped
  ['25P03', away], // the session was ended: idle in a transaction
  ['53300', away], // too many connections
  ['53100', noChanges], // disk full
  ['53', away], // other insufficient resources
  ['25006', noChanges], // read-only: a standby
  ['55P03', slow], // lock timeout
  ['57014', slow], // statement timeout
  ['40001', crossed], // serialization failure
  ['40P01', crossed], // deadlock
];
/** Codes of Prisma that come without a code of PostgreSQL. */
const byPrismaCode: Readonly<Record<string, string>> = { P2024: slow, P2028: slow, P2034: crossed, P2037: away };
const connectionKinds = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TlsConnectionError'];
const systemCodes = /^(ECONN\w+|ENOTFOUND|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;
/** What pg and pg-pool throw as a bare Error, with these words only. */
const awayWords =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;
const slowWords = /^(timeout exceeded when trying to connect|Query read timeout)/;

/**
 * Turns what a database call threw into a Problem: the given one for a constraint, `unavailable` when trying again may
 * help. Anything else comes back unchanged. Use it where the database is called: a socket's error means the database's.
 */
export function translateDatabaseError(error: unknown, constraints: ConstraintProblems): unknown {
  const failure = failureOf(error);
  if (!failure) return error;
  const known = Object.hasOwn(constraints, failure.constraint) ? constraints[failure.constraint] : undefined;
  if (known) return known(error);
  const sentence = sentenceOf(failure);
  return sentence ? unavailable(sentence, error) : error;
}

function sentenceOf({ prismaCode, kind, sqlState, systemCode, text }: Failure): string | undefined {
  if (sqlState) return bySqlState.find(([start]) => sqlState.startsWith(start))?.[1];
  if (connectionKinds.includes(kind) || prismaCode.startsWith('P1') || systemCodes.test(systemCode)) return away;
  if (prismaCode) return byPrismaCode[prismaCode];
  if (slowWords.test(text)) return slow;
  return awayWords.test(text) ? away : undefined;
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Problem) return undefined;
  const code = text(error, 'code');
  const fromAdapter =
    text(error, 'name') === 'DriverAdapterError' ? error : member(member(error, 'meta'), 'driverAdapterError');
  const driver = member(fromAdapter, 'cause');
  const isPostgres = text(error, 'severity') !== '';
  const message = text(driver, 'originalMessage');
  return {
    prismaCode: /^P\d{4}$/.test(code) && !isPostgres ? code : '',
    kind: text(driver, 'kind'),
    sqlState: isPostgres ? code : text(driver, 'originalCode'),
    // The adapter keeps the name of a unique or foreign key, and only the message of a check or an exclusion.
    constraint:
      text(error, 'constraint') ||
      text(member(driver, 'constraint'), 'index') ||
      (/ (?:check|exclusion) constraint "([^"]+)"/.exec(message)?.[1] ?? ''),
    systemCode: isPostgres ? '' : code,
    text: text(error, 'message'),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}
